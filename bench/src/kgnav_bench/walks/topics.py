"""The entities at which walks begin: those that the user names, or some that the graph's relations lead to."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence

from kgnav_bench.client import ToolFailedError
from kgnav_bench.walks.sampling import Limits
from kgnav_bench.walks.session import UNNAMED, Session, UnusableServerError
from kgnav_bench.walks.sharegpt import NamedEntity

_ENTITIES = 200
"""Entities that are read at each end of a relation."""
_MAX_DEPTH = 1_000
"""Deepest place in a relation's entities where they are read: a store counts up to it."""
_GLOB = set("*?[")
_BATCH = 500
"""Ids in one plan."""


async def sampled_topics(session: Session, limits: Limits, seed: int) -> list[NamedEntity]:
    """Entities with names at both ends of each relation that walks may follow.

    The relations are those that the overview of the graph shows, and those that `allow` names in full. The entities are
    consecutive in the order of the store, from a position that the seed determines.

    A relation whose triples the store cannot list, such as that of all classes, gives none.

    Raises:
        UnusableServerError: there are no such entities.
    """
    chance = random.Random(f"{seed}/topics")  # noqa: S311 - a choice of samples, not a secret
    counts = dict(await session.relation_counts())
    counts.update({name: 0 for name in limits.allow if not _GLOB & set(name) and name not in counts})
    found: dict[str, str] = {}
    failure: ToolFailedError | None = None
    for relation, count in counts.items():
        skipped = chance.randrange(max(1, min(count // 2, _MAX_DEPTH)))
        if not limits.permits(relation):
            continue
        try:
            for end in "ab":
                # The number of entities is not known: it may be less than that of triples.
                rows = await _end(session, relation, end, skipped) or await _end(session, relation, end, 0)
                found.update((row[0], row[1]) for row in rows)
        except ToolFailedError as error:
            failure = error
    named = [NamedEntity(id=each, name=name) for each, name in sorted(found.items()) if each and name not in UNNAMED]
    if not named:
        raise UnusableServerError(
            "No relation that walks may follow has an entity with a name. Check --allow and --forbid, or name entities "
            f"with --seeds FILE.{f' The last answer was: {failure}' if failure else ''}"
        )
    return named


async def _end(session: Session, relation: str, end: str, skipped: int) -> list[tuple[str, ...]]:
    name = relation.replace("`", "``")
    plan = f"MATCH (a)-[:`{name}`]->(b) WITH DISTINCT {end} SKIP {skipped} LIMIT {_ENTITIES} "
    return await session.rows(f"{plan}RETURN elementId({end}), {end}.name")


async def given_topics(session: Session, ids: Sequence[str]) -> list[NamedEntity]:
    """The entities with these ids.

    Raises:
        UnusableServerError: an id is not one of the graph, or the store does not answer.
    """
    found: dict[str, str] = {}
    try:
        for batch in _batches(ids):
            found.update(await _named(session, batch))
            for each in batch:
                if each not in found:  # written in another spelling, or refused: an unknown one beside others is not
                    found[each] = dict(await _named(session, [each])).popitem()[1]
    except ToolFailedError as error:
        message = f"The seeds cannot all be read: {error}\nFind ids with: kgnav call find_node hint=NAME"
        raise UnusableServerError(message) from error
    return [NamedEntity(id=each, name=each if found.get(each, "") in UNNAMED else found[each]) for each in ids]


async def _named(session: Session, ids: Sequence[str]) -> list[tuple[str, str]]:
    """The ids and names of the entities with these ids. If none has, the plan is refused."""
    plan = f"MATCH (n) WHERE elementId(n) IN {json.dumps(ids, ensure_ascii=False)} RETURN elementId(n), n.name"
    return [(row[0], row[1]) for row in await session.rows(plan)]


def _batches(ids: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(ids), _BATCH):
        yield list(ids[start : start + _BATCH])
