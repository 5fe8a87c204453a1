"""Compiles the projections of plans to SQL: what is returned, grouped and sorted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler, MatchQueries
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.path_tables import dumped
from kgnav_mcp.adapters.embedded.plans.statement import (
    SINGLE,
    Scope,
    Statement,
    Term,
    TermKind,
    columns,
    encoded,
    single_of_property,
    unsupported,
    within,
)
from kgnav_mcp.adapters.embedded.plans.value_encoding import empty_list
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import Aggregate, AggregateFunction, Call, Constant, Expression, Function, Project, Variable
from kgnav_mcp.plan.walking import aggregates, by_columns, rewritten, variables_of

_COUNT = "\0count"
_KEY = "\0key"


def counted_by_node(
    statement: Statement,
    table: str,
    compiler: ExpressionCompiler,
    keys: Sequence[Expression],
    aggregates: Sequence[Aggregate],
) -> tuple[str, dict[Expression, Term]] | None:
    """Returns a table of counts grouped by node or relation, and the terms of keys and aggregates over it.

    None if this saves nothing or is impossible, since only plain counts can be added up.
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


def uses_only_aggregates(expression: Expression) -> bool:
    """Whether an expression uses variables only within aggregates."""
    inside = rewritten(expression, lambda part: Constant(None) if isinstance(part, Aggregate) else None)
    return not variables_of(inside)


def without_columns(project: Project, expression: Expression) -> Expression:
    """Returns a sort expression with columns replaced by their expressions over the variables before the projection.

    Raises:
        Unsupported: it uses a column outside of an aggregate.
    """
    value_of = {column.name: column.value for column in project.columns}
    replacements = {Variable(name): value for name, value in value_of.items()}
    left = rewritten(expression, lambda part: Constant(None) if isinstance(part, Variable) else None)
    if not variables_of(left).isdisjoint(value_of):
        raise unsupported("sorting by properties of a column together with aggregates")
    return rewritten(expression, lambda part: replacements.get(part) if isinstance(part, Variable) else None)


_ORDER = "\0order"
PLACE = "\0place"
"""The column of row numbers, used if a later clause depends on the order. No variable can have this name."""
_NOTHING_KNOWN: Mapping[Expression, Term] = {}
_AGGREGATE_FUNCTIONS = {
    AggregateFunction.SUM: "kg_sum",
    AggregateFunction.AVERAGE: "kg_avg",
    AggregateFunction.MINIMUM: "kg_min",
    AggregateFunction.MAXIMUM: "kg_max",
    AggregateFunction.DEVIATION: "kg_deviation",
    AggregateFunction.DEVIATION_OF_ALL: "kg_deviation_of_all",
    AggregateFunction.PERCENTILE: "kg_percentile",
    AggregateFunction.PERCENTILE_OF_VALUES: "kg_percentile_of_values",
}


