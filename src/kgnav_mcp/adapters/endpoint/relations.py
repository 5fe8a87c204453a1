"""Which relations a set of entities has: one grouped query, names, and a few far ends of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rdflib import BNode, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.names import Names
from kgnav_mcp.adapters.endpoint.neighbours import NeighbourReader, joined
from kgnav_mcp.adapters.endpoint.store import Anchor, Store
from kgnav_mcp.adapters.endpoint.tallies import Path, Tallies, Tally
from kgnav_mcp.adapters.sparql.reading import Read, number, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import values
from kgnav_mcp.errors import StoreTimeout
from kgnav_mcp.model import Count, Direction, Node, Page, RelationFacts, Stop
from kgnav_mcp.port import TailKind

_ANCHORS = 20
"""Entities of a set whose far ends serve as examples."""


class RelationReader:
    """Answers `relations`."""

    def __init__(self, store: Store, names: Names, tallies: Tallies, neighbours: NeighbourReader) -> None:
        self._store = store
        self._names = names
        self._tallies = tallies
        self._neighbours = neighbours

    async def page(
        self,
        anchors: Sequence[Anchor],
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
            mediated = {(path[near],) for _, path in through.parts()}
            tally |= through
        by_path: dict[Path, list[Anchor]] = defaultdict(list)
        for anchor, path in tally.parts():
            by_path[path].append(anchor)
        ordered = sorted((self._id(path), path) for path in by_path)
        shown = [path for _, path in ordered[:limit]]
        relations = await self._names.relations(relation for path in shown for relation in path)
        far_nodes, stop = await self._examples(
            tally, direction, far_ends, {path: by_path[path] for path in shown}, examples
        )
        items = tuple(
            RelationFacts(
                relation=joined([relations[relation] for relation in path]),
                direction=direction,
                count=tally.count((anchor, path) for anchor in by_path[path]),
                hops=tuple(relations[relation] for relation in path),
                examples=far_nodes.get(path, ()),
                mediators=path in mediated,
                per_entity={self._store.written(anchor): tally.rows[anchor][path] for anchor in by_path[path]},
            )
            for path in shown
        )
        size = len(ordered)
        return Page(
            items=items,
            positions=tuple(name for name, _ in ordered[:limit]),
            total=Count(size) if tally.stop is Stop.COMPLETE else Count.at_least(size),
            stop=worst((tally.stop, stop, Stop.LIMIT if size > limit else Stop.COMPLETE)),
        )

    async def _examples(
        self,
        tally: Tally,
        direction: Direction,
        far_ends: TailKind | None,
        paths: Mapping[Path, Sequence[Anchor]],
        wanted: int,
    ) -> tuple[dict[Path, tuple[Node, ...]], Stop]:
        """The first distinct far ends of each path, and whether all were read.

        They are read for all paths at once, but where blank nodes are among them. Where their time is over, the
        relations come without.
        """
        if not wanted or not paths:
            return {}, Stop.COMPLETE
        asked = list(paths)
        iris = {path: [one for one in anchors if isinstance(one, URIRef)][:_ANCHORS] for path, anchors in paths.items()}
        branches = [
            self._branch(place, path, iris[path], direction=direction, far_ends=far_ends, wanted=wanted)
            for place, path in enumerate(asked)
            if iris[path]
        ]
        found: dict[Path, list[Term]] = defaultdict(list)
        try:
            read = await self._store.reader.union(branches) if branches else Read(())
        except StoreTimeout:
            return {}, Stop.TIME_OUT
        for row in read.rows:
            found[asked[number(row, "number")]].append(row["o"])
        nodes = await self._names.nodes(term for terms in found.values() for term in terms)
        examples: dict[Path, tuple[Node, ...]] = {}
        stops = [read.stop]
        for path in asked:
            terms = found.get(path, [])
            if terms and not any(isinstance(term, BNode) for term in terms):
                examples[path] = tuple(nodes[term] for term in terms)
            else:
                examples[path], stop = await self._neighbours.far_ends(
                    paths[path], path, direction, kind=far_ends, tally=tally, wanted=wanted
                )
                stops.append(stop)
        return examples, worst(stops)

    def _branch(
        self,
        place: int,
        path: Path,
        iris: Sequence[URIRef],
        *,
        direction: Direction,
        far_ends: TailKind | None,
        wanted: int,
    ) -> str:
        reader = self._store.reader
        if len(path) == 2:
            near, far = path if direction is Direction.OUTGOING else path[::-1]
            by = reader.part(queries.THROUGH_EXAMPLES[direction], s=values(*iris), near=near, far=far)
        elif len(iris) == 1:
            by = reader.part(queries.BY_ONE[direction], s=iris[0], p=path[0])
        else:
            by = reader.part(queries.BY[direction], s=values(*iris), p=path[0])
        kind = self._store.reification.ends(direction, far_ends)
        return reader.filled(queries.EXAMPLES, number=place, by=by, kind=kind, wanted=wanted)

    def _id(self, path: Path) -> str:
        return ".".join(self._store.endpoint.ids.short(relation) for relation in path)
