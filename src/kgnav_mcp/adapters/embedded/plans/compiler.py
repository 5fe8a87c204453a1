"""Compiles a checked plan to one query. Each clause becomes a table that reads the one before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.embedded.entities import resolved
from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.patterns import branches, match_queries
from kgnav_mcp.adapters.embedded.plans.projections import Projected, Projector
from kgnav_mcp.adapters.embedded.plans.statement import (
    SINGLE,
    Scope,
    Statement,
    Term,
    TermKind,
    columns,
    encoded,
    unsupported,
    within,
)
from kgnav_mcp.adapters.embedded.plans.stored_counts import count_from_catalogue, stored_groups
from kgnav_mcp.adapters.embedded.plans.value_joins import leave_value_joins
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.plan import (
    AggregateFunction,
    Clause,
    GivenNodes,
    Match,
    Pipeline,
    Plan,
    Project,
    Unwind,
)
from kgnav_mcp.plan.walking import aggregates, node_patterns, variables_of


def compile_unwind(
    compiler: ExpressionCompiler, clause: Unwind, table: str | None, needed: frozenset[str]
) -> tuple[str, dict[str, Term]]:
    """Adds a table with one row for each row before the clause and each member of its list.

    Returns the name of the table and its variables.

    Only `needed` variables are kept: the list itself would be repeated in the row of each of its members.

    Raises:
        Unsupported: the list has nodes or edges.
    """
    statement, term = compiler.statement, compiler.value(clause.of)
    if term.kind not in SINGLE:
        raise unsupported("UNWIND of a list of nodes or edges")
    alias = statement.alias("j")
    sql = pieces.MEMBER.format(alias=alias)
    member = Term(TermKind.VALUE, (sql,), may_be_date=term.may_be_date, of_property=term.of_property)
    bound = {**compiler.scope, clause.variable: member}
    selected, kept = columns({name: term for name, term in bound.items() if name in needed})
    rows = pieces.MEMBERS.format(value=encoded(term), alias=alias)
    source = rows if table is None else f"{table} CROSS JOIN {rows}"
    return statement.table(pieces.ROWS.format(columns=", ".join(selected) or "1 AS c0", rows=source)), kept


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled query.

    Its first column is the total number of rows of the answer, the others are the answer's columns.

    If the rows may come in any order, they are not counted, and the first column is 0.
    """

    query: str
    parameters: list[Parameter]
    terms: tuple[Term, ...]
    """The terms of the answer's columns, over the query's columns."""


def compile_plan(words: NameResolver, plan: Plan, limit: int, skip: int) -> Compiled:
    """Compiles a plan to the query for one page of its answer.

    Raises:
        Unsupported: SQL cannot express a part of the plan.
    """
    statement = Statement()
    projector = Projector(statement, words, lambda match, scope: match_queries(statement, words, match, scope))
    projections = [_compile_pipeline(projector, pipeline, plan) for pipeline in plan.pipelines]
    answer = projections[0] if len(projections) == 1 else _compile_union(projector, projections, plan)
    selected = [sql for term in answer.scope.values() for sql in term.sql]
    order = f" ORDER BY {', '.join(answer.order)}" if answer.order else ""
    counted_rows = "0" if plan.in_any_order else pieces.FIRST if plan.only_exists else pieces.NUMBER
    limit = min(limit, max(0, 1 - skip)) if plan.only_exists else limit
    page = pieces.PAGE.format(
        columns=", ".join([counted_rows.format(rows=answer.table), *selected]),
        rows=f"{answer.table}{order}",
        limit=statement.parameter(limit),
        skip=statement.parameter(skip),
    )
    text, parameters = statement.text(page)
    return Compiled(text, parameters, tuple(answer.scope.values()))


def _compile_pipeline(projector: Projector, pipeline: Pipeline, plan: Plan) -> Projected:
    statement, words = projector.statement, projector.words
    count = count_from_catalogue(words, pipeline)
    if count is not None:
        scope = {column.name: Term(TermKind.NUMBER, (str(count),)) for column in pipeline.result.columns}
        selected, result_scope = columns(scope)
        return Projected(statement.table(f"SELECT {', '.join(selected)}"), result_scope, ())
    table, scope = (None, dict[str, Term]()) if pipeline.given is None else _given_nodes(projector, pipeline.given)
    projection: Projected | None = None
    leave_value_joins(ExpressionCompiler(Statement(), words, {}, projector.match_queries), pipeline)
    stored = None
    if pipeline.given is None:
        stored = stored_groups(ExpressionCompiler(statement, words, {}, projector.match_queries), pipeline.clauses)
    for place, clause in enumerate(pipeline.clauses):
        match clause:
            case Match() if stored is not None and not place:
                table, scope = stored.table, stored.scope
            case Match():
                table, scope = _compile_match(projector, clause, table, scope, pipeline.clauses[place + 1 :])
            case Project():
                last = place == len(pipeline.clauses) - 1
                projection = projector.projected(
                    clause,
                    table,
                    scope,
                    first_only=last and plan.only_exists,
                    in_any_order=last and plan.in_any_order,
                    known=stored.known if stored is not None and place == 1 else {},
                )
                if clause.order and not last and _uses_order(pipeline.clauses[place + 1]):
                    projection = projector.numbered(projection)
                table, scope = projection.table, projection.scope
            case Unwind():
                compiler = ExpressionCompiler(
                    statement, words, within(scope, table) if table else {}, projector.match_queries
                )
                table, scope = compile_unwind(compiler, clause, table, _needed_variables(pipeline.clauses[place + 1 :]))
    if projection is None:
        raise TypeError("a plan must end with RETURN")
    return projection


