"""Every query this adapter asks, with what it costs.

Values are parameters. Labels, types and keys cannot be: `cypher` puts them in, from the catalogue alone and quoted.
Results come as few rows of nested lists: the driver's own cost goes with the number of rows.
"""

from __future__ import annotations

from kgnav_mcp.model import Direction

WRITE = "CREATE ()"
"""One write, for a transaction that is never committed."""

DATABASE = "CALL db.info() YIELD id, name RETURN name, id"
"""Nothing."""

CATALOGUE = """
RETURN COLLECT { CALL db.labels() YIELD label RETURN label } AS labels,
       COLLECT { CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type } AS types,
       COLLECT { CALL db.propertyKeys() YIELD propertyKey AS key RETURN key } AS keys
"""
"""Reads the names of all labels, types and keys."""

CONSTRAINTS = """
SHOW CONSTRAINTS YIELD type, entityType, labelsOrTypes, properties
WHERE entityType = 'NODE' AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY']
RETURN labelsOrTypes, properties
"""
"""Reads the catalogue."""

INDEXES = """
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state
WHERE entityType = 'NODE' AND state = 'ONLINE' AND type IN ['RANGE', 'FULLTEXT']
RETURN name, type, labelsOrTypes, properties
"""
"""Reads the catalogue."""

FUNCTIONS = "SHOW FUNCTIONS YIELD name WHERE name IN $names RETURN collect(name)"
"""Reads the catalogue."""

COUNTS = "RETURN [{counts}]"
"""One look at the count store for each item."""

COUNT_OF_LABEL = "COUNT { (:{label}) }"
COUNT_OF_TYPE = "COUNT { ()-[:{type}]->() }"
COUNT_OF_NODES = "COUNT { () }"
COUNT_OF_EDGES = "COUNT { ()-->() }"
COUNTS_AT_LABEL = "COUNT { (:{label})-[:{type}]->() } + COUNT { ()-[:{type}]->(:{label}) }"

LABEL_KEYS = "COLLECT { MATCH (n:{label}) WITH n LIMIT $most UNWIND keys(n) AS key RETURN DISTINCT key }"
"""As many nodes of a label as are asked for."""

BY_KEY = "MATCH (n:{label}) WHERE n.{key} IN $values"
"""One seek for each value in the index of a unique constraint; a scan of the label for a key that has none."""

BY_ELEMENT = "MATCH (n) WHERE elementId(n) IN $values"
"""One seek for each."""

CELL = "[elementId({n}), labels({n}), [key IN ${keys} | {n}[key]]]"
"""A node: its place in the store, its labels, and those of its properties that identify, name or describe nodes."""

OWN = """
[key IN keys(n) |
  CASE WHEN valueType(n[key]) STARTS WITH 'LIST<FLOAT'
       THEN CASE WHEN size(n[key]) >= $vector THEN [key, null, size(n[key])] ELSE [key, n[key], null] END
       ELSE [key, n[key], null] END]
"""
"""All properties of a node; of a vector only its length."""

NODES = "{seek} RETURN collect([{cell}])"
"""The seek."""

PROPERTIES = "{seek} RETURN collect([{cell}, {own}, 0, []])"
"""The seek and the nodes' properties."""

LOOK = """
{seek}
{sides}
RETURN collect([{cell}, {own}, {seen}])
"""
"""The seek and what its sides cost."""

SIDE = """
WITH *, {degree} AS {side}_degree
CALL (n, {side}_degree) {
  WITH n, {side}_degree AS degree WHERE degree <= $most
  MATCH (n){edge}(m)
  RETURN collect([type(r), properties(r), {far}]) AS {side}_edges
}
CALL (n, {side}_degree) {
  WITH n, {side}_degree AS degree WHERE degree > $most
  RETURN collect([{types}]) AS {side}_types
}
"""
"""The degree store; where it says no more than `$most`, that many edges and their far ends, else what TYPE costs."""

TYPE = "[{degree}, {ends}]"
"""The degree store, and a few edges of the type."""

SEEN = "[{side}_degree, {side}_edges, {side}_types]"

TALLY = """
{seek}
WITH n, {degree} AS degree
CALL (n, degree) {
  WITH n, degree WHERE degree <= $few
  MATCH (n){edge}(m)
  WITH type(r) AS type, count(*) AS size, collect(DISTINCT m)[..$examples] AS ends
  RETURN collect([type, size, [m IN ends | {far}]]) AS found
}
RETURN collect([{cell}, {own}, degree, found, CASE WHEN degree > $few THEN {degrees} ELSE [] END])
"""
"""The degree store for each node; of one with few edges all of them, of another the degree store by type."""

DEGREE = "COUNT { (n){edge}() }"
"""The degree store."""

GLANCE = """
{seek}
RETURN collect([{cell}, {own}, {outgoing}, {incoming}, COUNT { (n)-->() } + COUNT { (n)<--() }])
"""
"""The seek, the node's properties, and the degree store by type in both directions."""

APOC_DEGREES = "[type IN apoc.node.relationship.types(n) | [type, {function}(n, type)]]"
"""As many looks at the degree store as the node has types."""

APOC_NEEDED = frozenset({"apoc.node.relationship.types", "apoc.node.degree.in", "apoc.node.degree.out"})

APOC_FUNCTIONS = {Direction.OUTGOING: "apoc.node.degree.out", Direction.INCOMING: "apoc.node.degree.in"}

EXAMPLES = "MATCH (n) WHERE elementId(n) = $id RETURN [{collections}]"
"""A few edges of each type."""

EXAMPLES_OF_TYPE = """
COLLECT { MATCH (n){edge}(m) WITH m LIMIT $looked_at WITH DISTINCT m LIMIT $examples RETURN {far} }
"""

