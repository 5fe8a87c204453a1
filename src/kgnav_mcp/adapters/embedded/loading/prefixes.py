"""The prefixes of a graph file: those that its sources declare, well-known ones, and coined ones for what is left."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from itertools import count

from kgnav_mcp.adapters.embedded.ids import Prefixes, namespace
from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.wellknown import PREFIXES

SAMPLE = 20_000
"""Nodes whose ids are sampled, evenly spaced: reading every id of a large graph takes seconds."""

LEAST_USES = 20
LEAST_SHARE = 1000
"""A namespace gets a prefix from so many uses on, and where it has at least one in so many of all uses."""

LENGTHS = range(16, 500)
"""Characters of a namespace: a shorter one costs an answer no more than its prefix and the line that explains it."""

MOST_COINED = 50

_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s]+[/#]\S*")


def known_prefixes(declared: Mapping[str, str]) -> dict[str, str]:
    """The prefixes that sources declare, then the well-known ones."""
    return {**declared, **{prefix: iri for prefix, iri in PREFIXES.items() if prefix not in declared}}


def choose(connection: sqlite3.Connection, declared: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """All prefixes of a graph whose nodes and relations are written, and which of them are coined."""
    chosen = known_prefixes(declared)
    uses = _uses(connection, Prefixes(chosen))
    floor = max(LEAST_USES, uses.total() // LEAST_SHARE)
    common = sorted((-uses[iri], iri) for iri in uses if uses[iri] >= floor and _worthwhile(iri))
    free = (name for name in map("ns{}".format, count(1)) if name not in chosen)
    coined = dict(zip(free, (iri for _, iri in common[:MOST_COINED]), strict=False))
    return chosen | coined, list(coined)


def _worthwhile(iri: str) -> bool:
    return len(iri) in LENGTHS and _NAMESPACE.fullmatch(iri) is not None


def _uses(connection: sqlite3.Connection, known: Prefixes) -> Counter[str]:
    """How often each namespace is used, about: once by each node, and by relations and hubs once in every triple.

    Ids that are printed with a known prefix count for no namespace, but for the total.
    """
    uses = Counter[str]()
    (last,) = connection.execute(queries.LAST_NODE).fetchone()
    step = -(-last // SAMPLE) or 1
    sampled = json.dumps(list(range(1, last + 1, step)))
    for (key,) in connection.execute(queries.KEYS_OF_NODES, (sampled,)):
        uses[_new(key, known)] += step
    for statement in (queries.USES_OF_RELATIONS, queries.USES_OF_HUBS):
        for key, triples in connection.execute(statement):
            uses[_new(key, known)] += triples
    return uses


def _new(key: str, known: Prefixes) -> str:
    """The namespace of an id if it has none among those known; else the empty one."""
    return namespace(key) if known.short(key) == key else ""
