"""Orders the nodes and edges of a pattern for writing, as chains separated by commas."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgnav_mcp.plan import EdgePattern, Match, PathKind, PathPattern

_SEPARATE_CHAIN = frozenset({PathKind.SHORTEST, PathKind.ALL_SHORTEST, PathKind.DISTANCE})


@dataclass(slots=True)
class Chain:
    """Nodes, and the edge between each two, with a flag: True if it is written from its target to its source."""

    nodes: list[str]
    edges: list[tuple[EdgePattern, bool]] = field(default_factory=list[tuple[EdgePattern, bool]])
    path: str | None = None
    """The name of the path, if the chain is a named path."""

    @property
    def closed(self) -> bool:
        """Whether it cannot be extended: it is a named path or a shortest path."""
        return self.path is not None or any(needs_own_chain(edge) for edge, _ in self.edges)


def needs_own_chain(edge: EdgePattern) -> bool:
    """Whether an edge needs its own chain, as the argument of `shortestPath`."""
    return edge.path is not None and edge.path.kind in _SEPARATE_CHAIN


def chains(match: Match) -> list[Chain]:
    """The chains of a pattern. Parsing them again gives its nodes, edges and paths in the same order."""
    return _Layout(match).chains()


class _Layout:
    def __init__(self, match: Match) -> None:
        self._match = match
        self._unseen = [node.variable for node in match.nodes]
        self._edges = {edge.variable: edge for edge in match.edges}
        self._chains: list[Chain] = []

    def chains(self) -> list[Chain]:
        written: set[str] = set()
        paths = list(self._match.paths)
        path_of = {element: path for path in paths for element in path.elements if element in self._edges}
        for edge in self._match.edges:
            if edge.variable in written:
                continue
            path = path_of.get(edge.variable)
            if path is None:
                self._add_edge(edge)
                continue
            while paths and path in paths:
                first = paths.pop(0)
                self._add_path(first)
                written.update(first.elements)
        for path in paths:
            self._add_path(path)
        while self._unseen:
            self._add_single_node()
        return self._chains

    def _add_single_node(self) -> None:
        self._chains.append(Chain([self._unseen.pop(0)]))

    def _mark_written(self, *nodes: str) -> None:
        """Mark nodes as written. Unseen nodes that come before them are written as single nodes first."""
        wanted = [node for node in dict.fromkeys(nodes) if node in self._unseen]
        while self._unseen[: len(wanted)] != wanted:
            self._add_single_node()
            wanted = [node for node in wanted if node in self._unseen]
        del self._unseen[: len(wanted)]

    def _add_edge(self, edge: EdgePattern) -> None:
        last = self._chains[-1] if self._chains else None
        ends = edge.source, edge.target
        if last is not None and not last.closed and not needs_own_chain(edge) and last.nodes[-1] in ends:
            backwards = last.nodes[-1] != edge.source
            other = edge.source if backwards else edge.target
            if not (backwards and edge.either) and (other not in self._unseen or self._unseen[0] == other):
                self._mark_written(other)
                last.nodes.append(other)
                last.edges.append((edge, backwards))
                return
        backwards = not edge.either and self._comes_first(edge.target, edge.source)
        first, second = reversed(ends) if backwards else ends
        self._mark_written(first, second)
        self._chains.append(Chain([first, second], [(edge, backwards)]))

    def _comes_first(self, node: str, other: str) -> bool:
        """Whether both nodes are unseen, and `node` comes before `other`."""
        unseen = self._unseen
        return node in unseen and other in unseen and unseen.index(node) < unseen.index(other)

    def _add_path(self, path: PathPattern) -> None:
        nodes = list(path.elements[::2])
        edges = [self._edges[element] for element in path.elements[1::2]]
        self._mark_written(*nodes)
        directed_edges = [(edge, edge.source != node) for node, edge in zip(nodes, edges, strict=False)]
        self._chains.append(Chain(nodes, directed_edges, path.variable))
