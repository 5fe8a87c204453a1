"""Nodes, their values and their edges, read table by table, because otherwise values lose their types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from kgnav_mcp.adapters.cypher import queries as cypher_queries
from kgnav_mcp.adapters.cypher.counts import (
    SAMPLED_EDGES,
    CountReader,
    Edge,
    EdgesOf,
    NodeCounts,
    RowFilter,
    Side,
    ValuesOf,
)
from kgnav_mcp.adapters.cypher.dialect import split_key
from kgnav_mcp.adapters.cypher.entities import Anchor, Entities, Lookup, NodeRow, relation_of
from kgnav_mcp.adapters.cypher.neighbours import EdgeReader, HeadEdges
from kgnav_mcp.adapters.cypher.rows import EdgeSearch, qualifiers
from kgnav_mcp.adapters.cypher.session import Session, quoted
from kgnav_mcp.adapters.ladybug import queries
from kgnav_mcp.adapters.ladybug.store import Store
from kgnav_mcp.adapters.ladybug.tables import (
    FORMATS,
    Column,
    EdgeTable,
    Table,
    TableCatalogueCache,
    key_of,
    text_expression,
)
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Count, Direction, Entity, Link, Literal, Node, Page, Stop, Triple
from kgnav_mcp.port.far_end_filters import MatchRequest, Words
from kgnav_mcp.port.lists import items_before

_FEW_KEYS = 30
"""Maximum number of nodes that are read one by one."""
_NO_VALUES: Mapping[str, Sequence[Literal]] = {}
Keys = Mapping[str | int, str]
"""Primary keys of nodes of one table, each with the node's id."""


class TableEntities(Entities):
    """Finds nodes by their primary keys."""

    def __init__(
        self, session: Session, catalogue: TableCatalogueCache, store: Store, languages: tuple[str, ...]
    ) -> None:
        super().__init__(session, catalogue, languages)
        self.tables = catalogue
        self.store = store

    async def find(
        self, references: Sequence[str], template: str, parts: Mapping[str, str] | None = None, **parameters: object
    ) -> dict[str, Anchor]:
        """The nodes that references mean, by reference, each with the row `[node]`, or `[node, degree]`."""
        del parts, parameters
        lookups = await in_thread(len(references), lambda: self.lookups(references))
        answers = await gathered(*map(self._nodes_of, lookups))
        found = await in_thread(len(references), lambda: self._matched(references, lookups, answers))
        if template != cypher_queries.NODES_WITH_DEGREE:
            return found
        degrees = await TableRows(self).degrees([anchor.node_id for anchor in found.values()])
        return {
            reference: replace(anchor, row=[*anchor.row, degrees[anchor.node_id]])
            for reference, anchor in found.items()
        }

    def _matched(
        self, references: Sequence[str], lookups: Sequence[Lookup], answers: Sequence[Sequence[NodeRow]]
    ) -> dict[str, Anchor]:
        """The nodes found, by reference, without IRIs that several nodes have."""
        found: dict[str, Anchor] = {}
        ambiguous: set[str] = set()
        for lookup, nodes in zip(lookups, answers, strict=True):
            for node in nodes:
                anchor = Anchor(node[0], self.decoder.entity(node), [node])
                value = node[0].removeprefix(f"{lookup.label}:{lookup.key}=")
                for reference in lookup.references.get(value, ()):
                    if found.setdefault(reference, anchor).node_id != anchor.node_id:
                        ambiguous.add(reference)
        ambiguous = {reference for reference in ambiguous if not self.is_printed(reference)}
        return {one: found[one] for one in references if one in found and one not in ambiguous}

    async def _nodes_of(self, lookup: Lookup) -> list[NodeRow]:
        table = self.tables.current.tables[lookup.label or ""]
        if not (keys := table.keys_of(lookup.values)):
            return []
        shown = self.decoder.described_keys
        query = queries.NODES.format(label=quoted(table.name), key=table.key_text, node=table.read(shown, "n"))
        rows = await self.store.rows(query, {"keys": list(dict.fromkeys(keys))})
        return await in_thread(len(rows), lambda: [table.node(shown, row) for row in rows])

    def keys_by_table(self, node_ids: Sequence[str]) -> dict[str, dict[str | int, str]]:
        """The primary keys of some nodes, by table."""
        found: dict[str, dict[str | int, str]] = defaultdict(dict)
        for lookup in self.lookups(node_ids):
            table = self.tables.current.tables[lookup.label or ""]
            for text, (node_id, *_) in lookup.references.items():
                found[table.name][int(text) if table.key.is_whole else text] = node_id
        return found


