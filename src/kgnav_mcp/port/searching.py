"""Paths of any length between sets of nodes: searched breadth first, one set of nodes after the other.

A search asks for the edges of nodes and goes on once it has them, whoever reads them, and whatever nodes and edges are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from kgnav_mcp.plan import PathKind, PathLength

N = TypeVar("N")
E = TypeVar("E")
Link = tuple[N, tuple[E, ...], N]
"""Where a path begins, its edges, where it ends."""
Search = Generator[list[N], None, list[tuple[N, tuple[E, ...], N]]]
Steps = dict[N, list[tuple[E, N]]]
"""Of each of some nodes, edges and what is at their other ends."""
Ways = dict[N, dict[N, tuple[E, ...]]]
"""From each start, one way to each of some ends."""
_WAY = 10
"""Edges of ways that may be held for each row that may be."""


class PathSearch(Generic[N, E]):
    """The paths that one edge of a pattern stands for. The edges of a node are read once, whoever comes by it.

    A search is a generator: it yields the nodes whose edges it needs next, and returns links: where a path begins, its
    edges, where it ends. Who drives it gives the edges to `keep`, then resumes it.
    """

    def __init__(
        self,
        length: PathLength,
        *,
        node_order: Callable[[N], str],
        edge_order: Callable[[E], object],
        bound: int,
        check: Callable[[int], None],
        ways: bool,
    ) -> None:
        """`check` refuses to hold so many rows; `ways`: of paths of which only the ends are told, edges are wanted."""
        self._length, self._bound, self._check, self._ways = length, bound, check, ways
        self._node_order, self._edge_order = node_order, edge_order
        self._near: Steps[N, E] = {}
        self._held = 0
        """Edges that are held."""
        self.size = 0
        """About how many nodes and edges the search looks at when it goes on."""

    def links(self, starts: Sequence[N], wanted: frozenset[N] | None, *, forward: bool) -> Search[N, E]:
        """The paths from some nodes to those wanted, or to any; `forward`: the edges are followed as they lead."""
        search = {
            PathKind.TRAILS: self._trails,
            PathKind.REACHABLE: self._reachable,
            PathKind.DISTANCE: self._at_distance,
            PathKind.SHORTEST: self._shortest,
            PathKind.ALL_SHORTEST: self._shortest,
        }[self._length.kind]
        self.size = len(starts)
        return (yield from search(starts, wanted, forward))

    def keep(self, nodes: Iterable[N], steps: Iterable[tuple[N, E, N]]) -> None:
        """Keep the edges of nodes, each as it is followed from one of them."""
        for node in nodes:
            self._near[node] = []
        for near, edge, far in steps:
            self._near[near].append((edge, far))
            self._held += 1
        self._check(self._held)

    def _read(self, nodes: Iterable[N], size: int) -> Generator[list[N], None, None]:
        """Ask for the edges of nodes that nothing came by before."""
        self.size = size
        new = [node for node in dict.fromkeys(nodes) if node not in self._near]
        if new:
            yield new

    def _trails(self, starts: Sequence[N], wanted: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """Every way of a length between the bounds that takes no edge twice."""
        longest, length = self._length.longest, 0
        found: list[Link[N, E]] = []
        level: list[Link[N, E]] = [(start, (), start) for start in starts]
        while level:
            if length >= self._length.shortest:
                found += [trail for trail in level if wanted is None or trail[2] in wanted]
            if length == longest:
                break
            length += 1
            yield from self._read((end for _, _, end in level), len(level))
            level = self._longer(level, forward, self._bound - len(found))
            self._check(len(found) + len(level))
        return found

    def _longer(self, trails: list[Link[N, E]], forward: bool, spare: int) -> list[Link[N, E]]:
        """Each trail with each edge that it has not taken; at most one node's edges more than there is room for."""
        found: list[Link[N, E]] = []
        for start, edges, end in trails:
            for edge, far in self._near[end]:
                if edge not in edges:
                    found.append((start, (*edges, edge) if forward else (edge, *edges), far))
            if len(found) > spare:
                break
        return found

    def _levels(
        self,
        starts: Sequence[N],
        visit: Callable[[N, Steps[N, E], int], bool],
        seen: Callable[[N, N], bool],
    ) -> Generator[list[N], None, None]:
        """Go on from each start, level by level, to the ends that it has not seen, until `visit` needs no more of it.

        `visit` is told the start, the new ends with the edges and nodes that they were come by from, and the length.
        """
        fronts: dict[N, list[N]] = {start: [start] for start in starts}
        length, held = 0, len(starts)
        while fronts and (self._length.longest is None or length < self._length.longest):
            length += 1
            size = sum(map(len, fronts.values()))
            yield from self._read((node for front in fronts.values() for node in front), size)
            onward: dict[N, list[N]] = {}
            size = 0
            for start, front in fronts.items():
                new: Steps[N, E] = defaultdict(list)
                for node in front:
                    for edge, far in self._near[node]:
                        if not seen(start, far):
                            new[far].append((edge, node))
                size += len(new)
                if new and visit(start, new, length):
                    onward[start] = list(new)
                if held + size > self._bound:
                    break
            fronts = onward
            held += size
            self._check(held)

    def _reachable(self, starts: Sequence[N], wanted: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """Each end that a way of a length between the bounds leads to, which may take an edge again."""
        ways: Ways[N, E] = {start: {start: ()} for start in starts}
        fronts = {start: dict(ends) for start, ends in ways.items()}
        length, longest = 0, self._length.longest
        while any(fronts.values()) and length != longest:
            length += 1
            size = sum(map(len, fronts.values()))
            yield from self._read((node for front in fronts.values() for node in front), size)
            fresh = length <= self._length.shortest
            fronts = self._walk_on(fronts, None if fresh else ways, forward=forward)
            if fresh:
                ways = {start: dict(front) for start, front in fronts.items()}
            self._check(_size(ways))
        if length < self._length.shortest:
            return []
        return [
            (start, edges, end)
            for start, ends in ways.items()
            for end, edges in ends.items()
            if wanted is None or end in wanted
        ]

    def _walk_on(
        self,
        fronts: Ways[N, E],
        ways: Ways[N, E] | None,
        *,
        forward: bool,
    ) -> Ways[N, E]:
        """One edge further from each front: to any node, or, where ways are given, to those that have none yet."""
        found: Ways[N, E] = {}
        for start, front in fronts.items():
            found[start] = self._stepped(front, forward)
            if ways is not None:
                found[start] = {node: way for node, way in found[start].items() if node not in ways[start]}
                ways[start] |= found[start]
        return found

    def _stepped(self, ends: dict[N, tuple[E, ...]], forward: bool) -> dict[N, tuple[E, ...]]:
        """The nodes one edge further, each with the first way to it."""
        found: dict[N, tuple[E, ...]] = {}
        for node, edges in ends.items():
            for edge, far in self._near[node]:
                if far not in found:
                    found[far] = self._further(edges, edge, forward)
        return found

    def _further(self, edges: tuple[E, ...], edge: E, forward: bool) -> tuple[E, ...]:
        """A way with one more edge; nothing is kept of it where only its end is asked for."""
        if not self._ways:
            return ()
        return (*edges, edge) if forward else (edge, *edges)

    def _at_distance(self, starts: Sequence[N], wanted: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """Each end whose shortest way has a length between the bounds."""
        ways: Ways[N, E] = {start: {start: ()} for start in starts}
        found: list[Link[N, E]] = []
        if self._length.shortest == 0:
            found += [(start, (), start) for start in starts if _is_wanted(start, wanted)]

        def visit(start: N, new: Steps[N, E], length: int) -> bool:
            ends = ways[start]
            for end, steps in new.items():
                edge, before = steps[0]
                ends[end] = self._further(ends[before], edge, forward)
                if length >= self._length.shortest and _is_wanted(end, wanted):
                    found.append((start, ends[end], end))
            return True

        yield from self._levels(starts, visit, lambda start, end: end in ways[start])
        return found

    def _shortest(self, starts: Sequence[N], wanted: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """One or all of the shortest ways between each two nodes; between a node and itself only one without edges."""
        only_one = self._length.kind is PathKind.SHORTEST
        steps: dict[N, Steps[N, E]] = {start: {start: []} for start in starts}
        places = {start: {start: 0} for start in starts}
        missing = {start: set(wanted or ()) - {start} for start in starts}
        ends = [(start, start) for start in starts if not self._length.shortest and _is_wanted(start, wanted)]

        def visit(start: N, new: Steps[N, E], length: int) -> bool:
            if only_one:
                self._keep_first(new, places[start], forward)
            steps[start].update(new)
            if length >= self._length.shortest:
                ends.extend((start, end) for end in new if _is_wanted(end, wanted))
            missing[start].difference_update(new)
            return wanted is None or bool(missing[start])

        yield from self._levels(starts, visit, lambda start, end: end in steps[start])
        return self._retraced(steps, ends, forward)

    def _keep_first(self, new: Steps[N, E], places: dict[N, int], forward: bool) -> None:
        """Keep of the steps to each node only that of the first way, by the ids of its nodes, then by its edges.

        `places` has the place of each node of the level before in the order of the ways to them, and gets those of
        this.
        """
        keys: dict[N, tuple[object, ...]] = {}
        for node, steps in new.items():
            if len(steps) > 1:
                steps[:] = [min(steps, key=lambda step: (places[step[1]], self._edge_order(step[0])))]
            before, own = places[steps[0][1]], self._node_order(node)
            keys[node] = (before, own) if forward else (own, before)
        places.update((node, place) for place, node in enumerate(sorted(new, key=lambda node: keys[node])))

    def _retraced(self, steps: dict[N, Steps[N, E]], ends: Sequence[tuple[N, N]], forward: bool) -> list[Link[N, E]]:
        """The ways to ends, gone back step by step."""
        found: list[Link[N, E]] = []
        edges = 0
        for start, end in ends:
            for way in _ways_back(steps[start], start, end, forward):
                found.append((start, way, end))
                edges += len(way)
                self._check(max(len(found), edges // _WAY))
        return found


def _size(ways: Ways[N, E]) -> int:
    """Rows that ways are, or more where they are long."""
    edges = sum(len(way) for ends in ways.values() for way in ends.values())
    return max(sum(map(len, ways.values())), edges // _WAY)


def _is_wanted(node: N, wanted: frozenset[N] | None) -> bool:
    return wanted is None or node in wanted


def _ways_back(steps: Steps[N, E], start: N, end: N, forward: bool) -> Iterator[tuple[E, ...]]:
    """The edges of each way from a start to an end, in the order from source to target."""
    left: list[tuple[N, tuple[E, ...]]] = [(end, ())]
    while left:
        node, edges = left.pop()
        if node == start:
            yield edges
        for edge, before in steps[node]:
            left.append((before, (edge, *edges) if forward else (*edges, edge)))
