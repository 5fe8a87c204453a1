"""Answers plans that only count from the counts stored in the graph file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.statement import Term, TermKind
from kgnav_mcp.adapters.embedded.plans.value_encoding import empty_list
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Clause,
    Constant,
    EdgePattern,
    Expression,
    Function,
    Match,
    NodePattern,
    Pipeline,
    Project,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, by_columns, conjuncts, only_counts_rows, rewritten, variables_of


def count_from_catalogue(words: NameResolver, pipeline: Pipeline) -> int | None:
    """Returns the count that all columns of such a pipeline ask for; None for any other pipeline."""
    if len(pipeline.clauses) != 2:
        return None
    match, project = pipeline.clauses
    if not isinstance(match, Match) or not isinstance(project, Project):
        return None
    if match.where is not None or match.optional or match.paths:
        return None
    if not match.edges:
        nodes = match.nodes
        is_count = len(nodes) == 1 and only_counts_rows(project, [nodes[0].variable], each_once=True)
        return node_size(words, nodes[0]) if is_count else None
    edge = match.edges[0]
    if len(match.edges) > 1 or not only_counts_rows(project, [edge.variable], each_once=True):
        return None
    ends = edge.source, edge.target
    return None if any(node.labels or node.variable not in ends for node in match.nodes) else edge_size(words, edge)


def node_size(words: NameResolver, node: NodePattern) -> int | None:
    """Returns the number of nodes with one label, or of all nodes; None if the catalogue does not have it."""
    if node.subclasses:
        return None
    if not node.labels:
        return words.entities
    group, *others = node.labels
    return None if others or len(group) != 1 else sum(entry.size for entry in words.labels(group))


def edge_size(words: NameResolver, edge: EdgePattern) -> int | None:
    """Returns the number of edges of these relations, or of all; None if the catalogue does not have it."""
    if edge.either or edge.path is not None or edge.source == edge.target:
        return None
    return words.edges(words.relations(edge))


@dataclass(frozen=True, slots=True)
class StoredGroups:
    """A table with one row for each group.

    `known`: the terms of the group's key, if it is not a node, and of its counts.
    """

    table: str
    scope: dict[str, Term]
    known: dict[Expression, Term]


def stored_groups(compiler: ExpressionCompiler, clauses: Sequence[Clause]) -> StoredGroups | None:
    """Returns the groups of a pattern and a projection at the start of a plan; None if their counts are not stored."""
    match clauses:
        case [Match(optional=False, paths=()) as pattern, Project() as project, *_] if _has_keys_and_counts(project):
            pass
        case _:
            return None
    if any(node.subclasses for node in pattern.nodes):
        return None
    match pattern.edges:
        case () if len({node.variable for node in pattern.nodes}) == 1 and pattern.where is None:
            return _by_labels(compiler, pattern.nodes, project)
        case (EdgePattern(path=None) as edge,) if edge.source != edge.target:
            whole = pattern.where is None and not edge.either and not any(node.labels for node in pattern.nodes)
            if whole and (found := _by_relation(compiler, edge, project)):
                return found
            return _by_degree(compiler, pattern, edge, project)
        case _:
            return None


def _has_keys_and_counts(project: Project) -> bool:
    """Whether the columns of a projection are keys and counts, at least one of each."""
    keys = [column.value for column in project.columns if not aggregates(column.value)]
    return not project.distinct and 0 < len(keys) < len(project.columns)


def _aggregates_of(project: Project) -> list[Aggregate]:
    """Returns the different aggregates of a projection."""
    values = [column.value for column in project.columns] + [order.by for order in project.order]
    return list(dict.fromkeys(one for value in values for one in aggregates(value)))


def _counts(project: Project, singles: Iterable[str], others: Iterable[str]) -> list[Aggregate] | None:
    """Returns the aggregates of a projection if each counts rows; None if one does not.

    Each row has another value of the `singles`, so counting distinct ones counts rows. All variables are never null.
    """
    found = _aggregates_of(project)
    distinct = {Variable(name) for name in singles}
    plain = distinct | {Variable(name) for name in others} | {None}
    counted = all(
        one.function is AggregateFunction.COUNT and one.of in (distinct if one.distinct else plain) for one in found
    )
    return found if counted else None


def _uses_only(project: Project, known: Iterable[Expression], names: Iterable[str] = ()) -> bool:
    """Whether a projection uses rows only by these expressions and variables, and by its own columns."""
    columns = {column.name for column in project.columns}
    replaced = {*known}

    def left(expression: Expression) -> frozenset[str]:
        return variables_of(rewritten(expression, lambda part: Constant(None) if part in replaced else None)) - {*names}

    later = [order.by for order in project.order] + ([] if project.where is None else [project.where])
    return not any(left(column.value) for column in project.columns) and all(
        left(one) <= columns for one in (by_columns(project, each) for each in later)
    )


def _groups(
    compiler: ExpressionCompiler,
    query: str,
    scope: dict[str, Term],
    known: dict[Expression, str],
    counts: list[Aggregate],
) -> StoredGroups:
    """Adds the table of a query with the columns `key` and `number`."""
    table = compiler.statement.table(query)
    number = Term(TermKind.NUMBER, (f"sum({table}.number)",), never_null=True)
    keys = {one: Term(TermKind.VALUE, (sql.format(key=f"{table}.key"),)) for one, sql in known.items()}
    return StoredGroups(table, scope, {**keys, **dict.fromkeys(counts, number)})


def _by_labels(compiler: ExpressionCompiler, nodes: Sequence[NodePattern], project: Project) -> StoredGroups | None:
    """Returns the groups of nodes by all their labels."""
    name, words = nodes[0].variable, compiler.words
    key = Call(Function.LABELS, (Variable(name),))
    counts = _counts(project, (name,), ())
    if counts is None or not _uses_only(project, (key, *counts)):
        return None
    sets = words.label_sets
    if sets is None:
        return None
    wanted = [{entry.id for entry in words.labels(group)} for node in nodes for group in node.labels]
    rows = [[labels, number] for labels, number in sets if all(group & {*labels} for group in wanted)]
    query = pieces.STORED_LABEL_SETS.format(rows=compiler.statement.parameter(json.dumps(rows)))
    return _groups(compiler, query, {}, {key: pieces.LABELS_OF_SET.format(labels="{key}", empty=empty_list())}, counts)


def _by_relation(compiler: ExpressionCompiler, edge: EdgePattern, project: Project) -> StoredGroups | None:
    """Returns the groups of edges by their relation."""
    key = Call(Function.TYPE, (Variable(edge.variable),))
    counts = _counts(project, (edge.variable,), (edge.source, edge.target))
    if counts is None or not _uses_only(project, (key, *counts)):
        return None
    relations = compiler.statement.numbers(compiler.words.relations(edge))
    return _groups(
        compiler, pieces.STORED_RELATIONS.format(relations=relations), {}, {key: "kg_relation({key})"}, counts
    )


def _by_degree(compiler: ExpressionCompiler, match: Match, edge: EdgePattern, project: Project) -> StoredGroups | None:
    """Returns the groups with most edges or neighbours, grouped by one end of the edge: those above the degree floor.

    None if a limit does not show that these suffice: all other groups are at most at the floor.
    """
    name, far = (edge.source, edge.target) if _has_key(project, edge.source) else (edge.target, edge.source)
    neighbours = Aggregate(AggregateFunction.COUNT, Variable(far), distinct=True)
    counts = _counts(project, (edge.variable,), (edge.source, edge.target))
    of_neighbours = counts is None and _aggregates_of(project) == [neighbours]
    counts = [neighbours] if of_neighbours else counts
    own = [one for node in match.nodes if node.variable == name for one in node.labels]
    conditions = conjuncts(match.where)
    if not _has_key(project, name) or counts is None or not _is_first_by(project, counts):
        return None
    if any(node.labels for node in match.nodes if node.variable != name):
        return None
    if any(variables_of(one) - {name} for one in conditions) or not _uses_only(project, counts, [name]):
        return None
    degrees = _Degrees(compiler, edge, outgoing=name == edge.source)
    hubs = compiler.statement.table(degrees.query)
    scope = {name: Term(TermKind.NODE, (f"{hubs}.node",), never_null=True)}
    inner = ExpressionCompiler(compiler.statement, compiler.words, scope, compiler.match_queries)
    tests = [inner.labelled(f"{hubs}.node", group) for group in own] + [inner.holds(one) for one in conditions]
    where = f" WHERE {' AND '.join(f'({one})' for one in tests)}" if tests else ""
    rows = pieces.ROWS.format(columns="node, number", rows=f"{hubs}{where}")
    first = degrees.first_groups(rows, project.skip + (project.limit or 0), of_neighbours=of_neighbours)
    if first is None:
        return None
    return _groups(compiler, first, {name: Term(TermKind.NODE, ("node",), never_null=True)}, {}, counts)


class _Degrees:
    """The numbers of edges of hubs by some relations, in one direction or in both, as the file has counted them."""

    def __init__(self, compiler: ExpressionCompiler, edge: EdgePattern, *, outgoing: bool) -> None:
        self._statement, self._session = compiler.statement, compiler.words.builder.session
        self._directions = (0, 1) if edge.either else (int(not outgoing),)
        entries = compiler.words.relation_entries(edge)
        self._relations = self._statement.numbers(one.id for one in entries if one.edges)
        self._with_values = self._statement.numbers(one.id for one in entries if one.attributes and one.edges)
        self._floor = DEGREE_FLOOR * len(self._directions)

    @property
    def query(self) -> str:
        """The query for the hubs: `node`, and its `number` of edges. All other nodes have as many as the floor."""
        given = {"relations": self._relations, "floor": self._floor}
        sides = {
            direction: {"direction": direction, "with_values": self._with_values if not direction else "'[]'"}
            for direction in self._directions
        }
        if len(sides) == 1:
            (side,) = sides.values()
            return pieces.STORED_DEGREES.format(**given, **side)
        outgoing, incoming = (
            pieces.DEGREE_OF_HUB.format(relations=self._relations, near=near, **sides[direction])
            for direction, near in enumerate("so")
        )
        return pieces.STORED_DEGREES_EITHER.format(**given, outgoing=outgoing, incoming=incoming)

    def first_groups(self, rows: str, needed: int, *, of_neighbours: bool) -> str | None:
        """Returns the query for the hubs in `rows` that may be among the first; None if other nodes may be, too.

        A node has at most as many neighbours as edges. So if the hubs with most edges have so many neighbours each,
        nodes with fewer edges are not among the first.
        """
        number = self._neighbours if of_neighbours else "h.number"
        text, parameters = self._statement.text(pieces.LEAST_OF_FIRST.format(number=number, rows=rows, needed=needed))
        least, found = self._session.one(text, *parameters) or (None, 0)
        if found < needed or least is None or least <= self._floor:
            return None
        return pieces.AT_LEAST.format(number=number, rows=rows, least=least) if of_neighbours else rows

    @property
    def _neighbours(self) -> str:
        """The number of different neighbours of the hub `h`."""
        ends = [("s", "o"), ("o", "s")]
        nodes = (
            pieces.NEIGHBOUR_NODES.format(near=near, far=far, relations=self._relations)
            for near, far in (ends[direction] for direction in self._directions)
        )
        return pieces.NEIGHBOURS.format(nodes=" UNION ALL ".join(nodes))


def _has_key(project: Project, name: str) -> bool:
    """Whether a projection groups by a node."""
    return any(column.value in (Variable(name), Call(Function.ID, (Variable(name),))) for column in project.columns)


def _is_first_by(project: Project, counts: Sequence[Aggregate]) -> bool:
    """Whether a projection keeps the first groups by a count, largest first."""
    if not project.limit or not project.order or not project.order[0].descending:
        return False
    by = by_columns(project, project.order[0].by)
    values = {Variable(column.name): column.value for column in project.columns}
    return values.get(by, by) in counts if isinstance(by, Variable) else by in counts
