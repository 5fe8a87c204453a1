"""Finds entities by name: with the Wikibase's search API or vector search if it has one, otherwise by labels in SPARQL.

In SPARQL, an exact label in one of the preferred languages is found by index. Any other spelling takes a scan of all
labels, which finishes in time only in a small copy, so it is done only there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

import httpx2
from rdflib import RDFS, SKOS, Literal, URIRef

from kgnav_mcp.adapters.candidates import ALIAS, NAME, Match
from kgnav_mcp.adapters.sparql_base import entity_finder, errors
from kgnav_mcp.adapters.sparql_base.entity_finder import Size
from kgnav_mcp.adapters.sparql_base.errors import Refusal
from kgnav_mcp.adapters.sparql_base.name_search import Hit, Hits, Lookup, NameSearch, SparqlNames, findable
from kgnav_mcp.adapters.sparql_base.query_reader import Read, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.rate_limit import limiter_of
from kgnav_mcp.adapters.sparql_base.requests import Address
from kgnav_mcp.adapters.sparql_base.terms import values
from kgnav_mcp.adapters.sparql_base.text_forms import TextForms
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import label_languages
from kgnav_mcp.adapters.wikidata.names import Names
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.concurrency import gathered
from kgnav_mcp.errors import InvalidStore, StoreTimeout, StoreUnavailable
from kgnav_mcp.model import Count, Entity, Relation, Stop
from kgnav_mcp.port.defaults import one_by_one
from kgnav_mcp.store_limits import note_answer

_CONNECT_SECONDS = 3.0
_MAX_CANDIDATES = 50
"""The most candidates that one call of an API returns."""
_MAX_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """A result of a search: the entity's bare id, the text that matched, and whether that text is its label."""

    id: str
    text: str
    by_label: bool


