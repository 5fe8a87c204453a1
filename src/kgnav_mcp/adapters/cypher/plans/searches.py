"""Paths searched from a known node: what can be reached, at which distance, by which shortest paths."""

from __future__ import annotations

from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.kinds import Listed, OfEdge, OfNode, Typed, unsupported
from kgnav_mcp.plan import EdgePattern, PathKind


class Search:
    """The search for the paths of one edge of a pattern (an edge with a length), from a node that is known."""

    def __init__(self, context: QueryContext, edge: EdgePattern, types: str) -> None:
        if edge.path is None:
            raise TypeError("an edge without a length is no path")
        self._context, self._edge, self._length = context, edge, edge.path
        self._types = f":{types}" if types else ""

    @property
    def gives_edges(self) -> bool:
        """Whether the edges of the paths are returned, not only their ends."""
        return self._length.kind in {PathKind.SHORTEST, PathKind.ALL_SHORTEST}

    @property
    def to_known_end(self) -> bool:
        """Whether the search can be given both ends, if both are known."""
        return self.gives_edges

    def ends(self, near: str, far: str, *, forward: bool) -> str:
        """The clause that finds the ends that can be reached, or that are at the wanted distance."""
        shortest, longest = self._length.shortest, self._length.longest
        fill, subquery = self._context.fill, self._context.builder.subquery
        if longest == 0:
            if shortest > 0:
                raise unsupported("a path that cannot be")
            return subquery(near, queries.ONLY_ITSELF, near=near, far=far)
        itself = fill(queries.ITSELF, near=near, far=far) if shortest == 0 else ""
        if self._length.kind is PathKind.DISTANCE:
            if shortest > 1:
                way = self._context.new_variable()
                condition = f"{far} <> {near} AND length({way}) >= {shortest}"
            else:
                way, condition = self._context.new_variable(), f"{far} <> {near}"
            path = self._quantified("any_shortest", near, far, way, forward=forward)
            return subquery(near, queries.AT_DISTANCE, far=far, path=path, condition=condition, itself=itself)
        if shortest > 1:
            raise unsupported("what can be reached by longer ways, which may take an edge again")
        length = f"*{shortest}..{longest or ''}"
        path = self._arrow(near, length, far, forward=forward)
        return subquery(near, queries.REACHED, far=far, path=path, itself=itself)

    def shortest(self, near: str, far: str, way: str, edge: str, *, forward: bool, known: bool) -> str:
        """The clause that finds the shortest paths to each end: one of them, or all."""
        shortest, longest = self._length.shortest, self._length.longest
        ends = f"{near}, {far}" if known else near
        itself = ""
        if shortest == 0:
            itself = self._context.fill(
                queries.NO_EDGES,
                near=near,
                way=way,
                edge=edge,
                far="" if known else f"{near} AS {far}, ",
                condition=f"WHERE {near} = {far}" if known else "",
            )
            if longest == 0:
                return self._context.builder.subquery(ends, itself)
            itself = self._context.fill(queries.OR_NO_EDGES, no_edges=itself)
        elif longest == 0:
            raise unsupported("a path that cannot be")
        path = self._quantified("all_shortest", near, far, way, forward=forward)
        one = self._length.kind is PathKind.SHORTEST
        condition = f"{near} <> {far}"
        if not one and shortest > 1:
            condition += f" AND length({way}) >= {shortest}"
        nodes = self._context.sort_key(Typed(f"nodes({way})", Listed(OfNode())))
        edges = self._context.sort_key(Typed(f"relationships({way})", Listed(OfEdge(self._edge.relations))))
        return self._context.builder.subquery(
            ends,
            queries.SHORTEST if one else queries.ALL_SHORTEST,
            path=path,
            way=way,
            condition=condition,
            first=queries.FIRST if known else self._context.fill(queries.FIRST_OF_EACH, far=far, way=way),
            far="" if known else f"{far}, ",
            nodes=nodes,
            edges=edges,
            edge=edge,
            itself=itself,
            long_enough=f"WHERE length({way}) >= {shortest}" if shortest > 1 else "",
        )

    def _arrow(self, near: str, length: str, far: str, *, forward: bool) -> str:
        inner = f"[{self._types}{length}]"
        return f"({near}){self._directed(inner, forward=forward)}({far})"

    def _directed(self, inner: str, *, forward: bool) -> str:
        return f"-{inner}-" if self._edge.either else f"-{inner}->" if forward else f"<-{inner}-"

    def _quantified(self, construct: str, near: str, far: str, way: str, *, forward: bool) -> str:
        """The pattern of the shortest paths, written from source to target, whichever of them is known."""
        source, target = (near, far) if forward else (far, near)
        return self._context.builder.construct(
            construct,
            way=way,
            source=source,
            target=target,
            step=self._directed(f"[{self._types}]", forward=True),
            longest="" if self._length.longest is None else str(self._length.longest),
        )
