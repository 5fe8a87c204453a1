"""Fragments of the query that a plan is compiled to. Names in braces are aliases and columns made by the compiler.

Values are parameters; relations and labels are numbers of the file. Joins are in the order of the compiler's loops.
"""

ROWS = "SELECT {columns} FROM {rows}"
PAGE = "SELECT {columns} FROM {rows} LIMIT {limit} OFFSET {skip}"
"""Cost as much as their rows. With an order, all rows are made before the first is returned."""

GIVEN = "SELECT {columns} FROM json_each({rows})"
"""Reads the list once."""

NUMBERED = "SELECT *, row_number() OVER (ORDER BY {order}) AS place FROM {table}"
"""Sorts all rows."""

OUTER = "SELECT *, row_number() OVER () AS place FROM {rows}"
UNMATCHED = "SELECT {columns} FROM {table} WHERE place NOT IN (SELECT place FROM {matched})"
"""For OPTIONAL MATCH: the numbered rows for which the pattern has no match."""

FIRST_BY_KEY = (
    "SELECT {rows}.* FROM {rows} "
    "CROSS JOIN (SELECT (SELECT {key} FROM {rows} ORDER BY {key}{order} LIMIT 1 OFFSET {place}) AS last) "
    "WHERE last IS NULL OR {rows}.{key} {comparison} last"
)
"""Reads the rows twice. Keeps only those that can be among the first rows in the order, judged by their first key."""

NUMBER = "(SELECT count(*) FROM {rows})"
"""Computes all rows."""

FIRST = "(SELECT count(*) FROM (SELECT 1 FROM {rows} LIMIT 1))"
ANY = "EXISTS (SELECT 1 FROM {rows})"
"""Stop at the first row."""

AMONG = "{value} IN (SELECT value FROM json_each({values}))"
"""Reads the list once, then one look-up in a set for each row."""

EQUAL = "{value} = {other}"
"""A tenth of the time that a list of one takes."""

BEGINNING = "substr(a.text, 1, 64)"

ALL_NODES = "(SELECT id AS node FROM node) AS {alias}"
"""Reads the table of nodes."""

NODES_OF_IDS = "(SELECT value AS node FROM json_each({numbers})) AS {alias}"
"""Does not read the file: the numbers are already known."""

NODES_OF_LABEL = "(SELECT node FROM node_label WHERE label = {label}) AS {alias}"
"""One seek, and an entry of an index for each node."""

NODES_OF_LABELS = (
    "(SELECT DISTINCT node FROM node_label WHERE label IN (SELECT value FROM json_each({labels}))) AS {alias}"
)
"""One seek for each label, and an entry of an index for each of its nodes."""

NODES_OF_VALUE = (
    "(SELECT DISTINCT node FROM attribute AS a WHERE a.p = {relation} AND {begins} AND ({test})) AS {alias}"
)
"""One seek for each beginning, and a row of the table for each value with that beginning."""

EDGES_OF_HUBS = (
    "SELECT coalesce(sum(d.n), 0) FROM {rows} CROSS JOIN degree AS d ON d.node = known.node AND d.direction = {side} "
    "WHERE {relations} = '[]' OR d.p IN (SELECT value FROM json_each({relations}))"
)
"""One seek for each node, and a row for each relation of those that are hubs."""

STORED_RELATIONS = (
    "SELECT id AS key, edges AS number FROM relation "
    "WHERE edges > 0 AND ({relations} = '[]' OR id IN (SELECT value FROM json_each({relations})))"
)
"""Reads the small table of relations."""

STORED_LABEL_SETS = "SELECT value ->> 0 AS key, value ->> 1 AS number FROM json_each({rows})"
"""Does not read the file: the sets are already known."""

STORED_DEGREES = (
    "SELECT d.node AS node, sum(d.n - CASE WHEN d.p IN (SELECT value FROM json_each({with_values})) "
    "THEN (SELECT count(*) FROM attribute AS a WHERE a.node = d.node AND a.p = d.p) ELSE 0 END) AS number "
    "FROM degree AS d WHERE d.direction = {direction} AND d.p IN (SELECT value FROM json_each({relations})) "
    "GROUP BY d.node HAVING number > {floor}"
)
"""Scans the degrees, a row for each relation of a hub, and the values of hubs with a relation that has edges, too."""

