"""Which relations a set of entities has: one grouped query, names, and a few far ends of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from rdflib import URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names
from kgnav_mcp.adapters.freebase.store import Store, number, worst
from kgnav_mcp.adapters.freebase.tallies import Path, Tallies, Tally
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import values
from kgnav_mcp.model import Count, Direction, Node, Page, Relation, RelationFacts, Stop
from kgnav_mcp.port import TailKind


class RelationReader:
    """Answers `relations`."""

    def __init__(self, store: Store, names: Names, tallies: Tallies) -> None:
        self._store = store
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
        """The relations ordered by id, with counts, and examples of those that are shown."""
        tally = await self._tallies.near(anchors, direction, far_ends)
        mediated = set[Path]()
        if hops == 2:
            through = await self._tallies.through(anchors, direction, far_ends)
            near = 0 if direction is Direction.OUTGOING else 1
            mediated = {(path[near],) for path in through.paths()}
            tally |= through
        counts = tally.paths()
        ordered = sorted((path_id(self._store, path), path) for path in counts)
        shown = ordered[:limit]
        relations = await self._names.relations(relation for _, path in shown for relation in path)
        far_nodes, cut = await self._examples(tally, direction, far_ends, [path for _, path in shown], examples)
        stops = (tally.stop, cut, Stop.LIMIT if len(ordered) > limit else Stop.COMPLETE)
        return Page(
            items=tuple(
                RelationFacts(
                    relation=path_relation(path, relations),
                    direction=direction,
                    count=tally.count(counts[path]),
                    hops=tuple(relations[relation] for relation in path),
                    examples=far_nodes.get(path, ()),
                    mediators=path in mediated,
                )
                for _, path in shown
            ),
            positions=tuple(name for name, _ in shown),
            total=tally.count(len(ordered)) if anchors else Count(0),
            stop=worst(stops),
        )

    async def _examples(
        self,
        tally: Tally,
        direction: Direction,
        far_ends: TailKind | None,
        paths: Sequence[Path],
        wanted: int,
    ) -> tuple[dict[Path, tuple[Node, ...]], Stop]:
        """The first distinct far ends of each path, read for all of them at once, and whether all were read."""
        if not wanted or not paths:
            return {}, Stop.COMPLETE
        kind = queries.FAR_ENDS[far_ends]
        branches: list[str] = []
        for place, path in enumerate(paths):
            some = sorted(anchor for anchor, counts in tally.rows.items() if path in counts)[:_ANCHORS]
            if len(path) == 1 and len(some) == 1:
                by = self._store.part(queries.BY_ONE[direction], s=some[0], p=path[0])
            elif len(path) == 1:
                by = self._store.part(queries.BY[direction], s=values(*some), p=path[0])
            else:
                near, far = path if direction is Direction.OUTGOING else path[::-1]
                by = self._store.part(queries.THROUGH_BY[direction], s=values(*some), near=near, far=far)
            branches.append(self._store.filled(queries.EXAMPLES, number=place, by=by, kind=kind, wanted=wanted))
        found: dict[Path, list[Term]] = defaultdict(list)
        read = await self._store.union(branches)
        for row in read.rows:
            found[paths[number(row, "number")]].append(row["o"])
        labels = await self._names.labels(term for terms in found.values() for term in terms)
        nodes = {path: tuple(self._names.node(term, labels) for term in terms) for path, terms in found.items()}
        return nodes, read.stop


_ANCHORS = 20
"""Entities of a set whose far ends serve as examples."""


def path_id(store: Store, path: Path) -> str:
    """The id of a relation of one hop, or of two: `rel1.rel2`."""
    return ".".join(store.ids.short(relation) for relation in path)


def path_relation(path: Path, relations: dict[URIRef, Relation]) -> Relation:
    """A relation of one hop, or of two, with its name."""
    hops = [relations[relation] for relation in path]
    return hops[0] if len(hops) == 1 else Relation(".".join(hop.id for hop in hops), " / ".join(h.label for h in hops))
