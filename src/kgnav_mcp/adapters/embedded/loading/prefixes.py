"""Chooses the prefixes of a graph file: declared ones, well-known ones, and coined ones for other namespaces."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from itertools import count

from kgnav_mcp.adapters.embedded.loading import queries
from kgnav_mcp.adapters.ids.prefixes import Prefixes, namespace
from kgnav_mcp.adapters.wellknown import OBO, PREFIXES

SAMPLE = 20_000
"""Nodes sampled at even distances to count namespaces, because reading every id of a large graph takes seconds."""

LEAST_USES = 20
LEAST_SHARE = 1000
"""A namespace gets a coined prefix if it has LEAST_USES uses, and at least one in LEAST_SHARE of all uses."""

LENGTHS = range(16, 500)
"""Lengths of namespaces that get a coined prefix. For shorter ones, a prefix and its explanation save nothing."""

MOST_COINED = 50

_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s]+[/#]\S*")


def known_prefixes(declared: Mapping[str, str]) -> dict[str, str]:
    """Returns declared prefixes, then well-known ones."""
    return {**declared, **{prefix: iri for prefix, iri in PREFIXES.items() if prefix not in declared}}


def choose(connection: sqlite3.Connection, declared: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """Returns all prefixes of a graph whose nodes and relations are written, and the names of the coined ones."""
    chosen = known_prefixes(declared)
    uses = _count_uses(connection, Prefixes(chosen))
    least_uses = max(LEAST_USES, uses.total() // LEAST_SHARE)
    common = sorted((-uses[iri], iri) for iri in uses if uses[iri] >= least_uses and _worthwhile(iri))
    new_prefixes = (name for name in map("ns{}".format, count(1)) if name not in chosen)
    coined = dict(zip(new_prefixes, (iri for _, iri in common[:MOST_COINED]), strict=False))
    return chosen | coined, list(coined)


def has_two_readings(connection: sqlite3.Connection, chosen: Mapping[str, str]) -> bool:
    """Returns whether some id is also the short form of another, as `PMID:1` is that of `obo/PMID_1`."""
    used = {
        prefix: iri for prefix, iri in chosen.items() if connection.execute(queries.HAS_NAMESPACE, (iri,)).fetchone()[0]
    }
    if not used:
        return False
    connection.execute(queries.SHORT_FORMS)
    connection.executemany(queries.ADD_SHORT_FORMS, used.items())
    (found,) = connection.execute(queries.HAS_TWO_READINGS, {"obo": OBO}).fetchone()
    return bool(found)


def _worthwhile(iri: str) -> bool:
    return len(iri) in LENGTHS and _NAMESPACE.fullmatch(iri) is not None


def _count_uses(connection: sqlite3.Connection, known: Prefixes) -> Counter[str]:
    """Estimates the uses of each namespace: one for each node, and one per triple for relations and hubs.

    Ids with a known prefix count under the empty text, so that they are part of the total.
    """
    uses = Counter[str]()
    (last,) = connection.execute(queries.LAST_NODE).fetchone()
    step = -(-last // SAMPLE) or 1
    sampled = json.dumps(list(range(1, last + 1, step)))
    for (key,) in connection.execute(queries.KEYS_OF_NODES, (sampled,)):
        uses[_unprefixed_namespace(key, known)] += step
    for statement in (queries.USES_OF_RELATIONS, queries.USES_OF_HUBS):
        for key, triples in connection.execute(statement):
            uses[_unprefixed_namespace(key, known)] += triples
    return uses


def _unprefixed_namespace(key: str, known: Prefixes) -> str:
    """Returns the namespace of an id; empty if it has a known prefix."""
    return namespace(key) if known.short(key) == key else ""