STORED_DEGREES_EITHER = (
    "SELECT h.node AS node, {outgoing} + {incoming} - (SELECT count(*) FROM edge "
    "WHERE edge.s = h.node AND edge.p IN (SELECT value FROM json_each({relations})) AND edge.o = h.node) AS number "
    "FROM (SELECT DISTINCT node FROM degree) AS h WHERE number > {floor}"
)
"""As STORED_DEGREES, for both directions. An edge from a node to itself counts once."""
DEGREE_OF_HUB = (
    "coalesce((SELECT sum(d.n - CASE WHEN d.p IN (SELECT value FROM json_each({with_values})) "
    "THEN (SELECT count(*) FROM attribute AS a WHERE a.node = d.node AND a.p = d.p) ELSE 0 END) "
    "FROM degree AS d WHERE d.node = h.node AND d.direction = {direction} "
    "AND d.p IN (SELECT value FROM json_each({relations}))), "
    "(SELECT count(*) FROM edge "
    "WHERE edge.{near} = h.node AND edge.p IN (SELECT value FROM json_each({relations}))))"
)
"""Counts edges, as many as the degree floor, of a node that is a hub in the other direction only."""

NEIGHBOUR_NODES = (
    "SELECT edge.{far} AS node FROM edge "
    "WHERE edge.{near} = h.node AND edge.p IN (SELECT value FROM json_each({relations}))"
)
NEIGHBOURS = "(SELECT count(DISTINCT node) FROM ({nodes}))"
"""Reads all edges of a hub."""
LEAST_OF_FIRST = (
    "SELECT min({number}), count(*) FROM (SELECT node, number FROM ({rows}) ORDER BY number DESC LIMIT {needed}) AS h"
)
AT_LEAST = "SELECT h.node AS node, {number} AS number FROM ({rows}) AS h WHERE h.number >= {least}"
"""Costs as much as the counts of the hubs that it keeps."""

EDGES = "edge AS {alias}"
"""One seek by the ends that are known, and an entry of an index for each edge."""

HAS_LABEL = "EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = {node} AND l.label = {label})"
"""One seek."""

HAS_ONE_LABEL = (
    "EXISTS (SELECT 1 FROM node_label AS l WHERE l.node = {node} "
    "AND l.label IN (SELECT value FROM json_each({labels})))"
)
"""One seek for each label."""

LABELS = "(SELECT kg_labels(l.label) FROM node_label AS l WHERE l.node = {node})"
"""One seek, and a call of Python for each label."""

LABEL_SET = (
    "CASE WHEN {node} IS NOT NULL THEN (SELECT json_group_array(label) FROM node_label AS l WHERE l.node = {node}) END"
)
"""One seek, and an entry of an index for each label: the numbers of the labels, as a JSON list."""

LABELS_OF_SET = (
    "CASE WHEN {labels} IS NOT NULL "
    "THEN coalesce((SELECT kg_labels(l.value) FROM json_each({labels}) AS l), {empty}) END"
)
"""A call of Python for each label of a set."""

VALUES = "attribute AS {alias}"
VALUE_IN_LIST = "({alias}.n > 0 OR {alias}.item IS NOT NULL)"
QUALIFIER_IN_LIST = "({alias}.key > 0 OR {alias}.value ->> 3 IS NOT NULL)"
"""Costs nothing beyond reading the value."""
OF_NODE = "{alias}.node = {node} AND {alias}.p = {relation}"
"""One seek."""

FIRST_VALUE = (
    "(SELECT CASE WHEN {alias}.item IS NOT NULL "
    "OR EXISTS (SELECT 1 FROM attribute WHERE node = {node} AND p = {relation} AND n = 1) "
    "THEN kg_values((SELECT json_group_array(json_array(text, datatype, item)) FROM attribute "
    "WHERE node = {node} AND p = {relation})) ELSE {value} END "
    "FROM attribute AS {alias} WHERE {alias}.node = {node} AND {alias}.p = {relation} AND {alias}.n = 0)"
)
"""Two seeks. Several values, and items of an array, are combined by a call of Python."""

