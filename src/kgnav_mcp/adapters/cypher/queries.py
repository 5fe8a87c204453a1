"""All queries of the verbs, each with its cost.

Values are parameters. Labels, types and keys cannot be, so `builder` fills them in, quoted and only from the catalogue,
together with the words of the dialect. Results are few rows of nested lists, because a driver's cost grows with the
number of rows. But long results are split over several rows, because the event loop is blocked while a row is read.
"""

from __future__ import annotations

EXPRESSIONS = "RETURN [{expressions}]"
"""Costs what its expressions cost."""

LABEL_KEYS = "MATCH (n:{label}) WITH n LIMIT $most UNWIND {keys(n)} AS key RETURN DISTINCT key"
"""Reads `$most` nodes of a label."""

BY_KEY = "{variable}:{label} AND {variable}.{key} IN ${values}"
"""One look-up for each value in the index of a unique constraint; a scan of the label for a key that has none."""

BY_ID = "{id_of_variable} IN ${values}"
"""One look-up for each."""

PARTS = {
    "node": "[{node_id(n)}, {labels(n)}, [key IN $described | n[key]]]",
    "far": "[{node_id(m)}, {labels(m)}, [key IN $shown | m[key]]]",
    "own": """
[key IN {keys(n)} | CASE WHEN {is_number_list(n[key])} AND size(n[key]) >= $vector THEN [key, null, size(n[key])]
                       ELSE [key, n[key], null] END]
""",
}
"""Parts of queries. `node`: the store's own id, the labels, and the properties that identify, name or describe nodes;
`far`: the same of the far end of an edge; `own`: all properties of a node, but only the length of a vector."""

DEGREE_WITH_VALUES = """
{outgoing_degree} + {incoming_degree} + reduce(
  size = 0, key IN {keys(n)} | size + CASE WHEN {is_list(n[key])} THEN size(n[key]) ELSE 1 END)
"""
"""The number of rows at a node in both directions, including values."""

IN_SLICES = """
UNWIND range(0, size(rows) - 1, $slice) AS start
RETURN rows[start..start + $slice]
"""

LOOKUP = "MATCH (n) WHERE {condition}"
"""Costs an index look-up for each node where its key has an index, else a pass over its label."""
NODES = "{lookup} WITH collect([{node}]) AS rows" + IN_SLICES
"""Costs the look-up."""

NODES_WITH_DEGREE = "{lookup} WITH collect([{node}, {degree_with_values}]) AS rows" + IN_SLICES
"""Costs the look-up, the degree store and the properties of each node."""

WITH_VALUE = """
any(key IN $keys WHERE n[key] IN $values OR (NOT {is_text(n[key])} AND any(
  value IN CASE WHEN {is_list(n[key])} THEN n[key] ELSE [n[key]] END
  WHERE value IN $values OR {text(value)} IN $texts{in_period})))
"""
"""The properties of a node. Texts, which most values are, are only compared: that takes two thirds of the time."""

IN_PERIOD = (
    "(date($first_day) <= {x} AND {x} < date($day_after)) OR "
    "(localdatetime($first) <= {x} AND {x} < localdatetime($after)) OR "
    "(datetime($first + 'Z') <= {x} AND {x} < datetime($after + 'Z'))"
)
"""Null for values that are not dates. In an index, a look-up for each type of dates."""

INDEXED_VALUE = "{x} IN $values"
"""One look-up in an index for each value."""

INDEXED_TEXTS = "{x} >= ['']"
INDEXED_NUMBERS = "{x} >= $least_numbers"
INDEXED_BOOLEANS = "{x} >= [false]"
INDEXED_DATES = (
    "{x} >= [date('-999999999-01-01')] OR {x} >= [localdatetime('-999999999-01-01T00:00')] "
    "OR {x} >= [datetime('-999999999-01-01T00:00Z')]"
)
"""All lists of a type, which an index contains as a whole: one look-up in the index for each type, and each list."""

WITH_PROPERTY = "any(key IN $keys WHERE n[key] IS NOT NULL)"
"""The properties of a node."""

SELECTED = (
    """
MATCH (n{label}){condition} WITH n SKIP $skip LIMIT $limit WITH collect({node}) AS rows
"""
    + IN_SLICES
)
"""A scan of the label up to the last requested node, or a look-up."""

SELECTED_COUNT = "MATCH (n{label}){condition} RETURN count(*)"
"""A scan of the whole label, a look-up, or the store's statistics where there is no condition."""

