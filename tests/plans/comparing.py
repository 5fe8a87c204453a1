"""The answers of two evaluators, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import count

import pytest

from kgnav_mcp.errors import InvalidPlan, PlanTooLarge, Unsupported
from kgnav_mcp.model import Cell, Entity, Literal, Path, PlanPage, Triple
from kgnav_mcp.model import Node as Shown
from kgnav_mcp.navigation.plans import evaluate
from kgnav_mcp.navigation.plans.pushdown.proofs import with_edge_columns
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Plan, Project
from kgnav_mcp.plan.walking import parts
from kgnav_mcp.port import GraphAdapter
from tests.plans.graph import Edge, Graph, Node
from tests.plans.oracle import RefusedError, TooMuchError, answer
from tests.plans.oracle.functions import text
from tests.plans.oracle.values import Kind, Value, Way

Run = Callable[[int, str | None], Awaitable[PlanPage]]
"""A page of an answer: so many rows at most, behind a position."""
MAX = 5_000
"""Rows on the way; a plan with more is not waited for."""
ALL = 100_000
"""A page that has all rows."""
SIZES = (1, 3, 7)
"""Of pages."""
_PAGED = 200
"""Longer answers are not read in small pages."""
_DIGITS = 12
"""Of numbers, that must be equal: sums are made in any order."""


def of_oracle(value: Value) -> object:
    """A value as both evaluators have it."""
    match value:
        case Node():
            return (Kind.NODE, value.id)
        case Edge():
            own = sorted((name, _said(one)) for name, one in value.properties)
            return (Kind.EDGE, value.head, value.relation, value.tail, tuple(own))
        case Way():
            return (Kind.PATH, tuple(map(of_oracle, value.nodes)), tuple(map(of_oracle, value.edges)))
        case tuple():
            return (Kind.LIST, *map(of_oracle, value))
        case _:
            return _scalar(value)


def of_answer(cell: Cell) -> object:
    """The same of a cell."""
    match cell:
        case Entity():
            return (Kind.NODE, cell.id)
        case Triple():
            own = sorted((one.relation.id, _shown(one.value)) for one in cell.qualifiers)
            return (Kind.EDGE, cell.head.id, cell.relation.id, _shown(cell.tail), tuple(own))
        case Path():
            return (Kind.PATH, tuple(map(of_answer, cell.nodes)), tuple(map(of_answer, cell.edges)))
        case tuple():
            return (Kind.LIST, *map(of_answer, cell))
        case _:
            return _scalar(cell)


def _scalar(value: str | float | bool | None) -> object:
    if isinstance(value, bool):
        return (Kind.BOOLEAN, value)
    if isinstance(value, int | float):
        return (Kind.NUMBER, float(f"{value:.{_DIGITS}g}"))
    return (Kind.NULL,) if value is None else (Kind.TEXT, str(value))


def _said(value: str | float | bool) -> str:
    return _number(text(value) or "")


def _shown(node: Shown) -> str:
    return _number(node.text) if isinstance(node, Literal) else node.id


def _number(written: str) -> str:
    """A number in one form, whatever it is written like."""
    try:
        return repr(float(written))
    except ValueError:
        return written


async def all_rows(run: Run, size: int, pages: int | None = None) -> list[tuple[object, ...]]:
    """The rows of an answer, read in pages of a size; of the first `pages` if these are not all."""
    rows: list[tuple[object, ...]] = []
    after: str | None = None
    for number in count(1):
        page = await run(size, after)
        assert len(page.items) == len(page.positions) <= size
        rows += [tuple(map(of_answer, row.cells)) for row in page.items]
        if page.stop != "limit":
            assert page.stop == "complete"
            break
        assert page.items, "a page that is not the last one has rows"
        after = page.positions[-1]
        if number == pages:
            break
    return rows


async def hold(runner: PlanRunner, graph: Graph, plan: Plan, size: int, pages: int = _PAGED) -> None:
    """A plan answers what the oracle answers, in one page and in pages of a size, so many of them at most."""
    try:
        expected = [tuple(map(of_oracle, row)) for row in answer(graph, plan, MAX)]
        whole = await all_rows(lambda limit, after: runner.run(plan, limit=limit, after=after), ALL)
    except (TooMuchError, PlanTooLarge, RefusedError, InvalidPlan):
        return  # which rows are met before others are left out differs, and with them which values are refused
    assert whole == expected, plan
    if len(whole) < _PAGED:
        size = max(size, -(-len(whole) // pages))
        assert await all_rows(lambda limit, after: runner.run(plan, limit=limit, after=after), size) == whole, plan


async def hold_in_part(adapter: GraphAdapter, plan: Plan, bound: int, size: int, pages: int) -> bool:
    """Whether a plan that needs more rows than may be held is answered in pages, as where they may be held.

    The first `pages` are read. False if it needs no more, or is refused.
    """
    whole = await all_rows(lambda limit, after: PlanRunner(adapter).run(plan, limit=limit, after=after), ALL)
    bounded = PlanRunner(adapter, bound)
    try:
        await evaluate(adapter, plan, limit=ALL, bound=bound, by_store=False)
    except PlanTooLarge:
        pass
    else:
        return False
    try:
        found = await all_rows(lambda limit, after: bounded.run(plan, limit=limit, after=after), size, pages)
    except PlanTooLarge:
        return False
    assert found == whole[: pages * size], plan
    return True


async def same_proof(graph: GraphAdapter, plan: Plan) -> bool:
    """Whether the store gives the proof of a plan itself; if so, its rows rest on the edges that the evaluator says."""
    told = with_edge_columns(plan)
    if told is None:
        return False
    try:
        await graph.run(told, limit=1)
    except Unsupported:
        return False
    page = await PlanRunner(graph).run(plan, limit=ALL, proof=True)
    expected = await evaluate(graph, plan, limit=ALL, proof=True, by_store=False)
    assert page.columns == plan.columns
    assert [[*map(of_answer, row.cells)] for row in page.items] == [
        [*map(of_answer, row.cells)] for row in expected.items
    ]
    assert _proofs(page) == _proofs(expected)
    return True


async def same_by_parts(graph: GraphAdapter, plan: Plan) -> None:
    """A plan whose parts the store matches has the rows and proofs of one that is evaluated edge by edge.

    Where a limit cuts rows that are equal in all their cells, either may be shown, with its own proof.
    """
    cut = plan.only_exists or any(
        isinstance(one, Project) and (one.skip or one.limit is not None) for one in parts(plan, patterns=True)
    )
    for proof in (False, True):
        try:
            alone = await evaluate(graph, plan, limit=ALL, proof=proof, by_store=False)
        except (InvalidPlan, PlanTooLarge) as error:
            with pytest.raises(type(error)):
                await evaluate(graph, plan, limit=ALL, proof=proof)
            continue
        page = await evaluate(graph, plan, limit=ALL, proof=proof)
        assert [[*map(of_answer, row.cells)] for row in page.items] == [
            [*map(of_answer, row.cells)] for row in alone.items
        ], plan
        assert cut or _proofs(page) == _proofs(alone), plan


def _proofs(page: PlanPage) -> Counter[object]:
    """Rows with their edges, which tell rows with the same cells apart."""
    return Counter((tuple(map(of_answer, row.cells)), frozenset(map(of_answer, row.proof))) for row in page.items)
