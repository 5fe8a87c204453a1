"""What the clauses after a pattern need of its rows: if they only count rows, the store can count them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Call,
    Clause,
    Constant,
    During,
    EdgePattern,
    Expression,
    Function,
    HasLabel,
    Match,
    PathPattern,
    Pipeline,
    Plan,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, parts, rewritten, variables_of

_ROWS = Aggregate(AggregateFunction.COUNT, None)


@dataclass(frozen=True, slots=True)
class RequiredColumns:
    """The needed parts of a pattern's rows: these variables, and the number of equal rows."""

    variables: frozenset[str] = frozenset()
    counted: str | None = None
    """The variable of which only the number of distinct values is needed."""
    top: int | None = None
    """Only this many of the most frequent rows are needed, and all ties with the last of them."""
    properties: frozenset[tuple[str, str]] = frozenset()
    """The properties of these variables that are needed, each as a variable and a relation."""
    only_counted: frozenset[str] = frozenset()
    """Those of the variables of which only is needed whether they are null."""

    def if_matched(self) -> RequiredColumns:
        """What is needed of the matches of an optional pattern: in them its variables are not null."""
        return replace(self, variables=self.variables - self.only_counted)


def counting_rows(pipeline: Pipeline) -> tuple[Clause, ...]:
    """The clauses of a pipeline, with `count(v)` replaced by the number of rows if `v` is never null.

    So is `count(DISTINCT e)` if each row has another edge `e`: a store need not tell edges apart to count rows. The
    edges of an optional pattern are counted by a node that is null together with them, for a store finds nodes.
    """
    never_null: set[str] = set()
    each_once = _edge_of_each_row(pipeline)
    bound: set[str] = set()
    null_together: dict[str, str] = {}
    clauses: list[Clause] = []

    def change(part: object) -> Expression | None:
        match part:
            case Aggregate(AggregateFunction.COUNT, Variable(name), distinct=False) if name in never_null:
                return _ROWS
            case Aggregate(AggregateFunction.COUNT, Variable(name), distinct=True) if name == each_once:
                return _ROWS
            case Aggregate(AggregateFunction.COUNT, Variable(name), distinct=False) if name in null_together:
                return Aggregate(AggregateFunction.COUNT, Variable(null_together[name]))
            case _:
                return None

    for clause in pipeline.clauses:
        clauses.append(rewritten(clause, change) if isinstance(clause, Project) else clause)
        match clause:
            case Project():
                each_once = None
                never_null.clear()
                null_together.clear()
                bound = {column.name for column in clause.columns}
            case Match(optional=False):
                never_null.update(node.variable for node in clause.nodes)
                never_null.update(edge.variable for edge in clause.edges if edge.path is None)
            case Match():
                edges = [edge for edge in clause.edges if edge.path is None and edge.variable not in bound]
                ends = {edge.variable: {edge.target, edge.source} - bound for edge in edges}
                null_together |= {name: min(free) for name, free in ends.items() if free}
            case _:
                pass
        if not isinstance(clause, Project):
            bound |= variables_of(clause)
    return tuple(clauses)


def _edge_of_each_row(pipeline: Pipeline) -> str | None:
    """The edge that differs in each row of the first projection, whose only pattern is this edge; None if none does."""
    match pipeline.clauses[:2], pipeline.given:
        case (Match(optional=False, edges=(EdgePattern(either=False, path=None) as edge,)) as found, Project()), None:
            ends = {edge.source, edge.target}
            return edge.variable if all(node.variable in ends for node in found.nodes) else None
        case _:
            return None


def uses_edges(plan: Plan) -> bool:
    """Whether an expression of the plan uses an edge, or a path, for more than counting it or its edges."""
    edges, used = set[str](), set[str]()
    clauses = (rewritten(clause, _without_length) for pipeline in plan.pipelines for clause in counting_rows(pipeline))
    for part in (part for clause in clauses for part in parts(clause, patterns=True)):
        match part:
            case EdgePattern(name) | PathPattern(name):
                edges.add(name)
            case Variable(name) | Property(name) | HasLabel(name) | During(name):
                used.add(name)
            case _:
                pass
    return not edges.isdisjoint(used)