ROWS = """
UNWIND range(0, size($ids) - 1) AS place
MATCH (n) WHERE elementId(n) = $ids[place]
MATCH (n){edge}(m)
RETURN place, collect([type(r), properties(r), {far}])
"""
"""All edges of some nodes, or those of some types, with their far ends."""

SLICE = """
MATCH (n) WHERE elementId(n) = $id
MATCH (n){edge}(m)
WITH r, m SKIP $skip LIMIT $take
RETURN collect([type(r), properties(r), {far}])
"""
"""The edges of one type up to the last one wanted: 0.2 microseconds for each that is skipped."""

DEGREE_OF = """
COUNT { (n)-->() } + COUNT { (n)<--() } + reduce(
  size = 0, key IN keys(n) | size + CASE WHEN valueType(n[key]) STARTS WITH 'LIST' THEN size(n[key]) ELSE 1 END)
"""
NODES_WITH_DEGREE = "{seek} RETURN collect([{cell}, {degree}])"
"""The seek, the degree store and the properties of each node."""

WITH_VALUE = """
any(key IN $keys WHERE n[key] IS NOT NULL AND any(
  value IN CASE WHEN valueType(n[key]) STARTS WITH 'LIST' THEN n[key] ELSE [n[key]] END
  WHERE value IN $values OR toStringOrNull(value) IN $texts))
"""
"""The properties of a node."""

WITH_INDEXED_VALUE = "n.{key} IN $values"
"""One seek in an index for each value."""

WITH_PROPERTY = "any(key IN $keys WHERE n[key] IS NOT NULL)"
"""The properties of a node."""

SELECTED = "MATCH (n{label}){condition} WITH n SKIP $skip LIMIT $limit RETURN collect({cell})"
"""A scan of the label up to the last node wanted, or a seek."""

SELECTED_COUNT = "MATCH (n{label}){condition} RETURN count(*)"
"""A scan of the whole label, a seek, or a look at the count store where there is no condition."""

VALUES_OF = """
MATCH {pattern}
UNWIND $keys AS key
WITH key, n[key] AS value WHERE value IS NOT NULL
UNWIND CASE WHEN NOT valueType(value) STARTS WITH 'LIST' THEN [value]
            WHEN valueType(value) STARTS WITH 'LIST<FLOAT' AND size(value) >= $vector THEN []
            ELSE value END AS item
WITH toStringOrNull(item) AS text, min([key, item]) AS first WHERE text IS NOT NULL
"""
BY_SIZE = "WITH text, first ORDER BY CASE WHEN text =~ $number THEN toFloat(text) END, text "
"""Numbers first, by their size: what is no number has none, and that comes last."""
VALUES = VALUES_OF + BY_SIZE + "SKIP $skip LIMIT $limit RETURN collect(first)"
"""A scan of a label or a type, and a place in memory for each distinct value."""

VALUES_COUNT = VALUES_OF + "RETURN count(*)"
"""As above."""

NODES_OF = "(n{label})"
EDGES_OF = "()-[n{label}]->()"

EDGE_WITH = """
OPTIONAL MATCH ()-[n]->() WHERE any(key IN $keys WHERE n[key] IS NOT NULL)
WITH n LIMIT 1 RETURN n IS NOT NULL
"""
"""A scan of all relationships up to the first that has one of the properties."""

FULL_TEXT = """
CALL db.index.fulltext.queryNodes($index, $words, {limit: $looked_at}) YIELD node AS n, score
WHERE $label IS NULL OR $label IN labels(n)
WITH n, score LIMIT $most
RETURN collect([{cell}, {degree}])
"""
"""A look-up of the words; misspelt ones cost the more the more words there are like them."""

SCAN = """
MATCH (n{label})
WITH n LIMIT $scanned
WITH n, reduce(texts = [], key IN $keys | texts + CASE WHEN valueType(n[key]) STARTS WITH 'STRING' THEN [n[key]]
       WHEN valueType(n[key]) STARTS WITH 'LIST<STRING' THEN n[key] ELSE [] END) AS texts
WITH n, reduce(best = 0, text IN texts | CASE WHEN text = $name THEN $exact + 1
       WHEN toLower(text) IN $names AND best < $exact THEN $exact ELSE
       CASE WHEN size([piece IN $pieces WHERE toLower(text) CONTAINS piece]) > best
            THEN size([piece IN $pieces WHERE toLower(text) CONTAINS piece]) ELSE best END END) AS hits
WHERE hits > 0
WITH n, hits ORDER BY hits DESC LIMIT $most
RETURN collect([{cell}, {degree}])
"""
"""A scan of the label up to the bound, comparing every name."""

CENSUS_NODES = """
CALL () { {nodes} }
UNWIND keys(n) AS key
WITH labels(n) AS labels, key, n[key] AS value, valueType(n[key]) AS type
WITH labels, key, type, CASE WHEN NOT type STARTS WITH 'LIST' THEN 1
                             WHEN type STARTS WITH 'LIST<FLOAT' AND size(value) >= $vector THEN 1
                             ELSE size(value) END AS size
RETURN labels, key, type, sum(size)
"""
"""All properties of the nodes read: so many of each label, or all."""

FIRST_NODES = "MATCH (n{label}) RETURN n LIMIT $most"

CENSUS_EDGES = """
COLLECT {
  MATCH (a)-[r:{type}]->(b) WITH a, r, b LIMIT $most
  WITH labels(a) AS heads, labels(b) AS tails, keys(r) AS keys, count(*) AS size
  RETURN [heads, tails, keys, size]
}
"""
"""So many edges of a type."""
