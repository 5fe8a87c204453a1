"""Compares `search` for a thousand entities in one call with one for a single entity."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.direct import Leaf, Store
from kgnav_bench.tables import parse

AT_MOST = 10.0
"""Most times as long as for one entity that a call may take for a thousand."""

_ENTITIES = 1_000
_DEGREES = 2, 50
_WARM_UP = 3


class TooSmallError(Exception):
    """The graph file has too few suitable entities."""


def run(graph: Path, rounds: int) -> str:
    """The report: `search` for one entity and for a thousand in turn, without a filter and with one.

    Each round has another order of the thousand and another single entity, so that nothing is cached from the round
    before.

    Raises:
        TooSmallError: there are fewer than a thousand entities of small degree.
    """
    with closing(Store(graph)) as store:
        leaves = [leaf for leaf in store.leaves(4 * _ENTITIES, *_DEGREES) if leaf.direction == "outgoing"][:_ENTITIES]
    if len(leaves) < _ENTITIES:
        raise TooSmallError(f"this graph has {len(leaves):,} entities with 2 to 50 rows that leave them")
    chance = random.Random(1)  # noqa: S311 - a choice of samples, not a secret
    with BareClient(server_command(graph)) as client:
        lines = [_compared(client, leaves, chance, rounds, filtered=filtered) for filtered in (False, True)]
    table = report.table(("what", "rows", "median", "p95"), [row for rows, _ in lines for row in rows])
    return "\n".join((f"{graph.name}: {rounds} rounds, ms", "", table, "", *(verdict for _, verdict in lines)))


def _compared(
    client: BareClient, leaves: Sequence[Leaf], chance: random.Random, rounds: int, *, filtered: bool
) -> tuple[list[tuple[str, ...]], str]:
    """The times for one entity and for all of them, and the verdict."""
    stored, _ = Counter(leaf.relation_key for leaf in leaves).most_common(1)[0]
    having = [leaf for leaf in leaves if leaf.relation_key == stored]
    only = {"properties_to_filter_for": [_printed(client, having[0], stored)]} if filtered else {}
    seconds: dict[str, list[float]] = {"one entity": [], f"{_ENTITIES:,} entities": []}
    rows = dict.fromkeys(seconds, 0)
    for n in range(_WARM_UP + rounds):
        one, all_of_them = chance.choice(having), chance.sample(leaves, len(leaves))
        for what, asked in zip(seconds, ([one], all_of_them), strict=True):
            entities = [leaf.key for leaf in asked]
            start = perf_counter()
            answer = client.call("search", {"entity": entities, "direction": "outgoing", **only})
            if n >= _WARM_UP:
                seconds[what].append(perf_counter() - start)
            rows[what] = parse(answer).total
    ratio = median(seconds[f"{_ENTITIES:,} entities"]) / median(seconds["one entity"])
    kind = "one relation" if filtered else "no filter"
    lines = [(f"search, {what}, {kind}", f"{rows[what]:,}", *report.timing(times)) for what, times in seconds.items()]
    return lines, report.verdict(ratio <= AT_MOST, f"{kind}: {ratio:.1f} times as long (at most {AT_MOST:g})")


def _printed(client: BareClient, leaf: Leaf, relation: str) -> str:
    """The id of a relation as printed in answers."""
    asked = {"entity": leaf.key, "direction": "outgoing", "properties_to_filter_for": [relation]}
    return parse(client.call("search", asked)).column("property")[0]