def _given_nodes(projector: Projector, given: GivenNodes) -> tuple[str, dict[str, Term]]:
    """Compiles rows of nodes that the caller holds to a table, without rows with an id that is not in the graph."""
    statement, words = projector.statement, projector.words
    known = resolved(words.builder, dict.fromkeys(name for row in given.rows for name in row))
    numbers = [[known[name][0] for name in row] for row in given.rows if all(name in known for name in row)]
    selected = ", ".join(f"value ->> {place} AS c{place}" for place, _ in enumerate(given.variables))
    rows = pieces.GIVEN.format(columns=selected, rows=statement.parameter(json.dumps(numbers)))
    scope = {name: Term(TermKind.NODE, (f"c{place}",), never_null=True) for place, name in enumerate(given.variables)}
    return statement.table(rows), scope


def _uses_order(clause: Clause) -> bool:
    """Whether a clause has a COLLECT, whose list depends on the order of the rows before."""
    columns_of = clause.columns if isinstance(clause, Project) else ()
    sums = (one for column in columns_of for one in aggregates(column.value))
    return any(one.function is AggregateFunction.COLLECT for one in sums)


def _group_variable(clause: Clause) -> str | None:
    """Returns the variable by which a projection groups rows, if it is exactly one, else None."""
    columns_of = clause.columns if isinstance(clause, Project) else ()
    keys = [column.value for column in columns_of if not aggregates(column.value)]
    names = frozenset[str]().union(*map(variables_of, keys))
    return min(names) if len(names) == 1 and len(keys) < len(columns_of) else None


def _needed_variables(clauses: Sequence[Clause]) -> frozenset[str]:
    """Returns the variables that clauses use, up to and including the next projection."""
    found: set[str] = set()
    for clause in clauses:
        match clause:
            case Match():
                found |= variables_of(clause)
            case Project():
                found |= variables_of(clause)
                break
            case _:
                found |= variables_of(clause.of)
    return frozenset(found)


def _is_distinct(match: Match, needed: frozenset[str], clause: Clause) -> bool:
    """Whether a pattern has many equal rows, of which the clause behind it needs one: it reads names for each row."""
    if match.optional or not isinstance(clause, Project) or not clause.distinct:
        return False
    if any(aggregates(one.value) for one in clause.columns):
        return False
    return not needed.issuperset(node_patterns(match)) or any(edge.path is not None for edge in match.edges)


def _compile_match(
    projector: Projector, match: Match, table: str | None, scope: Scope, later: Sequence[Clause]
) -> tuple[str, dict[str, Term]]:
    """Compiles a MATCH: joins the rows before with all matches of the pattern. Returns the table and its scope."""
    statement, words = projector.statement, projector.words
    needed = _needed_variables(later)
    if match.optional:
        table = statement.table(pieces.OUTER.format(rows=table or "(SELECT 1)"))
    given = within(scope, table) if table is not None else {}
    place = [f"{table}.place AS place"] if match.optional else []
    queries: list[str] = []
    result_scope: dict[str, Term] = {}
    grouped, is_distinct = _group_variable(later[0]), _is_distinct(match, needed, later[0])
    for branch in branches(statement, words, match, given, table=table, needed=needed, grouped=grouped):
        bound = {name: term for name, term in sorted(branch.scope.items()) if name in needed}
        selected, result_scope = columns(bound)
        queries.append(branch.query(", ".join([*selected, *place]) or "1 AS c0", is_distinct=is_distinct))
    if match.optional:
        matched = statement.table(" UNION ALL ".join(queries))
        names = ", ".join(sql for term in result_scope.values() for sql in term.sql) or "1 AS c0"
        unmatched_scope = {
            name: given[name] if name in given else _null_term(term) for name, term in result_scope.items()
        }
        selected, _ = columns(unmatched_scope)
        unmatched = pieces.UNMATCHED.format(columns=", ".join(selected) or "1 AS c0", table=table, matched=matched)
        queries = [pieces.ROWS.format(columns=names, rows=matched), unmatched]
    union = " UNION " if is_distinct else " UNION ALL "
    return statement.table(union.join(queries), read_once=isinstance(later[0], Project)), result_scope


def _null_term(term: Term) -> Term:
    return Term(term.kind, tuple("NULL" for _ in term.sql))


def _compile_union(projector: Projector, parts: Iterable[Projected], plan: Plan) -> Projected:
    """Compiles a UNION of pipelines, ordered by all columns."""
    statement, words = projector.statement, projector.words
    tables = list(parts)
    kinds = [
        _common_kind([term.kind for term in terms])
        for terms in zip(*(each.scope.values() for each in tables), strict=True)
    ]
    queries: list[str] = []
    result_scope: dict[str, Term] = {}
    for each in tables:
        terms = within(each.scope, each.table)
        converted = {
            name: term if term.kind is kind else Term(kind, (encoded(term),), "", term.may_be_date)
            for (name, term), kind in zip(terms.items(), kinds, strict=True)
        }
        selected, columns_of = columns(converted)
        result_scope = result_scope or dict(zip(plan.columns, columns_of.values(), strict=True))
        queries.append(pieces.ROWS.format(columns=", ".join(selected), rows=each.table))
    table = statement.table((" UNION ALL " if plan.keep_duplicates else " UNION ").join(queries))
    compiler = ExpressionCompiler(statement, words, within(result_scope, table), projector.match_queries)
    order = [sql for name in result_scope for sql in projector.sort_terms(compiler, compiler.variable(name))]
    return Projected(table, result_scope, tuple(order))


def _common_kind(kinds: Sequence[TermKind]) -> TermKind:
    if len(set(kinds)) == 1:
        return kinds[0]
    if not SINGLE.issuperset(kinds):
        raise unsupported("nodes or edges and values in one column")
    return TermKind.VALUE
