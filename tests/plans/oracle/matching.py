"""All ways in which a pattern fits around a row: every edge is tried for every edge of the pattern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kgnav_mcp.plan import EdgePattern, Match, NodePattern, PathKind, PathLength
from tests.plans.graph import Edge, Graph, Node
from tests.plans.oracle.values import Value, Way, key

Row = dict[str, Value]
Trail = tuple[Edge, ...]


def fits(graph: Graph, match: Match, row: Row) -> Iterator[Row]:
    """The row with the pattern's variables, once for each way; the condition of the match is not asked."""
    patterns = {pattern.variable: pattern for pattern in match.nodes}
    ends = [end for edge in match.edges for end in (edge.source, edge.target)]
    for variable in dict.fromkeys([*patterns, *ends]):
        if variable in row and not _may_stand(graph, row[variable], patterns.get(variable)):
            return
    search = _Search(graph, match, patterns)
    for found, _ in search.edges(row, list(match.edges), frozenset()):
        for whole in search.lone_nodes(found, [name for name in patterns if name not in found]):
            yield whole | {path.variable: _way(graph, whole, path.elements) for path in match.paths}


def _may_stand(graph: Graph, value: Value, pattern: NodePattern | None) -> bool:
    """Whether a value may stand for a node of the pattern."""
    if not isinstance(value, Node):
        return False
    for group in pattern.labels if pattern else ():
        wanted = set(group)
        if pattern and pattern.subclasses:
            wanted = wanted.union(*(graph.below.get(label, ()) for label in group))
        if not wanted & value.labels:
            return False
    return True


class _Search:
    """Backtracking over the edges of one pattern."""

    def __init__(self, graph: Graph, match: Match, patterns: dict[str, NodePattern]) -> None:
        self.graph, self.match, self.patterns = graph, match, patterns

    def edges(self, row: Row, left: list[EdgePattern], used: frozenset[Edge]) -> Iterator[tuple[Row, frozenset[Edge]]]:
        """Every way to fit what is left, edges with a known end first."""
        if not left:
            yield row, used
            return
        pattern = min(left, key=lambda edge: edge.source not in row and edge.target not in row)
        rest = [edge for edge in left if edge is not pattern]
        for found, taken in self._one(row, pattern, used):
            yield from self.edges(found, rest, used | taken)

    def lone_nodes(self, row: Row, names: list[str]) -> Iterator[Row]:
        """Every choice of nodes for variables that no edge has."""
        if not names:
            yield row
            return
        for node in self.graph.nodes.values():
            if _may_stand(self.graph, node, self.patterns[names[0]]):
                yield from self.lone_nodes({**row, names[0]: node}, names[1:])

    def _one(self, row: Row, pattern: EdgePattern, used: frozenset[Edge]) -> Iterator[tuple[Row, frozenset[Edge]]]:
        """Every way to fit one edge of the pattern, with the edges that it takes."""
        if pattern.path is not None:
            yield from self._path(row, pattern, pattern.path, used if self.match.edges_differ else frozenset())
            return
        for edge in self._candidates(row, pattern):
            if edge in used and self.match.edges_differ:
                continue
            for source, target in directions(edge, pattern):
                found = self._bound(row, pattern, source, target, edge)
                if found is not None:
                    yield found, frozenset({edge})

    def _candidates(self, row: Row, pattern: EdgePattern) -> Iterable[Edge]:
        for end in (pattern.source, pattern.target):
            node = row.get(end)
            if isinstance(node, Node):
                return self.graph.at.get(node.id, ())
        return self.graph.edges

    def _path(
        self, row: Row, pattern: EdgePattern, path: PathLength, used: frozenset[Edge]
    ) -> Iterator[tuple[Row, frozenset[Edge]]]:
        source = row.get(pattern.source)
        for start in [source] if isinstance(source, Node) else list(self.graph.nodes.values()):
            for end, edges in _paths(self.graph, pattern, path, start.id, used):
                found = self._bound(row, pattern, start.id, end, edges)
                if found is not None:
                    taken = frozenset(edges or ()) if path.kind is PathKind.TRAILS else frozenset[Edge]()
                    yield found, taken

    def _bound(self, row: Row, pattern: EdgePattern, source: str, target: str, edge: Edge | Trail | None) -> Row | None:
        """The row with the ends and the edge, where it may have them."""
        found = dict(row)
        for variable, end in ((pattern.source, source), (pattern.target, target)):
            node = self.graph.nodes[end]
            if variable in found:
                if found[variable] != node:
                    return None
            elif not _may_stand(self.graph, node, self.patterns.get(variable)):
                return None
            found[variable] = node
        if pattern.variable in found and found[pattern.variable] != edge:
            return None
        found[pattern.variable] = edge
        return found


