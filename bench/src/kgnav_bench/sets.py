"""Compares `search` for a thousand entities in one call with one for a single entity."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.direct import Leaf, Store
from kgnav_bench.runs import Run
from kgnav_bench.tables import parse

AT_MOST = 10.0
"""Maximum time of a call for a thousand entities, relative to one entity."""

_ENTITIES = 1_000
_DEGREES = 2, 50
_WARM_UP = 3

Asked = tuple[Sequence[Leaf], Sequence[Leaf]]
"""The entity of the call with one, and the entities of the call with a thousand."""


class TooSmallError(Exception):
    """The graph file has too few suitable entities."""


def run(record: Run, graph: Path, rounds: int) -> str:
    """Call `search` for one entity and for a thousand in turn, without a filter and with one. Returns the report.

    Each round uses another order of the thousand and another single entity, so that nothing is cached from the round
    before.

    Raises:
        TooSmallError: there are fewer than a thousand entities of small degree.
    """
    with closing(Store(graph)) as store:
        leaves = [leaf for leaf in store.leaves(4 * _ENTITIES, *_DEGREES) if leaf.direction == "outgoing"][:_ENTITIES]
    if len(leaves) < _ENTITIES:
        raise TooSmallError(f"this graph has {len(leaves):,} entities with 2 to 50 rows that leave them")
    chance = random.Random(1)  # noqa: S311 - a choice of samples, not a secret
    lines = [_compared(record, graph, leaves, chance, rounds, filtered=filtered) for filtered in (False, True)]
    table = report.table(("what", "rows", "median", "p95"), [row for rows, _ in lines for row in rows])
    return "\n".join((f"{graph.name}: {rounds} rounds, ms", "", table, "", *(verdict for _, verdict in lines)))


@dataclass(frozen=True, slots=True)
class Round:
    """For one entity and for all of them: the seconds of the call, and the rows of the answer."""

    seconds: tuple[float, float]
    rows: tuple[int, int]


def _compared(
    record: Run, graph: Path, leaves: Sequence[Leaf], chance: random.Random, rounds: int, *, filtered: bool
) -> tuple[list[tuple[str, ...]], str]:
    """The times for one entity and for all of them, and the verdict."""
    stored, _ = Counter(leaf.relation_key for leaf in leaves).most_common(1)[0]
    having = [leaf for leaf in leaves if leaf.relation_key == stored]
    drawn = [([chance.choice(having)], chance.sample(leaves, len(leaves))) for _ in range(_WARM_UP + rounds)]

    @contextmanager
    def warm() -> Generator[Sequence[Callable[[Asked], Round]]]:
        with BareClient(server_command(graph)) as client:
            only = {"properties_to_filter_for": [_printed(client, having[0], stored)]} if filtered else {}
            for asked in drawn[:_WARM_UP]:
                _round(client, asked, only)
            yield [lambda asked: _round(client, asked, only)]

    kind = "one relation" if filtered else "no filter"
    items = {str(n): asked for n, asked in enumerate(drawn[_WARM_UP:], 1)}
    measured = record.measured(kind, Round, items, warm)
    one, many = ([each.seconds[place] for each in measured] for place in (0, 1))
    lines = [
        (f"search, {what}, {kind}", f"{measured[-1].rows[place]:,}", *report.timing(times))
        for place, (what, times) in enumerate((("one entity", one), (f"{_ENTITIES:,} entities", many)))
    ]
    ratio = median(many) / median(one)
    return lines, report.verdict(ratio <= AT_MOST, f"{kind}: {ratio:.1f} times as long (at most {AT_MOST:g})")


def _round(client: BareClient, asked: Asked, only: Mapping[str, object]) -> Round:
    seconds: list[float] = []
    rows: list[int] = []
    for leaves in asked:
        entities = [leaf.key for leaf in leaves]
        start = perf_counter()
        answer = client.call("search", {"entity": entities, "direction": "outgoing", **only})
        seconds.append(perf_counter() - start)
        rows.append(parse(answer).total)
    return Round((seconds[0], seconds[1]), (rows[0], rows[1]))


def _printed(client: BareClient, leaf: Leaf, relation: str) -> str:
    """The id of a relation as printed in answers."""
    asked = {"entity": leaf.key, "direction": "outgoing", "properties_to_filter_for": [relation]}
    return parse(client.call("search", asked)).column("property")[0]