VALUES_OF = """
MATCH {pattern}
UNWIND $keys AS key
WITH n, key, n[key] AS value WHERE value IS NOT NULL
UNWIND CASE WHEN NOT {is_list(value)} THEN [value]
            WHEN {is_number_list(value)} AND size(value) >= $vector THEN []
            ELSE value END AS item
WITH {text(item)} AS text, min([key, item]) AS first, count(DISTINCT n) AS number WHERE text IS NOT NULL
"""
BY_SIZE = "WITH text, first, number ORDER BY CASE WHEN text =~ $number THEN toFloat(text) END, text "
"""Numbers first, by size. Other texts have null as their number, which sorts last."""
VALUES = VALUES_OF + BY_SIZE + "SKIP $skip LIMIT $limit WITH collect([first, number]) AS rows" + IN_SLICES
"""A scan of a label or a type, and memory for each distinct value."""

VALUES_COUNT = VALUES_OF + "RETURN count(*)"
"""As VALUES."""

NODES_OF = "(n{label})"
EDGES_OF = "()-[n{label}]->()"

EDGE_WITH = """
OPTIONAL MATCH ()-[n]->() WHERE any(key IN $keys WHERE n[key] IS NOT NULL)
WITH n LIMIT 1 RETURN n IS NOT NULL
"""
"""A scan of all relationships up to the first that has one of the properties."""

FULL_TEXT = """
{full_text}
WITH collect(n) AS hits
{rows_of_hits}
RETURN size(hits), rows
"""
ROWS_OF_HITS = """
UNWIND [hit IN hits WHERE $label IS NULL OR $label IN {labels(hit)}][..$most] AS n
RETURN collect([{node}, {degree_with_values}]) AS rows
"""
"""A look-up of the words. Misspelt ones cost more, the more similar words there are."""

SCAN = """
MATCH (n{label})
WITH n LIMIT $scanned
WITH n, reduce(texts = [], key IN $keys | texts + CASE WHEN {is_text(n[key])} THEN [n[key]]
       WHEN {is_text_list(n[key])} THEN n[key] ELSE [] END) AS texts
WITH n, reduce(best = 0, text IN texts | CASE WHEN text = $name THEN $exact + 1
       WHEN toLower(text) IN $names AND best < $exact THEN $exact ELSE
       CASE WHEN size([piece IN $pieces WHERE toLower(text) CONTAINS piece]) > best
            THEN size([piece IN $pieces WHERE toLower(text) CONTAINS piece]) ELSE best END END) AS hits
WHERE hits > 0
WITH n, hits ORDER BY hits DESC LIMIT $most
RETURN collect([{node}, {degree_with_values}])
"""
"""A scan of the label up to the bound, comparing every name."""

SCAN_SAME = """
MATCH (n{label})
WITH n LIMIT $scanned
WHERE any(key IN $keys WHERE any(
  text IN CASE WHEN {is_text(n[key])} THEN [n[key]] WHEN {is_text_list(n[key])} THEN n[key] ELSE [] END
  WHERE text IN $names OR toLower(text) IN $folded))
WITH n LIMIT $most
RETURN collect([{node}, {degree_with_values}])
"""
"""A scan of the label up to the bound, whatever the number of names."""

ALL_NODES = "MATCH (n)"
"""A scan of the graph, up to the limit of the query that starts with it."""

NODES_BY_INDEX = "MATCH (n{label}) WHERE n.{key} IN $texts"
"""A look-up in the index of a property."""

NODES_WITH_TEXT = """
{nodes}
WITH n LIMIT $scanned
UNWIND {keys(n)} AS key
WITH n, key, [text IN $texts WHERE n[key] = text OR ({is_text_list(n[key])} AND text IN n[key])] AS texts
UNWIND texts AS text
WITH text, collect([n, key])[..$most] AS found
UNWIND found AS one
WITH text, one[1] AS key, one[0] AS n
RETURN collect([text, key, {node}])
"""
"""Costs the properties of the nodes."""

PROPERTIES_OF_NODES = """
{nodes}
UNWIND {keys(n)} AS key
WITH {labels(n)} AS labels, key, n[key] AS value, {value_type(n[key])} AS type
WITH labels, key, type, CASE WHEN NOT {is_list(value)} THEN 1
                             WHEN {is_number_list(value)} AND size(value) >= $vector THEN 1
                             ELSE size(value) END AS size
RETURN labels, key, type, sum(size)
"""
"""Costs all properties of the nodes read, which are a sample of each label, or all nodes."""

FIRST_NODES = "MATCH (n{label}) RETURN n LIMIT $most"

ENDS_OF_EDGES = """
MATCH (a)-[r:{type}]->(b) WITH a, r, b LIMIT $most
WITH {labels(a)} AS heads, {labels(b)} AS tails,
     [key IN {keys(r)} | [key, {value_type(r[key])}]] AS keys, count(*) AS size
RETURN [heads, tails, keys, size]
"""
"""Costs `$most` edges of a type."""