def directions(edge: Edge, pattern: EdgePattern) -> list[tuple[str, str]]:
    """Source and target of the pattern's edge when it stands for it: none, one or both ways; a loop only once."""
    if pattern.relations and edge.relation not in pattern.relations:
        return []
    ways = [(edge.head, edge.tail), (edge.tail, edge.head)] if pattern.either else [(edge.head, edge.tail)]
    return list(dict.fromkeys(ways))


def _steps(graph: Graph, pattern: EdgePattern, node: str) -> list[tuple[Edge, str]]:
    """The edges that lead on from a node, and where to."""
    return [
        (edge, target)
        for edge in graph.at.get(node, ())
        for source, target in directions(edge, pattern)
        if source == node
    ]


def _paths(
    graph: Graph, pattern: EdgePattern, path: PathLength, start: str, used: frozenset[Edge]
) -> Iterator[tuple[str, Trail | None]]:
    """Ends of paths from a node, with their edges where the kind of path has some."""
    longest = len(graph.edges) + len(graph.nodes) if path.longest is None else path.longest
    if path.kind is PathKind.TRAILS:
        yield from (
            (end, way) for end, way in _trails(graph, pattern, start, longest, used) if len(way) >= path.shortest
        )
    elif path.kind is PathKind.REACHABLE:
        ends = _reached(graph, pattern, path.shortest, path.longest, start)
        if path.shortest == 1 and not _closes(graph, pattern, start):  # only longer ones may repeat edges
            ends = [end for end in ends if end != start]
        yield from ((end, None) for end in ends)
    else:
        for end, ways in _shortest(graph, pattern, start).items():
            length = len(ways[0])
            if not path.shortest <= length <= longest:
                continue
            if path.kind is PathKind.DISTANCE:
                yield end, None
            else:
                ways.sort(key=lambda way: (_nodes(start, way), [key(edge) for edge in way]))
                yield from ((end, way) for way in (ways[:1] if path.kind is PathKind.SHORTEST else ways))


def _trails(
    graph: Graph, pattern: EdgePattern, node: str, left: int, used: frozenset[Edge]
) -> Iterator[tuple[str, Trail]]:
    yield node, ()
    for edge, target in _steps(graph, pattern, node) if left else ():
        if edge not in used:
            for end, way in _trails(graph, pattern, target, left - 1, used | {edge}):
                yield end, (edge, *way)


def _closes(graph: Graph, pattern: EdgePattern, start: str) -> bool:
    """Whether a node has an edge behind which another way leads back to it."""
    for first, target in _steps(graph, pattern, start):
        seen, left = {target}, [target]
        while left:
            ends = [end for edge, end in _steps(graph, pattern, left.pop()) if edge != first and end not in seen]
            seen.update(ends)
            left += ends
        if start in seen:
            return True
    return False


def _reached(graph: Graph, pattern: EdgePattern, shortest: int, longest: int | None, start: str) -> list[str]:
    """Where one may be after so many steps or more."""
    here, reached, step = {start}, set[str](), 0
    seen: set[frozenset[str]] = set()
    while here and (longest is None or step <= longest):
        if step >= shortest:
            reached |= here
            if frozenset(here) in seen:
                break
            seen.add(frozenset(here))
        here, step = {target for node in here for _, target in _steps(graph, pattern, node)}, step + 1
    return sorted(reached)


def _shortest(graph: Graph, pattern: EdgePattern, start: str) -> dict[str, list[Trail]]:
    """All shortest paths to every node that can be reached."""
    found: dict[str, list[Trail]] = {start: [()]}
    edge_of_search = {start: found[start]}
    while edge_of_search:
        further: dict[str, list[Trail]] = {}
        for node, ways in edge_of_search.items():
            for edge, target in _steps(graph, pattern, node):
                if target not in found:
                    further.setdefault(target, []).extend((*way, edge) for way in ways)
        found |= further
        edge_of_search = further
    return found


def _nodes(start: str, edges: Trail) -> list[str]:
    """The nodes of a path that begins at a node."""
    nodes = [start]
    for edge in edges:
        nodes.append(edge.tail if edge.head == nodes[-1] else edge.head)
    return nodes


def _way(graph: Graph, row: Row, elements: tuple[str, ...]) -> Value:
    """A path through the pattern, with the paths that are parts of it spread out."""
    first, edges = row[elements[0]], list[Edge]()
    for name in elements[1::2]:
        part = row[name]
        if not isinstance(part, tuple | Edge):
            return None
        edges += [each for each in (part if isinstance(part, tuple) else (part,)) if isinstance(each, Edge)]
    assert isinstance(first, Node)
    return Way(tuple(graph.nodes[node] for node in _nodes(first.id, tuple(edges))), tuple(edges))
