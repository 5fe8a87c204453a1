"""Which relations a set of entities has: one grouped query, names, and a few far ends of each."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rdflib import Literal, URIRef

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

_MEDIATORS = 2
"""Examples that two mediators of a relation have, as a rule."""
_ROLES = 5_000
"""Rows behind mediators that are read to find examples."""


@dataclass(frozen=True, slots=True)
class _Ends:
    """The first far ends of paths, and whether all of them were read."""

    found: Mapping[Path, Sequence[Term]]
    stop: Stop = Stop.COMPLETE

    def __or__(self, other: _Ends) -> _Ends:
        return _Ends({**self.found, **other.found}, worst((self.stop, other.stop)))


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

        The far ends of near relations are read and named while those through mediators are counted. What has no name
        there is named at the end, with what is behind the mediators.
        """
        tally = await self._tallies.near(anchors, direction, far_ends)
        near = sorted(tally.paths(), key=self._id)[:limit]
        if hops == 1:
            ends = await self._ends(tally, direction, far_ends, near, examples)
        else:
            ends, mediated = await asyncio.gather(
                self._named_ends(tally, direction, far_ends, near, examples),
                self._tallies.through(anchors, direction, far_ends),
            )
            tally |= mediated
        counts = tally.paths()
        ordered = sorted(counts, key=self._id)
        shown = ordered[:limit]
        side = 0 if direction is Direction.OUTGOING else 1
        to_mediators = {(path[side],) for path in counts if len(path) == 2}
        ends |= self._mediators(tally, side, examples)
        relations, far = await asyncio.gather(
            self._names.relations(relation for path in shown for relation in path),
            self._ends(tally, direction, far_ends, [path for path in shown if path not in ends.found], examples),
        )
        ends |= far
        labels = await self._names.labels(term for path in shown for term in ends.found.get(path, ()))
        return Page(
            items=tuple(
                RelationFacts(
                    relation=path_relation(path, relations),
                    direction=direction,
                    count=tally.count(counts[path]),
                    hops=tuple(relations[relation] for relation in path),
                    examples=tuple(self._names.node(term, labels) for term in ends.found.get(path, ())),
                    mediators=path in to_mediators,
                )
                for path in shown
            ),
            positions=tuple(map(self._id, shown)),
            total=tally.count(len(ordered)),
            stop=worst((tally.stop, ends.stop, Stop.LIMIT if len(ordered) > limit else Stop.COMPLETE)),
        )

    def _id(self, path: Path) -> str:
        return path_id(self._store, path)

    @staticmethod
    def _mediators(tally: Tally, side: int, wanted: int) -> _Ends:
        """Mediators as the far ends of the relations that lead to them, where as many as wanted are known."""
        found: dict[Path, dict[Term, None]] = defaultdict(dict)
        for path, mediators in sorted(tally.mediators.items()):
            found[(path[side],)] |= dict.fromkeys(mediators)
        return _Ends({path: list(known)[:wanted] for path, known in found.items() if len(known) >= wanted})

    async def _named_ends(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> _Ends:
        """The first far ends of near relations; they and these are named already, as far as they have usual names."""
        ends, _ = await asyncio.gather(
            self._ends(tally, direction, far_ends, paths, wanted), self._names.relations(path[0] for path in paths)
        )
        await self._names.usual(term for found in ends.found.values() for term in found)
        return ends

    async def _ends(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> _Ends:
        """The first distinct far ends of each path, read for all of them at once."""
        if not wanted or not paths:
            return _Ends({})
        if all(path in tally.mediators for path in paths) and wanted <= _MEDIATORS:
            return await self._ends_behind(tally, direction, far_ends, paths, wanted)
        if len(tally.rows) == 1 and all(len(path) == 1 for path in paths):
            return await self._first_ends(next(iter(tally.rows)), direction, far_ends, paths, wanted)
        return await self._some_ends(tally, direction, far_ends, paths, wanted)

    async def _ends_behind(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> _Ends:
        """The far ends of two-hop relations behind the mediators that are known, with their names."""
        nodes = list(dict.fromkeys(node for path in paths for node in tally.mediators[path]))
        anchor, kind = next(iter(tally.rows)), queries.FAR_ENDS[far_ends]
        read = await self._reader.over(queries.ROLES_OF[direction], "ids", nodes, s=anchor, kind=kind, most=_ROLES)
        behind: dict[tuple[URIRef, URIRef], list[Term]] = defaultdict(list)
        names: dict[URIRef, list[Literal]] = {node: [] for node in nodes}
        for row in read.rows:
            behind[address(row, "m"), address(row, "far")].append(end := row["o"])
            if isinstance(name := row.get("called"), Literal):
                names.setdefault(URIRef(str(end)), []).append(name)
        self._names.keep(names)
        side = 0 if direction is Direction.OUTGOING else 1
        found = {
            path: [end for node in tally.mediators[path] for end in sorted(behind[node, path[1 - side]], key=str)]
            for path in paths
        }
        return _Ends({path: list(dict.fromkeys(ends))[:wanted] for path, ends in found.items()}, read.stop)

    async def _first_ends(
        self, anchor: URIRef, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> _Ends:
        """The first far ends of an entity's near relations."""
        by, kind = self._reader.part(queries.AROUND_ONE[direction], s=anchor), queries.FAR_ENDS[far_ends]
        ends = [self._reader.filled(queries.FAR_END, by=by, kind=kind, skip=n) for n in range(wanted)]
        relations = [path[0] for path in paths]
        read = await self._reader.over(queries.FIRST_FAR_ENDS, "relations", relations, far_ends=Terms(" ".join(ends)))
        found = {
            (address(row, "p"),): [row[end] for n in range(wanted) if (end := f"o{n}") in row] for row in read.rows
        }
        return _Ends(found, read.stop)

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
        return _Ends(found, read.stop)


def path_id(store: Store, path: Path) -> str:
    """The id of a relation of one hop, or of two: `rel1.rel2`."""
    return ".".join(store.ids.short(relation) for relation in path)


def path_relation(path: Path, relations: dict[URIRef, Relation]) -> Relation:
    """A relation of one hop, or of two, with its name."""
    hops = [relations[relation] for relation in path]
    return hops[0] if len(hops) == 1 else Relation(".".join(hop.id for hop in hops), " / ".join(h.label for h in hops))
