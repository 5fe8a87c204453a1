"""Statements as triples, with qualifiers, rank and number of references, and values as readable text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rdflib import BNode, Literal, URIRef

from kgnav_mcp import model
from kgnav_mcp.adapters.sparql_base.query_reader import Row, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.wikibase_values import (
    NO_VALUE,
    ONTOLOGY,
    QUANTITY,
    TIME,
    UNKNOWN_VALUE,
    FullValue,
    describes,
    readable_value,
    shown_datatype,
    unit_of,
    value_kind,
)
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.model import Direction, Node, Qualifier, Relation, Triple

_DERIVED_FROM: Final = "http://www.w3.org/ns/prov#wasDerivedFrom"
_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_RANK: Final = Relation("wikibase:rank", "rank")
_REFERENCES: Final = Relation("prov:wasDerivedFrom", "references")


@dataclass(frozen=True, slots=True)
class StatementRow:
    """A row: its head, its property, its statement node (None in a truthy copy), and its value (None: no value)."""

    head: URIRef
    property: str
    statement: URIRef | None
    value: Term | None

    def key(self) -> str:
        """A text that is unique among the rows of the same head and property."""
        return str(self.statement or repr(self.value))


def statement(row: Row, variable: str) -> URIRef | None:
    """The statement node in a row; None in a copy without statements."""
    return iri_in(row, variable) if variable in row else None


@dataclass(slots=True)
class _Details:
    """Rank, number of references and qualifiers (property and value) of a statement."""

    rank: str = "normal"
    references: int = 0
    qualifiers: list[tuple[str, Term | None]] = field(default_factory=list[tuple[str, Term | None]])
    full: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Pairs of property and node of a full value: those of the statement itself and of its qualifiers."""


_NO_DETAILS: Final = _Details()