class TableRows(CountReader):
    """Counts and reads the rows at nodes."""

    def __init__(self, entities: TableEntities) -> None:
        super().__init__(entities)
        self._nodes = entities
        self._rows = entities.store.rows

    async def read(
        self, references: Sequence[str], wanted: RowFilter, *, rows: int = 0, examples: int = 0
    ) -> tuple[dict[str, Anchor], list[NodeCounts]]:
        """The nodes by reference, and their counts, without rows or examples."""
        del rows, examples
        found = await self._nodes.find(references, cypher_queries.NODES)
        first = {anchor.node_id: reference for reference, anchor in reversed([*found.items()])}
        nodes = {reference: anchor for reference, anchor in found.items() if first[anchor.node_id] == reference}
        types = wanted.types(self._nodes.tables.current)
        ids = [anchor.node_id for anchor in nodes.values()]
        values: ValuesOf = {}
        if any(map(wanted.has_values, wanted.directions)):
            values = await self.values_at(ids, wanted)
        sizes = {side: await self._edge_counts(ids, side, types) for side in wanted.directions}

        def counts() -> list[NodeCounts]:
            made: list[NodeCounts] = []
            for side in wanted.directions:
                for reference, anchor in nodes.items():
                    own = values.get(anchor.node_id, _NO_VALUES) if wanted.has_values(side) else _NO_VALUES
                    number = {name: len(literals) for name, literals in own.items()}
                    edges = sizes[side].get(anchor.node_id, {})
                    made.append(NodeCounts(Side(side, reference), anchor, number, edges, own))
            return made

        return found, await in_thread(len(nodes), counts)

    async def degrees(self, node_ids: Sequence[str]) -> dict[str, int]:
        """The number of rows in both directions of each node."""
        _, counts = await self.read(node_ids, RowFilter(tuple(Direction), None, None))
        found: dict[str, int] = defaultdict(int)
        for each in counts:
            found[each.anchor.node_id] += sum(each.by_path.values())
        return found

    async def _edge_counts(
        self, nodes: Sequence[str], side: Direction, types: Sequence[str] | None
    ) -> dict[str, dict[str, int]]:
        links = await self.links_at(nodes, side, types)
        answers = await gathered(*(self._counts(link, side, list(keys)) for link, keys in links))

        def sums() -> dict[str, dict[str, int]]:
            found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
            for (link, keys), rows in zip(links, answers, strict=True):
                for key, size in rows:
                    found[keys[key]][link.type] += size
            return found

        return await in_thread(len(nodes), sums)

    async def _counts(self, link: EdgeTable, side: Direction, keys: Sequence[str | int]) -> list[list[Any]]:
        return await self._at(link, side, keys, queries.COUNTS.format(key=link.near(side).key_text))

    async def _at(
        self, link: EdgeTable, side: Direction, keys: Sequence[str | int], rest: str, **parameters: object
    ) -> list[list[Any]]:
        """The rows of a query about the edges of a table at some nodes."""
        return await self.at(link.pattern(side), link.near(side), keys, rest, **parameters)

    async def at(
        self, pattern: str, near: Table, keys: Sequence[str | int], rest: str, **parameters: object
    ) -> list[list[Any]]:
        """The rows of a query about a pattern whose node `n` is in a table and has one of some primary keys."""
        names = {"pattern": pattern, "key": near.key_text}
        if len(keys) > _FEW_KEYS:
            return await self._rows(queries.SEVERAL_KEYS.format(**names) + rest, {"keys": keys, **parameters})
        query = queries.ONE_KEY.format(**names) + rest
        return [row for key in keys for row in await self._rows(query, {"key": key, **parameters})]

    async def links_at(
        self, nodes: Sequence[str], side: Direction, types: Collection[str] | None
    ) -> list[tuple[EdgeTable, dict[str | int, str]]]:
        """The tables of edges at some nodes, each with the nodes' primary keys and ids."""
        by_table = await in_thread(len(nodes), lambda: self._nodes.keys_by_table(nodes))
        links_at = self._nodes.tables.current.links_at
        return [(link, keys) for label, keys in by_table.items() for link in links_at(label, side, types)]

    async def values_at(self, nodes: Iterable[str], wanted: RowFilter) -> ValuesOf:
        """The wanted property values of some nodes."""
        distinct = list(dict.fromkeys(nodes))
        found: dict[str, Mapping[str, Sequence[Literal]]] = {}
        for label, keys in (await in_thread(len(distinct), lambda: self._nodes.keys_by_table(distinct))).items():
            table = self._nodes.tables.current.tables[label]
            columns = [column for column in table.columns.values() if wanted.has_relation(split_key(column.name)[0])]
            node = ", ".join([table.key_text, *(column.expression("n") for column in columns)])
            query = queries.NODES.format(label=quoted(label), key=table.key_text, node=node)
            rows = await self._rows(query, {"keys": list(keys)})

            def read(columns: Sequence[Column] = columns, keys: Keys = keys, rows: Sequence[Any] = rows) -> None:
                for key, *returned in rows:
                    values = zip(columns, returned, strict=True)
                    own = [(column.name, column.value(value), None) for column, value in values if value is not None]
                    found[keys[key]] = wanted.values(FORMATS, own)

            await in_thread(len(rows), read)
        return found

    async def edges_at(
        self, nodes: Sequence[str], direction: Direction, types: Sequence[str] | None, **slice_: int
    ) -> EdgesOf:
        """The edges of some types (None: any), sorted by table and offset; or with `skip` and `take` a part of them."""
        skip, take = slice_.get("skip", 0), slice_.get("take")
        found: dict[tuple[str, Direction, str], list[Edge]] = defaultdict(list)
        for link, keys in await self.links_at(nodes, direction, types):
            part: Mapping[str, object] = {}
            if take is not None:
                size = sum(number for _, number in await self._counts(link, direction, list(keys)))
                if skip >= size or not take:
                    skip = max(skip - size, 0)
                    continue
                places = await self._places(link, direction, next(iter(keys)), skip, take)
                skip, take, part = 0, take - len(places), {"places": places}
            of_part = " AND offset(id(r)) IN $places" if part else ""
            for key, _, edge in await self._edges(link, direction, keys, of_part, **part):
                found[keys[key], direction, link.type].append(edge)
        return found

    async def _places(self, link: EdgeTable, side: Direction, key: str | int, skip: int, take: int) -> list[int]:
        query = queries.PLACES.format(pattern=link.pattern(side), key=link.near(side).key_text)
        return [place for (place,) in await self._rows(query, {"key": key, "skip": skip, "take": take})]

    async def matching(
        self, link: EdgeTable, side: Direction, key: str | int, words: Sequence[str], most: int
    ) -> list[Edge]:
        """The first edges of a node whose far ends may have all words in their names."""
        shown, far = self._nodes.decoder.shown_keys, link.far(side)
        names = [column for key in shown if (column := far.columns.get(key)) and (column.is_text or column == far.key)]
        parameters = {f"w{place}": word for place, word in enumerate(words)}
        has_all = " AND ".join(f"text CONTAINS ${name}" for name in parameters)
        query = queries.MATCHING.format(
            pattern=link.pattern(side),
            key=link.near(side).key_text,
            text=text_expression(names, "m") if names and words else "''",
            matches=f"{queries.MAY_MATCH} OR ({has_all})" if words else "true",
            edge=", ".join([*(column.expression("r") for column in link.columns), far.read(shown, "m")]),
        )
        rows = await self._rows(query, {"key": key, "most": most, **parameters})
        size = len(link.columns)
        return [[link.type, _properties(link, row), far.node(shown, row[size:])] for _, *row in rows]

    async def edges_between(
        self, link: EdgeTable, heads: Keys, tails: Sequence[str | int]
    ) -> list[tuple[str | int, int, Edge]]:
        """Keys, offsets and edges of a table of edges, from heads to tails, sorted by offset."""
        tail_filter = f" AND {link.target.key.expression('m')} IN $tails"
        return await self._edges(link, Direction.OUTGOING, heads, tail_filter, tails=tails)

    async def _edges(
        self, link: EdgeTable, side: Direction, keys: Keys, filter_: str = "", **parameters: object
    ) -> list[tuple[str | int, int, Edge]]:
        """Keys, offsets and edges of a table of edges, sorted by offset."""
        shown, far = self._nodes.decoder.shown_keys, link.far(side)
        query = queries.EDGES.format(
            key=link.near(side).key_text,
            filter=filter_,
            edge=", ".join([*(column.expression("r") for column in link.columns), far.read(shown, "m")]),
        )
        rows = await self._at(link, side, list(keys), query, **parameters)

        def decoded() -> list[tuple[str | int, int, Edge]]:
            return [
                (key, place, [link.type, _properties(link, returned), far.node(shown, returned[len(link.columns) :])])
                for key, place, *returned in sorted(rows, key=itemgetter(1))
            ]

        return await in_thread(len(rows), decoded)

    async def far_ends_at(
        self, nodes: Sequence[str], direction: Direction, types: Sequence[str], examples: int
    ) -> Sequence[Sequence[Any]]:
        """A few far ends of the edges of each type."""
        found: dict[tuple[str, str], list[NodeRow]] = defaultdict(list)

        async def read(link: EdgeTable, key: str | int, node_id: str) -> None:
            shown, far = self._nodes.decoder.shown_keys, link.far(direction)
            query = queries.FAR_ENDS.format(
                pattern=link.pattern(direction), key=link.near(direction).key_text, node=far.read(shown, "m")
            )
            parameters = {"key": key, "edges": SAMPLED_EDGES, "examples": examples}
            found[node_id, link.type] += [far.node(shown, row) for row in await self._rows(query, parameters)]

        for link, keys in await self.links_at(nodes, direction, types):  # one after the other, so that the order stays
            await gathered(*(read(link, key, node_id) for key, node_id in keys.items()))
        return [[node, [found[node, name][:examples] for name in types]] for node in nodes]


