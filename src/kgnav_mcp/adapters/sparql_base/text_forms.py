"""The kinds of literal as which a text is looked up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rdflib import XSD, Literal, URIRef

from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.values.scalars import NUMBERS

_NO_TEXTS = NUMBERS | {"boolean", "date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"}


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
        """Whether all values of these kinds are texts, so that none is a number, a date or a truth value."""
        return not any(str(datatype).removeprefix(str(XSD)) in _NO_TEXTS for datatype in self.datatypes)

    def terms(self, texts: Iterable[str]) -> list[Literal]:
        """Each text without a language, in each language and with each datatype."""
        return [
            term
            for text in dict.fromkeys(texts)
            for term in (
                Literal(text),
                *(Literal(text, lang=language) for language in self.languages),
                *(Literal(text, datatype=datatype, normalize=False) for datatype in self.datatypes),
            )
        ]
