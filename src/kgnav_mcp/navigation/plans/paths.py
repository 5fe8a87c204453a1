"""Paths of any length between sets of nodes: searched breadth first, one set of nodes after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import Direction
from kgnav_mcp.navigation.plans.interning import Step
from kgnav_mcp.navigation.plans.reading import Reader
from kgnav_mcp.navigation.plans.values import Edge, Node, Value, rank
from kgnav_mcp.plan import EdgePattern, PathKind

Link = tuple[Node, Value, Node]
"""Where a path begins, its edges, where it ends."""
_Trail = tuple[Node, tuple[Edge, ...], Node]
_Near = dict[Node, list[tuple[Edge, Node]]]
_Steps = _Near
"""To each of some nodes, the last edges of ways to it, and the nodes that these come from."""
_WAY = 10
"""Edges of ways that may be held for each row that may be."""
_Ways = dict[Node, dict[Node, tuple[Edge, ...]]]
"""From each start, one way to each of some ends."""


class Paths:
    """The paths that one edge of a pattern stands for. The edges of a node are read once, whoever comes by it."""

    def __init__(self, reader: Reader, edge: EdgePattern, *, proof: bool) -> None:
        if edge.path is None:
            raise TypeError("an edge without a length is no path")
        self._reader, self._edge, self._length = reader, edge, edge.path
        self._proof = proof
        self._near: _Near = {}
        self._held = 0
        """Edges that are held."""
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
        await in_thread(len(new) + len(found), lambda: self._keep(new, found))
        self._held += len(found)
        self._reader.budget.check(self._held, self._edge)

    def _keep(self, nodes: Sequence[Node], steps: Sequence[Step]) -> None:
        for node in nodes:
            self._near[node] = []
        for near, edge, far in steps:
            self._near[near].append((edge, far))

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
        visit: Callable[[Node, _Steps, int], bool],
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
                    new: _Steps = defaultdict(list)
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
        ways: _Ways = {start: {start: ()} for start in starts}
        fronts = {start: dict(ends) for start, ends in ways.items()}
        length, longest = 0, self._length.longest
        while any(fronts.values()) and length != longest:
            length += 1
            await self._read(node for front in fronts.values() for node in front)
            size = sum(map(len, fronts.values()))
            fresh = length <= self._length.shortest
            work = partial(self._walk_on, fronts, None if fresh else ways, forward=forward)
            fronts = await in_thread(size, work)
            if fresh:
                ways = {start: dict(front) for start, front in fronts.items()}
            held = await in_thread(size, partial(_size, ways))
            self._reader.budget.check(held, self._edge)
        if length < self._length.shortest:
            return []
        return [
            (start, edges, end)
            for start, ends in ways.items()
            for end, edges in ends.items()
            if wanted is None or end in wanted
        ]

    def _walk_on(self, fronts: _Ways, ways: _Ways | None, *, forward: bool) -> _Ways:
        """One edge further from each front: to any node, or, where ways are given, to those that have none yet."""
        found: _Ways = {}
        for start, front in fronts.items():
            found[start] = self._stepped(front, forward)
            if ways is not None:
                found[start] = {node: way for node, way in found[start].items() if node not in ways[start]}
                ways[start] |= found[start]
        return found

    def _stepped(self, ends: dict[Node, tuple[Edge, ...]], forward: bool) -> dict[Node, tuple[Edge, ...]]:
        """The nodes one edge further, each with the first way to it."""
        found: dict[Node, tuple[Edge, ...]] = {}
        for node, edges in ends.items():
            for edge, far in self._near[node]:
                if far not in found:
                    found[far] = self._further(edges, edge, forward)
        return found

    def _further(self, edges: tuple[Edge, ...], edge: Edge, forward: bool) -> tuple[Edge, ...]:
        """A way with one more edge; where only its end is asked for, nothing is kept of it but for a proof."""
        if not self._proof:
            return ()
        return (*edges, edge) if forward else (edge, *edges)

    async def _at_distance(self, starts: Sequence[Node], wanted: frozenset[Node] | None, forward: bool) -> list[Link]:
        """Each end whose shortest way has a length between the bounds."""
        ways: _Ways = {start: {start: ()} for start in starts}
        found: list[Link] = []
        if self._length.shortest == 0:
            found += [(start, (), start) for start in starts if _is_wanted(start, wanted)]

        def visit(start: Node, new: _Steps, length: int) -> bool:
            ends = ways[start]
            for end, steps in new.items():
                edge, before = steps[0]
                ends[end] = self._further(ends[before], edge, forward)
                if length >= self._length.shortest and (wanted is None or end in wanted):
                    found.append((start, ends[end], end))
            return True

        await self._levels(starts, self._length.longest, visit, lambda start, end: end in ways[start])
        return found

    async def _shortest(self, starts: Sequence[Node], wanted: frozenset[Node] | None, forward: bool) -> list[Link]:
        """One or all of the shortest ways between each two nodes; between a node and itself only one without edges."""
        only_one = self._length.kind is PathKind.SHORTEST
        steps: dict[Node, _Steps] = {start: {start: []} for start in starts}
        places = {start: {start: 0} for start in starts}
        missing = {start: set(wanted or ()) - {start} for start in starts}
        ends = [(start, start) for start in starts if not self._length.shortest and _is_wanted(start, wanted)]

        def visit(start: Node, new: _Steps, length: int) -> bool:
            if only_one:
                _keep_first(new, places[start], forward)
            steps[start].update(new)
            if length >= self._length.shortest:
                ends.extend((start, end) for end in new if _is_wanted(end, wanted))
            missing[start].difference_update(new)
            return wanted is None or bool(missing[start])

        await self._levels(starts, self._length.longest, visit, lambda start, end: end in steps[start])
        return await in_thread(self._held, lambda: self._retraced(steps, ends, forward))

    def _retraced(self, steps: dict[Node, _Steps], ends: Sequence[tuple[Node, Node]], forward: bool) -> list[Link]:
        """The ways to ends, gone back step by step."""
        found: list[Link] = []
        edges = 0
        for start, end in ends:
            for way in _ways_back(steps[start], start, end, forward):
                found.append((start, way, end))
                edges += len(way)
                self._reader.budget.check(max(len(found), edges // _WAY), self._edge)
        return found


def _size(ways: _Ways) -> int:
    """Rows that ways are, or more where they are long."""
    edges = sum(len(way) for ends in ways.values() for way in ends.values())
    return max(sum(map(len, ways.values())), edges // _WAY)


def _is_wanted(node: Node, wanted: frozenset[Node] | None) -> bool:
    return wanted is None or node in wanted


def _keep_first(new: _Steps, places: dict[Node, int], forward: bool) -> None:
    """Keep of the steps to each node only that of the first way, by the ids of its nodes, then by its edges.

    `places` has the place of each node of the level before in the order of the ways to them, and gets those of this.
    """
    keys: dict[Node, tuple[object, ...]] = {}
    for node, steps in new.items():
        if len(steps) > 1:
            steps[:] = [min(steps, key=lambda step: (places[step[1]], rank(step[0])))]
        before = places[steps[0][1]]
        keys[node] = (before, node.id) if forward else (node.id, before)
    places.update((node, place) for place, node in enumerate(sorted(new, key=lambda node: keys[node])))


def _ways_back(steps: _Steps, start: Node, end: Node, forward: bool) -> Iterator[tuple[Edge, ...]]:
    """The edges of each way from a start to an end, in the order from source to target."""
    left: list[tuple[Node, tuple[Edge, ...]]] = [(end, ())]
    while left:
        node, edges = left.pop()
        if node is start:
            yield edges
        for edge, before in steps[node]:
            left.append((before, (edge, *edges) if forward else (*edges, edge)))
