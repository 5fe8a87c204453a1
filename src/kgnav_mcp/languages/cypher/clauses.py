"""Converts the syntax tree of a text to a plan, clause by clause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from kgnav_mcp.languages.cypher.patterns import Patterns
from kgnav_mcp.languages.cypher.reader import Context, Reading, Scope, has_token, name_of, subtree, subtrees
from kgnav_mcp.languages.cypher.syntax import Node, invalid_plan
from kgnav_mcp.plan import (
    Aggregate,
    Arithmetic,
    Clause,
    Column,
    Compare,
    ComparisonChain,
    Constant,
    Expression,
    IsNull,
    Joined,
    ListOf,
    Not,
    Order,
    Pipeline,
    Plan,
    PlanProblem,
    Project,
    Unwind,
    Variable,
)
from kgnav_mcp.plan.walking import aggregates, rewritten, variables_of

MAX_CLAUSES: Final = 100
"""Maximum clauses of one plan, in all parts of a union together."""
MAX_COLUMNS: Final = 200
"""Maximum columns of one projection."""

_NO_AGGREGATE = "a condition cannot contain an aggregate: name it in WITH first"


class _ProjectionScope:
    """The variables that ORDER BY and WHERE may use after a projection: those before it, and those that it keeps."""

    def __init__(self, columns: tuple[Column, ...], before: Scope, visible: Scope) -> None:
        self.visible = visible
        self.all = {**before, **visible}
        self.lost = before.keys() - visible.keys()
        self.columns = {column.name for column in columns}
        self._shadowed = {projected.name for projected in columns if projected.value != Variable(projected.name)} & set(
            before
        )
        self._columns: dict[Expression, Expression] = {
            projected.value: Variable(projected.name)
            for projected in reversed(columns)
            if not isinstance(projected.value, Constant)
        }
        self._columns |= {
            value: value for projected in columns if (value := Variable(projected.name)) == projected.value
        }

    def by_columns(self, expression: Expression) -> Expression:
        """The expression with each part that is a column's value replaced by the column."""
        return rewritten(expression, self._column)

    def _column(self, part: Expression) -> Expression | None:
        return None if self._shadowed and variables_of(part) & self._shadowed else self._columns.get(part)


