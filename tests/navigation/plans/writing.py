"""Short ways to write plans by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kgnav_mcp.model import Cell, Entity, Path, PlanPage, Triple
from kgnav_mcp.plan import (
    NAME,
    Aggregate,
    AggregateFunction,
    Call,
    Clause,
    Column,
    Compare,
    Comparison,
    Constant,
    EdgePattern,
    Expression,
    Function,
    GivenNodes,
    ListOf,
    Match,
    NodePattern,
    Order,
    PathKind,
    PathLength,
    Pipeline,
    Plan,
    Project,
    Property,
    Scalar,
    Variable,
)


def node(variable: str, *labels: str) -> NodePattern:
    """A node with one label of these."""
    return NodePattern(variable, (labels,) if labels else ())


def edge(source: str, relation: str, target: str, variable: str = "r", *, either: bool = False) -> EdgePattern:
    """An edge; without a relation, any."""
    return EdgePattern(variable, source, target, (relation,) if relation else (), either)


def path(
    source: str,
    relation: str,
    target: str,
    kind: PathKind,
    *lengths: int,
    variable: str = "r",
    either: bool = False,
) -> EdgePattern:
    """A path: at least so many edges, at most so many."""
    relations = (relation,) if relation else ()
    return EdgePattern(variable, source, target, relations, either, PathLength(kind, *lengths))


def matching(
    *parts: NodePattern | EdgePattern, where: Expression | None = None, optional: bool = False, differ: bool = True
) -> Match:
    """A match of nodes and edges; nodes that only edges name need not be said."""
    nodes = {part.variable: part for part in parts if isinstance(part, NodePattern)}
    edges = tuple(part for part in parts if isinstance(part, EdgePattern))
    for one in edges:
        for name in (one.source, one.target):
            nodes.setdefault(name, NodePattern(name))
    return Match(tuple(nodes.values()), edges, (), where, optional, differ)


def of(text: str) -> Expression:
    """`p` is a variable, `p.age` a property, `p.name` what a node is called."""
    owner, dot, name = text.partition(".")
    return Property(owner, name, () if name == NAME else (name,)) if dot else Variable(owner)


def give(*columns: str | Column, **more: object) -> Project:
    """A projection; a column is a text for `of`, or made by `named`."""
    made = tuple(one if isinstance(one, Column) else Column(one, of(one)) for one in columns)
    return Project(made, **more)  # pyright: ignore[reportArgumentType]


def named(name: str, value: Expression) -> Column:
    return Column(name, value)


def plan(*clauses: Clause) -> Plan:
    return Plan((Pipeline(clauses),))


def constant(value: Scalar | Sequence[Scalar]) -> Expression:
    if isinstance(value, str | int | float | None):
        return Constant(value)
    return ListOf(tuple(Constant(one) for one in value))


def compared(left: Expression | str, comparison: str, right: Expression | Scalar | Sequence[Scalar]) -> Compare:
    """`compared("p.age", ">", 36)`."""
    other = constant(right) if isinstance(right, str | int | float | Sequence | None) else right
    return Compare(of(left) if isinstance(left, str) else left, Comparison(comparison), other)


def called(function: Function, *arguments: Expression | str) -> Call:
    return Call(function, tuple(of(one) if isinstance(one, str) else one for one in arguments))


def is_id(variable: str, *ids: str) -> Compare:
    """What an equality of a name becomes in a checked plan."""
    return compared(called(Function.ID, variable), "IN", list(ids))


def total(function: AggregateFunction, value: Expression | str | None = None, *, distinct: bool = False) -> Aggregate:
    return Aggregate(function, of(value) if isinstance(value, str) else value, distinct)


def descending(value: Expression | str) -> Order:
    return Order(of(value) if isinstance(value, str) else value, descending=True)


def plain(cell: Cell) -> object:
    """A cell as a short value: nodes by id, edges by head, relation and tail, paths by their nodes."""
    match cell:
        case Entity():
            return cell.id
        case Triple():
            return cell.head.id, cell.relation.id, plain(cell.tail) if isinstance(cell.tail, Entity) else cell.tail.text
        case Path():
            return "-".join(one.id for one in cell.nodes)
        case tuple():
            return [plain(one) for one in cell]
        case _:
            return cell


def rows(page: PlanPage) -> list[tuple[Any, ...]]:
    return [tuple(plain(cell) for cell in row.cells) for row in page.items]


def matches_of(
    match: Match, nodes: Sequence[str], given: GivenNodes | None = None, *, counted: str | None = None
) -> Plan:
    """A part of a plan: which nodes match a pattern, and how often, or with how many different `counted` nodes."""
    of = None if counted is None else Variable(counted)
    number = Column("number", Aggregate(AggregateFunction.COUNT, of, distinct=of is not None))
    names = (*(() if given is None else given.variables), *nodes)
    columns = (*(Column(name, Variable(name)) for name in names), number)
    return Plan((Pipeline((match, Project(columns)), given),), in_any_order=True)


def with_result(plan: Plan, **changes: Any) -> Plan:
    """The plan with another last projection."""
    (pipeline,) = plan.pipelines
    clauses = (*pipeline.clauses[:-1], replace(pipeline.result, **changes))
    return replace(plan, pipelines=(replace(pipeline, clauses=clauses),))
