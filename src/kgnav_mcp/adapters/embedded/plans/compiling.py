"""Compiles a checked plan to one query. Each clause becomes a table that reads the one before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgnav_mcp.adapters.embedded.plans.comparing import encoded
from kgnav_mcp.adapters.embedded.plans.counting import counted
from kgnav_mcp.adapters.embedded.plans.expressions import Asking
from kgnav_mcp.adapters.embedded.plans.patterns import branches, fits
from kgnav_mcp.adapters.embedded.plans.projecting import Projected, Projector
from kgnav_mcp.adapters.embedded.plans.spreading import spread
from kgnav_mcp.adapters.embedded.plans.statement import SINGLE, Kind, Scope, Statement, Term, columns, refused, within
from kgnav_mcp.adapters.embedded.plans.words import Words
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.adapters.embedded.session import Parameter
from kgnav_mcp.plan import (
    AggregateFunction,
    Clause,
    Match,
    Pipeline,
    Plan,
    Project,
    Unwind,
)
from kgnav_mcp.plan.walking import aggregates, variables_of


@dataclass(frozen=True, slots=True)
class Compiled:
    """A query. Its first column is the number of all rows of the answer, the others are the answer's columns."""

    query: str
    parameters: list[Parameter]
    terms: tuple[Term, ...]
    """One for each column of the answer, naming the query's columns."""


def compiled(words: Words, plan: Plan, limit: int, skip: int) -> Compiled:
    """Compiles a plan to the query for one page of its answer.

    Raises:
        Unsupported: SQL cannot express a part of the plan.
    """
    statement = Statement()
    projector = Projector(statement, words, lambda match, scope: fits(statement, words, match, scope))
    whole = [_pipeline(projector, pipeline, plan) for pipeline in plan.pipelines]
    answer = whole[0] if len(whole) == 1 else _union(projector, whole, plan)
    selected = [sql for term in answer.scope.values() for sql in term.sql]
    order = f" ORDER BY {', '.join(answer.order)}" if answer.order else ""
    counted_rows = pieces.FIRST if plan.asks else pieces.NUMBER
    limit = min(limit, max(0, 1 - skip)) if plan.asks else limit
    page = pieces.PAGE.format(
        columns=", ".join([counted_rows.format(rows=answer.table), *selected]),
        rows=f"{answer.table}{order}",
        limit=statement.parameter(limit),
        skip=statement.parameter(skip),
    )
    text, parameters = statement.text(page)
    return Compiled(text, parameters, tuple(answer.scope.values()))


def _pipeline(projector: Projector, pipeline: Pipeline, plan: Plan) -> Projected:
    statement, words = projector.statement, projector.words
    known = counted(words, pipeline)
    if known is not None:
        scope = {column.name: Term(Kind.NUMBER, (str(known),)) for column in pipeline.result.columns}
        selected, kept = columns(scope)
        return Projected(statement.table(f"SELECT {', '.join(selected)}"), kept, ())
    table: str | None = None
    scope: dict[str, Term] = {}
    found: Projected | None = None
    for place, clause in enumerate(pipeline.clauses):
        match clause:
            case Match():
                table, scope = _matched(projector, clause, table, scope, pipeline.clauses[place + 1 :])
            case Project():
                last = place == len(pipeline.clauses) - 1
                found = projector.projected(clause, table, scope, first_only=last and plan.asks)
                if clause.order and not last and _collects(pipeline.clauses[place + 1]):
                    found = projector.numbered(found)
                table, scope = found.table, found.scope
            case Unwind():
                asking = Asking(statement, words, within(scope, table) if table else {}, projector.fits)
                table, scope = spread(asking, clause, table)
    if found is None:
        raise TypeError("a plan ends with what it returns")
    return found


def _collects(clause: Clause) -> bool:
    """Whether a clause has a COLLECT, whose list depends on the order of the rows before."""
    columns_of = clause.columns if isinstance(clause, Project) else ()
    sums = (one for column in columns_of for one in aggregates(column.value))
    return any(one.function is AggregateFunction.COLLECT for one in sums)