class Clauses:
    """Converts the clauses of one text."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._patterns = Patterns(reading)
        self._scope: dict[str, str] = {}

    def plan(self, start: Node) -> Plan:
        """The plan of a text. Problems are added to those of the shared `Reading`.

        Raises:
            InvalidPlan: it has too many clauses.
        """
        query = next(subtrees(start))
        clauses = [clause for pipeline in subtrees(query, "pipeline") for clause in subtrees(pipeline)]
        if len(clauses) > MAX_CLAUSES:
            raise invalid_plan([PlanProblem("the plan", f"it has {len(clauses)} clauses; the limit is {MAX_CLAUSES}")])
        unions = list(subtrees(query, "union", "union_all"))
        pipelines = [self._pipeline(pipeline) for pipeline in subtrees(query, "pipeline")]
        if len({union.data for union in unions}) > 1:
            self._reading.report(unions[1], "UNION and UNION ALL cannot be mixed", "UNION ALL everywhere")
        plan = Plan(tuple(pipelines), keep_duplicates=any(union.data == "union_all" for union in unions))
        if not self._reading.problems:
            names = [tuple(column.name for column in pipeline.result.columns) for pipeline in pipelines]
            for union, other in zip(unions, names[1:], strict=True):
                if other != names[0]:
                    reason = f"both sides of UNION must return the same columns, here {', '.join(other)}"
                    self._reading.report(union, reason, f"RETURN ... AS {', ... AS '.join(names[0])}")
        return plan

    def _pipeline(self, pipeline: Node) -> Pipeline:
        self._scope = {}
        clauses = list(subtrees(pipeline))
        converted: list[Clause] = []
        for clause in clauses:
            self._reading.clause = {"for_each": "FOR"}.get(clause.data, clause.data.upper())
            converted.extend(self._clause(clause))
            if clause.data == "return" and clause is not clauses[-1]:
                self._reading.report(clause, "RETURN must be the last clause", "WITH")
        if clauses[-1].data != "return":
            self._reading.report(clauses[-1], "a plan must end with RETURN", "RETURN *")
        return Pipeline(tuple(converted))

    def _clause(self, clause: Node) -> Iterator[Clause]:
        match clause.data:
            case "match":
                match, self._scope = self._patterns.match(clause, self._scope, optional=has_token(clause, "OPTIONAL"))
                yield match
            case "unwind":
                of, name = subtrees(clause)
                yield self._unwind(of, name)
            case "for_each":
                name, of = subtrees(clause)
                yield self._unwind(of, name)
            case "filter":
                condition = self._patterns.expressions.read(next(subtrees(clause)), Context(self._scope, _NO_AGGREGATE))
                yield Project(self._every_variable(), where=condition)
            case "let":
                yield self._let(clause)
            case _:
                yield from self._project(clause)

    def _unwind(self, of: Node, named: Node) -> Unwind:
        name = name_of(named)
        if name in self._scope:
            self._reading.report(named, f"{name} is already used", f"{name}2")
        value = self._patterns.expressions.read(
            of, Context(self._scope, "the list of UNWIND cannot contain an aggregate")
        )
        self._scope = {**self._scope, name: "value"}
        return Unwind(value, name)

    def _every_variable(self) -> tuple[Column, ...]:
        return tuple([Column(name, Variable(name)) for name in sorted(self._scope)])

    def _let(self, clause: Node) -> Project:
        columns = list(self._every_variable())
        for assignment in subtrees(clause):
            named, value = subtrees(assignment)
            name = name_of(named)
            if name in self._scope:
                self._reading.report(named, f"{name} is already used", f"{name}2")
            expression = self._patterns.expressions.read(value, Context(self._scope, "LET cannot contain an aggregate"))
            columns.append(Column(name, expression))
        self._scope = {**self._scope, **{column.name: "value" for column in columns if column.name not in self._scope}}
        return Project(tuple(columns))

    def _project(self, clause: Node) -> Iterator[Project]:
        columns = self._columns(clause)
        distinct = has_token(clause, "DISTINCT")
        before = self._scope
        names = {column.name: _kind(column.value, before) for column in columns}
        grouped = any(aggregates(column.value) for column in columns)
        self._check_groups(clause, columns)
        self._scope = names
        visible = names if distinct or grouped else {**before, **names}
        projection_scope = _ProjectionScope(columns, before, visible)
        order = tuple(
            [
                self._order(key, projection_scope, may_sum=not distinct)
                for keys in subtrees(clause, "order_by")
                for key in subtrees(keys)
            ]
        )
        where = subtree(clause, "where")
        condition = self._read_after_projection(next(subtrees(where)), projection_scope) if where else None
        skip, limit = self._number(clause, "offset") or 0, self._number(clause, "limit")
        sums = dict.fromkeys(aggregate for key in order for aggregate in aggregates(key.by))
        if not sums:
            yield Project(columns, distinct, order, skip, limit, condition)
            return
        hidden = {aggregate: self._reading.unnamed() for aggregate in sums}
        by = rewritten(order, lambda part: Variable(hidden[part]) if isinstance(part, Aggregate) else None)
        yield Project(
            (*columns, *(Column(name, aggregate) for aggregate, name in hidden.items())), False, by, skip, limit
        )
        yield Project(tuple([Column(column.name, Variable(column.name)) for column in columns]), where=condition)

    def _columns(self, clause: Node) -> tuple[Column, ...]:
        by_name: dict[str, Column] = {}
        for node in (node for columns in subtrees(clause, "columns") for node in subtrees(columns)):
            added = self._every_variable() if node.data == "every_variable" else (self._column(node, clause),)
            if not added:
                self._reading.report(node, "there are no variables to return")
            for column in added:
                if column.name in by_name:
                    self._reading.report(node, f"two columns have the name {column.name}", "... AS another_name")
                by_name[column.name] = column
        if len(by_name) > MAX_COLUMNS:
            self._reading.report(clause, f"it has {len(by_name)} columns; the limit is {MAX_COLUMNS}")
            return tuple(by_name.values())[:MAX_COLUMNS]
        return tuple(by_name.values())

    def _column(self, node: Node, clause: Node) -> Column:
        value, *alias = subtrees(node)
        expression = self._patterns.expressions.read(value, Context(self._scope, None))
        if value.data == "pattern_predicate":
            text = self._reading.source_text(value)
            self._reading.report(
                value, "a pattern is not a value", f"MATCH p = {text} RETURN p", f"EXISTS {{ {text} }}"
            )
        if alias:
            return Column(name_of(alias[0]), expression)
        if isinstance(expression, Variable):
            return Column(expression.name, expression)
        text = self._reading.source_text(node)  # with its brackets, as Neo4j names the column
        if clause.data == "with":
            self._reading.report(node, "a value in WITH needs a name", f"{text} AS x")
        return Column(text, expression)

    def _check_groups(self, clause: Node, columns: tuple[Column, ...]) -> None:
        """Check that every variable beside an aggregate within a column is also a column of its own."""
        keys = {column.value for column in columns if not aggregates(column.value)}
        for column in columns:
            if not aggregates(column.value):
                continue
            outside_aggregates = rewritten(
                column.value, lambda part: Constant(None) if isinstance(part, Aggregate) or part in keys else None
            )
            for name in sorted(variables_of(outside_aggregates) & self._scope.keys()):
                reason = f"{name} is used beside an aggregate, so it must be a column of its own"
                self._reading.report(clause, reason, f"WITH {name}, count(*) AS c, then RETURN ...")

    def _order(self, key: Node, projection_scope: _ProjectionScope, *, may_sum: bool) -> Order:
        """A key of ORDER BY. `may_sum`: it may contain aggregates that are not returned."""
        node = next(subtrees(key))
        by = self._read_after_projection(node, projection_scope, may_sum=may_sum)
        return Order(by, has_token(key, "DESCENDING"))

    def _read_after_projection(
        self, node: Node, projection_scope: _ProjectionScope, *, may_sum: bool | None = None
    ) -> Expression:
        """An expression of ORDER BY or WHERE after a projection. It may use columns and the variables in them.

        `may_sum`: whether it may contain aggregates that are not columns; None: no aggregates at all.
        """
        context = Context(projection_scope.all, _NO_AGGREGATE if may_sum is None else None)
        expression = projection_scope.by_columns(self._patterns.expressions.read(node, context))
        summed = aggregates(expression)
        beside = rewritten(expression, lambda part: Constant(None) if isinstance(part, Aggregate) else None)
        left = projection_scope.lost if not summed else projection_scope.all.keys() - projection_scope.columns
        if (summed and not may_sum) or variables_of(beside) & left:
            reason = "after an aggregation or DISTINCT only returned columns can be used"
            self._reading.report(node, reason, *projection_scope.visible)
        return expression

    def _number(self, clause: Node, kind: str) -> int | None:
        """The number of rows to skip or to return; None if there is none or it is not valid."""
        subclause = subtree(clause, kind)
        if subclause is None:
            return None
        node = next(subtrees(subclause))
        value = self._patterns.expressions.read(node, Context({}, "it cannot contain an aggregate"))
        match value:
            case Constant(int() as number) if number >= 0 and not isinstance(number, bool):
                return number
            case _:
                self._reading.report(node, "the number of rows must be an integer of 0 or more", "10")
                return None


def _kind(value: Expression, scope: Mapping[str, str]) -> str:
    """The kind of a column's value, as in `Scope`."""
    match value:
        case Variable(name):
            return scope.get(name, "value")
        case Constant(None):
            return "value"
        case Constant() | ListOf() | Arithmetic() | Compare() | ComparisonChain() | Joined() | Not() | IsNull():
            return "literal"
        case _:
            return "value"
