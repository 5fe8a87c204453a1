"""Parses plans written as a pattern in JSON: nodes, the edges between them, and what to return.

A row is one assignment of each variable that is returned or counted, and matches every edge. Rows are distinct;
parallel
edges count separately if an edge itself is returned or counted. Edges are written as the graph stores them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.json_forms import EXISTS, Strict, form_problems, parse_conditions, projections
from kgnav_mcp.languages.parameters import date
from kgnav_mcp.plan import (
    NAME,
    UNNAMED,
    Call,
    Column,
    Compare,
    Comparison,
    Constant,
    CountOf,
    During,
    EdgePattern,
    Exists,
    Expression,
    Function,
    ListOf,
    Match,
    NodePattern,
    Not,
    PathKind,
    PathLength,
    Pipeline,
    Plan,
    PlanProblem,
    Project,
    Property,
    Variable,
    is_named,
)
from kgnav_mcp.plan.walking import conjunction

_NEXT = "Correct these and send the whole plan again."
SUBCLASSES = "*"
"""Suffix of a label: instances of its subclasses match, too."""


OneOrMany = str | list[str]
Moment = Annotated[str, BeforeValidator(date)]
"""A date as text, of any precision."""


class NodeSpec(Strict):
    """A node: name or id, labels, conditions on properties, and other nodes from which it must differ."""

    name: str | None = None
    id: OneOrMany | None = None
    element_id: OneOrMany | None = None
    label: str | list[str] | None = None
    where: dict[str, Any] = Field(default_factory=dict[str, Any])
    is_not: str | list[str] | None = None


class EdgeSpec(Strict):
    """An edge from a node to a node, or a path of such edges."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    edge: str | list[str] | None = None
    either: bool = False
    variable: str | None = Field(default=None, alias="as")
    where: dict[str, Any] = Field(default_factory=dict[str, Any])
    hops: int | tuple[int, int | None] | None = None
    distance: int | tuple[int, int] | None = None
    optional: bool = False
    at_least: int | None = None
    at_most: int | None = None
    during: tuple[Moment | None, Moment | None] | None = None
    as_of: Moment | None = None


class PatternSpec(Strict):
    """A whole plan."""

    nodes: dict[str, NodeSpec] = Field(default_factory=dict[str, NodeSpec])
    edges: list[EdgeSpec] = Field(default_factory=list[EdgeSpec])
    absent: list[EdgeSpec | list[EdgeSpec]] = Field(default_factory=list[EdgeSpec | list[EdgeSpec]], alias="not")
    returned: list[str] | str | None = Field(default=None, alias="return")
    """Variables, their properties, counts; or `exists`: whether the pattern matches at all."""
    order: str | list[str] | None = None
    limit: int | None = Field(default=None, ge=0)


_KEYS: dict[str, type[Strict]] = {"nodes": NodeSpec, "edges": EdgeSpec, "not": EdgeSpec}


