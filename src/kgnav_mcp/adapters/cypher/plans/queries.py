"""The templates from which plans are written, each with its cost in addition to the rows that it works on.

Placeholders are filled by `builder.Builder`. Variables are made by the compiler (`v1`), values are parameters.
"""

from __future__ import annotations

KINDS_OF_NODES = "MATCH (n{label}) RETURN collect(DISTINCT [{types}])"
"""A scan of a label, or of all nodes. It runs rarely, because the types are cached."""
KINDS_OF_EDGES = "MATCH ()-[n{type}]->() RETURN collect(DISTINCT [{types}])"
"""A scan of a type, or of all edges. It runs rarely, because the types are cached."""
KINDS_OF_ALL_KEYS = """
MATCH ()-[n{type}]->() UNWIND [key IN {keys(n)} | [key, n[key]]] AS own
WITH own[0] AS key, own[1] AS value
RETURN collect(DISTINCT CASE WHEN key CONTAINS '@' THEN 'TEXT IN A LANGUAGE' ELSE {value_type(value)} END)
"""
"""As KINDS_OF_EDGES. Keys with a language have a type of their own, because plans sort them in another order."""
TYPE_OF = """
[value IN [{value}] |
 CASE WHEN {is_number_list(value)} AND size(value) >= $vector THEN 'VECTOR' ELSE {value_type(value)} END][0]
"""
"""Costs nothing beyond reading the value."""

ANSWER = """
{plan}
WITH {columns}
ORDER BY {keys} SKIP $skip LIMIT $limit
WITH collect([{cells}]) AS rows
UNWIND range(0, size(rows), $slice) AS start
RETURN rows[start..start + $slice]
"""
"""A sort of all rows, of which only the page is kept.

The plan is in a subquery. Otherwise Neo4j would start where the rows come in order, to stop at the end of the page: it
then took 13 s for the nodes near one of a million, which need 50 ms.
"""

ROWS = """
{plan}
WITH {columns} SKIP $skip LIMIT $limit
WITH collect([{cells}]) AS rows
UNWIND range(0, size(rows), $slice) AS start
RETURN rows[start..start + $slice]
"""
"""The plan, up to the last row of the page."""

GIVEN_ROWS = "UNWIND ${rows} AS {row}"
GIVEN_NODE = "MATCH ({variable}) WHERE {id_of_variable} = {row}[{place}]"
"""One look-up for each row."""

PRINTED_ID = "CASE {cases} ELSE {id} END"
KEY_CASE = "WHEN {key} THEN {start} + toString({value})"
ID_KEY = "CASE {cases} ELSE [{id}] END"
ID_KEY_CASE = "WHEN {key} THEN [{start}, toString({value})]"
"""Sorts as the printed id does. The value is not joined to a text: Neo4j would compare that by units of UTF-16."""
HAS_KEY = "{variable}:{label} AND ({is_text({value})} OR {value_type({value})} STARTS WITH 'INTEGER')"
NO_KEY = "NOT ({key})"
NO_LABEL = "NOT {variable}:({labels})"
"""One property for each label with a key."""
EDGE_KEY = "[{head}, {relation}, {tail}, {own}]"
OWN_VALUE = "[key IN {keys} WHERE {variable}[key[1]] IS NOT NULL | [key[0], {variable}[key[1]]]]"
"""With the place of each key among all instead of its name."""
OWN_VALUES = """
  UNWIND {keys} AS key WITH key[0] AS key, {variable}[key[1]] AS own WHERE own IS NOT NULL
  WITH key, CASE WHEN {is_list(own)} THEN own ELSE [own] END AS own
  UNWIND range(0, size(own) - 1) AS place WITH key, place, own[place] AS value
  WITH key, place, CASE WHEN {value_type(value)} STARTS WITH 'DATE' THEN toString(value) ELSE value END AS value
  ORDER BY key, place RETURN [key, {text_key}]
"""
"""All properties of an edge in their order, single values or lists."""
PATH_KEY = """
CASE WHEN {variable} IS NULL THEN null
     ELSE [ns IN [nodes({variable})] | [rs IN [relationships({variable})] |
           [{first}] + [i IN range(0, size(rs) - 1) | [{edge}, {node}]]][0]][0] END
"""
"""The sort keys of all nodes and edges of the path. Its lists are computed once: each costs as much as the whole path.
"""
FIRST_NODE, NEXT_NODE, STEP = "ns[0]", "ns[i + 1]", "rs[i]"

NODE_CELL = "[{node_id({variable})}, {labels({variable})}, [key IN $described | {variable}[key]]]"
EDGE_CELL = "[{relationship_type({variable})}, {properties({variable})}, {head}, {tail}, {node_id({variable})}]"
PATH_CELL = """
CASE WHEN {variable} IS NULL THEN null
     ELSE [[n IN nodes({variable}) | {node}], [r IN relationships({variable}) | {edge}]] END
"""
"""The properties of all nodes and edges of the path."""
EACH = "[{member} IN {list} | {value}]"

