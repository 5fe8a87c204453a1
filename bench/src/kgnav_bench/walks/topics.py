"""The entities that walks begin at: given ones, or some that the graph's relations lead to."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgnav_bench.client import ToolFailedError
from kgnav_bench.walks.sampling import Limits
from kgnav_bench.walks.session import UNNAMED, Session, UnusableServerError
from kgnav_bench.walks.sharegpt import NamedEntity

_TRIPLES = 1_000
"""Triples of each relation that are read."""
_DEEPEST = 50_000
"""Deepest place in a relation's triples where they are read: a store counts up to it."""
_GLOB = set("*?[")
_BATCH = 500
"""Ids in one plan."""


async def sampled_topics(session: Session, limits: Limits, seed: int) -> list[NamedEntity]:
    """Entities with names at both ends of some triples of each relation that walks may follow.

    The relations are those that the overview of the graph shows, and those that `allow` names in full. The triples
    are in a row, from a place that the seed draws.

    Raises:
        UnusableServerError: there are none.
    """
    chance = random.Random(f"{seed}/topics")  # noqa: S311 - a choice of samples, not a secret
    counts = dict(await session.relation_counts())
    counts.update({name: 0 for name in limits.allow if not _GLOB & set(name) and name not in counts})
    found: dict[str, str] = {}
    for relation, count in counts.items():
        if limits.permits(relation):
            skipped = chance.randrange(max(1, min(count, _DEEPEST) - _TRIPLES))
            for head, head_name, tail, tail_name in await _ends(session, relation, skipped):
                found.update(((head, head_name), (tail, tail_name)))
    named = [NamedEntity(id=each, name=name) for each, name in sorted(found.items()) if each and name not in UNNAMED]
    if not named:
        raise UnusableServerError(
            "No relation that walks may follow has an entity with a name. Check --allow and --forbid, or name entities "
            "with --seeds FILE."
        )
    return named


async def _ends(session: Session, relation: str, skipped: int) -> list[tuple[str, ...]]:
    name = relation.replace("`", "``")
    plan = (
        f"MATCH (a)-[:`{name}`]->(b) RETURN elementId(a), a.name, elementId(b), b.name SKIP {skipped} LIMIT {_TRIPLES}"
    )
    try:
        return await session.rows(plan)
    except ToolFailedError as error:
        raise UnusableServerError(f"The triples of {relation!r} cannot be read: {error}") from error


async def given_topics(session: Session, file: Path) -> list[NamedEntity]:
    """The entities whose ids are in a file, one on each line.

    Raises:
        UnusableServerError: an id is not one of the graph, or the file has none.
    """
    ids = list(dict.fromkeys(line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()))
    if not ids:
        raise UnusableServerError(f"{file} has no ids. Write one on each line, as the server prints them.")
    found: dict[str, str] = {}
    for batch in _batches(ids):
        plan = f"MATCH (n) WHERE elementId(n) IN {json.dumps(batch, ensure_ascii=False)} RETURN elementId(n), n.name"
        try:
            found.update((row[0], row[1]) for row in await session.rows(plan))
        except ToolFailedError as error:
            raise UnusableServerError(f"The entities of {file} cannot be read: {error}") from error
    missing = [each for each in ids if each not in found]
    if missing:
        raise UnusableServerError(
            f"{len(missing):,} of {len(ids):,} lines of {file} are not ids of this graph, such as {missing[0]!r}. "
            "Find ids with: kgnav call find_node hint=NAME"
        )
    return [NamedEntity(id=each, name=each if found[each] in UNNAMED else found[each]) for each in ids]


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _BATCH):
        yield list(ids[start : start + _BATCH])
