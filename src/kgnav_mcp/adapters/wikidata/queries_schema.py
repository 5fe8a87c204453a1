"""The queries for the schema of a Wikibase, each with its cost. `queries` explains the notation."""

from __future__ import annotations

from typing import Final

from kgnav_mcp.model import Direction

USES: Final = "SELECT ?p (COUNT(*) AS ?n) WHERE { $leaving } GROUP BY ?p"
"""Costs every statement of the graph, and a look-up of its rank."""
_BY_PROPERTY: Final = "SELECT ?p (COUNT(*) AS ?m) WHERE { ?property wikibase:claim ?p . ?s ?p ?st } GROUP BY ?p"
_LOWER_RANKS: Final = """SELECT ?p (0 - COUNT(DISTINCT ?st) AS ?m) WHERE {
  { ?st wikibase:rank wikibase:DeprecatedRank . ?s ?p ?st } UNION
  { ?best wikibase:rank wikibase:PreferredRank . ?s ?p ?best . ?s ?p ?st . ?st wikibase:rank wikibase:NormalRank }
} GROUP BY ?p"""
USES_OF_DEFINED: Final = {
    every_rank: f"SELECT ?p (SUM(?m) AS ?n) WHERE {{ {numbers} }} GROUP BY ?p HAVING (SUM(?m) > 0)"
    for every_rank, numbers in (
        (True, f"{{ {_BY_PROPERTY} }}"),
        (False, f"{{ {_BY_PROPERTY} }} UNION {{ {_LOWER_RANKS} }}"),
    )
}
"""Costs every statement of the graph: all are counted, then the few of lower ranks are subtracted."""
FIRST_VALUE: Final = (
    "{ SELECT ($number AS ?number) ?o WHERE { ?x $p ?o "
    "FILTER(!isBlank(?o) && !CONTAINS(STR(?o), '/.well-known/genid/')) } LIMIT 1 }"
)
"""Costs the unknown values of a property that come first, and one more."""
USE: Final = "SELECT (COUNT(*) AS ?n) WHERE { $claims }"
"""Costs the statements of one property."""
CLASSES: Final = "SELECT ?o (COUNT(*) AS ?n) WHERE { ?s $instance ?o } GROUP BY ?o"
"""Costs a row for each class of each entity."""
SOME_CLASSES: Final = (
    "SELECT ?o (COUNT(*) AS ?n) WHERE { { SELECT ?o WHERE { ?s $instance ?o } LIMIT $most } } GROUP BY ?o"
)
"""Costs $most rows."""
QUALIFIERS: Final = (
    "SELECT DISTINCT ?q WHERE { { SELECT ?st WHERE { $claims } LIMIT $most } ?st ?q ?o "
    "FILTER(STRSTARTS(STR(?q), $qualifier)) }"
)
"""Costs the triples of $most statements."""
_OF_CLASS: Final = "SELECT ?p (COUNT(*) AS ?n) WHERE { { SELECT ?s WHERE { ?s $instance $of_class } LIMIT $most } "
AT_CLASS: Final = {
    Direction.OUTGOING: f"{_OF_CLASS}$leaving }} GROUP BY ?p",
    Direction.INCOMING: f"{_OF_CLASS}$arriving }} GROUP BY ?p",
}
"""Costs the statements of $most entities."""
ROW_COUNT: Final = "SELECT (COUNT(*) AS ?n) WHERE { SELECT * WHERE { $every } LIMIT $most }"
"""Costs $most rows."""
