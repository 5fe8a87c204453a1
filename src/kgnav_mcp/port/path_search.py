"""Breadth-first search for paths of any length between sets of nodes.

A search does not read the graph: it requests the edges of nodes from its caller, and continues when it has them.
Nodes and edges may be values of any type. Shortest paths between few pairs of nodes are searched from both ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kgnav_mcp.plan import PathKind, PathLength

N = TypeVar("N")
E = TypeVar("E")
FoundPath = tuple[N, tuple[E, ...], N]
"""A path: its first node, its edges, its last node."""
Steps = dict[N, list[tuple[E, N]]]
"""For each node, edges and the nodes at their other ends."""
PathsByStart = dict[N, dict[N, tuple[E, ...]]]
"""For each start, one path to each of some ends."""
EDGES_PER_ROW = 10
"""Number of edges in paths that take as much memory as one row."""
_FEW_EDGES = 100
"""Edges at the front of a search that are read without counting those at its other end."""
_FEW_PAIRS = 16
"""Maximum number of pairs of ends that are searched one by one, each from both ends."""


@dataclass(frozen=True, slots=True)
class EdgeRequest(Generic[N]):
    """Asks for the edges of nodes."""

    nodes: list[N]
    incoming: bool
    """Whether edges that lead to the nodes are wanted, not those that leave them. False also if either are wanted."""


@dataclass(frozen=True, slots=True)
class CountRequest(Generic[N]):
    """Asks how many edges such a request would bring; None means about the average. They may be added at once."""

    nodes: list[N]
    incoming: bool


Request = EdgeRequest[N] | CountRequest[N]
Requests = Generator[EdgeRequest[N] | CountRequest[N], int | None, None]
Search = Generator[EdgeRequest[N] | CountRequest[N], int | None, list[tuple[N, tuple[E, ...], N]]]


@dataclass(slots=True)
class _Side(Generic[N, E]):
    """The state of a search from one of two ends: the shortest paths from this end to all nodes up to a length."""

    incoming: bool
    front: list[N]
    """The nodes at this length."""
    steps: Steps[N, E]
    length: int = 0
    cost: int | None = None
    """Number of edges at the front, or an estimate; None until it is needed."""


class PathSearch(Generic[N, E]):
    """Searches for the paths that match one edge of a pattern. The edges of each node are read once.

    A search is a generator: it yields requests for the edges that it needs next, and returns the paths. The
    caller passes the edges to `add_edges`, then resumes the generator. The answer of a CountRequest is sent to it.
    """

    def __init__(
        self,
        length: PathLength,
        *,
        node_order: Callable[[N], str],
        edge_order: Callable[[E], Any],
        bound: int,
        check: Callable[[int, int], None],
        keep_edges: bool,
        either: bool,
        expect_nodes: Callable[[Iterable[N]], None] = lambda _: None,
    ) -> None:
        """`check(rows, edges)` raises if so many rows, or paths with so many edges, exceed the memory limit.

        `keep_edges`: keep the edges of paths, not only their ends. `either`: edges are followed in both directions.
        `bound` is the number of rows that may be held: a search stops collecting soon after it. `expect_nodes` is
        called with nodes before `node_order` is called for each of them.
        """
        self._length, self._bound, self._check, self._keep_edges = length, bound, check, keep_edges
        self._either = either
        self._node_order, self._edge_order, self._expect_nodes = node_order, edge_order, expect_nodes
        self._known: dict[bool, Steps[N, E]] = {False: {}, True: {}}
        """The edges that were read, by direction."""
        self._adjacency = self._known[False]
        """Those in the direction of the search."""
        self._incoming = False
        self._edges_held = 0
        self.size = 0
        """About how many nodes and edges the search examines when it is resumed."""

    def paths(self, starts: Sequence[N], targets: frozenset[N] | None, *, forward: bool) -> Search[N, E]:
        """The paths from the starts to the wanted nodes (None: to any). `forward`: edges run from head to tail."""
        search = {
            PathKind.TRAILS: self._trails,
            PathKind.REACHABLE: self._reachable,
            PathKind.DISTANCE: self._at_distance,
            PathKind.SHORTEST: self._shortest,
            PathKind.ALL_SHORTEST: self._shortest,
        }[self._length.kind]
        self.size = len(starts)
        self._incoming = not forward and not self._either
        self._adjacency = self._known[self._incoming]
        return (yield from search(starts, targets, forward))

    def add_edges(self, request: EdgeRequest[N], steps: Iterable[tuple[N, E, N]]) -> None:
        """Add the edges of a request, each as (node, edge, node at the other end)."""
        steps_by_node = self._known[request.incoming]
        for node in request.nodes:
            steps_by_node[node] = []
        for near, edge, far in steps:
            steps_by_node[near].append((edge, far))
            self._edges_held += 1
        self._check(self._edges_held, 0)

    def _request_edges(self, nodes: Iterable[N], size: int, *, incoming: bool | None = None) -> Requests[N]:
        """Request the edges of those nodes whose edges are not known yet."""
        self.size = size
        incoming = self._incoming if incoming is None else incoming
        new = [node for node in dict.fromkeys(nodes) if node not in self._known[incoming]]
        if new:
            yield EdgeRequest(new, incoming)

    def _trails(self, starts: Sequence[N], targets: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """All paths with a length between the bounds and no repeated edge."""
        longest, length, stored_edges = self._length.longest, 0, 0
        paths: list[FoundPath[N, E]] = []
        level: list[FoundPath[N, E]] = [(start, (), start) for start in starts]
        while level:
            if length >= self._length.shortest:
                paths += [trail for trail in level if targets is None or trail[2] in targets]
            if length == longest:
                break
            length += 1
            yield from self._request_edges((end for _, _, end in level), len(level))
            level = self._extend_trails(level, forward, self._bound - len(paths))
            stored_edges += length * len(level)
            self._check(len(paths) + len(level), stored_edges)
        return paths

    def _extend_trails(self, trails: list[FoundPath[N, E]], forward: bool, spare: int) -> list[FoundPath[N, E]]:
        """Each trail extended by each edge that it does not have yet.

        Stops after the first trail that makes more than `spare` results.
        """
        paths: list[FoundPath[N, E]] = []
        for start, edges, end in trails:
            for edge, far in self._adjacency[end]:
                if edge not in edges:
                    paths.append((start, (*edges, edge) if forward else (edge, *edges), far))
            if len(paths) > spare:
                break
        return paths

    def _levels(
        self,
        starts: Sequence[N],
        visit: Callable[[N, Steps[N, E], int], bool],
        seen: Callable[[N, N], bool],
    ) -> Requests[N]:
        """Search from each start level by level, to nodes that it has not seen, until `visit` returns False for it.

        `visit` receives the start, its new nodes with the edges and nodes that lead to them, and the path length.
        """
        fronts: dict[N, list[N]] = {start: [start] for start in starts}
        length, stored = 0, len(starts)
        while fronts and (self._length.longest is None or length < self._length.longest):
            length += 1
            size = sum(map(len, fronts.values()))
            yield from self._request_edges((node for front in fronts.values() for node in front), size)
            next_fronts: dict[N, list[N]] = {}
            size = 0
            for start, front in fronts.items():
                new: Steps[N, E] = defaultdict(list)
                for node in front:
                    for edge, far in self._adjacency[node]:
                        if not seen(start, far):
                            new[far].append((edge, node))
                size += len(new)
                if new and visit(start, new, length):
                    next_fronts[start] = list(new)
                if stored + size > self._bound:
                    break
            fronts = next_fronts
            stored += size
            self._check(stored, 0)

    def _reachable(self, starts: Sequence[N], targets: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """Each end of a path with a length between the bounds. Edges are repeated only if `shortest` is above 1."""
        paths: PathsByStart[N, E] = {start: {start: ()} for start in starts}
        fronts = {start: dict(ends) for start, ends in paths.items()}
        length, longest, stored = 0, self._length.longest, (len(paths), 0)
        while any(fronts.values()) and length != longest:
            length += 1
            size = sum(map(len, fronts.values()))
            yield from self._request_edges((node for front in fronts.values() for node in front), size)
            exact_length = length <= self._length.shortest
            fronts = self._extend_fronts(fronts, None if exact_length else paths, forward=forward)
            if exact_length:
                paths = {start: dict(front) for start, front in fronts.items()}
            rows, edges = stored if not exact_length else (0, 0)
            stored = rows + sum(map(len, fronts.values())), edges + _edge_count(fronts)
            self._check(*stored)
        if length < self._length.shortest:
            return []
        if self._either and self._length.shortest == 1:  # not back along the edge that leads away
            for start, ends in paths.items():
                if ends.pop(start, None) is not None and (cycle := self._cycle(start)):
                    ends[start] = cycle if self._keep_edges else ()
        return [
            (start, edges, end)
            for start, ends in paths.items()
            for end, edges in ends.items()
            if targets is None or end in targets
        ]

    def _cycle(self, start: N) -> tuple[E, ...]:
        """The edges of a path from a node to itself that repeats no edge; empty if there is none.

        All nodes are searched breadth first. An edge closes a cycle if the edges by which its ends were first reached
        go back to different edges of the start.
        """
        steps: dict[N, tuple[E, N]] = {}
        first_edges: dict[N, E] = {}
        nodes = [start]
        for node in nodes:
            for edge, far in self._adjacency[node]:
                first = edge if node == start else first_edges[node]
                if far == start:
                    if node == start or edge != steps[node][0]:
                        return (*_way_to(node, start, steps), edge)
                elif far not in steps:
                    steps[far], first_edges[far] = (edge, node), first
                    nodes.append(far)
                elif first_edges[far] != first:
                    return (*_way_to(node, start, steps), edge, *reversed(_way_to(far, start, steps)))
        return ()

    def _extend_fronts(
        self,
        fronts: PathsByStart[N, E],
        ways: PathsByStart[N, E] | None,
        *,
        forward: bool,
    ) -> PathsByStart[N, E]:
        """The paths of each front extended by one edge. With `ways`, only to nodes without a path; they are added."""
        paths: PathsByStart[N, E] = {}
        for start, front in fronts.items():
            paths[start] = self._one_edge_further(front, forward)
            if ways is not None:
                paths[start] = {node: path for node, path in paths[start].items() if node not in ways[start]}
                ways[start] |= paths[start]
        return paths

    def _one_edge_further(self, ends: dict[N, tuple[E, ...]], forward: bool) -> dict[N, tuple[E, ...]]:
        """The nodes that are one edge further, each with the first path to it."""
        nodes: dict[N, tuple[E, ...]] = {}
        for node, edges in ends.items():
            for edge, far in self._adjacency[node]:
                if far not in nodes:
                    nodes[far] = self._extend_path(edges, edge, forward)
        return nodes

    def _extend_path(self, edges: tuple[E, ...], edge: E, forward: bool) -> tuple[E, ...]:
        """A path with one more edge; empty if only the ends of paths are wanted."""
        if not self._keep_edges:
            return ()
        return (*edges, edge) if forward else (edge, *edges)

    def _at_distance(self, starts: Sequence[N], targets: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """Each end whose shortest path has a length between the bounds."""
        paths: PathsByStart[N, E] = {start: {start: ()} for start in starts}
        at_distance: list[FoundPath[N, E]] = []
        if self._length.shortest == 0:
            at_distance += [(start, (), start) for start in starts if _is_target(start, targets)]

        def visit(start: N, new: Steps[N, E], length: int) -> bool:
            ends = paths[start]
            for end, steps in new.items():
                edge, before = steps[0]
                ends[end] = self._extend_path(ends[before], edge, forward)
                if length >= self._length.shortest and _is_target(end, targets):
                    at_distance.append((start, ends[end], end))
            return True

        yield from self._levels(starts, visit, lambda start, end: end in paths[start])
        return at_distance

    def _shortest(self, starts: Sequence[N], targets: frozenset[N] | None, forward: bool) -> Search[N, E]:
        """One or all of the shortest paths between each two nodes; from a node to itself only the empty path."""
        if targets is not None and len(starts) * len(targets) <= _FEW_PAIRS and not targets.intersection(starts):
            return (yield from self._shortest_of_pairs(starts, sorted(targets, key=self._node_order), forward))
        only_one = self._length.kind is PathKind.SHORTEST
        rank_all = only_one and targets is None  # few ends are traced back one by one, for less than ranking all nodes
        steps: dict[N, Steps[N, E]] = {start: {start: []} for start in starts}
        places = {start: {start: 0} for start in starts}
        missing = {start: set(targets or ()) - {start} for start in starts}
        edges_of_paths = 0
        ends = [(start, start) for start in starts if not self._length.shortest and _is_target(start, targets)]

        def visit(start: N, new: Steps[N, E], length: int) -> bool:
            nonlocal edges_of_paths
            if targets is None and length >= self._length.shortest:
                edges_of_paths += length * len(new)
                self._check(len(ends) + len(new), edges_of_paths)
            if rank_all:
                self._keep_first(new, places[start], forward)
            steps[start].update(new)
            if length >= self._length.shortest:
                ends.extend((start, end) for end in new if _is_target(end, targets))
            missing[start].difference_update(new)
            return targets is None or bool(missing[start])

        yield from self._levels(starts, visit, lambda start, end: end in steps[start])
        if only_one and not rank_all:
            return [(start, self._first_path(steps[start], start, end, forward), end) for start, end in ends]
        return self._trace(steps, ends, forward)

    def _shortest_of_pairs(self, starts: Sequence[N], targets: Sequence[N], forward: bool) -> Search[N, E]:
        """One or all of the shortest paths between each two nodes, which differ."""
        paths: list[FoundPath[N, E]] = []
        for start in starts:
            for end in targets:
                steps = yield from self._shortest_steps(start, end)
                if not steps:
                    continue
                if self._length.kind is PathKind.SHORTEST:
                    paths.append((start, self._first_path(steps, start, end, forward), end))
                else:
                    paths += self._trace({start: steps}, [(start, end)], forward)
        return paths

    def _shortest_steps(self, start: N, end: N) -> Generator[Request[N], int | None, Steps[N, E]]:
        """The steps of all shortest paths between two nodes, as from the start on; empty if there is none.

        Both ends are searched level by level, always the one with fewer edges at its front, or with few. So the edges
        of a hub are read last, and not at all if both sides meet in it.
        """
        near: _Side[N, E] = _Side(self._incoming, [start], {start: []})
        far: _Side[N, E] = _Side(not self._incoming and not self._either, [end], {end: []})
        longest = self._length.longest
        while near.front and far.front and (longest is None or near.length + far.length < longest):
            near_cost = yield from self._cost(near)
            far_cost = near_cost if near_cost <= _FEW_EDGES else (yield from self._cost(far))
            side, other = (near, far) if near_cost <= far_cost else (far, near)
            self._check(min(near_cost, far_cost), 0)
            yield from self._request_edges(side.front, len(side.front), incoming=side.incoming)
            self._extend_side(side)
            self._check(len(near.steps) + len(far.steps), 0)
            if met := [node for node in other.front if node in side.steps]:
                return _joined(near, far, met) if near.length + far.length >= self._length.shortest else {}
        return {}

    def _cost(self, side: _Side[N, E]) -> Generator[Request[N], int | None, int]:
        """The number of edges at the front of a side, or an estimate. Edges that are not known are asked for."""
        if side.cost is None:
            self.size, steps_by_node = len(side.front), self._known[side.incoming]
            new = [node for node in side.front if node not in steps_by_node]
            side.cost = sum(len(steps_by_node.get(node, ())) for node in side.front)
            count = (yield CountRequest(new, side.incoming)) if new else 0
            if count is None:
                nodes = sum(map(len, self._known.values()))
                count = min(self._bound, len(new) * max(self._edges_held, nodes) // max(nodes, 1))
            side.cost += count
        return side.cost

    def _extend_side(self, side: _Side[N, E]) -> None:
        """Extend a side by one level."""
        new: Steps[N, E] = defaultdict(list)
        steps_by_node = self._known[side.incoming]
        for node in side.front:
            for edge, far in steps_by_node[node]:
                if far not in side.steps:
                    new[far].append((edge, node))
        side.steps.update(new)
        side.front, side.length, side.cost = list(new), side.length + 1, None

    def _first_path(self, steps: Steps[N, E], start: N, end: N, forward: bool) -> tuple[E, ...]:
        """The first of the shortest paths in the order of its node ids, then of its edges, both from head to tail."""
        head, tail = (start, end) if forward else (end, start)
        onward = _turned(steps, end) if forward else steps
        path: list[E] = []
        while head != tail:
            choices = onward[head]
            if len(choices) > 1:
                self._expect_nodes(node for _, node in choices)
                first = min({node for _, node in choices}, key=self._node_order)
                choices = [(edge, node) for edge, node in choices if node == first]
            edge, head = choices[0] if len(choices) == 1 else min(choices, key=lambda step: self._edge_order(step[0]))
            path.append(edge)
        return tuple(path)

    def _keep_first(self, new: Steps[N, E], places: dict[N, int], forward: bool) -> None:
        """Keep only one step to each node: that of the first path in the order of its node ids, then of its edges.

        `places` ranks the nodes of the previous level by the order of their paths; the new nodes are added to it.
        """
        keys: dict[N, tuple[object, ...]] = {}
        self._expect_nodes(new)
        for node, steps in new.items():
            if len(steps) > 1:
                steps[:] = [min(steps, key=lambda step: (places[step[1]], self._edge_order(step[0])))]
            before, rank = places[steps[0][1]], self._node_order(node)
            keys[node] = (before, rank) if forward else (rank, before)
        places.update((node, place) for place, node in enumerate(sorted(new, key=lambda node: keys[node])))

    def _trace(self, steps: dict[N, Steps[N, E]], ends: Sequence[tuple[N, N]], forward: bool) -> list[FoundPath[N, E]]:
        """The paths between these starts and ends, traced back step by step."""
        paths: list[FoundPath[N, E]] = []
        edges = 0
        for start, end in ends:
            for path in _paths_back(steps[start], start, end, forward):
                paths.append((start, path, end))
                edges += len(path)
                self._check(len(paths), edges)
        return paths


def _joined(near: _Side[N, E], far: _Side[N, E], met: Sequence[N]) -> Steps[N, E]:
    """The steps from the near end to the far one, through the nodes in which both sides have met."""
    steps: Steps[N, E] = defaultdict(list, near.steps)
    level = list(met)
    while level:
        following: dict[N, None] = {}
        for node in level:
            for edge, onward in far.steps[node]:
                steps[onward].append((edge, node))
                following[onward] = None
        level = list(following)
    return steps


def _turned(steps: Steps[N, E], end: N) -> Steps[N, E]:
    """The steps of all shortest paths to an end, from their starts on."""
    onward: Steps[N, E] = defaultdict(list)
    level = [end]
    while level:
        before: dict[N, None] = {}
        for node in level:
            for edge, near in steps[node]:
                onward[near].append((edge, node))
                before[near] = None
        level = list(before)
    return onward


def _edge_count(paths: PathsByStart[N, E]) -> int:
    return sum(len(path) for ends in paths.values() for path in ends.values())


def _way_to(node: N, start: N, steps: dict[N, tuple[E, N]]) -> tuple[E, ...]:
    """The edges from the start to a node. `steps` has the last edge to each node, and the node before."""
    edges: list[E] = []
    while node != start:
        edge, node = steps[node]
        edges.append(edge)
    return tuple(reversed(edges))


def _is_target(node: N, targets: frozenset[N] | None) -> bool:
    return targets is None or node in targets


def _paths_back(steps: Steps[N, E], start: N, end: N, forward: bool) -> Iterator[tuple[E, ...]]:
    """The edges of each path between a start and an end, in the order from head to tail."""
    pending: list[tuple[N, _Chain[E] | None]] = [(end, None)]
    while pending:
        node, chain = pending.pop()
        if node == start:
            edges = tuple(_edges_of(chain))
            yield edges if forward else edges[::-1]
        for edge, before in steps[node]:
            pending.append((before, _Chain(edge, chain)))


@dataclass(frozen=True, slots=True)
class _Chain(Generic[E]):
    """The edges of a path from one on; paths share their ends."""

    edge: E
    onward: _Chain[E] | None


def _edges_of(chain: _Chain[E] | None) -> Iterator[E]:
    while chain is not None:
        yield chain.edge
        chain = chain.onward