QUALIFIERS = "(SELECT qualifiers FROM edge WHERE s = {s} AND p = {p} AND o = {o} AND n = {n})"
"""One seek."""

QUALIFIER_VALUES = "json_each({qualifiers}, {path}) AS {alias}"
"""Reads the JSON of an edge: some microseconds."""

QUALIFIER_VALUE = (
    "CASE WHEN {alias}.type <> 'array' THEN {node} WHEN {alias}.value ->> 1 IS NULL THEN +({alias}.value ->> 0) "
    "ELSE {function}({alias}.value ->> 0, {alias}.value ->> 1) END"
)
"""Reads parts of one value's JSON; calls Python for other values than texts. Nodes are mostly left to the evaluator."""
NO_NODE = "kg_refuse()"

QUALIFIER_NODE_ID = "kg_short({alias}.value ->> 'id')"
QUALIFIER_NODE_NAME = (
    "coalesce((SELECT label FROM node WHERE key = {alias}.value ->> 'id'), kg_called({alias}.value ->> 'id', "
    "coalesce((SELECT mediator FROM node WHERE key = {alias}.value ->> 'id'), 0)))"
)
QUALIFIER_NODE = "CASE WHEN NOT ({is_id}) AND ({is_name}) THEN {name} ELSE {id} END"
"""A node that is compared with texts: its name if that is one of them and its id is not, else its id.

Some microseconds.
"""

MAY_BE_NUMBER = (
    "(CAST(json_extract({qualifiers}, {path} || '[0][0]') AS REAL) BETWEEN {least} AND {most} "
    "OR json_type({qualifiers}, {path} || '[1]') IS NOT NULL)"
)
MAY_BE_TEXT = (
    "(json_extract({qualifiers}, {path} || '[0][0]') = {value} "
    "OR json_type({qualifiers}, {path} || '[1]') IS NOT NULL OR json_type({qualifiers}, {path} || '[0]') = 'object')"
)
MAY_BE_DATE = f"({MAY_BE_TEXT} OR json_extract({{qualifiers}}, {{path}} || '[0][1]') IS NOT NULL)"
"""Cheap tests whether a qualifier can have the value: half a microsecond, because SQLite caches the parsed JSON."""

FIRST_QUALIFIER = (
    "(SELECT CASE WHEN count(*) > 1 OR max({alias}.value ->> 3) IS NOT NULL THEN kg_refuse() ELSE max({value}) END "
    "FROM json_each({qualifiers}, {path}) AS {alias})"
)
"""As QUALIFIER_VALUES; several values and arrays are left to the evaluator."""

TYPED = (
    "CASE WHEN {datatype} IS NULL THEN +{text} "
    "WHEN {datatype} IN ('integer', 'xsd:integer', 'int', 'xsd:int', 'long', 'xsd:long') "
    "AND CAST(CAST({text} AS INTEGER) AS TEXT) = {text} THEN CAST({text} AS INTEGER) "
    "ELSE {function}({text}, {datatype}) END"
)
"""Converts a literal by its datatype. Texts and integers cost nothing, others a call of Python: one microsecond."""

CALLED = "+(SELECT coalesce(label, kg_called(key, mediator)) FROM node WHERE id = {node})"
KEY = "(SELECT key FROM node WHERE id = {node})"
"""One seek."""

BEGINNINGS = """
WITH RECURSIVE step (start, number) AS (
    SELECT min(substr(text, 1, 64)), 1 FROM attribute WHERE p = ?1
    UNION ALL
    SELECT (SELECT min(substr(a.text, 1, 64)) FROM attribute AS a
            WHERE a.p = ?1 AND substr(a.text, 1, 64) > step.start), number + 1
    FROM step WHERE step.start IS NOT NULL AND number < ?2
)
SELECT start FROM step WHERE start IS NOT NULL
"""
"""One seek for each distinct beginning of a property's values, up to ?2."""

