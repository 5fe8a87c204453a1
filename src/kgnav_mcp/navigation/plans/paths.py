"""Paths of any length between sets of nodes: searched breadth first, one set of nodes after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.plans.reading import Reader
from kgnav_mcp.navigation.plans.values import Edge, Node, Value, rank
from kgnav_mcp.plan import EdgePattern, PathKind

Link = tuple[Node, Value, Node]
"""Where a path begins, its edges, where it ends."""
_Trail = tuple[Node, tuple[Edge, ...], Node]
_Near = dict[Node, list[tuple[Edge, Node]]]


class Paths:
    """The paths that one edge of a pattern stands for. The edges of a node are read once, whoever comes by it."""

    def __init__(self, reader: Reader, edge: EdgePattern) -> None:
        if edge.path is None:
            raise TypeError("an edge without a length is no path")
        self._reader, self._edge, self._length = reader, edge, edge.path
        self._near: _Near = {}
        self._side: Direction | None = None

    async def between(self, sources: Sequence[Node] | None, targets: Sequence[Node] | None) -> list[Link]:
        """The paths from some nodes to some nodes; one side may be any (None). They are searched from the fewer.

        Raises:
            PlanTooLarge: more than may be held are on the way.
        """
        forward = targets is None or (sources is not None and len(sources) <= len(targets))
        starts, ends = (sources, targets) if forward else (targets, sources)
        if not self._edge.either:
            self._side = Direction.OUTGOING if forward else Direction.INCOMING
        wanted = None if ends is None else frozenset(ends)
        search = {
            PathKind.TRAILS: self._trails,
            PathKind.REACHABLE: self._reachable,
            PathKind.DISTANCE: self._at_distance,
            PathKind.SHORTEST: self._shortest,
            PathKind.ALL_SHORTEST: self._shortest,
        }[self._length.kind]
        found = await search(starts or (), wanted, forward)
        return found if forward else [(end, edges, start) for start, edges, end in found]

    async def _read(self, nodes: Iterable[Node]) -> None:
        """Read the edges of nodes that nothing came by before."""
        new = [node for node in dict.fromkeys(nodes) if node not in self._near]
        if not new:
            return
        found = await self._reader.expanded(new, self._side, self._edge.relations, self._edge)
        for node in new:
            self._near[node] = []
        for near, edge, far in found:
            self._near[near].append((edge, far))
        self._reader.budget.check(sum(map(len, self._near.values())), self._edge)

    async def _trails(self, starts: Sequence[Node], wanted: frozenset[Node] | None, forward: bool) -> list[Link]:
        """Every way of a length between the bounds that takes no edge twice."""
        longest, length = self._length.longest, 0
        found: list[Link] = []
        level: list[_Trail] = [(start, (), start) for start in starts]
        while level:
            if length >= self._length.shortest:
                found += [trail for trail in level if wanted is None or trail[2] in wanted]
            if length == longest:
                break
            length += 1
            await self._read(end for _, _, end in level)
            spare = self._reader.budget.bound - len(found)
            level = await in_thread(len(level), lambda level=level, spare=spare: self._longer(level, forward, spare))
            self._reader.budget.check(len(found) + len(level), self._edge)
        return found

    def _longer(self, trails: list[_Trail], forward: bool, spare: int) -> list[_Trail]:
        """Each trail with each edge that it has not taken; at most one node's edges more than there is room for."""
        found: list[_Trail] = []
        for start, edges, end in trails:
            for edge, far in self._near[end]:
                if edge not in edges:
                    found.append((start, (*edges, edge) if forward else (edge, *edges), far))
            if len(found) > spare:
                break
        return found

    async def _levels(
        self,
        starts: Sequence[Node],
        longest: int | None,
        visit: Callable[[Node, dict[Node, list[tuple[Edge, Node]]], int], bool],
        seen: Callable[[Node, Node], bool],
    ) -> None:
        """Go on from each start, level by level, to the ends that it has not seen, until `visit` needs no more of it.

        `visit` is told the start, the new ends with the edges and nodes that they were come by from, and the length.
        """
        fronts: dict[Node, list[Node]] = {start: [start] for start in starts}
        length, held = 0, len(starts)
        while fronts and (longest is None or length < longest):
            length += 1
            await self._read(node for front in fronts.values() for node in front)

            def work(
                fronts: dict[Node, list[Node]] = fronts, length: int = length, held: int = held
            ) -> tuple[dict[Node, list[Node]], int]:
                onward: dict[Node, list[Node]] = {}
                size = 0
                for start, front in fronts.items():
                    new: dict[Node, list[tuple[Edge, Node]]] = defaultdict(list)
                    for node in front:
                        for edge, far in self._near[node]:
                            if not seen(start, far):
                                new[far].append((edge, node))
                    size += len(new)
                    if new and visit(start, new, length):
                        onward[start] = list(new)
                    if held + size > self._reader.budget.bound:
                        break
                return onward, size

            fronts, size = await in_thread(sum(map(len, fronts.values())), work)
            held += size
            self._reader.budget.check(held, self._edge)

    async def _reachable(self, starts: Sequence[Node], wanted: frozenset[Node] | None, forward: bool) -> list[Link]:
        """Each end that a way of a length between the bounds leads to, which may take an edge again."""
        ways: dict[Node, dict[Node, tuple[Edge, ...]]] = {start: {start: ()} for start in starts}
        fronts = {start: dict(ends) for start, ends in ways.items()}
        length, longest = 0, self._length.longest
        while any(fronts.values()) and length != longest:
            length += 1
            await self._read(node for front in fronts.values() for node in front)
            size = sum(map(len, fronts.values()))
            fronts = await in_thread(
                size, lambda fronts=fronts: {start: self._stepped(front, forward) for start, front in fronts.items()}
            )
            if length <= self._length.shortest:
                ways = {start: dict(front) for start, front in fronts.items()}
            else:
                for start, front in fronts.items():
                    fronts[start] = {node: way for node, way in front.items() if node not in ways[start]}
                    ways[start] |= fronts[start]
            self._reader.budget.check(sum(map(len, ways.values())), self._edge)
        if length < self._length.shortest:
            return []
        return [
            (start, edges, end)
            for start, ends in ways.items()
            for end, edges in ends.items()
            if wanted is None or end in wanted
        ]

    def _stepped(self, ends: dict[Node, tuple[Edge, ...]], forward: bool) -> dict[Node, tuple[Edge, ...]]:
        """The nodes one edge further, each with the first way to it."""
        found: dict[Node, tuple[Edge, ...]] = {}
        for node, edges in ends.items():
            for edge, far in self._near[node]:
                if far not in found:
                    found[far] = (*edges, edge) if forward else (edge, *edges)
        return found

    async def _at_distance(self, starts: Sequence[Node], wanted: frozenset[Node] | None, forward: bool) -> list[Link]:
        """Each end whose shortest way has a length between the bounds."""
        ways: dict[Node, dict[Node, tuple[Edge, ...]]] = {start: {start: ()} for start in starts}
        found: list[Link] = []
        if self._length.shortest == 0:
            found += [(start, (), start) for start in starts if wanted is None or start in wanted]

        def visit(start: Node, new: dict[Node, list[tuple[Edge, Node]]], length: int) -> bool:
            ends = ways[start]
            for end, steps in new.items():
                edge, before = steps[0]
                ends[end] = (*ends[before], edge) if forward else (edge, *ends[before])
                if length >= self._length.shortest and (wanted is None or end in wanted):
                    found.append((start, ends[end], end))
            return True

        await self._levels(starts, self._length.longest, visit, lambda start, end: end in ways[start])
        return found

    async def _shortest(self, starts: Sequence[Node], wanted: frozenset[Node] | None, forward: bool) -> list[Link]:
        """One or all of the shortest ways between each two nodes; between a node and itself only one without edges."""
        only_one = self._length.kind is PathKind.SHORTEST
        ways: dict[Node, dict[Node, list[tuple[Edge, ...]]]] = {start: {start: [()]} for start in starts}
        missing = {start: set(wanted or ()) - {start} for start in starts}
        found: list[Link] = []
        if self._length.shortest == 0:
            found += [(start, (), start) for start in starts if wanted is None or start in wanted]
        room = self._reader.budget.bound

        def visit(start: Node, new: dict[Node, list[tuple[Edge, Node]]], length: int) -> bool:
            nonlocal room
            known = ways[start]
            for end, steps in new.items():
                longer = [(*way, edge) if forward else (edge, *way) for edge, before in steps for way in known[before]]
                known[end] = (
                    [min(longer, key=lambda way, end=end: _order(way, start if forward else end))]
                    if only_one
                    else longer
                )
                room -= len(known[end])
                if length >= self._length.shortest and (wanted is None or end in wanted):
                    found.extend((start, way, end) for way in known[end])
            missing[start].difference_update(new)
            return room >= 0 and (wanted is None or bool(missing[start]))

        await self._levels(starts, self._length.longest, visit, lambda start, end: end in ways[start])
        if room < 0:
            self._reader.budget.check(self._reader.budget.bound - room, self._edge)
        return found


def _order(way: tuple[Edge, ...], start: Node) -> tuple[tuple[str, ...], tuple[object, ...]]:
    """The order of ways of one length from one node: by the ids of their nodes, then by their edges."""
    ids: list[str] = []
    node = start
    for edge in way:
        node = edge.other(node)
        ids.append(node.id)
    return tuple(ids), tuple(rank(edge) for edge in way)