COUNTS = "{lookup} {sides} WITH collect([{node}, {values}, {side_items}]) AS rows" + IN_SLICES
"""Costs the look-up, and at each node what its sides cost."""

SIDE = "WITH *, {degree} AS {side}_degree {rows_of_few} {types_of_few}"
"""Costs a look-up in the degree store."""

ROWS_OF_FEW = """
WITH n, {side}_degree AS degree WHERE 0 < degree <= $rows
MATCH (n){edge}(m)
RETURN collect([{relationship_type(r)}, {properties(r)}, {far}]) AS {side}_edges
"""
"""The edges of a node that has no more than `$rows`."""

TYPES_OF_FEW = """
WITH n, {side}_degree AS degree WHERE $rows < degree <= $few
MATCH (n){edge}()
WITH {relationship_type(r)} AS type, count(*) AS size
RETURN collect([type, size]) AS {side}_types
"""
"""The edges of a node that has no more than `$few`, without their far ends."""

SIDE_ITEMS = """
[{side}_degree, {side}_edges,
 CASE WHEN {side}_degree > $rows AND {side}_degree > $few THEN {degrees} ELSE {side}_types END,
 CASE WHEN {side}_degree > $rows THEN [{examples}] ELSE [] END]
"""
"""The degree store by type, for other nodes, and examples for those that do not come with their edges."""

VALUE_COUNTS = """
[key IN {keys(n)} | CASE WHEN NOT {is_list(n[key])} THEN key
                       WHEN {is_number_list(n[key])} AND size(n[key]) >= $vector THEN key ELSE [key, size(n[key])] END]
"""
"""The properties of a node: a key alone has one value."""

OWN_VALUES = "MATCH (n) WHERE {node_id(n)} IN $ids WITH collect([{node_id(n)}, {own}]) AS rows" + IN_SLICES
"""The properties of some nodes."""

FAR_ENDS = "MATCH (n){edge}(m) WITH m LIMIT $edges WITH DISTINCT m LIMIT $examples RETURN {far}"
"""A few edges of a type: where the first `$edges` all lead to one node, there is one example."""

EXAMPLES = "MATCH (n) WHERE {node_id(n)} IN $ids RETURN {node_id(n)}, [{examples}]"
"""A few edges of each type at each node."""

ROWS = (
    """
MATCH (n) WHERE {node_id(n)} IN $ids
MATCH (n){edge}(m)
{slice}
WITH collect([{node_id(n)}, {relationship_type(r)}, {properties(r)}, {far}]) AS rows
"""
    + IN_SLICES
)
"""All edges of some nodes, or those of some types, with their far ends."""

MATCHING = (
    """
UNWIND range(0, size($ids) - 1) AS place
MATCH (n) WHERE {node_id(n)} = $ids[place]
MATCH (n){edge}(m)
WHERE ($labels IS NULL OR any(label IN {labels(m)} WHERE label IN $labels))
WITH place, n, r, m, reduce(text = '', key IN CASE WHEN size($words) = 0 THEN [] ELSE $shown END | text + ' ' + CASE
    WHEN m[key] IS NULL THEN ''
    WHEN {is_text_list(m[key])} THEN reduce(items = '', item IN m[key] | items + ' ' + item)
    ELSE coalesce({text(m[key])}, '') END) AS names
WITH place, n, r, m, {folded(names)} AS text
WHERE all(word IN $words WHERE text CONTAINS word)
WITH place, n, r, m ORDER BY place, {relationship_type(r)}, {node_id(r)} SKIP $skip LIMIT $take
WITH collect([{node_id(n)}, {relationship_type(r)}, {properties(r)}, {far}]) AS rows
"""
    + IN_SLICES
)
"""The edges of the nodes, and their far ends' labels and names. The store returns only the matching ones."""

SLICE = "WITH n, r, m SKIP $skip LIMIT $take"
"""Of the edges of one type at one node: 0.2 microseconds for each that is skipped."""

EDGES = (
    """
{lookup}
WITH n, {degree} AS degree
{found}
WITH n, collect([{relationship_type(r)}, {properties(r)}, {far}]) AS edges
WITH collect([{node}, size(edges), CASE WHEN size(edges) <= $most THEN edges ELSE [] END]) AS rows
"""
    + IN_SLICES
)
"""The look-up, the degree store, and the cost of the part."""

EDGES_TO_TAILS = """
WITH n, degree WHERE degree <= size($tails)
MATCH (n){edge}(m) WHERE {is_tail}
RETURN r, m
UNION
WITH n, degree WHERE degree > size($tails)
MATCH (m) WHERE {is_tail}
MATCH (n){edge}(m)
RETURN r, m
"""
"""As many edges of a head as it has, or look-ups as there are tails, whichever is less."""
