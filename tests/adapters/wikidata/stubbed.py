"""A Wikibase that answers what a test says: its catalogue as it should be, everything else as told."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.dialects import PROBE
from kgnav_mcp.adapters.wikidata.queries import CLAIM
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from tests.adapters.sparql_base.stub import Exchange, Handler, Stub, serving, table

BASE = "http://www.wikidata.org"
WIKIBASE = "http://wikiba.se/ontology#"
PROPERTIES = {
    "P31": ("WikibaseItem", "instance of"),
    "P17": ("WikibaseItem", "country"),
    "P214": ("ExternalId", "VIAF"),
}

Cells = Mapping[str, Mapping[str, str]]
"""A row of an answer: a cell for each variable that is bound."""


def iri(text: str) -> dict[str, str]:
    return {"type": "uri", "value": text}


def literal(text: str, language: str = "", datatype: str = "") -> dict[str, str]:
    cell = {"type": "literal", "value": text}
    return cell | ({"xml:lang": language} if language else {}) | ({"datatype": datatype} if datatype else {})


def number(value: int) -> dict[str, str]:
    return literal(str(value), datatype="http://www.w3.org/2001/XMLSchema#integer")


def rows(*bindings: Mapping[str, Mapping[str, str]]) -> str:
    return table(sorted({name for row in bindings for name in row}), bindings)


def query_of(exchange: Exchange) -> str:
    """The query that was sent, without its prefixes."""
    (text,) = exchange.request.form["query"]
    return "\n".join(line for line in text.splitlines() if not line.startswith("PREFIX"))


class Endpoint:
    """Answers the first pattern that a query has by its rows."""

    def __init__(self, *answers: tuple[str, Sequence[Cells]]) -> None:
        self.answers = answers

    async def __call__(self, exchange: Exchange) -> None:
        query = query_of(exchange)
        await exchange.answer(rows(*next((found for pattern, found in self.answers if re.search(pattern, query)), ())))


def wikibase(answer: Handler, properties: Mapping[str, tuple[str, str]] = PROPERTIES) -> Handler:
    """A handler that has statements, knows its properties, and answers anything else by another."""

    async def handle(exchange: Exchange) -> None:
        query = query_of(exchange)
        if query == PROBE:
            await exchange.answer(rows())
        elif query == CLAIM:
            await exchange.answer(rows({"p": iri(f"{BASE}/prop/P31")}))
        elif "wikibase:propertyType" in query:
            cells = [
                {
                    "s": iri(f"{BASE}/entity/{name}"),
                    "direct": iri(f"{BASE}/prop/direct/{name}"),
                    "type": iri(WIKIBASE + kind),
                }
                for name, (kind, _) in properties.items()
            ]
            await exchange.answer(rows(*cells))
        elif "wikibase:directClaim ?direct ; rdfs:label" in query:
            labels = [
                {"s": iri(f"{BASE}/entity/{name}"), "o": literal(text, "en")} for name, (_, text) in properties.items()
            ]
            await exchange.answer(rows(*labels))
        else:
            await answer(exchange)

    return handle


@asynccontextmanager
async def opened(
    *handlers: Handler, seconds: float = 5.0, languages: Sequence[str] = ("en",), **extra: object
) -> AsyncGenerator[tuple[GraphAdapter, Stub]]:
    """An adapter on a stub, open."""
    async with serving(*handlers) as stub:
        options = AdapterOptions(languages=tuple(languages), timeout=seconds, extra={"base": BASE, **extra})
        async with open_adapter(f"wikidata+{stub.url}", options) as adapter:
            yield adapter, stub
