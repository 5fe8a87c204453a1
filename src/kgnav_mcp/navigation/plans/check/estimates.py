"""Estimates the work of a plan from the counts of the schema: of labels, of relations, of the labels these connect.

Parts of a pattern are assumed to be independent. A node is then any node of its label, and two such nodes are joined as
often as edges of the relation join the labels on average: the product is the number of rows. Beside it are the sizes
that answers tell of each label and relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from kgnav_mcp.languages.cypher import write_part, write_relations
from kgnav_mcp.model import Certainty, Count, PartSize, PlanPage, Stop
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.evaluate.start_nodes import start_of
from kgnav_mcp.navigation.plans.explain.empty_answers import is_empty_answer
from kgnav_mcp.plan import (
    UNNAMED,
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Call,
    EdgePattern,
    Expression,
    Function,
    ListOf,
    Match,
    NodePattern,
    PathKind,
    Pipeline,
    Plan,
    Project,
    Unwind,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, conjuncts, node_patterns, parts, variables_of
from kgnav_mcp.port import GraphAdapter

_SHARE_WITH_VALUE = 0.001
"""Assumed share of a label's nodes that have a given value of a property."""
_LONGEST = 5
"""Assumed number of steps of a path without an upper bound."""
_SEARCHED = frozenset((PathKind.SHORTEST, PathKind.ALL_SHORTEST))
_SEARCH = 10
"""Assumed number of edges per step that a search between two nodes examines."""
_SCAN = 0.1
"""Cost of a node or an edge that is read and grouped in the order of the store, relative to one that is looked up."""
_VALUES = 10_000
"""Assumed number of different values of a property or an expression, if the nodes are more."""
_SORTING = 4
"""Cost of sorting one value of the answer, relative to the cost of examining one edge."""


def estimated_steps(schema_names: SchemaNames, plan: Plan) -> float:
    """Estimated number of edges that a checked plan examines, plus the cost of sorting in the same unit.

    Parts that the schema does not count are taken as zero. If it has no exact number of nodes, the estimate is zero.
    """
    if schema_names.whole.entities.certainty is not Certainty.EXACT:
        return 0.0
    return sum(_Estimate(schema_names).estimated_steps(pipeline) for pipeline in plan.pipelines)


def max_joined_values(plan: Plan) -> int:
    """How many values of the graph, or constants, a plan joins to one text or list at most; `collect` not counted."""
    return max(_joined_by(pipeline) for pipeline in plan.pipelines)


def _joined_by(pipeline: Pipeline) -> int:
    """As `max_joined_values`, of one pipeline."""
    joined: dict[str, int] = {}
    most = 1
    for clause in pipeline.clauses:
        match clause:
            case Project(columns):
                joined = {column.name: _joined_in(column.value, joined) for column in columns}
            case Unwind(of, variable):
                joined[variable] = _joined_in(of, joined)
            case Match():
                pass
        most = max(most, *joined.values(), 1)
    return most


def _joined_in(expression: Expression, joined: Mapping[str, int]) -> int:
    """The number of values in the value of an expression. `joined` has those in the values of variables."""
    match expression:
        case Variable(name):
            return joined.get(name, 1)
        case Arithmetic(left, ArithmeticOperator.ADD, right):
            return _joined_in(left, joined) + _joined_in(right, joined)
        case ListOf(items):
            return sum(_joined_in(item, joined) for item in items)
        case Call(_, arguments):
            return max((_joined_in(argument, joined) for argument in arguments), default=1)
        case Aggregate(AggregateFunction.COLLECT | AggregateFunction.MINIMUM | AggregateFunction.MAXIMUM, of):
            return 1 if of is None else _joined_in(of, joined)
        case _:
            return 1