class TableEdgeSearch(EdgeSearch):
    """Searches the edges at some nodes."""

    def __init__(self, entities: TableEntities, rows: TableRows) -> None:
        super().__init__(entities)
        self._nodes = entities
        self._rows = rows

    async def page(self, request: MatchRequest, side: Direction, most: int, after: str | None) -> Page[Link]:
        """The edges whose far ends may match, in the order of the ids, then of the tables of edges."""
        skip = items_before(after)
        anchors = await self._nodes.anchors(request.ids, cypher_queries.NODES)
        types = None if request.relation_paths is None else {path[0] for path in request.relation_paths}
        words = list(Words(request.far.words).distinct) if request.far.words is not None else []
        label = request.far.label.casefold() if request.far.label is not None else None
        found: list[Link] = []
        for anchor in anchors:
            for link, keys in await self._rows.links_at([anchor.node_id], side, types):
                if label in (None, link.far(side).name.casefold()) and len(found) < skip + most:
                    (key,) = keys
                    edges = await self._rows.matching(link, side, key, words, skip + most - len(found))
                    found += [self._link(anchor, side, edge) for edge in edges]
        shown = found[skip:]
        positions = tuple(str(skip + place) for place in range(1, len(shown) + 1))
        stop = Stop.LIMIT if len(shown) == most else Stop.COMPLETE
        return Page(tuple(shown), positions, Count.at_least(len(found)), stop)

    def _link(self, anchor: Anchor, side: Direction, edge: Edge) -> Link:
        kind, properties, node = edge
        ends = anchor.entity, self._nodes.decoder.entity(node)
        head, tail = ends if side is Direction.OUTGOING else ends[::-1]
        return Link(side, Triple(head, relation_of(kind), tail, qualifiers(FORMATS, properties)))


