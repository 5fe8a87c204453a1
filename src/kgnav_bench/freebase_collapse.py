"""A hub of a live Freebase, collapsed by `search`, beside the bare queries that list and count its relations."""

from __future__ import annotations

import http.client
import json
import urllib.parse
from contextlib import closing
from dataclasses import asdict, dataclass, field
from statistics import median
from time import perf_counter
from typing import Any

from kgnav_bench import report
from kgnav_bench.client import BareClient
from kgnav_bench.freebase import NAME, NAMESPACE
from kgnav_bench.freebase_reach import endpoint_command
from kgnav_bench.hub import Place
from kgnav_bench.tables import parse

__all__ = ["Place", "Times", "measure", "run"]

AT_MOST = 1.2
"""How many times as long as the bare queries the collapse may take."""

_WARM_UP = 5

_OUTGOING = "SELECT ?p (COUNT(*) AS ?n) {$hub ?p ?far} GROUP BY ?p"
"""Reads the hub's triples once."""

_INCOMING = "SELECT ?p (COUNT(*) AS ?n) {?far ?p $hub} GROUP BY ?p"
"""Reads the triples that point at the hub once."""

_OUTGOING_THROUGH = """
SELECT ?p ?q (COUNT(*) AS ?n) {$hub ?p ?m . ?m ?q ?far . FILTER NOT EXISTS {?m $name ?any}} GROUP BY ?p ?q
"""
"""Reads the hub's triples, and those of each neighbour without a name."""

_INCOMING_THROUGH = """
SELECT ?p ?q (COUNT(*) AS ?n) {?far ?p ?m . ?m ?q $hub . FILTER NOT EXISTS {?m $name ?any}} GROUP BY ?p ?q
"""
"""Reads the triples that point at the hub, and those that point at each such neighbour without a name."""

_BARE = {"outgoing": (_OUTGOING, _OUTGOING_THROUGH), "incoming": (_INCOMING, _INCOMING_THROUGH)}


class Endpoint:
    """A SPARQL endpoint asked over one connection that is kept, with nothing done to its answers but read them."""

    def __init__(self, url: str) -> None:
        parts = urllib.parse.urlsplit(url)
        secure = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = secure(parts.netloc, timeout=60)
        self._path = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))

    def rows(self, query: str) -> list[dict[str, Any]]:
        """The bindings of a query's answer."""
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
        """Give the connection back."""
        self._connection.close()


@dataclass(slots=True)
class Times:
    """Seconds of each round: the tool, the bare query of one hop, and that with the one through mediators."""

    tool: list[float] = field(default_factory=list[float])
    one_hop: list[float] = field(default_factory=list[float])
    both: list[float] = field(default_factory=list[float])
    relations: int = 0
    rows: int = 0

    @property
    def ratio(self) -> float:
        """The collapse over the bare queries that list and count the same relations, medians."""
        return median(self.tool) / median(self.both)


def measure(endpoint: str, place: Place, rounds: int) -> Times:
    """Ask in turn: the tool, then the bare queries, over connections that are kept."""
    iri = f"<{NAMESPACE}{urllib.parse.quote(place.entity)}>"
    one, two = (query.replace("$hub", iri).replace("$name", f"<{NAMESPACE}{NAME}>") for query in _BARE[place.direction])
    times, answer, hops = Times(), "", list[dict[str, Any]]()
    with closing(Endpoint(endpoint)) as store, BareClient(endpoint_command(endpoint)) as client:
        for n in range(-_WARM_UP, rounds):
            start = perf_counter()
            answer = client.call("search", asdict(place))
            searched = perf_counter()
            hops = store.rows(one)
            listed = perf_counter()
            store.rows(two)
            through = perf_counter()
            if n >= 0:
                times.tool.append(searched - start)
                times.one_hop.append(listed - searched)
                times.both.append(through - searched)
    times.relations, times.rows = parse(answer).total, sum(int(hop["n"]["value"]) for hop in hops)
    return times


def run(endpoint: str, place: Place, rounds: int) -> str:
    """The report."""
    times = measure(endpoint, place, rounds)
    taken = (
        (f"search on {place.entity}, {place.direction}: {times.relations:,} relations", times.tool),
        (f"bare query of its {times.rows:,} rows, one hop", times.one_hop),
        ("bare queries, one hop and through mediators", times.both),
    )
    return "\n".join(
        (
            f"{rounds} rounds, ms",
            "",
            report.table(("what", "median", "p95"), [(name, *report.timing(seconds)) for name, seconds in taken]),
            "",
            f"{median(times.tool) / median(times.one_hop):.2f} times the bare query of one hop.",
            report.verdict(
                times.ratio <= AT_MOST,
                f"the collapse takes {times.ratio:.2f} times as long as listing and counting the same relations bare "
                f"(at most {AT_MOST:g})",
            ),
        )
    )