VALUES = "reduce(found = [], one IN [{values}] | found + CASE WHEN one IS NULL THEN [] ELSE one END)"
"""All values under some keys of a node or edge, whether single values or lists."""
SOME_VALUE = "CASE WHEN size({values}) = 0 THEN {nothing} ELSE any({member} IN {values} WHERE {condition}) END"
"""Reads the values one by one."""
STORED = "CASE WHEN size({values}) = 0 THEN null ELSE {stored} END"
"""A value or a list as it is stored; null for an empty list, which has no value on any store."""
DISTINCT_VALUES = "UNWIND {values} AS value WITH DISTINCT value ORDER BY {order} RETURN value"
VALUES_AS_ONE = """
[found IN [{found}] |
 CASE size(found) WHEN 0 THEN null WHEN 1 THEN found[0] ELSE found END][0]
"""
"""A sort of the values of one node or edge."""
BY_VALUE = "value"
NUMBERS_FIRST = """
CASE WHEN {value_type(value)} STARTS WITH 'INTEGER' OR {value_type(value)} STARTS WITH 'FLOAT' THEN 0 ELSE 1 END, value
"""
VALUE_IN = "CASE WHEN size({values}) = 0 THEN null ELSE {value} IN {values} END"
"""A sort of the values of one node or edge."""
NO_TEXT = "CASE WHEN trim({value}) <> '' THEN {value} END"
"""The value, unless it is a blank text."""
OF_LABEL = "CASE WHEN {variable}:{label} THEN {value} END"

TEXT_KEY = r"""
[text IN [{value}] |
 CASE WHEN NOT text =~ '[\\x00-\\uFFFF]*'
      THEN reduce(key = '', unit IN split(text, '') |
                  key + CASE WHEN '\uD7FF' < unit < '\uE000' THEN '\uFFFF' + unit ELSE unit END)
      ELSE text END][0]
"""
"""A text that Neo4j made, with a mark before each surrogate, which sorts it behind all other characters.

0.2 s for 500,000 texts without such characters, 0.1 ms for each 500 characters of a text with one.
"""
TEXT_OF_KEY = r"replace({key}, '\uFFFF', '')"
KEY_OF_SEVERAL = "[one IN [{value}] | CASE WHEN {is_list(one)} THEN [member IN one | {of_member}] ELSE {of_one} END][0]"

SORTED = "UNWIND {list} AS {member} WITH {member} ORDER BY {key} RETURN {member}"
"""A sort of the list."""
QUOTIENT = "CASE {right} WHEN 0 THEN null WHEN -1 THEN -({left}) ELSE {left} / {right} END"
REMAINDER = "CASE {right} WHEN 0 THEN null ELSE {left} % {right} END"
ABSOLUTE = "[one IN [{value}] | CASE WHEN one < 0 THEN -one ELSE abs(one) END][0]"
"""As QUOTIENT, fails for -2^63, which has no positive counterpart: `abs` and `/` would return it unchanged."""
ROUNDED = "[one IN [{value}] | CASE WHEN abs(one) < 2 ^ 53 THEN round(one) ELSE toFloat(one) END][0]"
"""`round` returns at most 2^63. Floats from 2^53 on have no fraction."""
SUM = """
[total IN [[sum({value}), {fractions}]] |
 CASE WHEN total[1] > 0 OR {value_type(total[0])} STARTS WITH 'INTEGER' THEN total[0]
      ELSE 9223372036854775807 + size(total) END][0]
"""
"""Fails where a sum of integers overflows: `sum` would go on with a rounded float."""
NO_FRACTIONS = "0"
FRACTIONS = "count(CASE WHEN NOT {value_type({value})} STARTS WITH 'INTEGER' THEN 1 END)"
MEAN = "CASE WHEN count({value}) = 0 THEN null ELSE toFloat(sum({value})) / count({value}) END"

REACHED = "MATCH {path} RETURN DISTINCT {far}{itself}"
"""Each edge that can be reached from the near end, once: the store keeps a set of ends."""
AT_DISTANCE = "MATCH {path} WHERE {condition} RETURN {far}{itself}"
"""Breadth first from the near end."""
ITSELF = " UNION RETURN {near} AS {far}"
ONLY_ITSELF = "RETURN {near} AS {far}"
SHORTEST = """
MATCH {path} WHERE {condition}
WITH {far}{way} ORDER BY {nodes}, {edges} {first} {long_enough}
RETURN {far}{way}, relationships({way}) AS {edge}{itself}
"""
"""Breadth first from the near end, or from both where both are known; all shortest paths are compared."""
NO_EDGES = """ MATCH {way} = ({near}) {condition} RETURN {far}{way}, [] AS {edge}"""
OR_NO_EDGES = " UNION ALL{no_edges}"
FIRST = "LIMIT 1"
FIRST_OF_EACH = "WITH {far}, head(collect({way})) AS {way}"
ALL_SHORTEST = """
MATCH {path} WHERE {condition}
RETURN {far}{way}, relationships({way}) AS {edge}{itself}
"""
"""As SHORTEST."""
OPTIONAL = "{body} RETURN {inner}"
ANY_ROW = "RETURN 1 AS one"
