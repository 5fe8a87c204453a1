"""The languages and datatypes of a graph's texts, by which a store looks texts up instead of comparing all of them."""

from __future__ import annotations

from asyncio import Lock
from collections.abc import Sequence

from cachetools import TLRUCache
from rdflib import XSD, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, iri_in
from kgnav_mcp.adapters.sparql_base.terms import values
from kgnav_mcp.adapters.sparql_base.text_forms import TextForms
from kgnav_mcp.errors import StoreTimeout, Unsupported

_SHARE = 0.2
"""The fraction of a call's time for reading the languages and datatypes of some relations."""
_SECONDS, _UNKNOWN_SECONDS = 600.0, 3_600.0
"""How long they are known, since others may be written; and after how long they are read again if there was no time."""
_MAX_RELATIONS = 1_000
"""Maximum number of relations, or sets of relations, of which they are kept."""
_MAX_FORMS = 100
"""Maximum number of languages and datatypes as which a text is looked up."""


class TextFormReader:
    """Reads in which languages and datatypes relations have texts. Cached."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._cache: TLRUCache[tuple[URIRef, ...], TextForms | None] = TLRUCache(_MAX_RELATIONS, _expiry)
        self._reading = Lock()

    async def of(self, relations: Sequence[URIRef]) -> TextForms | None:
        """The forms of all literals of some relations; None if there are too many, or no time to read them."""
        key = tuple(sorted(relations))
        async with self._reading:
            if key in self._cache:
                return self._cache[key]
            self._cache[key] = forms = await self._read(key)
            return forms

    async def _read(self, relations: Sequence[URIRef]) -> TextForms | None:
        try:
            read = await self._reader.select(
                queries.TEXT_FORMS, share=_SHARE, relations=values(*relations), most=_MAX_FORMS + 1
            )
            forms = {(str(row.get("l", "")), iri_in(row, "d") if "d" in row else XSD.string) for row in read.all_rows()}
        except (StoreTimeout, Unsupported):
            return None
        if len(forms) > _MAX_FORMS:
            return None
        languages = sorted({language for language, _ in forms if language})
        datatypes = {datatype for language, datatype in forms if not language} - {XSD.string}
        return TextForms.of(languages, sorted(datatypes), self._reader.dialect)


def _expiry(_: object, forms: TextForms | None, now: float) -> float:
    return now + (_UNKNOWN_SECONDS if forms is None else _SECONDS)
