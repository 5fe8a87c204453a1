"""Writes Wikibase's RDF as N-Triples: entities, statements with ranks and qualifiers, properties.

The form is that of Wikidata's dumps (https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format): the direct
claim, the statement node with its simple and its full value, and the qualifiers with theirs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

Kind = Literal["item", "string", "text", "time", "quantity", "coordinates", "somevalue", "novalue"]
Rank = Literal["Preferred", "Normal", "Deprecated"]

RDF_TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"
ALIAS: Final = "http://www.w3.org/2004/02/skos/core#altLabel"
DESCRIPTION: Final = "http://schema.org/description"
SAME_AS: Final = "http://www.w3.org/2002/07/owl#sameAs"
DERIVED: Final = "http://www.w3.org/ns/prov#wasDerivedFrom"
ONTOLOGY: Final = "http://wikiba.se/ontology#"

_XSD = "http://www.w3.org/2001/XMLSchema#"
_POINT = "http://www.opengis.net/ont/geosparql#wktLiteral"
_CALENDAR = "http://www.wikidata.org/entity/Q1985727"
_PROPERTY_TYPES: Final[Mapping[str, str]] = {
    "item": "WikibaseItem",
    "string": "String",
    "text": "Monolingualtext",
    "time": "Time",
    "quantity": "Quantity",
    "coordinates": "GlobeCoordinate",
    "external-id": "ExternalId",
    "media": "CommonsMedia",
    "url": "Url",
}


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a statement or a qualifier.

    `text` is an item's id, a text, a time (`1815-12-10T00:00:00Z`), an amount, or `longitude latitude`. `extra` is
    the language of a text, the precision of a time (11: a day), or the id of a quantity's unit.
    """

    kind: Kind
    text: str = ""
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Wikibase:
    """The writer for one base URL, such as `http://www.wikidata.org`."""

    base: str = "http://www.wikidata.org"

    def entity(self, local: str) -> str:
        """The IRI of an item or a property."""
        return f"{self.base}/entity/{local}"

    def item(
        self,
        local: str,
        labels: Sequence[tuple[str, str]] = (),
        aliases: Sequence[tuple[str, str]] = (),
        descriptions: Sequence[tuple[str, str]] = (),
    ) -> Iterator[str]:
        """An item with its terms, each a text and its language."""
        subject = self.entity(local)
        yield iri_line(subject, RDF_TYPE, f"{ONTOLOGY}Item")
        for predicate, terms in ((LABEL, labels), (ALIAS, aliases), (DESCRIPTION, descriptions)):
            for text, language in terms:
                yield _line(subject, predicate, f"{quoted(text)}@{language}")

    def redirect(self, local: str, target: str) -> Iterator[str]:
        """An item that has been merged into another."""
        yield iri_line(self.entity(local), SAME_AS, self.entity(target))

    def property(self, local: str, kind: str, labels: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
        """A property with its datatype, its predicates and its labels."""
        subject = self.entity(local)
        yield iri_line(subject, RDF_TYPE, f"{ONTOLOGY}Property")
        yield iri_line(subject, f"{ONTOLOGY}propertyType", ONTOLOGY + _PROPERTY_TYPES[kind])
        for name, folder in (
            ("directClaim", "direct/"),
            ("claim", ""),
            ("statementProperty", "statement/"),
            ("statementValue", "statement/value/"),
            ("qualifier", "qualifier/"),
            ("qualifierValue", "qualifier/value/"),
            ("reference", "reference/"),
            ("novalue", "novalue/"),
        ):
            yield iri_line(subject, ONTOLOGY + name, f"{self.base}/prop/{folder}{local}")
        for text, language in labels:
            yield _line(subject, LABEL, f"{quoted(text)}@{language}")

    def statement(
        self,
        subject: str,
        name: str,
        value: Value,
        qualifiers: Sequence[tuple[str, Value]] = (),
        *,
        number: int,
        rank: Rank = "Normal",
        best: bool = True,
        references: int = 0,
    ) -> Iterator[str]:
        """A statement. `number` distinguishes it from others of its subject, `best` marks it as truthy."""
        head, node = self.entity(subject), f"{self.base}/entity/statement/{subject}-{number:08d}"
        yield iri_line(head, f"{self.base}/prop/{name}", node)
        yield iri_line(node, f"{ONTOLOGY}rank", f"{ONTOLOGY}{rank}Rank")
        if best:
            yield iri_line(node, RDF_TYPE, f"{ONTOLOGY}BestRank")
            if value.kind != "novalue":
                yield _line(head, f"{self.base}/prop/direct/{name}", self._simple(value, node))
        yield from self._value_lines(node, name, value, "statement")
        for qualifier, said in qualifiers:
            yield from self._value_lines(node, qualifier, said, "qualifier")
        for place in range(references):
            yield iri_line(node, DERIVED, f"{self.base}/reference/{_digest(f'{node} {place}')}")

    def _value_lines(self, node: str, name: str, value: Value, role: str) -> Iterator[str]:
        if value.kind == "novalue":
            yield iri_line(node, RDF_TYPE, f"{self.base}/prop/novalue/{name}")
            return
        yield _line(node, f"{self.base}/prop/{role}/{name}", self._simple(value, f"{node} {name}"))
        full = list(self._full(value))
        if full:
            value_node = f"{self.base}/value/{_digest(repr(value))}"
            yield iri_line(node, f"{self.base}/prop/{role}/value/{name}", value_node)
            for predicate, text in full:
                yield _line(value_node, ONTOLOGY + predicate, text)

    def _simple(self, value: Value, place: str) -> str:
        match value.kind:
            case "item":
                written = f"<{self.entity(value.text)}>"
            case "text":
                written = f"{quoted(value.text)}@{value.extra}"
            case "time":
                written = f"{quoted(value.text)}^^<{_XSD}dateTime>"
            case "quantity":
                written = f"{quoted(_signed(value.text))}^^<{_XSD}decimal>"
            case "coordinates":
                written = f"{quoted(f'Point({value.text})')}^^<{_POINT}>"
            case "somevalue":
                written = f"<{self.base}/.well-known/genid/{_digest(place)}>"
            case _:
                written = quoted(value.text)
        return written

    def _full(self, value: Value) -> Iterator[tuple[str, str]]:
        """The predicates and objects of a full value's node."""
        if value.kind == "time":
            yield "timeValue", f"{quoted(value.text)}^^<{_XSD}dateTime>"
            yield "timePrecision", f"{quoted(value.extra)}^^<{_XSD}integer>"
            yield "timeTimezone", f"{quoted('0')}^^<{_XSD}integer>"
            yield "timeCalendarModel", f"<{_CALENDAR}>"
        elif value.kind == "quantity":
            yield "quantityAmount", f"{quoted(_signed(value.text))}^^<{_XSD}decimal>"
            yield "quantityUnit", f"<{self.entity(value.extra or 'Q199')}>"


def iri_line(subject: str, predicate: str, node: str) -> str:
    """One triple whose object is an IRI."""
    return _line(subject, predicate, f"<{node}>")


def quoted(text: str) -> str:
    """A text in quotes. JSON escapes at least everything that N-Triples must escape, in the same way."""
    return json.dumps(text, ensure_ascii=False)


def _line(subject: str, predicate: str, node: str) -> str:
    return f"<{subject}> <{predicate}> {node} .\n"


def _signed(amount: str) -> str:
    return amount if amount.startswith("-") else f"+{amount}"


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=16).hexdigest()
