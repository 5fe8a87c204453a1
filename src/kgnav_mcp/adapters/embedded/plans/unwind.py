"""Compiles UNWIND, which makes a row for each member of a list."""

from __future__ import annotations

from kgnav_mcp.adapters.embedded.plans.comparisons import encoded
from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler
from kgnav_mcp.adapters.embedded.plans.statement import SINGLE, Term, TermKind, columns, unsupported
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import Unwind


def compile_unwind(compiler: ExpressionCompiler, clause: Unwind, table: str | None) -> tuple[str, dict[str, Term]]:
    """Adds a table with a row for each row before and each member of its list. Returns its name and its variables.

    Raises:
        Unsupported: the list has nodes or edges.
    """
    statement, term = compiler.statement, compiler.value(clause.of)
    if term.kind not in SINGLE:
        raise unsupported("a list of nodes or edges over rows")
    alias = statement.alias("j")
    sql = pieces.MEMBER.format(alias=alias)
    member = Term(TermKind.VALUE, (sql,), may_be_date=term.may_be_date, of_property=term.of_property)
    selected, kept = columns({**compiler.scope, clause.variable: member})
    rows = pieces.MEMBERS.format(value=encoded(term), alias=alias)
    source = rows if table is None else f"{table} CROSS JOIN {rows}"
    return statement.table(pieces.ROWS.format(columns=", ".join(selected), rows=source)), kept
