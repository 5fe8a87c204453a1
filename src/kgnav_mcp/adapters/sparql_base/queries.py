"""The queries for names, lists and the schema that all SPARQL stores share, with their costs.

`?s` is the entity, `?p` the relation that gives it a text, `?o` that text.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from kgnav_mcp.model import Direction

UNION: Final = "SELECT * WHERE { $branches }"
"""Costs the sum of its branches."""
PING: Final = "SELECT (1 AS ?n) WHERE {}"
"""Costs nothing. Any answer shows that the store responds."""
BLAZEGRAPH_PROBE: Final = (
    "SELECT (1 AS ?n) WHERE "
    '{ <http://www.bigdata.com/queryHints#Query> <http://www.bigdata.com/queryHints#optimizer> "Static" }'
)
"""Costs a look-up. Blazegraph takes this triple for a query hint and returns a row; others have no such triple."""
BLAZEGRAPH_QUERY_ID: Final = (
    "<http://www.bigdata.com/queryHints#Query> <http://www.bigdata.com/queryHints#queryId> $id . "
)
"""Costs nothing. Names the query, so that it can be cancelled."""
EXISTING: Final = "SELECT ?s WHERE { VALUES ?s { $ids } FILTER(EXISTS { ?s ?p ?o } || EXISTS { ?x ?q ?s }) }"
"""Costs two look-ups for each entity."""
USED: Final = "{ SELECT ($p AS ?p) WHERE { ?s $p ?o } LIMIT 1 }"
"""Costs a look-up."""
WITH_TEXT: Final = "{ SELECT$distinct ?s ?p ($text AS ?o) WHERE { ?s ?p $text FILTER(isIRI(?s)) } LIMIT $most }"
"""Costs a look-up of the text, and a row for each triple with it."""
DEGREES: Final = {
    Direction.OUTGOING: "SELECT ?s (COUNT(*) AS ?n) WHERE {$each_once VALUES ?s { $ids } ?s ?p ?o $end_once} "
    "GROUP BY ?s",
    Direction.INCOMING: "SELECT ?s (COUNT(*) AS ?n) WHERE {$each_once VALUES ?s { $ids } ?o ?p ?s $end_once} "
    "GROUP BY ?s",
}
"""Costs 0.1 us per edge of the entities on Virtuoso, 0.6 us on Oxigraph."""
DEGREE_OF: Final = "{ SELECT ($s AS ?s) (COUNT(*) AS ?n) WHERE { { $s ?p ?o } UNION { ?o ?p $s } } }"
"""Costs as much as DEGREES for one entity."""
SCAN: Final = "{ ?s $p ?o BIND($p AS ?p) FILTER($condition) }"
"""Costs 0.4 us per text of the relation on Oxigraph, 1.3 us on Virtuoso, and as much again per further word."""
AT_MOST: Final = " LIMIT $most"
SAME_LETTERS: Final = "LCASE(STR(?o)) IN ($texts)"
HAS_WORD: Final = "CONTAINS(LCASE(STR(?o)), $word)"
MATCHING: Final = "SELECT ?s ?p ?o WHERE { VALUES ?p { $kinds } ?s ?p ?o . ?o bif:contains $words } LIMIT $most"
"""Costs a look-up in Virtuoso's full-text index, and 2 us per hit."""
SOME_NAMES: Final = "SELECT ?o WHERE { ?s $named ?o } LIMIT 50"
"""Costs 50 rows."""
INDEX_HAS: Final = "SELECT ?o WHERE { ?s $named ?o . ?o bif:contains $words } LIMIT 1"
"""Costs a look-up in Virtuoso's full-text index."""

SORTED: Final = "SELECT * WHERE { { $query } FILTER(!isBlank($node)) $beyond } ORDER BY STR($node) LIMIT $most"
"""Costs $query, and the sorting of its rows: 30 us each on Blazegraph."""
BEYOND: Final = "FILTER(STR($node) >= $text)"

