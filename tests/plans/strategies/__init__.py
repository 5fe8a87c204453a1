"""Plans by chance over a graph: every clause, expression and kind of path, as a checked plan has them."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import count

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kgnav_mcp.plan import (
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Clause,
    Column,
    Constant,
    EdgePattern,
    Expression,
    Match,
    NodePattern,
    Order,
    PathPattern,
    Pipeline,
    Plan,
    Project,
    Unwind,
    Variable,
)
from kgnav_mcp.values.aggregates import AGGREGATES
from tests.plans.strategies.expressions import ExpressionMaker
from tests.plans.strategies.patterns import EDGE, LIST, NODE, PATH, VALUE, Scope, chance
from tests.plans.strategies.words import Words, words_of

__all__ = ["Words", "plans", "plans_by_chance", "words_of"]

TIMES = int(os.environ.get("RANDOM_PLANS", "1"))
"""How many times as many random plans as usual are tried."""
_UNHURRIED = (HealthCheck.too_slow, HealthCheck.data_too_large)


@st.composite
def plans(draw: st.DrawFn, words: Words, *, of_nodes: bool = False) -> Plan:
    """A plan of one pipeline, or a union of two; with `of_nodes` one that does not look at its edges."""
    maker = (_NodeMaker if of_nodes else _Maker)(draw, words)
    first = maker.pipeline()
    if not chance(draw, 10):
        return Plan((first,), only_exists=chance(draw, 5))
    second = type(maker)(draw, words).pipeline(tuple(column.name for column in first.result.columns))
    return Plan((first, second), keep_duplicates=chance(draw, 50))


def plans_by_chance(words: Words, number: int, *, of_nodes: bool = False) -> list[Plan]:
    """This many plans times `TIMES`, the same at every call. They are not shrunk: that takes minutes for one plan."""
    number *= TIMES
    found: dict[Plan, None] = {}
    for batch in count(1):
        _collect(plans(words, of_nodes=of_nodes), batch, found)
        if len(found) >= number:
            return list(found)[:number]
    raise AssertionError


def _collect(made: st.SearchStrategy[Plan], batch: int, found: dict[Plan, None]) -> None:
    """Some more plans: in a long run many would be like those before them."""

    @seed(batch)
    @settings(max_examples=20, phases=(Phase.generate,), database=None, deadline=None, suppress_health_check=_UNHURRIED)
    @given(made)
    def collect(plan: Plan) -> None:
        found[plan] = None

    collect()


class _Maker(ExpressionMaker):
    """Makes one pipeline."""

    def pipeline(self, names: tuple[str, ...] | None = None) -> Pipeline:
        clauses: list[Clause] = [self.match(optional=chance(self.draw, 10))]
        for _ in range(self.draw(st.sampled_from((0, 0, 0, 1, 1, 2)))):
            kind = self.draw(st.sampled_from(("match", "optional", "unwind", "project", "project")))
            if kind == "project":
                clauses.append(self.project())
            elif kind == "unwind":
                clauses.append(self.unwind())
            elif len([clause for clause in clauses if isinstance(clause, Match)]) < 2:
                clauses.append(self.match(optional=kind == "optional"))
        clauses.append(self.project(names))
        return Pipeline(tuple(clauses))

    def unwind(self) -> Unwind:
        of: Expression = self.value(1)
        name = self.pick(LIST)
        if name is not None and chance(self.draw, 70):
            of = Variable(name)
        variable = self.new("u")
        self.scope[variable] = VALUE
        return Unwind(of, variable)

    def project(self, names: tuple[str, ...] | None = None) -> Project:
        count = len(names) if names else self.draw(st.sampled_from((1, 1, 2, 2, 3)))
        aggregated = chance(self.draw, 35)
        columns: list[Column] = []
        after: Scope = {}
        for place in range(count):
            value, kind = self.column(aggregated=aggregated and place == count - 1)
            old = value.name if isinstance(value, Variable) and value.name not in after else None
            name = names[place] if names else old or self.new("c")
            columns.append(Column(name, value))
            after[name] = kind
        distinct = chance(self.draw, 25)
        order = self.order(after, old=not aggregated and not distinct)
        skip = self.draw(st.integers(0, 2)) if chance(self.draw, 15) else 0
        limit = self.draw(st.sampled_from((1, 2, 3, 5, 0))) if chance(self.draw, 20) else None
        self.scope = after
        where = self.condition(1) if chance(self.draw, 15) else None
        return Project(tuple(columns), distinct, order, skip, limit, where)

    def column(self, *, aggregated: bool) -> tuple[Expression, str]:
        """A value with what it is."""
        if aggregated:
            function = self.draw(st.sampled_from((AggregateFunction.COUNT, *AggregateFunction)))
            of = None if function is AggregateFunction.COUNT and chance(self.draw, 30) else self.value(1)
            name = self.pick(NODE, EDGE)
            if of is not None and name is not None and chance(self.draw, 40):
                of = Variable(name)
            share = self.draw(st.sampled_from((0.0, 0.25, 0.5, 1.0))) if AGGREGATES[function].takes_share else None
            value = Aggregate(function, of, chance(self.draw, 30), share)
            if chance(self.draw, 15):
                return Arithmetic(value, ArithmeticOperator.ADD, Constant(1)), VALUE
            return value, LIST if function is AggregateFunction.COLLECT else VALUE
        name = self.pick(NODE, EDGE, PATH, LIST, VALUE)
        if name is not None and chance(self.draw, 50):
            return Variable(name), self.scope[name]
        return self.value(2), VALUE

    def order(self, after: Scope, *, old: bool) -> tuple[Order, ...]:
        """By new columns, and where these may be used, by old variables."""
        if not chance(self.draw, 40):
            return ()
        before = self.scope
        self.scope = {**before, **after} if old else after
        made = tuple(
            Order(
                self.value(1) if chance(self.draw, 50) else Variable(self.draw(st.sampled_from(sorted(self.scope)))),
                down,
            )
            for down in self.draw(st.lists(st.booleans(), min_size=1, max_size=2))
        )
        self.scope = before
        return made


class _NodeMaker(_Maker):
    """Makes pipelines that name no edge outside of its pattern, and few paths."""

    def edge(self, nodes: dict[str, NodePattern], edges: list[EdgePattern], paths: list[PathPattern]) -> None:
        super().edge(nodes, edges, paths)
        paths.clear()
        self.scope = {name: kind for name, kind in self.scope.items() if kind in {NODE, VALUE}}
        if chance(self.draw, 90):
            edges[-1] = replace(edges[-1], path=None)
