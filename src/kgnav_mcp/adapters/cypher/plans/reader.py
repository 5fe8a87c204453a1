"""Answers the verb `run`: compiles a plan and reads one page of its rows."""

from __future__ import annotations

import asyncio
from hashlib import blake2b
from typing import Any, cast

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.dialect import ValueFormats
from kgnav_mcp.adapters.cypher.entities import Entities, NodeDecoder, relation_of
from kgnav_mcp.adapters.cypher.pages import changed, skipped_items
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.kinds import (
    Kind,
    Listed,
    OfEdge,
    OfNode,
    OfPath,
    PropertyTypes,
    Single,
    unsupported,
)
from kgnav_mcp.adapters.cypher.plans.long_paths import LONG, TOO_LONG, plans_of_one_path
from kgnav_mcp.adapters.cypher.plans.pipelines import Compiler, Query
from kgnav_mcp.adapters.cypher.rows import qualifiers
from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import PlanOverBudget
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import Cell, Count, Path, PlanPage, PlanRow, Stop, Triple
from kgnav_mcp.plan import Plan


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


_TAG_BYTES = 8
_PROBE_S = 2.0
"""Seconds to learn whether there is a path of a certain length."""
_MAX_PASSES = 10
"""How often a plan is written at most. Each time, the types of more properties are known."""


class PlanReader:
    """Runs checked plans."""

    def __init__(self, entities: Entities) -> None:
        self._entities = entities
        self._session = entities.session
        self._property_types = PropertyTypes(entities.session)

    async def page(self, plan: Plan, limit: int, after: str | None) -> PlanPage:
        """One page of a plan's rows. A position is `<rows before>.<tag of the last of them>`.

        Raises:
            Unsupported: Cypher cannot express the plan, or only with another meaning.
            InvalidCursor: `after` is not a position, or the row before it has changed.
            PlanOverBudget: the plan lists paths that are too long for the store.
            StoreError: the store fails.
        """
        start, tag = _parse_position(after)
        query = await self.compiled(plan)
        await self._refuse_long_paths(plan)
        before = 1 if start else 0
        most = min(limit, 1) if plan.only_exists else limit
        rows = await self._rows(query, start - before, before + most + 1)
        if before and (not rows or _tag(rows[0]) != tag):
            raise changed()
        shown = rows[before : before + most]
        more = len(rows) > before + most and not plan.only_exists
        return PlanPage(
            tuple(shown),
            tuple(f"{start + place}.{_tag(row)}" for place, row in enumerate(shown, 1)),
            Count.at_least(start + len(shown) + 1) if more else Count(start + len(shown)),
            Stop.LIMIT if more else Stop.COMPLETE,
            columns=plan.columns,
        )

    async def compiled(self, plan: Plan) -> Query:
        """The plan in Cypher, which depends on the types of its properties.

        Raises:
            Unsupported: Cypher cannot express the plan, or only with another meaning.
        """
        given = {name for each in plan.pipelines if each.given is not None for row in each.given.rows for name in row}
        found = await self._entities.find(sorted(given), queries.NODES) if given else {}
        node_ids = {name: anchor.node_id for name, anchor in found.items()}
        for _ in range(_MAX_PASSES):
            context = QueryContext(self._entities, self._property_types, node_ids=node_ids)
            query = Compiler(context).compiled(plan)
            if not context.missing:
                return query
            await self._property_types.read(context.missing)
        raise unsupported("a graph whose properties change while their types are read")

    async def _refuse_long_paths(self, plan: Plan) -> None:
        """Refuse a plan with a path that the store would not list in time.

        Raises:
            PlanOverBudget: there is one of more than TOO_LONG edges, or it takes too long to see that there is none.
        """
        probes = zip(plans_of_one_path(plan, LONG), plans_of_one_path(plan, TOO_LONG), strict=True)
        for (edge, long), (_, too_long) in probes:
            if await self._has_row(long) and (found := await self._has_row(too_long)) is not False:
                length = TOO_LONG if found else LONG
                raise PlanOverBudget(f"lists paths of more than {length:,} edges", write_part(edge), next_step="")

    async def _has_row(self, plan: Plan) -> bool | None:
        """Whether a plan has a row; None if the store does not say so within a second."""
        query = await self.compiled(plan)
        try:
            async with asyncio.timeout(_PROBE_S):
                return bool(await self._rows(query, 0, 1))
        except TimeoutError:
            return None

    async def _rows(self, query: Query, skip: int, limit: int) -> list[PlanRow]:
        decoder = self._entities.decoder
        parameters = {**query.parameters, "described": decoder.described_keys, "skip": skip, "limit": limit}
        slices = await self._session.rows(query.text, None, **parameters)
        reader = CellReader(decoder, self._session.dialect.values)

        def read() -> list[PlanRow]:
            return [
                PlanRow(tuple(reader.cell(kind, cell) for kind, cell in zip(query.kinds, row, strict=True)))
                for (rows,) in slices
                for row in rows
            ]

        return await in_thread(sum(len(rows) for (rows,) in slices), read)


def _tag(row: PlanRow) -> str:
    """A hash that identifies a row."""
    return blake2b(repr(row.cells).encode("utf-8", "replace"), digest_size=_TAG_BYTES).hexdigest()


def _parse_position(after: str | None) -> tuple[int, str]:
    """The number of rows before a page, and the tag of the last of them."""
    if after is None:
        return 0, ""
    rows, _, tag = after.partition(".")
    return skipped_items(f"0.{rows}", None), tag
