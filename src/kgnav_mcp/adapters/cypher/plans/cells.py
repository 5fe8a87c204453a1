"""Cells of a plan's result, decoded from the form in which `context` returns them."""

from __future__ import annotations

from typing import Any, cast

from kgnav_mcp.adapters.cypher.entities import NodeDecoder, relation_of
from kgnav_mcp.adapters.cypher.plans.kinds import Kind, Listed, OfEdge, OfNode, OfPath, Single
from kgnav_mcp.adapters.cypher.rows import qualifiers
from kgnav_mcp.adapters.cypher.values import ValueFormats
from kgnav_mcp.model import Cell, Path, Triple


class CellReader:
    """Makes the cells of a result, with the decoder of one catalogue. Cells of the same edge are the same triple."""

    def __init__(self, decoder: NodeDecoder, formats: ValueFormats) -> None:
        self._decoder, self._formats = decoder, formats
        self._edges: dict[str, Triple] = {}

    def cell(self, kind: Kind, found: Any) -> Cell:  # noqa: ANN401 - as the driver has it
        """The cell for a returned value of a kind."""
        if found is None:
            return None
        match kind:
            case Single():
                return tuple(cast("list[Any]", found)) if isinstance(found, list) else found
            case OfNode():
                return None if found[0] is None else self._decoder.entity(found)
            case OfEdge():
                return None if found[0] is None else self._triple(found)
            case OfPath():
                nodes, edges = found
                return Path(tuple(map(self._decoder.entity, nodes)), tuple(map(self._triple, edges)))
            case Listed(of):
                return tuple(self.cell(of, one) for one in found)

    def _triple(self, found: Any) -> Triple:  # noqa: ANN401 - as above
        name, properties, head, tail, edge_id = found
        triple = self._edges.get(edge_id)
        if triple is None:
            own = qualifiers(self._formats, properties)
            triple = Triple(self._decoder.entity(head), relation_of(name), self._decoder.entity(tail), own)
            self._edges[edge_id] = triple
        return triple