@dataclass(frozen=True, slots=True)
class Projected:
    """A table of projected rows, its variables, and the terms to sort it by."""

    table: str
    scope: dict[str, Term]
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Projector:
    """Compiles projections."""

    statement: Statement
    words: NameResolver
    match_queries: MatchQueries

    def projected(
        self,
        project: Project,
        table: str | None,
        scope: Scope,
        *,
        first_only: bool = False,
        in_any_order: bool = False,
        known: Mapping[Expression, Term] = _NOTHING_KNOWN,
    ) -> Projected:
        """Compiles a projection. `first_only`: only the first row is needed. `in_any_order`: rows are not sorted.

        `known`: expressions that the table has as columns, among them all aggregates; the scope does not have them.

        Raises:
            Unsupported: SQL cannot express it.
        """
        aggregate_columns = [column for column in project.columns if aggregates(column.value)]
        if table is not None and not aggregate_columns:
            table = self._drop_beyond_limit(project, table, scope)
        source = within(scope, table) if table is not None else dict(scope)
        names = {column.name for column in project.columns}
        sort_by = [by_columns(project, order.by) for order in project.order]
        aggregate_orders = [place for place, each in enumerate(sort_by) if aggregates(each)]
        over_rows = [project.where] if project.where is not None else []
        over_rows += [each for place, each in enumerate(sort_by) if place not in aggregate_orders]
        earlier = {name for each in over_rows for name in variables_of(each)} & source.keys() - names
        if (earlier and (project.distinct or aggregate_columns)) or (aggregate_orders and project.distinct):
            raise unsupported("sorting by, or a condition on, variables before grouping or DISTINCT")
        compiler, table = self._prepare_aggregates(
            project, ExpressionCompiler(self.statement, self.words, source, self.match_queries, known=known), table
        )
        column_terms = {column.name: self._column(compiler, column.value) for column in project.columns}
        all_terms = dict(column_terms)
        for place in aggregate_orders:
            all_terms[f"{_ORDER}{place}"] = self._column(compiler, without_columns(project, project.order[place].by))
        all_terms |= {name: source[name] for name in sorted(earlier)}
        selected, result_terms = columns(all_terms)
        query = f"SELECT {'DISTINCT ' if project.distinct else ''}{', '.join(selected) or '1 AS c0'}"
        query += f" FROM {table}" if table is not None else ""
        if aggregate_columns:
            keys = [
                sql
                for column in project.columns
                if column not in aggregate_columns
                for sql in column_terms[column.name].sql
            ]
            query += self._group_by(
                result_terms, [column.name for column in project.columns if column not in aggregate_columns], keys
            )
        all_constant = all(isinstance(column.value, Constant) for column in project.columns)
        if first_only and all_constant and not project.skip and project.where is None:
            query += " LIMIT 1"
        cut = project.skip or project.limit is not None or project.where is not None
        if in_any_order and not project.order and not cut:
            return Projected(self.statement.table(query, read_once=True), result_terms, ())
        name = self.statement.table(query)
        plain_columns = [column for column in project.columns if column not in aggregate_columns]
        terms = self._order(project, sort_by, result_terms, name, plain_columns)
        return self._page(project, result_terms, name, terms)

    def _page(self, project: Project, result_terms: dict[str, Term], name: str, terms: tuple[str, ...]) -> Projected:
        """Compiles the limit of a projection, and its condition on the rows that are left."""
        if project.skip or project.limit is not None:
            limit = -1 if project.limit is None else project.limit
            part = pieces.PAGE.format(
                columns="*",
                rows=f"{name} ORDER BY {', '.join(terms) or '1'}",
                limit=self.statement.parameter(limit),
                skip=self.statement.parameter(project.skip),
            )
            filtered = self.statement.table(part)
            terms, name = tuple(term.replace(f"{name}.", f"{filtered}.") for term in terms), filtered
        result = {column.name: result_terms[column.name] for column in project.columns}
        if project.where is not None:
            test = ExpressionCompiler(self.statement, self.words, within(result_terms, name), self.match_queries).holds(
                project.where
            )
            filtered = self.statement.table(pieces.ROWS.format(columns="*", rows=f"{name} WHERE {test}"))
            terms, name = tuple(term.replace(f"{name}.", f"{filtered}.") for term in terms), filtered
        return Projected(name, result, terms)

    def numbered(self, rows: Projected) -> Projected:
        """Adds row numbers to the rows, for lists that depend on their order."""
        terms = ", ".join(rows.order) or "1"
        table = self.statement.table(pieces.NUMBERED.format(table=rows.table, order=terms))
        return Projected(table, {**rows.scope, PLACE: Term(TermKind.NUMBER, ("place",), never_null=True)}, ())

    def _drop_beyond_limit(self, project: Project, table: str, scope: Scope) -> str:
        """Returns a table without rows that a limit would drop, as far as the first sort key, if a number, can tell.

        If many groups are sorted by their counts and few are shown, only the names of those few are then read.
        """
        last_row = project.skip + (project.limit or 0)
        if project.distinct or not project.order or not last_row or project.limit is None:
            return table
        first = project.order[0]
        values = {column.name: column.value for column in project.columns}
        key = values.get(first.by.name, first.by) if isinstance(first.by, Variable) else None
        term = scope.get(key.name) if isinstance(key, Variable) else None
        if term is None or term.kind is not TermKind.NUMBER or not term.never_null or table in self.statement.read_once:
            return table
        order, comparison = (" DESC", ">=") if first.descending else ("", "<=")
        place = self.statement.parameter(last_row - 1)
        text = pieces.FIRST_BY_KEY.format(rows=table, key=term.one, order=order, comparison=comparison, place=place)
        return self.statement.table(text)

    def _prepare_aggregates(
        self, project: Project, compiler: ExpressionCompiler, table: str | None
    ) -> tuple[ExpressionCompiler, str | None]:
        """Returns a compiler for expressions with aggregates, and its table, which may have counts by node already."""
        known = compiler.known
        aggregate_values = [value for value in (column.value for column in project.columns) if aggregates(value)]
        if aggregate_values and table is not None and not known:
            keys = [column.value for column in project.columns if column.value not in aggregate_values]
            values = aggregate_values + [order.by for order in project.order]
            all_aggregates = list(dict.fromkeys(one for value in values for one in aggregates(value)))
            table, known = counted_by_node(self.statement, table, compiler, keys, all_aggregates) or (table, known)
        return replace(compiler, aggregated=self._aggregate_compiler(compiler), known=known), table

    def _column(self, compiler: ExpressionCompiler, value: Expression) -> Term:
        if aggregates(value) and not isinstance(value, Aggregate) and not uses_only_aggregates(value):
            raise unsupported("an aggregate together with an expression that is not grouped")
        return compiler.value(value)

    def _group_by(self, terms: Scope, names: Sequence[str], keys: Sequence[str]) -> str:
        if not keys:
            return ""
        column_names = [sql for name in names for sql in terms[name].sql]
        return f" GROUP BY {', '.join(str(int(place[1:]) + 1) for place in column_names)}"

    def _aggregate_compiler(self, compiler: ExpressionCompiler) -> Callable[[Aggregate], Term]:
        def aggregated(one: Aggregate) -> Term:
            if one.of is None:
                if one.function is not AggregateFunction.COUNT:
                    raise unsupported("aggregates of rows other than counts")
                return Term(TermKind.NUMBER, ("min(count(*), 1)" if one.distinct else "count(*)",), never_null=True)
            term, distinct = single_of_property(compiler.value(one.of)), "DISTINCT " if one.distinct else ""
            if term.kind is TermKind.HIDDEN:
                raise unsupported("aggregates of paths")
            if one.function is AggregateFunction.COUNT:
                return Term(
                    TermKind.NUMBER,
                    (f"count({distinct}{_identity(term) if one.distinct else term.one})",),
                    never_null=True,
                )
            if one.function is AggregateFunction.COLLECT:
                return _collect_term(compiler, one, term)
            if term.kind not in SINGLE or (one.distinct and one.share is not None):
                raise unsupported(f"{one.function} of such values")
            extreme = one.function in {AggregateFunction.MINIMUM, AggregateFunction.MAXIMUM}
            kind = TermKind.VALUE if extreme else TermKind.NUMBER
            share = "" if one.share is None else f"{compiler.statement.parameter(one.share)}, "
            sql = f"{_AGGREGATE_FUNCTIONS[one.function]}({distinct}{share}{encoded(term)})"
            sql = f"coalesce({sql}, 0)" if one.function is AggregateFunction.SUM else sql
            return Term(kind, (sql,), may_be_date=kind is TermKind.VALUE and term.may_be_date)

        return aggregated

    def _order(
        self, project: Project, by: Sequence[Expression], result_terms: Scope, table: str, keys: Sequence[object]
    ) -> tuple[str, ...]:
        """Returns the terms to sort by: those of the plan, then further columns until the order is unambiguous."""
        compiler = ExpressionCompiler(self.statement, self.words, within(result_terms, table), self.match_queries)
        terms: list[str] = []
        sorted_by: set[str] = set()
        for place, (order, expression) in enumerate(zip(project.order, by, strict=True)):
            if isinstance(expression, Constant):
                continue  # in ORDER BY, SQL would take a number for the index of a column
            order_column = f"{_ORDER}{place}"
            term = compiler.variable(order_column) if order_column in result_terms else compiler.value(expression)
            term = single_of_property(term)
            terms += (f"{each} DESC" if order.descending else each for each in self.sort_terms(compiler, term))
            if isinstance(expression, Variable):
                sorted_by.add(expression.name)
        known: set[str] = set()
        names = {column.name for column in project.columns if column in keys}
        summed = len(names) < len(project.columns)
        for column in project.columns:
            if summed and names <= sorted_by:
                break
            if isinstance(column.value, Constant):
                sorted_by.add(column.name)
                continue
            follows = (
                not aggregates(column.value)
                and bool(variables_of(column.value))
                and variables_of(column.value) <= known
            )
            if column.name not in sorted_by and not follows:
                terms += self.sort_terms(compiler, compiler.variable(column.name))
            sorted_by.add(column.name)
            if isinstance(column.value, Variable) and not aggregates(column.value):
                known.add(column.value.name)
        return tuple(terms)

    def sort_terms(self, compiler: ExpressionCompiler, term: Term) -> list[str]:
        """Returns the SQL terms that sort rows by one value.

        Raises:
            Unsupported: the value is a path that was not searched for.
        """
        one = term.one if term.sql else ""
        match term.kind:
            case TermKind.NODE:
                return [f"{one} IS NULL", compiler.key(one)]
            case TermKind.EDGE:
                s, p, o, n = term.sql
                own = f"kg_qualifiers({pieces.QUALIFIERS.format(s=s, p=p, o=o, n=n)})"
                return [f"{s} IS NULL", compiler.key(s), f"kg_relation({p})", compiler.key(o), own]
            case TermKind.PATH_OR_LIST:
                return [f"{one} IS NULL", f"kg_place({one})"]
            case TermKind.NUMBER | TermKind.TEXT | TermKind.TRUTH:
                return [one] if term.never_null else [f"{one} IS NULL", one]
            case TermKind.VALUE:
                blob = f"CASE WHEN typeof({one}) = 'blob' THEN kg_sortable({one}) ELSE {one} END"
                kind = (
                    f"CASE typeof({one}) WHEN 'text' THEN 4 WHEN 'null' THEN 7 "
                    f"WHEN 'blob' THEN CASE WHEN length({one}) = 2 THEN 5 ELSE 2 END ELSE 6 END"
                )
                return [kind, blob]
            case TermKind.HIDDEN | TermKind.DATED:
                raise unsupported("paths in the answer")


def _collect_term(compiler: ExpressionCompiler, one: Aggregate, term: Term) -> Term:
    """Compiles COLLECT: a list in the order of the rows if these are numbered, else in the order of its values."""
    if term.kind not in SINGLE | {TermKind.NODE, TermKind.EDGE}:
        raise unsupported("lists of paths")
    single = term.kind in SINGLE
    value = encoded(term) if single else _identity(term)
    name, empty = ("kg_collect", empty_list()) if single else ("kg_things", f"'{dumped(())}'")
    if PLACE in compiler.scope:
        sql = f"{name}_in_order({compiler.scope[PLACE].one}, {int(one.distinct)}, {value})"
    else:
        sql = f"{name}({'DISTINCT ' if one.distinct else ''}{value})"
    return Term(
        TermKind.VALUE if single else TermKind.PATH_OR_LIST,
        (f"coalesce({sql}, {empty})",),
        may_be_date=single and term.may_be_date,
    )


def _identity(term: Term) -> str:
    """Returns the SQL that identifies a value, null if it is null."""
    if term.kind is not TermKind.EDGE:
        return term.one
    return f"CASE WHEN {term.one} IS NOT NULL THEN json_array({', '.join(term.sql)}) END"