def _grouped(clause: Clause) -> str | None:
    """Returns the variable by which a projection groups rows, if it is exactly one, else None."""
    columns_of = clause.columns if isinstance(clause, Project) else ()
    keys = [column.value for column in columns_of if not aggregates(column.value)]
    names = frozenset[str]().union(*map(variables_of, keys))
    return min(names) if len(names) == 1 and len(keys) < len(columns_of) else None


def _needed(clauses: Sequence[Clause]) -> frozenset[str]:
    """Returns the variables that clauses use, up to and including the next projection."""
    found: set[str] = set()
    for clause in clauses:
        match clause:
            case Match():
                found |= variables_of(clause)
            case Project():
                for each in (*(column.value for column in clause.columns), *(order.by for order in clause.order)):
                    found |= variables_of(each)
                break
            case _:
                found |= variables_of(clause.of)
    return frozenset(found)


def _matched(
    projector: Projector, match: Match, table: str | None, scope: Scope, later: Sequence[Clause]
) -> tuple[str, dict[str, Term]]:
    """Compiles a MATCH: joins the rows before with all matches of the pattern. Returns the table and its scope."""
    statement, words = projector.statement, projector.words
    needed = _needed(later)
    if match.optional:
        table = statement.table(pieces.OUTER.format(rows=table or "(SELECT 1)"))
    given = within(scope, table) if table is not None else {}
    place = [f"{table}.place AS place"] if match.optional else []
    queries: list[str] = []
    kept: dict[str, Term] = {}
    grouped = _grouped(later[0])
    for branch in branches(statement, words, match, given, table=table, needed=needed, grouped=grouped):
        bound = {name: term for name, term in sorted(branch.scope.items()) if name in needed}
        selected, kept = columns(bound)
        queries.append(branch.query(", ".join([*selected, *place]) or "1 AS c0"))
    if match.optional:
        fitted = statement.table(" UNION ALL ".join(queries))
        names = ", ".join(sql for term in kept.values() for sql in term.sql) or "1 AS c0"
        sure = {name: given[name] if name in given else _nothing(term) for name, term in kept.items()}
        selected, _ = columns(sure)
        left = pieces.UNFITTED.format(columns=", ".join(selected) or "1 AS c0", table=table, fitted=fitted)
        queries = [pieces.ROWS.format(columns=names, rows=fitted), left]
    return statement.table(" UNION ALL ".join(queries), read_once=isinstance(later[0], Project)), kept


def _nothing(term: Term) -> Term:
    return Term(term.kind, tuple("NULL" for _ in term.sql))


def _union(projector: Projector, parts: Iterable[Projected], plan: Plan) -> Projected:
    """Compiles a UNION of pipelines, ordered by all columns."""
    statement, words = projector.statement, projector.words
    tables = list(parts)
    kinds = [
        _one_kind([term.kind for term in terms])
        for terms in zip(*(each.scope.values() for each in tables), strict=True)
    ]
    queries: list[str] = []
    kept: dict[str, Term] = {}
    for each in tables:
        terms = within(each.scope, each.table)
        wanted = {
            name: term if term.kind is kind else Term(kind, (encoded(term),), "", term.dated)
            for (name, term), kind in zip(terms.items(), kinds, strict=True)
        }
        selected, columns_of = columns(wanted)
        kept = kept or dict(zip(plan.columns, columns_of.values(), strict=True))
        queries.append(pieces.ROWS.format(columns=", ".join(selected), rows=each.table))
    table = statement.table((" UNION ALL " if plan.keep_duplicates else " UNION ").join(queries))
    asking = Asking(statement, words, within(kept, table), projector.fits)
    order = [sql for name in kept for sql in projector.sort_terms(asking, asking.variable(name))]
    return Projected(table, kept, tuple(order))


def _one_kind(kinds: Sequence[Kind]) -> Kind:
    if len(set(kinds)) == 1:
        return kinds[0]
    if not SINGLE.issuperset(kinds):
        raise refused("nodes or edges and values in one column")
    return Kind.VALUE
