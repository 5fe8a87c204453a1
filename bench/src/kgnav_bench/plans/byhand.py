"""Runs hand-written queries: SQL on a graph file, Cypher by Neo4j's driver, SPARQL over a kept connection."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from string import Template
from typing import LiteralString, cast
from urllib.parse import parse_qs, urlencode, urlsplit

from neo4j import READ_ACCESS, GraphDatabase

from kgnav_bench.direct import opened
from kgnav_bench.plans.kinds import Kind, Places
from kgnav_bench.plans.rdf import NAMED, iri, rdf_literal

Rows = list[tuple[str, ...]]
ByHand = Callable[[Kind, Places], Rows]


@contextmanager
def hand_written_queries(location: str) -> Generator[ByHand]:
    """A function that runs a hand-written query on a graph file, `bolt://...`, or `sparql+http://...#graph=IRI`."""
    scheme = location.partition("://")[0] if "://" in location else ""
    ways = {"": _file, "bolt": _neo4j, "neo4j": _neo4j, "sparql+http": _endpoint}
    if scheme not in ways:
        raise ValueError(f"{location} is not a graph file or a URL of bolt, neo4j or sparql+http")
    with ways[scheme](location) as way:
        yield way


@contextmanager
def _file(path: str) -> Generator[ByHand]:
    with closing(opened(path)) as connection:

        def ask(kind: Kind, places: Places) -> Rows:
            values = {name: str(value) for name, value in places.values.items()}
            return _texts(connection.execute(kind.sql, {**places.names, **values}))

        yield ask


@contextmanager
def _neo4j(url: str) -> Generator[ByHand]:
    with (
        GraphDatabase.driver(url) as driver,  # pyright: ignore[reportUnknownMemberType] - the driver's own keywords
        driver.session(default_access_mode=READ_ACCESS) as session,  # pyright: ignore[reportUnknownMemberType]
    ):

        def ask(kind: Kind, places: Places) -> Rows:
            found = session.run(cast("LiteralString", places.cypher(kind)), dict(places.values))
            return _texts(tuple(record.values()) for record in found)

        yield ask


@contextmanager
def _endpoint(location: str) -> Generator[ByHand]:
    address = urlsplit(location.removeprefix("sparql+"))
    given = [("default-graph-uri", graph) for graph in parse_qs(address.fragment).get("graph", ())]
    headers = {"Accept": "application/sparql-results+json", "Content-Type": "application/x-www-form-urlencoded"}
    with closing(HTTPConnection(address.netloc)) as connection:

        def ask(kind: Kind, places: Places) -> Rows:
            terms = {name: iri(local) for name, local in places.names.items()}
            terms |= {name: rdf_literal(value) for name, value in places.values.items()}
            terms |= {"named": NAMED, "any": f"({'|'.join(map(iri, places.relations))})"}
            query = Template(kind.sparql).substitute(terms)
            connection.request("POST", address.path, urlencode([("query", query), *given]), headers)
            read = json.loads(connection.getresponse().read())
            names: list[str] = read["head"]["vars"]
            return [tuple(row[name]["value"] for name in names) for row in read["results"]["bindings"]]

        yield ask


def _texts(rows: sqlite3.Cursor | Iterator[tuple[object, ...]]) -> Rows:
    return [tuple(map(str, row)) for row in rows]