AMONG: Final = "VALUES $variable { $terms }"

# Filters on the far ends of rows

ROWS_THAT_MEET: Final = "{ SELECT DISTINCT ($number AS ?number) $row WHERE { $by $condition } LIMIT $most }"
"""Costs the conditions on the far end, for each row that $by binds."""
OF_ONE_TYPE: Final = "$node $typing ?kind FILTER(?kind IN ($types))"
"""Costs a look-up for each type of each far end."""
CALLED: Final = "OPTIONAL { $node $naming ?called } FILTER($every)"
IN_NAME: Final = "CONTAINS(LCASE(STR(COALESCE(?called, $node))), $word)"
"""Costs a look-up for each name of each far end. A node without a name is matched by its id."""

# The graph

SIZE: Final = "SELECT (COUNT(*) AS ?n) WHERE { { SELECT ?s WHERE { ?s ?p ?o } LIMIT $most } }"
"""Costs 13 ns per triple counted on Virtuoso, 0.2 us on Oxigraph."""

# Nodes

NODES: Final = "SELECT DISTINCT ?s WHERE { $conditions } OFFSET $skip LIMIT $most"
"""Costs 1 us per node skipped or read."""
SEVERAL_VALUES: Final = "SELECT ?s WHERE { ?s $relation ?a . ?s $relation ?b FILTER(!sameTerm(?a, ?b)) } LIMIT 1"
"""Costs one look-up for each value until a node with several is found: all, if every node has one value."""
ONE_VALUE_EACH: Final = "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?t) WHERE { ?s $relation ?a }"
"""Costs 1 us per value on Virtuoso."""
NODE_COUNT: Final = "SELECT (COUNT(DISTINCT ?s) AS ?n) WHERE { $conditions }"
"""Costs 1 us per node counted."""

EQUAL_TEXT: Final = "STR($value) = $text"
EQUAL_TRUTH: Final = "DATATYPE($value) = <http://www.w3.org/2001/XMLSchema#boolean> && $value = $truth"
DOUBLE: Final = "(<http://www.w3.org/2001/XMLSchema#double>(STR(?value)) + 0e0)"
"""The number of a literal. For stores in Java, -0.0 is less than 0; the sum of both is 0."""
NOT_NAN: Final = '!REGEX(STR(?value), "nan", "i")'
"""For Virtuoso, where NaN equals every number."""
EQUAL_DOUBLE: Final = f"DATATYPE($value) IN ($numbers) && {DOUBLE} = $number && {NOT_NAN}".replace("?value", "$value")
EQUAL_NUMBER: Final = "DATATYPE($value) IN ($numbers) && $value = $number"
EQUAL_DIGITS: Final = "DATATYPE($value) IN ($numbers) && STR($value) IN ($texts)"
UNUSUAL_NUMBERS: Final = (
    "SELECT DISTINCT ?v WHERE { ?s $relation ?v FILTER(DATATYPE(?v) IN ($numbers) && ($unusual)) } LIMIT $most"
)
"""Costs 1 us per value of the relation."""
NOT_NUMERIC: Final = "!isNumeric($value)"
"""Oxigraph and Virtuoso hold a number of any spelling by its value; a malformed or very long one is kept as a text."""
NOT_NUMERIC_OR_ROUNDED: Final = (
    "!isNumeric($value) || (DATATYPE($value) NOT IN (<http://www.w3.org/2001/XMLSchema#double>, "
    "<http://www.w3.org/2001/XMLSchema#float>) && $value != <http://www.w3.org/2001/XMLSchema#decimal>(STR($value)))"
)
"""A decimal of Virtuoso has more digits than it shows."""
EQUAL_DATE: Final = "DATATYPE($value) IN ($dates) && REGEX(STR($value), $form)"
IN_PERIOD: Final = (
    'REGEX(STR($value), "T.*[+-][0-9:]+$") && !REGEX(STR($value), "00:?00$") && $value >= $first && $value < $after'
)
"""Keeps times with a zone other than UTC whose moment is in a period. Conditions on a value cost up to 2 us for each.
"""

