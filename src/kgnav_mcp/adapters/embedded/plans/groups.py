"""Counts rows by node or relation before they are grouped by names of these.

Grouping by a node's name would read that name for each row. Instead, rows are first counted by node, in the order of
the index. Then each name is read once, and the counts are added up by name. Counts by labels are first added up by the
numbers of the labels, counts by type by the number of the relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kgnav_mcp.adapters.embedded.plans.comparisons import single_of_property
from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler
from kgnav_mcp.adapters.embedded.plans.statement import Scope, Statement, Term, TermKind, columns, within
from kgnav_mcp.adapters.embedded.plans.value_encoding import empty_list
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import Aggregate, AggregateFunction, Call, Constant, Expression, Function, Variable
from kgnav_mcp.plan.walking import rewritten, variables_of

_COUNT = "\0count"
_KEY = "\0key"


def counted_by_node(
    statement: Statement,
    table: str,
    compiler: ExpressionCompiler,
    keys: Sequence[Expression],
    aggregates: Sequence[Aggregate],
) -> tuple[str, dict[Expression, Term]] | None:
    """Returns a table of keys and counts by node or relation, and the terms of keys and aggregates over it.

    None if this saves nothing or is impossible: only plain counts can be added up.
    """
    scope = compiler.scope
    names = sorted({name for key in keys for name in variables_of(key) & scope.keys()})
    if not names or all(isinstance(key, Variable) for key in keys):
        return None
    by_type = [name for name in names if scope[name].kind is TermKind.EDGE and _is_only_in(Function.TYPE, name, keys)]
    if any(scope[name].kind is not TermKind.NODE for name in names if name not in by_type):
        return None
    counts = [_count_sql(one, scope) for one in aggregates]
    if not all(counts):
        return None
    count_names = [f"{_COUNT}{place}" for place in range(len(aggregates))]
    node_terms = {
        name: Term(TermKind.NUMBER, (scope[name].sql[1],)) if name in by_type else scope[name] for name in names
    }
    by_node, found = _add_table(
        statement,
        table,
        node_terms
        | {name: Term(TermKind.NUMBER, (sql,), never_null=True) for name, sql in zip(count_names, counts, strict=True)},
        f" GROUP BY {', '.join(term.one for term in node_terms.values())}",
    )
    read: dict[Expression, Term] = {}
    for name in by_type:
        read[_call(Function.TYPE, name)] = Term(TermKind.TEXT, (f"kg_relation({found[name].one})",), may_be_date=True)
    if len(names) == 1 and _is_only_in(Function.LABELS, names[0], keys):
        by_node, found = _counted_by_labels(statement, by_node, found, names[0], count_names)
        labels = pieces.LABELS_OF_SET.format(labels=found[names[0]].one, empty=empty_list())
        read[_call(Function.LABELS, names[0])] = Term(TermKind.VALUE, (labels,))
    inner = replace(compiler, scope=found, known=read)
    values = {f"{_KEY}{place}": inner.value(key) for place, key in enumerate(keys)}
    table_of_keys, found = _add_table(statement, by_node, values | {name: found[name] for name in count_names})
    known: dict[Expression, Term] = {key: found[name] for key, name in zip(keys, values, strict=True)}
    for one, name in zip(aggregates, count_names, strict=True):
        known[one] = Term(TermKind.NUMBER, (f"sum({found[name].one})",), never_null=True)
    return table_of_keys, known


def _call(function: Function, name: str) -> Call:
    return Call(function, (Variable(name),))


def _is_only_in(function: Function, name: str, keys: Sequence[Expression]) -> bool:
    """Whether keys use a variable only as the argument of this function."""
    call = _call(function, name)
    left = (rewritten(key, lambda part: Constant(None) if part == call else None) for key in keys)
    return not any(name in variables_of(one) for one in left)


def _counted_by_labels(
    statement: Statement, by_node: str, scope: Scope, name: str, count_names: Sequence[str]
) -> tuple[str, dict[str, Term]]:
    """Adds up counts by node by the numbers of the node's labels, as a JSON list in the place of the node."""
    labels = Term(TermKind.TEXT, (pieces.LABEL_SET.format(node=scope[name].one),))
    counts = {one: Term(TermKind.NUMBER, (f"sum({scope[one].one})",), never_null=True) for one in count_names}
    return _add_table(statement, by_node, {name: labels, **counts}, " GROUP BY 1")


def _add_table(statement: Statement, table: str, scope: Scope, groups: str = "") -> tuple[str, dict[str, Term]]:
    """Adds a table with these columns. Returns its name and the terms of its columns."""
    selected, result_scope = columns(scope)
    name = statement.table(pieces.ROWS.format(columns=", ".join(selected), rows=f"{table}{groups}"))
    return name, within(result_scope, name)


def _count_sql(one: Aggregate, scope: Scope) -> str:
    """Returns the SQL of a count of rows or of a variable; empty for any other aggregate."""
    if one.function is not AggregateFunction.COUNT or one.distinct:
        return ""
    if one.of is None:
        return "count(*)"
    if not isinstance(one.of, Variable) or not scope[one.of.name].sql:
        return ""
    return f"count({single_of_property(scope[one.of.name]).one})"
