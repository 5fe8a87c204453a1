"""In which order the nodes and edges of a pattern are written, as chains between commas."""

from __future__ import annotations

from dataclasses import dataclass, field

from kgnav_mcp.plan import EdgePattern, Match, PathKind, PathPattern

_OWN_CHAIN = frozenset({PathKind.SHORTEST, PathKind.ALL_SHORTEST, PathKind.DISTANCE})


@dataclass(slots=True)
class Chain:
    """Nodes, and between two of them an edge and whether it is written from its target to its source."""

    nodes: list[str]
    edges: list[tuple[EdgePattern, bool]] = field(default_factory=list[tuple[EdgePattern, bool]])
    path: str | None = None
    """The name of the path that it is."""

    @property
    def closed(self) -> bool:
        """Whether it cannot go on: a path, or a shortest one."""
        return self.path is not None or any(stands_alone(edge) for edge, _ in self.edges)


def stands_alone(edge: EdgePattern) -> bool:
    """Whether an edge has a chain of its own, as the argument of `shortestPath`."""
    return edge.path is not None and edge.path.kind in _OWN_CHAIN


def chains(match: Match) -> list[Chain]:
    """The chains of a pattern: read again, they give its nodes, edges and paths in the same order."""
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
                self._edge(edge)
                continue
            while paths and path in paths:
                first = paths.pop(0)
                self._path(first)
                written.update(first.elements)
        for path in paths:
            self._path(path)
        while self._unseen:
            self._alone()
        return self._chains

    def _alone(self) -> None:
        self._chains.append(Chain([self._unseen.pop(0)]))

    def _bring(self, *nodes: str) -> None:
        """Writes nodes alone until the unseen ones of these come next, in turn."""
        wanted = [node for node in dict.fromkeys(nodes) if node in self._unseen]
        while self._unseen[: len(wanted)] != wanted:
            self._alone()
            wanted = [node for node in wanted if node in self._unseen]
        del self._unseen[: len(wanted)]

    def _edge(self, edge: EdgePattern) -> None:
        last = self._chains[-1] if self._chains else None
        ends = edge.source, edge.target
        if last is not None and not last.closed and not stands_alone(edge) and last.nodes[-1] in ends:
            backwards = last.nodes[-1] != edge.source
            other = edge.source if backwards else edge.target
            if not (backwards and edge.either) and (other not in self._unseen or self._unseen[0] == other):
                self._bring(other)
                last.nodes.append(other)
                last.edges.append((edge, backwards))
                return
        backwards = not edge.either and self._comes_first(edge.target, edge.source)
        first, second = reversed(ends) if backwards else ends
        self._bring(first, second)
        self._chains.append(Chain([first, second], [(edge, backwards)]))

    def _comes_first(self, node: str, other: str) -> bool:
        """Whether both were not seen yet, and the one comes before the other."""
        unseen = self._unseen
        return node in unseen and other in unseen and unseen.index(node) < unseen.index(other)

    def _path(self, path: PathPattern) -> None:
        nodes = list(path.elements[::2])
        edges = [self._edges[element] for element in path.elements[1::2]]
        self._bring(*nodes)
        turned = [(edge, edge.source != node) for node, edge in zip(nodes, edges, strict=False)]
        self._chains.append(Chain(nodes, turned, path.variable))