class TableEdges(EdgeReader):
    """Answers `edges`."""

    def __init__(self, entities: TableEntities, rows: TableRows) -> None:
        super().__init__(entities)
        self._nodes = entities
        self._rows = rows

    async def read(
        self, heads: Sequence[str], tails: Sequence[Lookup], types: Sequence[str] | None, most: int
    ) -> dict[str, HeadEdges]:
        """The edges by head. All are read; `most` is ignored."""
        del most
        anchors = {anchor.node_id: anchor for anchor in await self._nodes.anchors(heads, cypher_queries.NODES)}
        found = {node_id: HeadEdges(anchor.entity) for node_id, anchor in anchors.items()}
        for label, keys in self._nodes.keys_by_table(list(anchors)).items():
            for link in self._nodes.tables.current.links_at(label, Direction.OUTGOING, types):
                for lookup in tails:
                    if lookup.label == link.target.name:
                        await self._add(found, link, keys, link.target.keys_of(lookup.values))
        return found

    async def _add(
        self, found: Mapping[str, HeadEdges], link: EdgeTable, keys: Keys, tails: Sequence[str | int]
    ) -> None:
        for key, _, edge in await self._rows.edges_between(link, keys, tails) if tails else ():
            found[keys[key]].edges.append(edge)
            found[keys[key]].size += 1