def parse_pattern(source: object) -> Plan:
    """Parse a pattern.

    Raises:
        InvalidPlan: the pattern is not valid. The error lists every problem.
    """
    try:
        spec = PatternSpec.model_validate(source)
    except ValidationError as error:
        raise InvalidPlan([*form_problems(error, "", PatternSpec, _KEYS)], next_step=_NEXT) from error
    return _Reader(spec).plan()


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge of a pattern with its place in the JSON and its variable."""

    place: str
    variable: str
    spec: EdgeSpec

    @property
    def ends(self) -> tuple[str, str]:
        return self.spec.source, self.spec.target

    @property
    def counted(self) -> bool:
        """Whether it is a condition on the number of such edges."""
        return self.spec.at_least is not None or self.spec.at_most is not None


class _Reader:
    """Converts one pattern to a plan, and collects its problems."""

    def __init__(self, spec: PatternSpec) -> None:
        self.spec = spec
        self.problems: list[PlanProblem] = []

    def plan(self) -> Plan:
        """The plan: a match for the required part, an optional match for each optional edge, and the projections."""
        edges = [self._edge(edge, f"edges[{n}]") for n, edge in enumerate(self.spec.edges)]
        required = [edge for edge in edges if not edge.spec.optional and not edge.counted]
        counted = [edge for edge in edges if edge.counted]
        optional = [edge for edge in edges if edge.spec.optional and not edge.counted]
        row_nodes = self._row_nodes(edges, required)
        where = self._conditions(row_nodes, required)
        where += [condition for edge in counted for condition in self._count_conditions(edge, row_nodes)]
        where += [Not(Exists(match)) for match in self._absent_patterns(row_nodes)]
        clauses = [self._match(row_nodes, row_nodes, required, where)]
        for edge in optional:
            new = [end for end in dict.fromkeys(edge.ends) if end not in row_nodes]
            row_nodes += new
            optional_match = self._match(edge.ends, new, [edge], self._conditions(new, [edge]))
            clauses.append(replace(optional_match, optional=True))
        named_edges = [edge.variable for edge in (*required, *optional) if is_named(edge.variable)]
        far_ends = [end for edge in counted for end in edge.ends if end not in row_nodes]
        results = self._results([*row_nodes, *named_edges], far_ends)
        plan = Plan((Pipeline((*clauses, *results)),), only_exists=self.spec.returned == EXISTS)
        if self.problems:
            raise InvalidPlan(list(dict.fromkeys(self.problems)), plan, next_step=_NEXT)
        return plan

    def _row_nodes(self, edges: Sequence[_Edge], required: Sequence[_Edge]) -> list[str]:
        """The nodes that every row has, in the order in which the pattern names them.

        These are the ends of required edges, nodes without edges, and for an edge between two other nodes the end that
        is named first; the far end may be missing or is only counted. Nodes that only a `not` names, and that are not
        returned, are no part of a row: they must not exist.
        """
        ends = [end for edge in edges for end in edge.ends]
        groups = [group if isinstance(group, list) else [group] for group in self.spec.absent]
        absent = {end for group in groups for edge in group for end in (edge.source, edge.target)}
        absent -= {name for name in absent if self._is_returned(name)}
        unconnected = {name for name in self.spec.nodes if name not in ends and name not in absent}
        fixed = {end for edge in required for end in edge.ends} | unconnected
        order = list(dict.fromkeys((*self.spec.nodes, *ends)))
        for edge in edges:
            if fixed.isdisjoint(edge.ends):
                fixed.add(min(edge.ends, key=order.index))
        return [name for name in order if name in fixed]

    def _is_returned(self, node: str) -> bool:
        """Whether a node, its property or its count is returned. Without `return`, all nodes are."""
        returned = self.spec.returned
        texts = [returned] if isinstance(returned, str) else returned
        return texts is None or any(re.search(rf"(?<!\w){re.escape(node)}(?!\w)", text) for text in texts)

    def _edge(self, spec: EdgeSpec, place: str) -> _Edge:
        return _Edge(place, spec.variable or f"{UNNAMED}{place}", spec)

    def _match(
        self, nodes: Sequence[str], new: Sequence[str], edges: Sequence[_Edge], where: Sequence[Expression]
    ) -> Match:
        patterns = tuple(self._node(name) if name in new else NodePattern(name) for name in dict.fromkeys(nodes))
        return Match(patterns, tuple(map(self._pattern, edges)), where=conjunction(where), edges_differ=False)

    def _node(self, name: str) -> NodePattern:
        label = self.spec.nodes.get(name, NodeSpec()).label or []
        return node_pattern(name, [label] if isinstance(label, str) else label)

    def _pattern(self, edge: _Edge) -> EdgePattern:
        spec = edge.spec
        relations = [spec.edge] if isinstance(spec.edge, str) else spec.edge or []
        return EdgePattern(
            edge.variable,
            spec.source,
            spec.target,
            tuple(relations),
            spec.either,
            path_length(spec.hops, spec.distance),
        )

    def _conditions(self, nodes: Iterable[str], edges: Iterable[_Edge]) -> list[Expression]:
        conditions = [condition for name in nodes for condition in self._node_conditions(name)]
        return conditions + [condition for edge in edges for condition in self._edge_conditions(edge)]

    def _node_conditions(self, name: str) -> Iterator[Expression]:
        spec = self.spec.nodes.get(name, NodeSpec())
        yield from identity_conditions(name, spec.name, spec.id, spec.element_id)
        yield from self._where(name, spec.where, f"nodes.{name}.where")
        others = [spec.is_not] if isinstance(spec.is_not, str) else spec.is_not or []
        for other in others:
            if other not in self.spec.nodes and not any(other in (e.source, e.target) for e in self.spec.edges):
                self.problems.append(PlanProblem(f"nodes.{name}.is_not", f"unknown node {other}"))
            yield Compare(Variable(name), Comparison.UNEQUAL, Variable(other))

    def _edge_conditions(self, edge: _Edge) -> Iterator[Expression]:
        yield from self._where(edge.variable, edge.spec.where, f"{edge.place}.where")
        if edge.spec.during is not None:
            yield During(edge.variable, *edge.spec.during)
        if edge.spec.as_of is not None:
            yield During(edge.variable, edge.spec.as_of, edge.spec.as_of)

    def _where(self, owner: str, where: Mapping[str, object], place: str) -> list[Expression]:
        return [*parse_conditions(owner, where, place, self.problems)]

    def _count_conditions(self, edge: _Edge, row_nodes: Sequence[str]) -> Iterator[Expression]:
        """The conditions on the number of a counted edge."""
        new = [end for end in edge.ends if end not in row_nodes]
        number = CountOf(self._match(edge.ends, new, [edge], self._conditions(new, [edge])))
        bounds = ((Comparison.AT_LEAST, edge.spec.at_least), (Comparison.AT_MOST, edge.spec.at_most))
        return (Compare(number, comparison, Constant(bound)) for comparison, bound in bounds if bound is not None)

    def _absent_patterns(self, row_nodes: Sequence[str]) -> Iterator[Match]:
        """The patterns that must not match."""
        for n, group in enumerate(self.spec.absent):
            specs = group if isinstance(group, list) else [group]
            edges = [self._edge(spec, f"not[{n}][{k}]") for k, spec in enumerate(specs)]
            ends = list(dict.fromkeys(end for edge in edges for end in edge.ends))
            new = [end for end in ends if end not in row_nodes]
            yield self._match(ends, new, edges, self._conditions(new, edges))

    def _results(self, row_nodes: Sequence[str], only_counted: Sequence[str]) -> tuple[Project, ...]:
        if self.spec.returned == EXISTS:
            return (Project((Column(EXISTS, Constant(value=True)),), limit=1),)
        returned = self.spec.returned
        texts = [returned] if isinstance(returned, str) else returned or list(self.spec.nodes or row_nodes)
        order = [self.spec.order] if isinstance(self.spec.order, str) else self.spec.order or []
        return projections(texts, order, self.spec.limit, row_nodes, self.problems, only_counted=only_counted)


def identity_conditions(
    variable: str, name: str | None, id_: OneOrMany | None, element_id: OneOrMany | None
) -> Iterator[Expression]:
    """The conditions that a node has this name, and one of these ids; `element_id` are always ids as printed."""
    if name is not None:
        yield Compare(Property(variable, NAME), Comparison.EQUAL, Constant(name))
    for owned, value in (
        (Property(variable, "id"), id_),
        (Call(Function.ID, (Variable(variable),)), element_id),
    ):
        if isinstance(value, str):
            yield Compare(owned, Comparison.EQUAL, Constant(value))
        elif value is not None:
            yield Compare(owned, Comparison.IN, ListOf(tuple(map(Constant, value))))


def node_pattern(variable: str, labels: Iterable[str]) -> NodePattern:
    """The pattern of a node with all of these labels, each perhaps with a star for its subclasses."""
    groups = list(dict.fromkeys(labels))
    with_subclasses = any(group.endswith(SUBCLASSES) for group in groups)
    return NodePattern(variable, tuple((group.removesuffix(SUBCLASSES),) for group in groups), with_subclasses)


def path_length(
    hops: int | tuple[int, int | None] | None, distance: int | tuple[int, int] | None = None
) -> PathLength | None:
    """The length of a path. `hops`: 3 for three edges, [1, 3] for one to three, [1, null] for any number.

    `distance`: the same for shortest paths only.
    """
    if distance is not None:
        first, last = (distance, distance) if isinstance(distance, int) else distance
        return PathLength(PathKind.DISTANCE, first, last)
    if hops is None:
        return None
    first, last = (hops, hops) if isinstance(hops, int) else hops
    return PathLength(PathKind.REACHABLE if last is None else PathKind.TRAILS, first, last)
