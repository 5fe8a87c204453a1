"""The kinds of literal as which a text is looked up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rdflib import RDF, XSD, Literal, URIRef

from kgnav_mcp.adapters.sparql_base.dialect import Dialect

_INTEGER = re.compile(r"[+-]?\d+")
_FLOAT = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
LEXICAL_FORMS = {
    XSD.integer: _INTEGER,
    XSD.int: _INTEGER,
    XSD.decimal: re.compile(r"[+-]?\d*\.\d+"),
    XSD.double: _FLOAT,
    XSD.float: _FLOAT,
    XSD.boolean: re.compile(r"true|false"),
    XSD.date: re.compile(r"-?\d{4,}-\d\d-\d\d.*"),
    XSD.dateTime: re.compile(r"-?\d{4,}-\d\d-\d\dT.*"),
    XSD.gYear: re.compile(r"-?\d{4,}"),
    XSD.gYearMonth: re.compile(r"-?\d{4,}-\d\d"),
}
"""The usual texts of literals of usual datatypes."""
_ARE_TEXTS = (str(XSD.string), str(XSD.anyURI))
_HAVE_VALUES = (str(XSD), str(RDF))
"""Namespaces of datatypes whose literals may be other values than their texts, or other texts, as xsd:token."""


@dataclass(frozen=True, slots=True)
class TextForms:
    """The kinds of literal as which a text is looked up: a store's index finds terms, not texts."""

    languages: Sequence[str]
    datatypes: Sequence[URIRef]
    """The datatypes of texts without a language; a text without a datatype is always looked up."""

    @classmethod
    def of(cls, languages: Sequence[str], datatypes: Sequence[URIRef], dialect: Dialect) -> TextForms:
        """The forms with these languages, without a language, and with these datatypes, where a store has texts so."""
        return cls(languages, [*([XSD.string] if dialect.types_texts else []), *datatypes])

    @property
    def only_texts(self) -> bool:
        """Whether the values of these kinds are just their texts: none is a number, a date, a boolean or a token."""
        return all(one in _ARE_TEXTS or not one.startswith(_HAVE_VALUES) for one in map(str, self.datatypes))

    def terms(self, texts: Iterable[str]) -> list[Literal]:
        """Each text without a language, in each language and with each datatype that it may have."""
        return [
            term
            for text in dict.fromkeys(texts)
            for term in (
                Literal(text),
                *(Literal(text, lang=language) for language in self.languages),
                *(Literal(text, datatype=one, normalize=False) for one in self.datatypes if _may_be(text, one)),
            )
        ]


def _may_be(text: str, datatype: URIRef) -> bool:
    form = LEXICAL_FORMS.get(datatype)
    return form is None or form.fullmatch(text) is not None