class _Estimate:
    """The running estimate of one pipeline, clause by clause."""

    def __init__(self, schema_names: SchemaNames) -> None:
        self._schema_names = schema_names
        self._nodes = max(schema_names.whole.entities.value, 1)
        self._rows, self._steps = 1.0, 0.0
        self._row_cost = 1.0
        """Cost of a row that the next projection groups."""
        self._sizes: dict[str, float] = {}
        """Estimated number of nodes for each variable."""

    def estimated_steps(self, pipeline: Pipeline) -> float:
        first, following, *_ = (*pipeline.clauses, None)
        for clause in pipeline.clauses:
            match clause:
                case Match():
                    is_scan = clause is first and _is_scan(clause) and _joins_rows(following)
                    self._row_cost = _SCAN if is_scan else 1.0
                    self._match(clause)
                case Project():
                    self._project(clause)
                case Unwind(of=ListOf(items)):
                    self._rows *= len(items)
                    self._steps += self._rows
                case Unwind():
                    pass
        return self._steps + self._rows * _SORTING * len(pipeline.result.columns)

    def _match(self, match: Match) -> None:
        patterns = node_patterns(match)
        domains = {name: self._domain(node, match.edges) for name, node in patterns.items()}
        rows = self._rows
        for name, node in patterns.items():
            if name not in self._sizes:
                conditions = [each for each in conjuncts(match.where) if variables_of(each) == frozenset((name,))]
                start = start_of(node, conditions)
                selected = len(start.ids)
                if start.scans:
                    selected += max(domains[name] * _SHARE_WITH_VALUE, 1)
                self._sizes[name] = selected if start.selective else domains[name]
                rows *= self._sizes[name]
        for edge in match.edges:
            ends = domains[edge.source] * domains[edge.target]
            rows *= self._edges(edge, domains, patterns) / max(ends, 1)
        for edge in match.edges:
            if edge.path is not None and edge.path.kind in _SEARCHED:
                self._steps += self._sizes[edge.source] * self._sizes[edge.target] * _SEARCH * _lengths(edge)[-1]
        self._rows = max(rows, self._rows) if match.optional else rows
        self._steps += self._rows * max(sum(_lengths(edge)[-1] for edge in match.edges), 1) * self._row_cost

    def _domain(self, node: NodePattern, edges: Sequence[EdgePattern]) -> float:
        """The number of nodes with the node's labels, or with the labels at the ends of its edges if that is less."""
        own = [self._schema_names.nodes_of(group).value for group in node.labels]
        for edge in edges:
            for end, side in ((edge.source, 0), (edge.target, 1)):
                if end == node.variable and edge.relations and not edge.either and edge.path is None:
                    names = [facts.ends for name in edge.relations if (facts := self._schema_names.relation(name))]
                    labels = {(head, tail)[side] for joins in names for head, tail, _ in joins}
                    own += [self._schema_names.nodes_shown_as(labels)] if labels else []
        return min([size for size in own if size], default=self._nodes)

    def _edges(self, edge: EdgePattern, domains: dict[str, float], patterns: dict[str, NodePattern]) -> float:
        """Estimated number of edges, or paths, between the nodes of the two ends."""
        names = edge.relations or tuple(facts.relation.id for facts in self._schema_names.whole.relations)
        count = float(sum(facts.count.value for name in names if (facts := self._schema_names.relation(name))))
        count *= 1 + edge.either
        if edge.path is None:
            labels = [next(iter(patterns[end].labels), ()) for end in (edge.source, edge.target)]
            joined = None if edge.either else self._schema_names.joined(names, *labels)
            return count if joined is None else joined
        heads, tails = domains[edge.source], domains[edge.target]
        fan_out = count / self._nodes if not edge.relations else count / max(heads, 1)
        path_count = sum(fan_out**length for length in _lengths(edge)) * heads * tails / self._nodes
        return path_count if edge.path.kind is PathKind.TRAILS else min(path_count, heads * tails)

    def _project(self, project: Project) -> None:
        if _joins_rows(project):
            self._steps += self._rows * len(project.columns) * self._row_cost
            self._rows = min(self._rows, self._groups(project))
        self._row_cost = 1.0
        if project.limit is not None:
            self._rows = min(self._rows, project.limit)
        self._steps += self._rows * len(project.order)
        self._sizes = {
            column.name: self._sizes[name]
            for column in project.columns
            for name in variables_of(column.value)
            if name in self._sizes and not aggregates(column.value)
        }

    def _groups(self, project: Project) -> float:
        """Estimated number of different combinations of the keys of a projection."""
        keys = [column.value for column in project.columns if not aggregates(column.value)]
        nodes = {key.name for key in keys if isinstance(key, Variable)}
        groups = prod(self._sizes.get(name, self._rows) for name in nodes)
        for key in keys:
            if names := variables_of(key) - nodes:
                groups *= min(self._different(key), prod(self._sizes.get(name, self._rows) for name in names))
        return groups

    def _different(self, key: Expression) -> float:
        """Estimated number of different values of an expression."""
        match key:
            case Call(Function.LABELS):
                return max(len(self._schema_names.whole.labels), 1)
            case Call(Function.TYPE):
                return max(len(self._schema_names.whole.relations), 1)
            case Call(Function.ID):
                return self._rows
            case _:
                return _VALUES


def _is_scan(match: Match) -> bool:
    """Whether a pattern that begins a plan reads each node or edge at most once."""
    return (
        len(match.edges) <= 1
        and len(node_patterns(match)) <= 1 + len(match.edges)
        and all(edge.path is None for edge in match.edges)
    )


def _joins_rows(clause: object) -> bool:
    """Whether a clause is a projection whose rows stand for several rows before it."""
    return isinstance(clause, Project) and (clause.distinct or any(aggregates(one.value) for one in clause.columns))


def _lengths(edge: EdgePattern) -> range:
    """The path lengths that are counted."""
    if edge.path is None:
        return range(1, 2)
    shortest, most = edge.path.shortest, edge.path.shortest + _LONGEST
    return range(shortest, min(most if edge.path.longest is None else edge.path.longest, most) + 1)


_ANY = ""
"""Stands for any relation. No relation has this id."""


async def sizes_of(graph: GraphAdapter, plan: Plan) -> tuple[PartSize, ...]:
    """The size of each label and relation of a checked plan, in the plan's order, if the schema counts it."""
    schema_names = await SchemaNames.of(graph)
    edges = {facts.relation.id: facts.count for facts in schema_names.whole.relations}
    edges[_ANY] = Count.sum(edges.values())
    labels = {facts.id: facts.count for facts in schema_names.whole.labels}
    named = dict.fromkeys(_names(plan))
    found = (
        (write_relations([name]) if name else "any relation", edges.get(name))
        if of_edge
        else (write_part(NodePattern(UNNAMED, ((name,),))), labels.get(name))
        for name, of_edge in named
    )
    return tuple(
        PartSize(part, count) for part, count in found if count is not None and count.certainty is not Certainty.UNKNOWN
    )


async def helpful_sizes(graph: GraphAdapter, plan: Plan, page: PlanPage) -> tuple[PartSize, ...]:
    """The sizes if they help: for an answer that is empty, a count of zero, or incomplete."""
    return await sizes_of(graph, plan) if is_empty_answer(page) or page.stop is not Stop.COMPLETE else ()


def _names(plan: Plan) -> Iterator[tuple[str, bool]]:
    """The labels and relations of a plan's patterns, also any relation, each with whether it is a relation."""
    for part in parts(plan, patterns=True):
        match part:
            case NodePattern(labels=groups):
                yield from ((name, False) for group in groups for name in group)
            case EdgePattern(relations=relations):
                yield from ((name, True) for name in relations or (_ANY,))
            case _:
                pass
