"""Which relations a set of entities has: one grouped query, names, and a few far ends of each."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Path, Tallies, Tally
from kgnav_mcp.adapters.sparql.reading import address, number, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, values
from kgnav_mcp.model import Direction, Page, Relation, RelationFacts, Stop
from kgnav_mcp.port import TailKind

_ANCHORS = 20
"""Entities of a set whose far ends serve as examples."""

_Ends = tuple[dict[Path, list[Term]], Stop]
"""The first far ends of paths, and whether all of them were read."""


class RelationReader:
    """Answers `relations`."""

    def __init__(self, store: Store, names: Names, tallies: Tallies) -> None:
        self._store = store
        self._reader = store.reader
        self._names = names
        self._tallies = tallies

    async def page(
        self,
        anchors: Sequence[URIRef],
        direction: Direction,
        *,
        hops: int,
        far_ends: TailKind | None,
        examples: int,
        limit: int,
    ) -> Page[RelationFacts]:
        """The relations ordered by id, with counts, and examples of those that are shown.

        The far ends of near relations are read while those through mediators are counted, and everything is named at
        once: what a store takes for a query is more than what it takes for a name.
        """

        async def ends(tally: Tally) -> _Ends:
            shown = sorted(tally.paths(), key=self._id)[:limit]
            return await self._ends(tally, direction, far_ends, shown, examples)

        async def through() -> tuple[Tally, _Ends]:
            tally = await self._tallies.through(anchors, direction, far_ends)
            return tally, await ends(tally)

        tally = await self._tallies.near(anchors, direction, far_ends)
        if hops == 1:
            found, stop = await ends(tally)
        else:
            near, (mediated, far) = await asyncio.gather(ends(tally), through())
            tally |= mediated
            found, stop = near[0] | far[0], worst((near[1], far[1]))
        counts = tally.paths()
        ordered = sorted(counts, key=self._id)
        shown = ordered[:limit]
        side = 0 if direction is Direction.OUTGOING else 1
        to_mediators = {(path[side],) for path in counts if len(path) == 2}
        relations, labels = await asyncio.gather(
            self._names.relations(relation for path in shown for relation in path),
            self._names.labels(
                (term for path in shown if path not in to_mediators for term in found.get(path, ())),
                nameless=[term for path in shown if path in to_mediators for term in found.get(path, ())],
            ),
        )
        return Page(
            items=tuple(
                RelationFacts(
                    relation=path_relation(path, relations),
                    direction=direction,
                    count=tally.count(counts[path]),
                    hops=tuple(relations[relation] for relation in path),
                    examples=tuple(self._names.node(term, labels) for term in found.get(path, ())),
                    mediators=path in to_mediators,
                )
                for path in shown
            ),
            positions=tuple(map(self._id, shown)),
            total=tally.count(len(ordered)),
            stop=worst((tally.stop, stop, Stop.LIMIT if len(ordered) > limit else Stop.COMPLETE)),
        )

    def _id(self, path: Path) -> str:
        return path_id(self._store, path)

    async def _ends(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> _Ends:
        """The first distinct far ends of each path, read for all of them at once, and whether all were read."""
        if not wanted:
            return {}, Stop.COMPLETE
        counted = {path: tally.ends.get(path, ()) for path in paths}
        known = {path: list(ends[:wanted]) for path, ends in counted.items() if len(ends) == 1 or len(ends) >= wanted}
        missing = [path for path in paths if path not in known]
        if len(tally.rows) == 1 and all(len(path) == 1 for path in missing):
            found, stop = await self._first_ends(next(iter(tally.rows)), direction, far_ends, missing, wanted)
        else:
            found, stop = await self._some_ends(tally, direction, far_ends, missing, wanted)
        return known | found, stop

    async def _first_ends(
        self, anchor: URIRef, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> _Ends:
        """The first far ends of an entity's near relations."""
        by, kind = self._reader.part(queries.AROUND_ONE[direction], s=anchor), queries.FAR_ENDS[far_ends]
        ends = [self._reader.filled(queries.FAR_END, by=by, kind=kind, skip=n) for n in range(wanted)]
        relations = [path[0] for path in paths]
        read = await self._reader.over(queries.FIRST_FAR_ENDS, "relations", relations, far_ends=Terms(" ".join(ends)))
        return {
            (address(row, "p"),): [row[end] for n in range(wanted) if (end := f"o{n}") in row] for row in read.rows
        }, read.stop

    async def _some_ends(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> _Ends:
        """The first far ends of paths at some of the entities."""
        kind = queries.FAR_ENDS[far_ends]
        branches: list[str] = []
        for place, path in enumerate(paths):
            some = sorted(anchor for anchor, counts in tally.rows.items() if path in counts)[:_ANCHORS]
            if len(path) == 1:
                by = self._reader.part(queries.BY[direction], s=values(*some), p=path[0])
            else:
                near, far = path if direction is Direction.OUTGOING else path[::-1]
                by = self._reader.part(queries.THROUGH_BY[direction], s=values(*some), near=near, far=far)
            branches.append(self._reader.filled(queries.EXAMPLES, number=place, by=by, kind=kind, wanted=wanted))
        found: dict[Path, list[Term]] = defaultdict(list)
        read = await self._reader.union(branches)
        for row in read.rows:
            found[paths[number(row, "number")]].append(row["o"])
        return found, read.stop


def path_id(store: Store, path: Path) -> str:
    """The id of a relation of one hop, or of two: `rel1.rel2`."""
    return ".".join(store.ids.short(relation) for relation in path)


def path_relation(path: Path, relations: dict[URIRef, Relation]) -> Relation:
    """A relation of one hop, or of two, with its name."""
    hops = [relations[relation] for relation in path]
    return hops[0] if len(hops) == 1 else Relation(".".join(hop.id for hop in hops), " / ".join(h.label for h in hops))
