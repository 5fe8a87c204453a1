"""A few far ends of each relation, read for many relations at once and with their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.freebase import queries
from kgnav_mcp.adapters.freebase.names import Names, add_name
from kgnav_mcp.adapters.freebase.store import Store
from kgnav_mcp.adapters.freebase.tallies import Path, Tally
from kgnav_mcp.adapters.sparql.reading import address, number, worst
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Terms, values
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.model import Direction, Stop
from kgnav_mcp.port import TailKind

_ANCHORS = 20
"""Entities of a set whose far ends serve as examples."""
_MEDIATORS = 2
"""Examples that two mediators of a relation have, as a rule."""
_ROLES = 5_000
"""Rows behind mediators that are read to find examples."""


@dataclass(frozen=True, slots=True)
class Ends:
    """The first distinct far ends of paths, and whether all of them were read."""

    found: Mapping[Path, Sequence[Term]] = field(default_factory=dict[Path, Sequence[Term]])
    stop: Stop = Stop.COMPLETE

    def __or__(self, other: Ends) -> Ends:
        return Ends({**self.found, **other.found}, worst((self.stop, other.stop)))


class Examples:
    """Reads far ends. What has a usual name is named by the same query, and its name kept."""

    def __init__(self, store: Store, names: Names) -> None:
        self._reader = store.reader
        self._names = names

    async def of(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> Ends:
        """The first far ends of some paths of a tally."""
        if not wanted:
            return Ends()
        behind = [path for path in paths if wanted <= _MEDIATORS and path in tally.mediators]
        others = [path for path in paths if wanted > _MEDIATORS or path not in tally.mediators]
        reads: list[Awaitable[Ends]] = []
        if behind:
            reads.append(self._behind(tally, direction, far_ends, behind, wanted))
        if others and len(tally.rows) == 1 and all(len(path) == 1 for path in others):
            reads.append(self._of_one(next(iter(tally.rows)), direction, far_ends, others, wanted))
        elif others:
            reads.append(self._of_set(tally, direction, far_ends, others, wanted))
        found = Ends()
        for ends in await gathered(*reads):
            found |= ends
        return found

    async def _of_one(
        self, anchor: URIRef, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> Ends:
        """The first far ends of an entity's near relations."""
        by, kind = self._reader.part(queries.AROUND_ONE[direction], s=anchor), queries.FAR_ENDS[far_ends]
        ends = [self._reader.filled(queries.FAR_END, by=by, kind=kind, skip=n) for n in range(wanted)]
        called = [self._reader.filled(queries.FAR_END_CALLED, skip=n) for n in range(wanted)]
        parts = {"far_ends": Terms(" ".join(ends)), "called": Terms(" ".join(called))}
        read = await self._reader.over(queries.FIRST_FAR_ENDS, "relations", [path[0] for path in paths], **parts)
        found: dict[Path, Sequence[Term]] = {}
        labels: dict[URIRef, list[Literal]] = defaultdict(list)
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        for row in read.rows:
            relation = address(row, "p")
            add_name(names[relation], row.get("called"))
            found[(relation,)] = [row[end] for n in range(wanted) if (end := f"o{n}") in row]
            for n, end in enumerate(found[(relation,)]):
                if name := row.get(f"called{n}"):
                    add_name(labels[URIRef(str(end))], name)
        self._keep(read.stop, labels, names)
        return Ends(found, read.stop)

    async def _behind(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> Ends:
        """The far ends of an entity's two-hop relations behind those of their mediators that are known."""
        nodes = list(dict.fromkeys(node for path in paths for node in tally.mediators[path]))
        anchor, edge, kind = next(iter(tally.rows)), Terms(queries.FAR_EDGE[direction]), queries.FAR_ENDS[far_ends]
        read = await self._reader.over(queries.ROLES_OF, "ids", nodes, s=anchor, edge=edge, kind=kind, most=_ROLES)
        behind: dict[tuple[URIRef, URIRef], list[Term]] = defaultdict(list)
        labels: dict[URIRef, list[Literal]] = {node: [] for node in nodes}
        names: dict[URIRef, list[Literal]] = defaultdict(list)
        for row in read.rows:
            far, end = address(row, "far"), row["o"]
            behind[address(row, "m"), far].append(end)
            add_name(names[far], row.get("role"))
            if name := row.get("called"):
                add_name(labels.setdefault(URIRef(str(end)), []), name)
        self._keep(read.stop, labels, names)
        found: dict[Path, Sequence[Term]] = {}
        for path in paths:
            far = path[1] if direction is Direction.OUTGOING else path[0]
            ends = (end for node in tally.mediators[path] for end in sorted(behind[node, far], key=str))
            found[path] = list(dict.fromkeys(ends))[:wanted]
        return Ends(found, read.stop)

    def _keep(
        self,
        stop: Stop,
        labels: Mapping[URIRef, Sequence[Literal]],
        relations: Mapping[URIRef, Sequence[Literal]],
    ) -> None:
        """Keep the names of entities and of relations, unless time may have cut some."""
        if stop is not Stop.TIME_OUT:
            self._names.keep(labels)
            self._names.keep_relations(relations)

    async def _of_set(
        self, tally: Tally, direction: Direction, far_ends: TailKind | None, paths: Sequence[Path], wanted: int
    ) -> Ends:
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
        return Ends(found, read.stop)