class JsonApi:
    """A client for one address that answers GET requests with JSON. It keeps to the rate limit of its host."""

    def __init__(
        self, address: str, *, agent: str, timeout: float, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        self._endpoint = Address.parse(address)
        self._timeout = timeout
        self._http = httpx2.AsyncClient(
            headers={"User-Agent": agent, "Accept": "application/json"},
            timeout=httpx2.Timeout(timeout, connect=min(_CONNECT_SECONDS, timeout)),
            follow_redirects=False,
            trust_env=not self._endpoint.is_local,
            transport=transport,
        )

    async def get(self, parameters: Mapping[str, str]) -> object:
        """The JSON answer to a request with these parameters.

        Raises:
            StoreError: the same errors as those of the SPARQL client.
        """
        answer = await limiter_of(self._endpoint.host).ask(lambda: self._get(parameters), patience=self._timeout)
        note_answer()
        return answer

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def _get(self, parameters: Mapping[str, str]) -> object:
        try:
            async with asyncio.timeout(self._timeout):
                response = await self._http.get(self._endpoint.url, params=dict(parameters))
        except (TimeoutError, httpx2.ReadTimeout) as error:
            raise errors.timed_out(self._timeout) from error
        except httpx2.RequestError as error:
            raise errors.disconnected(error, self._endpoint, _CONNECT_SECONDS) from error
        body = response.content[:_MAX_BYTES]
        if response.status_code != HTTPStatus.OK:
            text = body.decode("utf-8", "replace")
            raise errors.refused(
                Refusal(self._endpoint.name, response.status_code, response.headers, text, self._timeout)
            )
        try:
            return json.loads(body)
        except ValueError as error:
            raise InvalidStore(
                f"{self._endpoint.name} answers with something that is not JSON",
                next_step="Correct the option search, or set it to an empty text to search labels in SPARQL.",
            ) from error


class WikibaseSearch:
    """The API `wbsearchentities`: finds labels and aliases that begin with a hint, in a language and its fallbacks."""

    def __init__(self, api: JsonApi) -> None:
        self._api = api

    async def find(self, hint: str, language: str, limit: int) -> tuple[list[FoundEntity], Stop]:
        """The entities that a hint may mean, best first. The stop is LIMIT if the list is full: there may be more.

        Raises:
            StoreUnavailable: the API cannot search at the moment.
        """
        most = min(limit, _MAX_CANDIDATES)
        answer = await self._api.get(
            {
                "action": "wbsearchentities",
                "search": hint,
                "language": language,
                "uselang": language,
                "type": "item",
                "limit": str(most),
                "format": "json",
                "formatversion": "2",
            }
        )
        entries = cast("Mapping[str, object]", answer).get("search") if isinstance(answer, dict) else None
        if not isinstance(entries, list):
            raise StoreUnavailable("the search of this Wikibase does not answer", next_step="Try again in a minute.")
        found = cast("list[object]", entries)
        matches = [match for entry in found if (match := _match(entry)) is not None]
        return matches, Stop.LIMIT if len(found) >= most else Stop.COMPLETE

    async def close(self) -> None:
        """Close every connection."""
        await self._api.close()


class VectorSearch:
    """A vector search: finds entities by meaning, even if they are described in other words or another language."""

    def __init__(self, api: JsonApi) -> None:
        self._api = api

    async def find(self, hint: str, limit: int) -> list[str]:
        """The bare ids of the entities nearest in meaning, best first."""
        answer = await self._api.get({"query": hint, "lang": "all", "K": str(min(limit, _MAX_CANDIDATES))})
        entries = cast("Sequence[object]", answer) if isinstance(answer, list) else ()
        found = [cast("Mapping[str, object]", entry) for entry in entries if isinstance(entry, dict)]
        return [local for entry in found if isinstance(local := entry.get("QID"), str)]

    async def close(self) -> None:
        """Close every connection."""
        await self._api.close()


def _match(entry: object) -> FoundEntity | None:
    """One entry of the API's answer; None if it does not have the expected form."""
    if not isinstance(entry, dict):
        return None
    facts = cast("Mapping[str, Any]", entry)
    match = facts.get("match")
    matched: Mapping[str, Any] = cast("Mapping[str, Any]", match) if isinstance(match, dict) else {}
    local = facts.get("id")
    text = matched.get("text") or facts.get("label") or local
    if not isinstance(local, str) or not isinstance(text, str):
        return None
    return FoundEntity(local, text, matched.get("type", "label") == "label")


_MEANING_SCORE = 0.5
_MIN_MATCHES, _MAX_MATCHES = 10, 50
"""Minimum number of matches requested from the search API, which are scored here; and the number for an exact name."""


class EntityFinder(entity_finder.EntityFinder):
    """Finds entities. Those with the same name are sorted by id, oldest first; candidates by prominence."""

    namesakes = 0
    with_text = queries.WITH_TEXT

    def __init__(self, store: Store, names: Names, search: WikibaseSearch | None, vectors: VectorSearch | None) -> None:
        super().__init__(store.reader, names, _LabelNames(store) if search is None else _ApiNames(store, search))
        store.reader.add_known({"direct_folder": Literal(store.ids.direct(""))})
        self._ids = store.ids
        self._relation = names.relation
        self._vectors = vectors
        self._searches = [one for one in (search, vectors) if one is not None]

    async def close(self) -> None:
        """Close the connections of the searches."""
        for search in self._searches:
            await search.close()

    async def sizes(self, iris: Sequence[URIRef]) -> Mapping[URIRef, Size]:
        """The number of statements and of sitelinks of entities, where the store has these numbers."""
        found: dict[str, dict[URIRef, int]] = {"statements": {}, "sitelinks": {}}
        for row in (await self._reader.in_batches(queries.SIZES, "ids", iris)).rows:
            found[str(row["p"])][iri_in(row, "s")] = number_in(row, "o")
        statements, sitelinks = found["statements"], found["sitelinks"]
        return {
            iri: Size(Count.at_least(statements[iri]) if iri in statements else Count.unknown(), sitelinks.get(iri))
            for iri in iris
        }

    async def properties(self, iris: Collection[URIRef]) -> Mapping[URIRef, Relation]:
        direct = {iri: self._ids.property_of(iri) for iri in iris}
        return {iri: self._relation(local) for iri, local in direct.items() if local is not None}

    async def of_types(self, iris: Sequence[URIRef], types: Sequence[URIRef]) -> Read:
        return await self._reader.in_batches(queries.OF_CLASS, "ids", iris, types=values(*types))

    async def _prominence(self, entities: Mapping[URIRef, Entity]) -> Mapping[URIRef, tuple[int, ...]]:
        del entities
        return {}

    async def _others(self, hint: str, limit: int) -> Sequence[tuple[URIRef, Match]]:
        if self._vectors is None or not hint:
            return ()
        found = [self._ids.entity(local) for local in await self._vectors.find(hint, limit)]
        return [(iri, Match("", _MEANING_SCORE)) for iri in found if iri is not None]

    def order(self, iri: URIRef) -> tuple[int, str]:
        digits = iri.rpartition("/")[2][1:]
        return (int(digits) if digits.isdecimal() else 0), str(iri)


class _LabelNames(SparqlNames):
    """Labels and aliases in SPARQL."""

    def __init__(self, store: Store) -> None:
        lookup = Lookup(
            named=queries.WITH_NAMES,
            scan=queries.SCAN if store.wikidata.scans else None,
            kinds={RDFS.label: NAME, SKOS.altLabel: ALIAS},
            forms=TextForms(label_languages(store.languages), ()),
            is_entity=lambda term: store.ids.is_entity(str(term)),
        )
        super().__init__(store.reader, lookup)

    async def _scan(self, condition: str) -> Hits:
        try:
            return await self._read_all(condition)
        except StoreTimeout as error:
            raise StoreTimeout(
                error.seconds,
                error.message,
                next_step="No entity has exactly this label, and there are too many labels to search them all: use "
                "an id or the exact label, or set the option search to the address of the Wikibase's API.",
            ) from error


class _ApiNames(NameSearch):
    """Matches of the Wikibase's search API, in each of the wanted languages."""

    def __init__(self, store: Store, search: WikibaseSearch) -> None:
        self._ids = store.ids
        self._languages = store.languages or ("en",)
        self._search = search

    @property
    def note(self) -> str:
        return "Searched for labels and aliases that start with this text, as the Wikibase's own search does."

    async def same(self, names: Sequence[str]) -> Mapping[str, Hits]:
        return await one_by_one(names, self._same)

    async def missed(self) -> str:
        return ""

    async def _same(self, name: str) -> Hits:
        hits, stop = await self.like(name, _MAX_MATCHES)
        return [hit for hit in hits if hit.text.casefold() == name.casefold()], stop

    async def like(self, hint: str, limit: int) -> Hits:
        if not findable(hint):
            return [], Stop.COMPLETE
        match_limit = max(limit, _MIN_MATCHES)
        answers = await gathered(*(self._search.find(hint, language, match_limit) for language in self._languages))
        hits = [
            Hit(iri, match.text, NAME if match.by_label else ALIAS, language)
            for language, (matches, _) in zip(self._languages, answers, strict=True)
            for match in matches
            if self._ids.is_entity(iri := URIRef(self._ids.entities + match.id))
        ]
        return hits, Stop.first(stop for _, stop in answers)