# The schema; `$typed` is the relation from a node to its type

RELATION_COUNTS: Final = (
    "SELECT ?p ?l (COUNT(*) AS ?n) WHERE {$each_once ?s ?p ?o BIND(isLiteral(?o) AS ?l) $end_once} GROUP BY ?p ?l"
)
"""Costs 60 ns per triple of the graph on Virtuoso, 2 us on Oxigraph."""
DATATYPES: Final = (
    "{ SELECT ($number AS ?number) ?d (COUNT(*) AS ?n) WHERE { "
    "{ SELECT ?o WHERE { ?s $p ?o FILTER(isLiteral(?o)) } LIMIT $sample } "
    'BIND(IF(LANG(?o) = "", DATATYPE(?o), <http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>) AS ?d) } '
    "GROUP BY ?d }"
)
"""Costs $sample rows. Virtuoso 7.2 has no datatype for a text with a language."""
END_TYPES: Final = {
    Direction.OUTGOING: "{ SELECT ($number AS ?number) ?t (COUNT(*) AS ?n) WHERE { "
    "{ SELECT ?x WHERE { ?x $p ?y FILTER(!isLiteral(?y)) } LIMIT $sample } "
    "?x $typed ?t FILTER(isIRI(?t)) } GROUP BY ?t }",
    Direction.INCOMING: "{ SELECT ($number AS ?number) ?t (COUNT(*) AS ?n) WHERE { "
    "{ SELECT ?x WHERE { ?y $p ?x FILTER(!isLiteral(?x)) } LIMIT $sample } "
    "?x $typed ?t FILTER(isIRI(?t)) } GROUP BY ?t }",
}
"""Costs the types of $sample nodes."""
PROPERTIES_OF_TYPE: Final = (
    "{ SELECT ($number AS ?number) ?p (COUNT(*) AS ?n) WHERE { "
    "{ SELECT ?p WHERE { { SELECT ?s WHERE { ?s $typed $t } LIMIT $sample } ?s ?p ?o FILTER(isLiteral(?o)) } "
    "LIMIT $most } } GROUP BY ?p }"
)
"""Costs the outgoing triples of $sample nodes, until $most of them are values."""
JOINED_TYPES: Final = (
    "{ SELECT ($number AS ?number) ?h ?t (COUNT(*) AS ?n) WHERE {$each_once "
    "{ SELECT$distinct ?x ?y WHERE { ?x $p ?y FILTER(!isLiteral(?y)) } LIMIT $sample } "
    "?x $typed ?h . ?y $typed ?t FILTER(isIRI(?h) && isIRI(?t)) $end_once} GROUP BY ?h ?t }"
)
"""Costs the types of both ends of $sample triples."""
AT_TYPE: Final = {
    Direction.OUTGOING: "SELECT ?p ?l (COUNT(*) AS ?n) WHERE {$each_once "
    "{ SELECT$distinct ?s WHERE { ?s $typed $t } LIMIT $sample } "
    "?s ?p ?o BIND(isLiteral(?o) AS ?l) $end_once} GROUP BY ?p ?l",
    Direction.INCOMING: "SELECT ?p (COUNT(*) AS ?n) WHERE { { SELECT ?s WHERE { ?s $typed $t } LIMIT $sample } "
    "?o ?p ?s } GROUP BY ?p",
}
"""Costs the edges of $sample nodes."""


def of_each(branch: str, relations: Iterable[str], bound: str = "") -> str:
    """Build a query with one branch per relation; `relations` are placeholder names that replace `$p` in `branch`."""
    branches = " UNION ".join(branch.replace("$p ", f"${relation} ") for relation in relations)
    return f"SELECT * WHERE {{ {branches} }}{bound}"
