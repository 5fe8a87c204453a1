"""Nodes by value, values with counts, and entities by name. All are scans of columns, table by table."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgnav_mcp.adapters.candidates import plural_variants
from kgnav_mcp.adapters.cypher.dialect import split_key
from kgnav_mcp.adapters.cypher.entities import NodeRow, relation_of
from kgnav_mcp.adapters.cypher.lists import ListReader
from kgnav_mcp.adapters.cypher.names import (
    EXACT_SCORE,
    MAX_HITS,
    EntityFinder,
    Hits,
    NameReader,
    stop_reason,
    trigrams,
    words_of,
)
from kgnav_mcp.adapters.cypher.pages import list_page, skipped_items
from kgnav_mcp.adapters.cypher.session import quoted
from kgnav_mcp.adapters.ids.prefixes import encodable
from kgnav_mcp.adapters.ladybug import queries
from kgnav_mcp.adapters.ladybug.rows import TableEntities, TableRows
from kgnav_mcp.adapters.ladybug.tables import FORMATS, Column, Table, text_expression
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Count, Direction, Entity, Literal, Page, ValueFacts, ValueMatch
from kgnav_mcp.port import ValueOwner
from kgnav_mcp.port.lists import page_of
from kgnav_mcp.values.comparison import WantedValue
from kgnav_mcp.values.scalars import value_order

_NAMES = frozenset({"name", "label"})


class TableLists(ListReader):
    """Answers the verbs `nodes` and `values`."""

    def __init__(self, entities: TableEntities) -> None:
        super().__init__(entities)
        self._nodes = entities
        self._rows = entities.store.rows

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, limit: int, after: str | None
    ) -> Page[Entity]:
        """Nodes table by table, in the store's order.

        Raises:
            UnknownName: the graph has no such label or property.
            InvalidCursor: `after` is not a position in this list.
        """
        catalogue, decoder = self._nodes.tables.current, self._nodes.decoder
        tables = [catalogue.tables[catalogue.resolve_label(label)]] if label is not None else catalogue.tables.values()
        keys = () if property_name is None else self._keys_of(property_name, named=value is not None)
        start = skipped_items(after, None)
        skip, total, found = start, 0, list[Entity]()
        for table in tables:
            condition = None if property_name is None else await self._condition_on(table, keys, value)
            if condition == ("", {}):
                continue
            text, parameters = condition or ("", {})
            ((size,),) = await self._rows(
                queries.SELECTED_COUNT.format(label=quoted(table.name), condition=text), parameters
            )
            total += size
            if len(found) < limit and skip < size:
                shown = decoder.described_keys
                node = table.read(shown, "n")
                query = queries.SELECTED.format(label=quoted(table.name), condition=text, node=node)
                page = {"skip": skip, "limit": limit - len(found)}
                found += [
                    decoder.entity(table.node(shown, row)) for row in await self._rows(query, {**parameters, **page})
                ]
            skip = max(skip - size, 0)
        skipped_items(after, total)
        return list_page(found, start, total)

    def _keys_of(self, property_name: str, *, named: bool) -> Sequence[str]:
        """The columns that a property's name means; `name` also means any name.

        Raises:
            UnknownName: there is none.
        """
        catalogue = self._nodes.tables.current
        of_nodes = {key for table in catalogue.tables.values() for key in table.columns}
        keys = [key for key in catalogue.keys_of_property(property_name) if key in of_nodes]
        if not keys and named and property_name.casefold() in _NAMES:
            keys = list(catalogue.name_keys)
        if not keys:
            raise catalogue.unknown_property("property", property_name)
        return keys

    async def _condition_on(
        self, table: Table, keys: Iterable[str], value: str | None
    ) -> tuple[str, dict[str, object]]:
        """The condition that a column has a value (None: any), with its parameters; both empty if none can have it."""
        conditions: list[str] = []
        parameters: dict[str, object] = {}
        for key in keys:
            column = table.columns.get(key)
            if column is None:
                continue
            text = column.expression("n")
            if value is None:
                conditions.append(f"{text} IS NOT NULL")
                continue
            if wanted := await self._wanted(table, column, value):
                parameters[name := f"p{len(parameters)}"] = wanted
                conditions.append(f"list_has_any({text}, ${name})" if column.is_list else f"{text} IN ${name}")
        return f" WHERE {' OR '.join(conditions)}" if conditions else "", parameters

    async def _wanted(self, table: Table, column: Column, value: str) -> list[Any]:
        """The values of a column that equal a wanted one. Texts and whole numbers are not read for that."""
        text = encodable(value)
        wanted = WantedValue.read(text)
        if column.type == "STRING":
            return [text] if text == value else []
        if column.is_whole:
            number = wanted.number
            is_whole = number is not None and number == int(number) and abs(number) < 2**63
            return [int(number)] if is_whole and number is not None else []
        if column.is_vector:
            return []
        query = queries.VALUES.format(
            pattern=f"MATCH (n:{quoted(table.name)})".removeprefix("MATCH "),
            unwind=f" UNWIND {column.expression('n')} AS item" if column.is_list else "",
            owner="1 AS owner",
            value="item" if column.is_list else column.expression("n"),
            number="count(*)",
        )
        single = Column(column.name, column.type)
        return [
            returned
            for returned, _ in await self._rows(query)
            if wanted.equals(FORMATS.literal(single.value(returned), split_key(column.name)[1]))
        ]

    async def values(
        self, property_name: str, owner: str | None, kind: ValueOwner, limit: int, after: str | None
    ) -> Page[ValueFacts]:
        """Distinct values, by text: numbers by size, then texts.

        Raises:
            UnknownName: the graph has no such property, label or relation.
            InvalidCursor: `after` is not a position in this list.
        """
        catalogue = self._nodes.tables.current
        if kind is ValueOwner.NODE:
            owner = catalogue.resolve_label(owner) if owner is not None else None
            of_nodes = self._keys_of(property_name, named=False)
            columns = [
                (f"(n:{quoted(table.name)})", table.columns[key])
                for table in catalogue.tables.values()
                for key in of_nodes
                if key in table.columns and owner in (None, table.name)
            ]
        else:
            owner = catalogue.resolve_type(owner) if owner is not None else None
            of_edges = set(catalogue.keys_of_property(property_name))
            found = [(link, column) for link in catalogue.links for column in link.columns if column.name in of_edges]
            if not found:
                raise catalogue.unknown_property("relationship property", property_name)
            columns = [
                (
                    link.pattern(Direction.OUTGOING).replace("[r:", "[n:").replace("(n:", "(:").replace("(m:", "(:"),
                    column,
                )
                for link, column in found
                if owner in (None, link.type)
            ]
        counts: dict[str, int] = defaultdict(int)
        literals: dict[str, Literal] = {}
        answers = await gathered(*(self._counted(pattern, column) for pattern, column in columns))
        for (_, column), rows in zip(columns, answers, strict=True):
            single = Column(column.name, column.type) if column.is_list and not column.is_vector else column
            for returned, size in rows:
                literal = FORMATS.literal(single.value(returned), split_key(column.name)[1])
                literals.setdefault(literal.text, literal)
                counts[literal.text] += size
        texts = sorted(literals, key=value_order)
        return page_of([ValueFacts(literals[text], Count(counts[text])) for text in texts], limit, after)

    async def _counted(self, pattern: str, column: Column) -> list[list[Any]]:
        in_lists = column.is_list and not column.is_vector
        query = queries.VALUES.format(
            pattern=pattern,
            unwind=f" UNWIND {column.expression('n')} AS item" if in_lists else "",
            owner="id(n) AS owner",
            value="item" if in_lists else column.expression("n"),
            number="count(DISTINCT owner)" if in_lists else "count(*)",
        )
        return await self._rows(query)


class TableNames(NameReader):
    """Answers the verbs `find_by_names` and `find_by_values`."""

    def __init__(self, entities: TableEntities) -> None:
        super().__init__(entities)
        self._nodes = entities

    async def scan(self, label: str | None, names: Sequence[str]) -> Hits:
        """Nodes of a label (None: of any) with exactly one of these names, ignoring letter case."""
        most = MAX_HITS * len(names)
        return await self.with_words(label, [name.lower() for name in names], (), most)

    async def with_words(self, label: str | None, names: Sequence[str], pieces: Sequence[str], most: int) -> Hits:
        """Nodes with one of the names (in lower case), then nodes that share pieces with them, each with its degree."""
        catalogue, found = self._nodes.tables.current, dict[str, NodeRow]()
        tables = [table for table in catalogue.tables.values() if label in (None, table.name)]
        answers = await gathered(*(self._scan_of(table, names, pieces, most) for table in tables))
        for nodes in answers:
            found |= {node[0]: node for node in nodes}
        degrees = await TableRows(self._nodes).degrees(list(found))
        complete = all(len(nodes) < most for nodes in answers)
        return Hits([(node, degrees[node_id]) for node_id, node in found.items()], stop_reason(complete))

    async def _scan_of(self, table: Table, names: Sequence[str], pieces: Sequence[str], most: int) -> Sequence[NodeRow]:
        columns = [table.columns[key] for key in self.searched if key in table.columns]
        columns = [column for column in columns if column.is_text]
        if not columns:
            return []
        words = {f"w{place}": piece for place, piece in enumerate(pieces)}
        query = queries.WITH_WORDS.format(
            label=quoted(table.name),
            named=" OR ".join(column.is_named("n", "$names") for column in columns),
            text=text_expression(columns, "n") if words else "''",
            shared=" + ".join(queries.SHARED_PIECE.format(piece=name) for name in words) or "0",
            node=table.read(self.described, "n"),
        )
        parameters = {"names": list(names), "exact": EXACT_SCORE, "most": most, **words}
        rows = await self._nodes.store.rows(query, parameters)
        return await in_thread(len(rows), lambda: [table.node(self.described, row) for row in rows])

    async def with_values(self, values: Sequence[str], limit: int) -> dict[str, list[ValueMatch]]:
        """The first nodes that have each text, or the IRI that it means, as the value of a property."""
        forms = {text: {text, *self._nodes.iri_forms(text)} for text in values if encodable(text) == text}
        texts = sorted(set[str]().union(*forms.values()))
        found: dict[str, list[ValueMatch]] = defaultdict(list)
        columns = [
            (table, column)
            for table in self._nodes.tables.current.tables.values()
            for column in table.columns.values()
            if column.type == "STRING" and split_key(column.name)[1] is None
        ]
        answers = await gathered(*(self._with_texts(*each, texts) for each in columns if texts))
        for (_, column), rows in zip(columns, answers, strict=False):
            for texts_of_node, node in rows:
                for text in texts_of_node:
                    found[text].append(ValueMatch(self._nodes.decoder.entity(node), relation_of(column.name)))
        matches = {text: [one for form in sorted(own) for one in found.get(form, ())] for text, own in forms.items()}
        return {text: each[:limit] for text, each in matches.items() if each}

    async def _with_texts(self, table: Table, column: Column, texts: Sequence[str]) -> list[tuple[list[str], NodeRow]]:
        shown, text = self._nodes.decoder.described_keys, column.expression("n")
        query = queries.SELECTED.format(
            label=quoted(table.name),
            condition=f" WHERE {f'list_has_any({text}, $texts)' if column.is_list else f'{text} IN $texts'}",
            node=f"{text}, {table.read(shown, 'n')}",
        )
        parameters: Mapping[str, object] = {"texts": texts, "skip": 0, "limit": MAX_HITS * len(texts)}
        rows = await self._nodes.store.rows(query, parameters)
        wanted = set(texts)
        return [
            (sorted(wanted.intersection(own if column.is_list else [own])), table.node(shown, row))
            for own, *row in rows
        ]


class TableLinker(EntityFinder):
    """Answers the verb `find`."""

    def __init__(self, entities: TableEntities, names: TableNames) -> None:
        super().__init__(entities, names)
        self._tables = names

    async def scan(self, hint: str, label: str | None) -> Hits:
        """Nodes of a label (None: of any) with names that share trigrams with the hint."""
        names = [text.lower() for text in (hint, *plural_variants(hint))]
        pieces = sorted({piece for word in words_of(hint) for piece in trigrams(word)})
        return await self._tables.with_words(label, names, pieces, MAX_HITS)
