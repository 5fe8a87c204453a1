"""Writes whole plans as one query, clause by clause, with rows in the order that plans define."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.expressions import Scope
from kgnav_mcp.adapters.cypher.plans.kinds import (
    BOOLEAN,
    NUMBERS,
    SEVERAL,
    SORTED,
    TEXT,
    WHOLE,
    Kind,
    Listed,
    OfEdge,
    OfNode,
    Single,
    Typed,
    common_kind,
    is_by_code_points,
    unsupported,
)
from kgnav_mcp.adapters.cypher.plans.patterns import Patterns
from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Clause,
    Expression,
    GivenNodes,
    Match,
    Order,
    Pipeline,
    Plan,
    Project,
    Unwind,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, by_columns, rewritten

_COUNT = Single(WHOLE)


def aggregated(context: QueryContext, one: Aggregate, of: Typed | None) -> Typed:
    """An aggregate of `of` (None: of the rows) in Cypher. A collected list is not sorted yet.

    Raises:
        Unsupported: Cypher aggregates such values differently from plans.
    """
    if of is None:
        if one.distinct or one.function is not AggregateFunction.COUNT:
            raise unsupported("an aggregate of the rows themselves other than a count")
        return Typed("count(*)", _COUNT)
    value = f"DISTINCT {of.text}" if one.distinct else of.text
    types = of.kind.types if isinstance(of.kind, Single) else None
    if types is not None and SEVERAL in types:
        raise unsupported("an aggregate of each of several values")
    simple = isinstance(of.kind, OfNode | OfEdge) or (types is not None and types <= SORTED)
    match one.function:
        case AggregateFunction.COUNT if simple or not one.distinct:
            return Typed(f"count({value})", _COUNT)
        case AggregateFunction.SUM if types is not None and types <= NUMBERS:
            return Typed(_sum(context, value, of, types), Single(types or NUMBERS))
        case AggregateFunction.AVERAGE if types is not None and types <= NUMBERS:
            return Typed(context.fill(queries.MEAN, value=value), Single(frozenset(("FLOAT",))))
        case AggregateFunction.MINIMUM | AggregateFunction.MAXIMUM if types is not None and any(
            types <= alike for alike in (NUMBERS, TEXT, BOOLEAN)
        ):
            return _extreme(context, one, of)
        case AggregateFunction.COLLECT if simple:
            return Typed(f"collect({value})", Listed(of.kind))
        case _:
            raise unsupported(f"{one.function} of values of this type")


def _extreme(context: QueryContext, one: Aggregate, of: Typed) -> Typed:
    if is_by_code_points(of.kind):
        return Typed(f"{one.function}({of.text})", of.kind)
    key = f"{one.function}({context.sort_key(of)})"
    return Typed(context.fill(queries.TEXT_OF_KEY, key=key), of.kind)


def _sum(context: QueryContext, value: str, of: Typed, types: frozenset[str]) -> str:
    if not types & WHOLE:
        return f"sum({value})"
    fractions = context.fill(queries.NO_FRACTIONS if types <= WHOLE else queries.FRACTIONS, value=of.text)
    return context.fill(queries.SUM, value=value, fractions=fractions)


def sorted_list(context: QueryContext, one: Aggregate, found: Typed, *, in_order: bool) -> str | None:
    """The expression that sorts a collected list by its values; None if there is nothing to sort."""
    if one.function is not AggregateFunction.COLLECT or in_order or not isinstance(found.kind, Listed):
        return None
    member = context.new_variable()
    key = context.sort_key(Typed(member, found.kind.of))
    return context.builder.collected(queries.SORTED, list=found.text, member=member, key=key)


@dataclass(frozen=True, slots=True)
class Query:
    """A plan in Cypher, with the kinds of its columns. The caller adds the parameters `$skip` and `$limit`."""

    text: str
    parameters: Mapping[str, object]
    kinds: tuple[Kind, ...]


@dataclass(frozen=True, slots=True)
class _Key:
    """A key that rows are sorted by: an expression, or a column."""

    text: str
    descending: bool

    def __str__(self) -> str:
        return f"{self.text} DESC" if self.descending else self.text


class Compiler:
    """Compiles one plan."""

    def __init__(self, context: QueryContext) -> None:
        self._context = context
        self._patterns = Patterns(context)
        self._value = self._patterns.expressions.value

    def compiled(self, plan: Plan) -> Query:
        """Compile a plan to one query.

        Raises:
            Unsupported: Cypher cannot express it, or only with another meaning.
        """
        if len(plan.pipelines) == 1:
            text, columns, order = self._pipeline(plan.pipelines[0], page=True)
            text += f"\nRETURN {', '.join([*(column.text for column in columns), *(key.text for key in order)])}"
        else:
            text, columns = self._union(plan)
            order = []
        context = self._context
        cells = ", ".join(context.cell(column) for column in columns)
        text = context.builder.subquery("", text)
        if plan.in_any_order and not order:
            shown = ", ".join(column.text for column in columns)
            text = context.fill(queries.ROWS, plan=text, columns=shown, cells=cells)
        else:
            keys = [*map(str, order), *(context.sort_key(column) for column in columns)]
            text = context.fill(
                queries.ANSWER,
                plan=text,
                columns=", ".join([*(column.text for column in columns), *(key.text for key in order)]),
                keys=", ".join(dict.fromkeys(keys)),
                cells=cells,
            )
        return Query(text, context.parameters, tuple(column.kind for column in columns))

    def _union(self, plan: Plan) -> tuple[str, list[Typed]]:
        """The text of all pipelines, and the columns that each of them returns."""
        parts: list[str] = []
        names = [self._context.new_variable() for _ in plan.columns]
        kinds: list[list[Kind]] = [[] for _ in names]
        for pipeline in plan.pipelines:
            text, columns, _ = self._pipeline(pipeline, page=False)
            returned = (f"{column.text} AS {name}" for column, name in zip(columns, names, strict=True))
            parts.append(f"{text}\nRETURN {', '.join(returned)}")
            for kind, column in zip(kinds, columns, strict=True):
                kind.append(column.kind)
        word = "\nUNION ALL\n" if plan.keep_duplicates else "\nUNION\n"
        return word.join(parts), [Typed(name, common_kind(each)) for name, each in zip(names, kinds, strict=True)]

    def _pipeline(self, pipeline: Pipeline, *, page: bool) -> tuple[str, list[Typed], list[_Key]]:
        """The text of the clauses, the columns of the result, and with `page` the keys that the page has to sort by."""
        texts, scope = self._given_nodes(pipeline.given)
        before: Clause | None = None
        columns: list[Typed] = []
        order: list[_Key] = []
        for place, clause in enumerate(pipeline.clauses):
            last = place == len(pipeline.clauses) - 1
            match clause:
                case Match():
                    text, scope = self._patterns.match(clause, scope)
                case Unwind():
                    text, scope = self._unwind(clause, scope)
                case Project():
                    in_order = isinstance(before, Project) and bool(before.order)
                    following = None if last else pipeline.clauses[place + 1]
                    projected = clause if last or isinstance(following, Project) else _unsorted(clause)
                    text, columns, order = self._project(projected, scope, in_order=in_order, page=page and last)
                    scope = {column.name: value for column, value in zip(clause.columns, columns, strict=True)}
            texts.append(text)
            before = clause
        return "\n".join(texts), columns, order

    def _given_nodes(self, given: GivenNodes | None) -> tuple[list[str], Scope]:
        """The clauses for the nodes that a pipeline begins with, and their scope."""
        if given is None:
            return [], {}
        context = self._context
        own = [[context.node_ids[name] for name in row] for row in given.rows if context.node_ids.keys() >= {*row}]
        row = context.new_variable()
        texts = [context.fill(queries.GIVEN_ROWS, rows=context.parameter(own), row=row)]
        scope: dict[str, Typed] = {}
        for place, name in enumerate(given.variables):
            node = context.new_variable()
            same = context.builder.node_id(node)
            texts.append(
                context.fill(queries.GIVEN_NODE, variable=node, id_of_variable=same, row=row, place=str(place))
            )
            scope[name] = Typed(node, OfNode())
        return texts, scope

    def _unwind(self, clause: Unwind, scope: Scope) -> tuple[str, Scope]:
        of = self._value(clause.of, scope)
        kind = of.kind.of if isinstance(of.kind, Listed) else of.kind
        if isinstance(kind, Single) and not isinstance(of.kind, Listed):
            kind = Single(kind.types - {SEVERAL})
        member = Typed(self._context.new_variable(), kind)
        return f"UNWIND {of.text} AS {member.text}", {**scope, clause.variable: member}

    def _project(
        self, project: Project, scope: Scope, *, in_order: bool, page: bool
    ) -> tuple[str, list[Typed], list[_Key]]:
        """A projection as WITH. With `page` and no SKIP or LIMIT of its own, sorting is left to the page."""
        texts: list[str] = []
        grouped = any(aggregates(column.value) for column in project.columns)
        if grouped:
            text, project, scope = self._grouped(project, scope, in_order=in_order)
            texts.append(text)
        elif any(aggregates(order.by) for order in project.order):
            raise unsupported("sorting by aggregates where rows are not grouped")
        values = [self._value(column.value, scope) for column in project.columns]
        columns = [Typed(self._context.new_variable(), value.kind) for value in values]
        named = {column.name: value for column, value in zip(project.columns, columns, strict=True)}
        old: Scope = {} if project.distinct else scope
        if grouped and not project.distinct:
            old = {name: value for name, value in scope.items() if name.startswith(_SUM_PREFIX)}
        keys = [_Key(*self._order_key(project, order, {**old, **named})) for order in project.order]
        items = _items_as(values, columns)
        sliced = bool(project.skip) or project.limit is not None
        context = self._context
        text = f"WITH {'DISTINCT ' if project.distinct else ''}{items}"
        if page and keys:
            # They are kept as columns for the page, because the old variables are out of scope by then.
            kept = [replace(key, text=context.new_variable()) for key in keys]
            as_columns = ", ".join(f"{key.text} AS {name.text}" for key, name in zip(keys, kept, strict=True))
            texts += [text if project.distinct else f"WITH *, {items}", f"WITH *, {as_columns}"]
            text = f"WITH {', '.join([*(column.text for column in columns), *(key.text for key in kept)])}"
            keys = kept
        if sliced or (project.order and not page):
            canonical = [*map(str, keys), *(context.sort_key(column) for column in columns)]
            text += f"\nORDER BY {', '.join(dict.fromkeys(canonical))}"
        if project.skip:
            text += f" SKIP {context.constant(project.skip).text}"
        if project.limit is not None:
            text += f" LIMIT {context.constant(project.limit).text}"
        if project.where is not None:
            inside = {**({} if grouped or project.distinct else old), **named}
            text += f"\nWHERE {self._patterns.expressions.condition(project.where, inside)}"
        texts.append(text)
        return "\n".join(texts), columns, keys if page else []

    def _order_key(self, project: Project, order: Order, scope: Scope) -> tuple[str, bool]:
        value = self._value(by_columns(project, order.by), scope)
        if isinstance(value.kind, Single) and SEVERAL in value.kind.types:
            raise unsupported("sorting by a property with several values")
        return self._context.sort_key(value), order.descending

    def _grouped(self, project: Project, scope: Scope, *, in_order: bool) -> tuple[str, Project, Scope]:
        """Group the rows: a WITH of the grouping keys and aggregates, and the projection that uses them."""
        context = self._context
        wanted = [column.value for column in project.columns] + [order.by for order in project.order]
        sums = list(dict.fromkeys(one for expression in wanted for one in aggregates(expression)))
        names: dict[Expression, Expression] = {one: Variable(f"{_SUM_PREFIX}{place}") for place, one in enumerate(sums)}
        after: dict[str, Typed] = {}
        items: list[str] = []
        for place, column in enumerate(project.columns):
            if aggregates(column.value):
                continue
            value = self._value(column.value, scope)
            variable = context.new_variable()
            items.append(f"{value.text} AS {variable}")
            names[column.value] = Variable(f"{_SUM_PREFIX}key{place}")
            after[f"{_SUM_PREFIX}key{place}"] = Typed(variable, value.kind)
        lists: list[str] = []
        for place, one in enumerate(sums):
            of = None if one.of is None else self._value(one.of, scope)
            value = aggregated(context, one, of)
            variable = context.new_variable()
            items.append(f"{value.text} AS {variable}")
            after[f"{_SUM_PREFIX}{place}"] = Typed(variable, value.kind)
            if done := sorted_list(context, one, after[f"{_SUM_PREFIX}{place}"], in_order=in_order):
                last = context.new_variable()
                lists.append(f"{done} AS {last}")
                after[f"{_SUM_PREFIX}{place}"] = Typed(last, value.kind)
        text = f"WITH {', '.join(items)}"
        if lists:
            text += f"\nWITH *, {', '.join(lists)}"

        def read(expression: Expression) -> Expression:
            return rewritten(expression, names.get)

        columns = tuple(replace(column, value=read(column.value)) for column in project.columns)
        order = tuple(replace(each, by=read(each.by)) for each in project.order)
        return text, replace(project, columns=columns, order=order), after


_SUM_PREFIX = "\0sum"
"""Prefix of the variables of aggregates and grouping keys. No variable of a plan begins with it."""


def _items_as(values: Sequence[Typed], names: Sequence[Typed]) -> str:
    return ", ".join(f"{value.text} AS {name.text}" for value, name in zip(values, names, strict=True))


def _unsorted(project: Project) -> Project:
    """The projection without its order, which has no effect unless it cuts rows: the next clause sorts again."""
    return project if project.skip or project.limit is not None else replace(project, order=())