TEXTS_LIKE_DATES = """
SELECT count(*), coalesce(sum(datatype IS NOT NULL AND datatype NOT IN ('string', 'xsd:string')), 0) FROM (
    SELECT datatype FROM attribute
    WHERE p = ?1 AND substr(text, 1, 64) >= '+' AND substr(text, 1, 64) < ':' LIMIT ?2
)
"""
"""Counts the values that begin like a date, and those of them that are not texts. Reads up to ?2 values."""

VALUE_SIZE = """
SELECT count(*) FROM (SELECT 1 FROM attribute WHERE p = ?1 AND substr(text, 1, 64) IN (SELECT value FROM json_each(?2))
LIMIT ?3)
"""
"""Estimates how many nodes have a value. One seek for each beginning, and up to ?3 entries of the index."""

EDGES_AT = """
SELECT e.s, e.p, e.o, e.n, e.qualifiers FROM json_each(?1) AS j CROSS JOIN edge AS e
ON e.s = json_extract(j.value, '$[0]') AND e.p = json_extract(j.value, '$[1]')
    AND e.o = json_extract(j.value, '$[2]') AND e.n = json_extract(j.value, '$[3]')
"""
"""One seek for each edge of a page."""

NO_LISTS = "CASE WHEN {several} THEN kg_refuse() ELSE ({test}) END"
"""A seek for each of two properties: whether one has several values. Such plans are left to the evaluator."""

MEMBERS = "json_each(kg_members({value})) AS {alias}"
"""A call of Python for each list."""

MEMBER = (
    "CASE {alias}.type WHEN 'text' THEN {alias}.value WHEN 'integer' THEN {alias}.value WHEN 'null' THEN NULL "
    "ELSE kg_member({alias}.type, {alias}.value) END"
)
"""Texts and integers cost nothing, other members a call of Python."""

STEPS_ON = """
SELECT e.s, e.s, e.p, e.o, e.n, e.o FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.s = j.value
WHERE ?2 = '[]' OR e.p IN (SELECT value FROM json_each(?2))
"""
STEPS_BACK = """
SELECT e.o, e.s, e.p, e.o, e.n, e.s FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.o = j.value
WHERE ?2 = '[]' OR e.p IN (SELECT value FROM json_each(?2))
"""
STEPS_EITHER = """
SELECT e.s, e.s, e.p, e.o, e.n, e.o FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.s = j.value
WHERE ?2 = '[]' OR e.p IN (SELECT value FROM json_each(?2))
UNION ALL
SELECT e.o, e.s, e.p, e.o, e.n, e.s FROM json_each(?1) AS j CROSS JOIN edge AS e ON e.o = j.value
WHERE e.s <> e.o AND (?2 = '[]' OR e.p IN (SELECT value FROM json_each(?2)))
"""
"""One seek for each node and its edges: the next step of paths."""

EDGES_OF_FRONT = """
SELECT coalesce(sum(d.n), 0) FROM json_each(?1) AS j CROSS JOIN json_each(?2) AS side
CROSS JOIN degree AS d ON d.node = j.value AND d.direction = side.value
CROSS JOIN relation AS r ON r.id = d.p AND r.edges > 0
WHERE ?3 = '[]' OR d.p IN (SELECT value FROM json_each(?3))
"""
"""One seek for each node, and a row for each relation of those that are hubs."""

LINKS = "SELECT value ->> 0 AS source, value ->> 1 AS target, value -> 2 AS edges FROM json_each({links})"
"""Some microseconds for each path."""

EDGE_IN = (
    "EXISTS (SELECT 1 FROM json_each({edges}) AS j WHERE j.type = 'array' AND j.value = json_array({s}, {p}, {o}, {n}))"
)
"""Whether a path contains an edge. Costs as much as reading the path's edges."""

EDGE_ALONE = "json_array('{list}', json_array({s}, {p}, {o}, {n}))"
"""A list of one edge."""
