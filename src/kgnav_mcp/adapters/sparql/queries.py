"""The queries for names and for finding by name that stores share, with what they cost.

`?s` is an entity that is asked about, `?p` the relation that gives it a text, `?o` that text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kgnav_mcp.model import Direction

UNION: Final = "SELECT * WHERE { $branches }"
"""Costs what its branches do."""
SIGN: Final = "SELECT (1 AS ?n) WHERE {}"
"""Costs nothing: any answer is a sign that the store still gives some."""
EXISTING: Final = "SELECT ?s WHERE { VALUES ?s { $ids } FILTER(EXISTS { ?s ?p ?o } || EXISTS { ?x ?q ?s }) }"
"""Costs two look-ups for each entity."""
DEGREES: Final = {
    Direction.OUTGOING: "SELECT ?s (COUNT(*) AS ?n) WHERE { VALUES ?s { $ids } ?s ?p ?o } GROUP BY ?s",
    Direction.INCOMING: "SELECT ?s (COUNT(*) AS ?n) WHERE { VALUES ?s { $ids } ?o ?p ?s } GROUP BY ?s",
}
"""Costs 0.1 us for each edge of the entities on Virtuoso, 0.6 us on Oxigraph."""
SCAN: Final = "{ ?s $p ?o BIND($p AS ?p) FILTER($condition) }"
"""Costs 0.4 us for each text of the relation on Oxigraph, 1.3 us on Virtuoso, and as much for each further word."""
AT_MOST: Final = " LIMIT $most"
SAME_LETTERS: Final = "LCASE(STR(?o)) = $text"
HAS_WORD: Final = "CONTAINS(LCASE(STR(?o)), $word)"
MATCHING: Final = "SELECT ?s ?p ?o WHERE { VALUES ?p { $kinds } ?s ?p ?o . ?o bif:contains $words } LIMIT $most"
"""Costs a look-up in Virtuoso's full-text index, and 2 us for each hit."""
SOME_NAMES: Final = "SELECT ?o WHERE { ?s $name ?o } LIMIT 50"
"""Costs 50 rows."""
INDEX_HAS: Final = "SELECT ?o WHERE { ?s $name ?o . ?o bif:contains $words } LIMIT 1"
"""Costs a look-up in Virtuoso's full-text index."""


def of_each(branch: str, relations: Iterable[str], bound: str = "") -> str:
    """A query with a branch for each of some relations, whose placeholders stand where `$p` does."""
    branches = " UNION ".join(branch.replace("$p ", f"${relation} ") for relation in relations)
    return f"SELECT * WHERE {{ {branches} }}{bound}"