def _properties(link: EdgeTable, returned: Sequence[Any]) -> dict[str, Any]:
    """The properties of an edge that have a value."""
    values = zip(link.columns, returned, strict=False)
    return {column.name: column.value(value) for column, value in values if value is not None}


_Row = tuple[str, str, int, Node]
"""Id of the near node, relation, whether it is an edge, and the far end."""


class BareRowReader:
    """Answers `neighbour_ids` for lists of one page."""

    def __init__(self, entities: TableEntities, rows: TableRows) -> None:
        self._entities = entities
        self._rows = rows

    async def page(self, ids: Sequence[str], wanted: RowFilter, limit: int) -> Page[Link] | None:
        """All rows in the order of `neighbours`; None if there are more than `limit`, or ids in other forms."""
        if not await in_thread(len(ids), lambda: all(map(self._entities.is_printed, ids))):
            return None
        nodes = list(dict.fromkeys(ids))
        places = {node_id: place for place, node_id in enumerate(nodes)}
        types = wanted.types(self._entities.tables.current)
        links: list[Link] = []
        for side in wanted.directions:
            rows: list[_Row] = []
            if wanted.has_values(side):
                for node_id, own in (await self._rows.values_at(nodes, wanted)).items():
                    rows += ((node_id, name, 0, literal) for name, literals in own.items() for literal in literals)
            rows += await self._edges(nodes, side, types, limit + 1)
            if len(links) + len(rows) > limit:
                return None
            links += await in_thread(len(rows), lambda side=side, rows=rows: _links(side, places, rows))
        positions = tuple(str(place) for place in range(1, len(links) + 1))
        return Page(tuple(links), positions, Count(len(links)))

    async def _edges(self, nodes: Sequence[str], side: Direction, types: Sequence[str] | None, most: int) -> list[_Row]:
        by_table: dict[str, tuple[Mapping[str | int, str], list[EdgeTable]]] = {}
        for link, keys in await self._rows.links_at(nodes, side, types):
            by_table.setdefault(link.near(side).name, (keys, []))[1].append(link)
        found: list[_Row] = []
        for label, (keys, links) in by_table.items():
            near = self._entities.tables.current.tables[label]
            far = {table.name: table for table in (link.far(side) for link in links)}
            kinds = "|".join(quoted(name) for name in dict.fromkeys(link.type for link in links))
            left, right = ("-", "->") if side is Direction.OUTGOING else ("<-", "-")
            pattern = f"(n:{quoted(label)}){left}[r:{kinds}]{right}(m:{'|'.join(map(quoted, far))})"
            rest = queries.BARE_EDGES.format(key=near.key_text, far=key_of("m", list(far.values())))
            for key, kind, far_label, far_key in await self._rows.at(pattern, near, list(keys), rest, most=most):
                node = Entity(f"{far_label}:{far[far_label].key.name}={far_key}", types=(far_label,))
                found.append((keys[key], kind, 1, node))
        return found


def _links(side: Direction, places: Mapping[str, int], rows: list[_Row]) -> list[Link]:
    """The rows as links, by node and relation, values before edges."""
    rows.sort(key=lambda row: (places[row[0]], row[1:3]))
    found: list[Link] = []
    for node_id, name, _, far in rows:
        near = Entity(node_id)
        if side is Direction.OUTGOING:
            found.append(Link(side, Triple(near, relation_of(name), far)))
        elif isinstance(far, Entity):
            found.append(Link(side, Triple(far, relation_of(name), near)))
    return found
