"""Compares `search` on hubs of a live Freebase with direct queries that list and count their relations."""

from __future__ import annotations

import http.client
import json
import urllib.parse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any

from kgnav_bench import report
from kgnav_bench.client import BareClient
from kgnav_bench.freebase import NAME, NAMESPACE
from kgnav_bench.freebase_reach import endpoint_command
from kgnav_bench.hub import Place
from kgnav_bench.runs import Run
from kgnav_bench.tables import parse

LARGE = 200_000
"""Number of rows from which counting dominates a hub's time, in the direct queries as well."""

AT_MOST, AT_MOST_LARGE = 3.0, 1.1
"""Maximum time of `search` relative to the direct queries. At a small hub, examples with names dominate."""

_OUTGOING = "SELECT ?p (COUNT(*) AS ?n) {$hub ?p ?far} GROUP BY ?p"
"""Reads the hub's triples once."""

_INCOMING = "SELECT ?p (COUNT(*) AS ?n) {?far ?p $hub} GROUP BY ?p"
"""Reads the triples that point at the hub once."""

_OUTGOING_THROUGH = """
SELECT ?p ?q (COUNT(*) AS ?n) {$hub ?p ?m . ?m ?q ?far . FILTER NOT EXISTS {?m $name ?any}} GROUP BY ?p ?q
"""
"""Reads the hub's triples, and those of each unnamed neighbour."""

_INCOMING_THROUGH = """
SELECT ?p ?q (COUNT(*) AS ?n) {?far ?p ?m . ?m ?q $hub . FILTER NOT EXISTS {?m $name ?any}} GROUP BY ?p ?q
"""
"""Reads the triples that point at the hub, and those that point at each unnamed neighbour."""

_LARGEST = {
    "outgoing": """
SELECT ?hub (COUNT(*) AS ?n) {?hub ?p ?far FILTER(STRSTARTS(STR(?hub), "$beginning"))}
GROUP BY ?hub ORDER BY DESC(?n) LIMIT $number
""",
    "incoming": """
SELECT ?hub (COUNT(*) AS ?n) {?far ?p ?hub FILTER(isIRI(?hub) && STRSTARTS(STR(?hub), "$beginning"))}
GROUP BY ?hub ORDER BY DESC(?n) LIMIT $number
""",
}
"""Reads every triple: only for graphs of some million triples."""

_BARE = {"outgoing": (_OUTGOING, _OUTGOING_THROUGH), "incoming": (_INCOMING, _INCOMING_THROUGH)}


class Endpoint:
    """A client of a SPARQL endpoint on one kept-alive connection. It does nothing but parse the answers."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        secure = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = secure(parts.netloc, timeout=60)
        self._path = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The bindings in a query's result."""
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": "application/sparql-results+json",
        }
        self._connection.request("POST", self._path, urllib.parse.urlencode({"query": query}), headers)
        answer = self._connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body[:500]
        return json.loads(body)["results"]["bindings"]

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


@dataclass(slots=True)
class Times:
    """Seconds at one hub, by round: the tool, the direct one-hop query, and both direct queries (with mediators)."""

    place: Place
    rows: int
    tool: list[float] = field(default_factory=list[float])
    one_hop: list[float] = field(default_factory=list[float])
    both: list[float] = field(default_factory=list[float])
    relations: int = 0
    """Number of relations listed; 0 if the hub has only one, whose rows are shown instead."""

    @property
    def ratio(self) -> float:
        """Median time of the tool, divided by that of the direct queries for the same relations."""
        return median(self.tool) / median(self.both)


def largest(endpoint: str, number: int) -> list[tuple[Place, int]]:
    """The entities with most rows in a direction, with the numbers of rows. Takes seconds on a large graph."""
    found: list[tuple[Place, int]] = []
    with closing(Endpoint(endpoint)) as store:
        for direction, query in _LARGEST.items():
            for row in store.rows(query.replace("$beginning", f"{NAMESPACE}m.").replace("$number", str(number))):
                entity = str(row["hub"]["value"]).removeprefix(NAMESPACE)
                found.append((Place(entity, direction), int(row["n"]["value"])))
    return sorted(found, key=lambda hub: -hub[1])[:number]