class StatementReader:
    """Reads the details of statements, and converts them to triples."""

    def __init__(self, store: Store, names: Names, catalogues: CatalogueCache) -> None:
        self._reader = store.reader
        self._ids = store.ids
        self._names = names
        self._catalogues = catalogues

    async def triples(self, found: Sequence[StatementRow]) -> list[Triple]:
        """Convert statements to triples with their qualifiers. Labels and details are read concurrently."""
        ends = await in_thread(len(found), lambda: [end for each in found for end in (each.head, each.value)])
        details, labels = await gathered(self._details(found), self._labels(ends))
        qualifiers = await in_thread(
            len(details), lambda: [value for each in details.values() for _, value in each.qualifiers]
        )
        full, others = await gathered(self._full_values(details), self._labels(qualifiers))
        units = await self._units(full.values())

        def triples() -> list[Triple]:
            known = labels | others | units
            return [self._triple(each, _details_of(each, details), full, known) for each in found]

        return await in_thread(len(found), triples)

    async def nodes(self, found: Sequence[StatementRow], direction: Direction) -> list[Node]:
        """The far ends of statements, without their details."""
        if direction is Direction.INCOMING:
            labels = await self._names.labels(each.head for each in found)
            return [self._names.entity(each.head, labels) for each in found]
        in_full = [each for each in found if isinstance(each.value, Literal) and _has_parts(each.value)]
        details, labels = await gathered(self._details(in_full), self._labels([each.value for each in found]))
        full = await self._full_values(details)
        labels |= await self._units(full.values())
        return await in_thread(
            len(found), lambda: [self._value(each, _details_of(each, details), full, labels) for each in found]
        )

    async def _labels(self, terms: Sequence[object]) -> dict[str, str]:
        is_entity = self._ids.is_entity
        return await self._names.labels(
            await in_thread(
                len(terms), lambda: [str(term) for term in terms if isinstance(term, URIRef) and is_entity(term)]
            )
        )

    async def _units(self, full: Iterable[FullValue]) -> dict[str, str]:
        """The labels of the units of quantities."""
        return await self._names.labels(unit for node in full if (unit := unit_of(node)))

    async def _details(self, found: Sequence[StatementRow]) -> dict[URIRef, _Details]:
        statements = await in_thread(
            len(found), lambda: list(dict.fromkeys(each.statement for each in found if each.statement is not None))
        )
        if not statements:
            return {}
        rows = (await self._reader.in_batches(queries.DETAILS, "statements", statements)).all_rows()
        return await in_thread(len(rows), lambda: self._details_in(rows))

    def _details_in(self, rows: Iterable[Row]) -> dict[URIRef, _Details]:
        """The details of statements, decoded from their triples."""
        details: dict[URIRef, _Details] = defaultdict(_Details)
        prefix = f"{self._ids.base}/prop/"
        for row in rows:
            statement_details, predicate, node = details[iri_in(row, "st")], str(row["p"]), row["o"]
            if predicate == f"{ONTOLOGY}rank":
                statement_details.rank = str(node).removeprefix(ONTOLOGY).removesuffix("Rank").lower()
            elif predicate == _DERIVED_FROM:
                statement_details.references += 1
            elif predicate == _TYPE and str(node).startswith(f"{prefix}novalue/"):
                statement_details.qualifiers.append((str(node).rpartition("/")[2], None))
            elif (local := self._ids.property_of(predicate)) is not None:
                match predicate.removeprefix(prefix).removesuffix(local):
                    case "qualifier/":
                        statement_details.qualifiers.append((local, node))
                    case "qualifier/value/" | "statement/value/":
                        statement_details.full.append((local, str(node)))
                    case _:
                        pass  # the statement's own value, or a normalised form of an identifier
        return details

    async def _full_values(self, details: Mapping[URIRef, _Details]) -> dict[str, FullValue]:
        """The nodes of full values by IRI."""
        nodes = [URIRef(node) for node in dict.fromkeys(node for each in details.values() for _, node in each.full)]
        if not nodes:
            return {}
        rows = (await self._reader.in_batches(queries.FULL_VALUES, "nodes", nodes)).all_rows()

        def full() -> dict[str, FullValue]:
            found: dict[str, dict[str, str]] = defaultdict(dict)
            for row in rows:
                found[str(row["v"])][str(row["p"]).removeprefix(ONTOLOGY)] = str(row["o"])
            return dict(found)

        return await in_thread(len(rows), full)

    def _triple(
        self, found: StatementRow, details: _Details, full: Mapping[str, FullValue], labels: Mapping[str, str]
    ) -> Triple:
        catalogue = self._catalogues.current
        qualifiers = [
            Qualifier(catalogue.relation(local), self._node(local, value, details, full, labels))
            for local, value in details.qualifiers
            if not (value is None and local == found.property)  # this means that the statement itself has no value
        ]
        if details.rank != "normal":
            qualifiers.append(Qualifier(_RANK, model.Literal(details.rank)))
        if details.references:
            qualifiers.append(Qualifier(_REFERENCES, model.Literal(str(details.references))))
        qualifiers.sort(key=lambda qualifier: (qualifier.relation.id, _order(qualifier.value)))
        return Triple(
            self._names.entity(found.head, labels),
            catalogue.relation(found.property),
            self._value(found, details, full, labels),
            tuple(qualifiers),
        )

    def _value(
        self, found: StatementRow, details: _Details, full: Mapping[str, FullValue], labels: Mapping[str, str]
    ) -> Node:
        return self._node(found.property, found.value, details, full, labels)

    def _node(
        self,
        local: str,
        value: Term | None,
        details: _Details,
        full: Mapping[str, FullValue],
        labels: Mapping[str, str],
    ) -> Node:
        if value is None:
            return model.Literal(NO_VALUE, "novalue")
        if isinstance(value, BNode) or (isinstance(value, URIRef) and self._ids.is_unknown(value)):
            return model.Literal(UNKNOWN_VALUE, "somevalue")
        if isinstance(value, URIRef) and self._ids.is_entity(value):
            return self._names.entity(value, labels)
        nodes = [full[node] for name, node in details.full if name == local and node in full]
        full_value = next((node for node in nodes if describes(node, str(value))), dict[str, str]())
        return self.literal(local, value, full_value, labels)

    def literal(self, local: str, value: Term, full: FullValue, labels: Mapping[str, str]) -> model.Literal:
        """Convert a value that is not an entity to readable text. `full` is the node of its full value."""
        known = self._catalogues.current.get(local).datatype
        if not isinstance(value, Literal):
            return model.Literal(str(value), known or "url")
        if value.language:
            return model.Literal(str(value), None, value.language)
        kind = value_kind(str(value.datatype or ""), known)
        unit = unit_of(full)
        shown_unit = (labels.get(unit) or self._ids.shown(unit)) if unit else ""
        return model.Literal(readable_value(str(value), kind, full, shown_unit), shown_datatype(kind))


def _details_of(found: StatementRow, details: Mapping[URIRef, _Details]) -> _Details:
    """The details of a row's statement; empty ones if it has no statement."""
    return details.get(found.statement, _NO_DETAILS) if found.statement is not None else _NO_DETAILS


def _has_parts(value: Literal) -> bool:
    """Whether a value is a time or a quantity, whose full value has more parts."""
    return value_kind(str(value.datatype or ""), "") in {TIME, QUANTITY}


def _order(node: Node) -> str:
    return node.text if isinstance(node, model.Literal) else node.id