def _without_length(part: object) -> Expression | None:
    match part:
        case Call(Function.LENGTH, (Variable(),)):
            return Constant(None)
        case _:
            return None


def needs_after(clauses: Sequence[Clause]) -> RequiredColumns:
    """What the clauses after a pattern need of it, up to the first projection."""
    needed: set[str] = set()
    not_counted: set[str] = set()
    for clause in clauses:
        needed |= variables_of(clause)
        not_counted |= variables_of(rewritten(clause, _without_count))
        if isinstance(clause, Project):
            break
    only_counted = frozenset(needed - not_counted)
    return RequiredColumns(frozenset(needed), properties=_properties(clauses), only_counted=only_counted)


def _without_count(part: object) -> Expression | None:
    """COUNT of all rows in place of the count of those where a variable is not null."""
    match part:
        case Aggregate(AggregateFunction.COUNT, Variable(), distinct=False):
            return _ROWS
        case _:
            return None


def _properties(clauses: Sequence[Clause]) -> frozenset[tuple[str, str]]:
    """The properties that clauses use, of variables that are still the same ones."""
    found: set[tuple[str, str]] = set()
    same: frozenset[str] | None = None
    for clause in clauses:
        used = [one for one in parts(clause) if isinstance(one, Property) and (same is None or one.owner in same)]
        found.update((one.owner, relation) for one in used for relation in one.ids)
        if isinstance(clause, Project):
            kept = frozenset(column.name for column in clause.columns if column.value == Variable(column.name))
            same = kept if same is None else same & kept
    return frozenset(found)


def counting_projection(
    match: Match, project: Project, later: Sequence[Clause] = ()
) -> tuple[RequiredColumns, Project] | None:
    """For a projection that only counts rows of the pattern: what it needs, and the projection over the counts.

    `later` are the clauses after it.

    None if it needs the rows themselves.
    """
    own = {node.variable for node in match.nodes}
    found = {
        one for column in (*project.columns, *project.order) for one in parts(column) if isinstance(one, Aggregate)
    }
    if match.optional or len(found) != 1:
        return None
    (one,) = found
    counted = None
    if isinstance(one.of, Variable) and one == Aggregate(AggregateFunction.COUNT, one.of, distinct=True):
        counted = one.of.name
    elif one != _ROWS:
        return None
    counts = rewritten(project, lambda part: _ROWS if part == one else None)
    needed = variables_of(counts)
    groups = {column.value.name for column in counts.columns if isinstance(column.value, Variable)}
    if counted is not None and (counted not in own or counted in needed):
        return None
    if not needed & variables_of(match) <= groups & own:
        return None  # rows that differ in these variables may belong to one group
    return RequiredColumns(needed, counted, _top(counts, later), _properties((counts, *later))), counts


def _top(project: Project, later: Sequence[Clause]) -> int | None:
    """The number of rows that are wanted if they are sorted by their count, largest first; otherwise None.

    The projection after `project` may sort them, if all rows come there.
    """
    numbers: list[Expression] = [_ROWS]
    if later and not (project.distinct or project.order or project.skip or project.limit is not None or project.where):
        numbers = [Variable(column.name) for column in project.columns if column.value == _ROWS]
        following = later[0]
        if not isinstance(following, Project) or any(aggregates(column.value) for column in following.columns):
            return None
        project = following
    if project.limit is None or project.distinct or not project.order or not project.order[0].descending:
        return None
    by = project.order[0].by
    columns = {column.name: column.value for column in project.columns}
    value = columns.get(by.name, by) if isinstance(by, Variable) else by
    return max(project.skip + project.limit, 1) if value in numbers else None
