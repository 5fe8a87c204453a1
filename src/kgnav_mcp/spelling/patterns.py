"""Plans as a pattern in JSON: nodes, the edges between them, and what is wanted of each fit.

A row is one choice for each variable that is returned or counted, and fits every edge; rows are distinct, and parallel
edges count apart where an edge itself is returned or counted. Edges lie as the graph stores them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from kgnav_mcp.errors import InvalidPlan
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
from kgnav_mcp.plan.walking import all_hold
from kgnav_mcp.spelling.dates import date
from kgnav_mcp.spelling.json_conditions import EXISTS, conditions_of
from kgnav_mcp.spelling.json_forms import Strict, form_problems
from kgnav_mcp.spelling.returned import projections

_NEXT = "Mend these and send the whole plan again."
SUBCLASSES = "*"
"""Behind a label: instances of its subclasses count, too."""


Moment = Annotated[str, BeforeValidator(date)]
"""A date as text, of any precision."""


class NodeSpec(Strict):
    """A node: by its name or id, its labels, its properties, and which other node it is not."""

    name: str | None = None
    id: str | list[str] | None = None
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
    """Variables, their properties, counts; or `exists`: whether the pattern fits at all."""
    order: str | list[str] | None = None
    limit: int | None = Field(default=None, ge=0)


_KEYS: dict[str, type[Strict]] = {"nodes": NodeSpec, "edges": EdgeSpec, "not": EdgeSpec}


def parse_pattern(given: object) -> Plan:
    """The plan that a pattern asks for.

    Raises:
        InvalidPlan: it is none, with every reason.
    """
    try:
        spec = PatternSpec.model_validate(given)
    except ValidationError as error:
        raise InvalidPlan([*form_problems(error, "", PatternSpec, _KEYS)], next_step=_NEXT) from error
    return _Reader(spec).plan()


@dataclass(frozen=True, slots=True)
class _Edge:
    """An edge of a pattern, its place in the plan and its variable."""

    place: str
    variable: str
    spec: EdgeSpec

    @property
    def ends(self) -> tuple[str, str]:
        return self.spec.source, self.spec.target

    @property
    def counted(self) -> bool:
        """Whether only the number of such edges matters."""
        return self.spec.at_least is not None or self.spec.at_most is not None


class _Reader:
    """Reads one pattern; what is wrong is collected."""

    def __init__(self, spec: PatternSpec) -> None:
        self.spec = spec
        self.problems: list[PlanProblem] = []

    def plan(self) -> Plan:
        """A match for what must fit, one for each edge that may, and what is returned."""
        edges = [self._edge(edge, f"edges[{n}]") for n, edge in enumerate(self.spec.edges)]
        fitting = [edge for edge in edges if not edge.spec.optional and not edge.counted]
        counted = [edge for edge in edges if edge.counted]
        optional = [edge for edge in edges if edge.spec.optional and not edge.counted]
        known = self._fixed(edges, fitting)
        where = self._conditions(known, fitting)
        where += [condition for edge in counted for condition in self._counts(edge, known)]
        where += [Not(Exists(match)) for match in self._absent(known)]
        clauses = [self._match(known, known, fitting, where)]
        for edge in optional:
            new = [end for end in dict.fromkeys(edge.ends) if end not in known]
            known += new
            found = self._match(edge.ends, new, [edge], self._conditions(new, [edge]))
            clauses.append(replace(found, optional=True))
        results = self._results([*known, *(edge.variable for edge in (*fitting, *optional) if is_named(edge.variable))])
        plan = Plan((Pipeline((*clauses, *results)),), asks=self.spec.returned == EXISTS)
        if self.problems:
            raise InvalidPlan(self.problems, plan, next_step=_NEXT)
        return plan

    def _fixed(self, edges: Sequence[_Edge], fitting: Sequence[_Edge]) -> list[str]:
        """The nodes that each row has, in the order in which they are named.

        These are the ends of edges that must fit, nodes without edges, and of an edge between two others the end that
        is described first: what may be missing, or is only counted, is at the far end of one of these. What only a
        `not` names and nothing returns is no part of a row: no such node may be there.
        """
        ends = [end for edge in edges for end in edge.ends]
        groups = [group if isinstance(group, list) else [group] for group in self.spec.absent]
        absent = {end for group in groups for edge in group for end in (edge.source, edge.target)}
        absent -= {name for name in absent if self._is_returned(name)}
        lone = {name for name in self.spec.nodes if name not in ends and name not in absent}
        fixed = {end for edge in fitting for end in edge.ends} | lone
        order = list(dict.fromkeys((*self.spec.nodes, *ends)))
        for edge in edges:
            if fixed.isdisjoint(edge.ends):
                fixed.add(min(edge.ends, key=order.index))
        return [name for name in order if name in fixed]

    def _is_returned(self, node: str) -> bool:
        """Whether a node, a property or a count of it is returned; where nothing is said, each node is."""
        returned = self.spec.returned
        texts = [returned] if isinstance(returned, str) else returned
        return texts is None or any(re.search(rf"(?<!\w){re.escape(node)}(?!\w)", text) for text in texts)

    def _edge(self, spec: EdgeSpec, place: str) -> _Edge:
        return _Edge(place, spec.variable or f"{UNNAMED}{place}", spec)

    def _match(
        self, nodes: Sequence[str], new: Sequence[str], edges: Sequence[_Edge], where: Sequence[Expression]
    ) -> Match:
        patterns = tuple(self._node(name) if name in new else NodePattern(name) for name in dict.fromkeys(nodes))
        return Match(patterns, tuple(map(self._pattern, edges)), where=all_hold(where), edges_differ=False)

    def _node(self, name: str) -> NodePattern:
        label = self.spec.nodes.get(name, NodeSpec()).label or []
        groups = [label] if isinstance(label, str) else label
        below = any(one.endswith(SUBCLASSES) for one in groups)
        return NodePattern(name, tuple((one.removesuffix(SUBCLASSES),) for one in groups), below)

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
        found = [condition for name in nodes for condition in self._of_node(name)]
        return found + [condition for edge in edges for condition in self._of_edge(edge)]

    def _of_node(self, name: str) -> Iterator[Expression]:
        spec = self.spec.nodes.get(name, NodeSpec())
        yield from named_so(name, spec.name, spec.id)
        yield from self._where(name, spec.where, f"nodes.{name}.where")
        others = [spec.is_not] if isinstance(spec.is_not, str) else spec.is_not or []
        for other in others:
            if other not in self.spec.nodes and not any(other in (e.source, e.target) for e in self.spec.edges):
                self.problems.append(PlanProblem(f"nodes.{name}.is_not", f"no node is called {other}"))
            yield Compare(Variable(name), Comparison.UNEQUAL, Variable(other))

    def _of_edge(self, edge: _Edge) -> Iterator[Expression]:
        yield from self._where(edge.variable, edge.spec.where, f"{edge.place}.where")
        if edge.spec.during is not None:
            yield During(edge.variable, *edge.spec.during)
        if edge.spec.as_of is not None:
            yield During(edge.variable, edge.spec.as_of, edge.spec.as_of)

    def _where(self, owner: str, where: Mapping[str, object], place: str) -> list[Expression]:
        return [*conditions_of(owner, where, place, self.problems)]

    def _counts(self, edge: _Edge, known: Sequence[str]) -> Iterator[Expression]:
        """That there are so many of an edge, at least or at most."""
        new = [end for end in edge.ends if end not in known]
        number = CountOf(self._match(edge.ends, new, [edge], self._conditions(new, [edge])))
        bounds = ((Comparison.AT_LEAST, edge.spec.at_least), (Comparison.AT_MOST, edge.spec.at_most))
        return (Compare(number, comparison, Constant(bound)) for comparison, bound in bounds if bound is not None)

    def _absent(self, known: Sequence[str]) -> Iterator[Match]:
        """The patterns that must not fit."""
        for n, group in enumerate(self.spec.absent):
            specs = group if isinstance(group, list) else [group]
            edges = [self._edge(spec, f"not[{n}][{k}]") for k, spec in enumerate(specs)]
            ends = list(dict.fromkeys(end for edge in edges for end in edge.ends))
            new = [end for end in ends if end not in known]
            yield self._match(ends, new, edges, self._conditions(new, edges))

    def _results(self, known: Sequence[str]) -> tuple[Project, ...]:
        if self.spec.returned == EXISTS:
            return (Project((Column(EXISTS, Constant(value=True)),), limit=1),)
        returned = self.spec.returned
        texts = [returned] if isinstance(returned, str) else returned or list(self.spec.nodes or known)
        order = [self.spec.order] if isinstance(self.spec.order, str) else self.spec.order or []
        return projections(texts, order, self.spec.limit, known, self.problems)


def named_so(variable: str, name: str | None, id_: str | list[str] | None) -> Iterator[Expression]:
    """That a node has this name, and this id, or one of these."""
    if name is not None:
        yield Compare(Property(variable, NAME), Comparison.EQUAL, Constant(name))
    node_id = Call(Function.ID, (Variable(variable),))
    if isinstance(id_, str):
        yield Compare(node_id, Comparison.EQUAL, Constant(id_))
    elif id_ is not None:
        yield Compare(node_id, Comparison.IN, ListOf(tuple(map(Constant, id_))))


def path_length(
    hops: int | tuple[int, int | None] | None, distance: int | tuple[int, int] | None = None
) -> PathLength | None:
    """`hops` 3 are three edges, [1, 3] one to three, [1, null] any number; `distance` counts shortest paths alone."""
    if distance is not None:
        first, last = (distance, distance) if isinstance(distance, int) else distance
        return PathLength(PathKind.DISTANCE, first, last)
    if hops is None:
        return None
    first, last = (hops, hops) if isinstance(hops, int) else hops
    return PathLength(PathKind.REACHABLE if last is None else PathKind.TRAILS, first, last)