@dataclass(frozen=True, slots=True)
class Once:
    """One round at one hub: seconds of the tool, of the one-hop query and of both queries, and the relations listed."""

    tool: float
    one_hop: float
    both: float
    relations: int


def _round(endpoint: str, places: Sequence[Place], others: Sequence[Place], n: int) -> list[Once]:
    """Measure the tool and the bare queries at each hub; which comes first alternates with the rounds.

    A server may cache counts, so that a hub is faster the second time. Therefore each round has a new server, which
    has answered at other hubs before.
    """
    with closing(Endpoint(endpoint)) as store, BareClient(endpoint_command(endpoint)) as client:
        for place in others:
            client.call("search", asdict(place))
        return [_once(store, client, place, tool_first=n % 2 == 0) for place in places]


def _once(store: Endpoint, client: BareClient, place: Place, *, tool_first: bool) -> Once:
    if tool_first:
        tool, relations = _search(client, place)
        one_hop, both = _count(store, place)
    else:
        one_hop, both = _count(store, place)
        tool, relations = _search(client, place)
    return Once(tool, one_hop, both, relations)


def _search(client: BareClient, place: Place) -> tuple[float, int]:
    """The seconds of the tool, and the number of relations listed."""
    start = perf_counter()
    answer = client.call("search", asdict(place))
    return perf_counter() - start, len(parse(answer).column("rows"))


def _count(store: Endpoint, place: Place) -> tuple[float, float]:
    """The seconds of the one-hop query, and of both."""
    iri = f"<{NAMESPACE}{urllib.parse.quote(place.entity)}>"
    one, two = (query.replace("$hub", iri).replace("$name", f"<{NAMESPACE}{NAME}>") for query in _BARE[place.direction])
    start = perf_counter()
    store.rows(one)
    listed = perf_counter()
    store.rows(two)
    return listed - start, perf_counter() - start


def run(record: Run, endpoint: str, hubs: int, rounds: int) -> str:
    """Measure the largest hubs. Returns the report."""
    with record.items("largest hubs", list[tuple[Place, int]], 1) as items:
        found = items.value(str(2 * hubs), lambda: largest(endpoint, 2 * hubs))
    places, others = ([place for place, _ in some] for some in (found[:hubs], found[hubs:]))

    def ready() -> AbstractContextManager[Sequence[Callable[[int], list[Once]]]]:
        return nullcontext([partial(_round, endpoint, places, others)])

    by_round = record.measured("rounds", list[Once], {str(n): n for n in range(rounds)}, ready)
    everything = [
        Times(
            *hub,
            [each.tool for each in taken],
            [each.one_hop for each in taken],
            [each.both for each in taken],
            taken[-1].relations,
        )
        for hub, taken in zip(found[:hubs], zip(*by_round, strict=True), strict=True)
    ]
    measured = [times for times in everything if times.relations]
    rows = [
        (
            f"{times.place.entity} {times.place.direction}",
            f"{times.rows:,}",
            f"{times.relations:,}",
            *(report.milliseconds(median(side)) for side in (times.tool, times.one_hop, times.both)),
            f"{times.ratio:.2f}",
        )
        for times in measured
    ]
    columns = ("hub", "rows", "relations", "search", "bare query, one hop", "and through mediators", "ratio")
    return "\n".join(
        (
            f"{rounds} rounds, each with a new server; medians in ms",
            "",
            report.table(columns, rows),
            "",
            *_verdict(f"fewer than {LARGE:,} rows", [times for times in measured if times.rows < LARGE], AT_MOST),
            *_verdict(f"{LARGE:,} rows and more", [times for times in measured if times.rows >= LARGE], AT_MOST_LARGE),
        )
    )


def _verdict(size: str, hubs: Sequence[Times], at_most: float) -> list[str]:
    """The verdict on the hubs of one size together; empty if there are none."""
    if not hubs:
        return []
    ratio = sum(median(hub.tool) for hub in hubs) / sum(median(hub.both) for hub in hubs)
    said = f"hubs of {size}: {ratio:.2f} times as long as listing and counting the same relations bare"
    return [report.verdict(ratio <= at_most, f"{said} (at most {at_most:g})")]
