"""The queries of LadybugDB, each with its cost. Names are filled in from the catalogue, values are parameters.

Every page is sorted by the offsets that the store gives to nodes and edges, because no other order is guaranteed.
"""

from __future__ import annotations

TABLES = "CALL show_tables() RETURN name, type ORDER BY id"
COLUMNS = "CALL table_info({table}) RETURN *"
LINKS = "CALL show_connection({table}) RETURN *"
"""Costs a read of the catalogue."""

COUNTS_OF_COLUMNS = "MATCH {pattern} RETURN count(*){columns}"
"""A scan of the columns of a table; without columns, its statistics."""

NODES = "UNWIND $keys AS key MATCH (n:{label}) WHERE {key} = key RETURN {node}"
"""One look-up in the index of the primary key for each node; a scan if the key is neither text nor a whole number."""

ONE_KEY = "MATCH {pattern} WHERE {key} = $key"
SEVERAL_KEYS = "UNWIND $keys AS key MATCH {pattern} WHERE {key} = key"
"""A look-up of one node, in 0.2 ms; or of several, where the store scans the edges once, in 15 ms for 100,000."""

COUNTS = " RETURN {key}, count(*)"
"""The number of edges of each node."""

EDGES = "{filter} RETURN {key}, offset(id(r)), {edge}"
"""All edges of each node with their far ends."""

BARE_EDGES = " RETURN {key}, label(r), label(m), {far} LIMIT $most"
"""All edges of each node, of several tables at once."""

PLACES = """
MATCH {pattern} WHERE {key} = $key RETURN offset(id(r)) AS place ORDER BY place SKIP $skip LIMIT $take
"""
"""A sort of the edges of one node, without reading their far ends: 40 ms for 100,000."""

FAR_ENDS = """
MATCH {pattern} WHERE {key} = $key WITH m LIMIT $edges WITH DISTINCT m LIMIT $examples RETURN {node}
"""
"""Costs a few edges."""

SELECTED = "MATCH (n:{label}){condition} RETURN {node} ORDER BY offset(id(n)) SKIP $skip LIMIT $limit"
SELECTED_COUNT = "MATCH (n:{label}){condition} RETURN count(*)"
"""A scan of the columns of the condition."""

VALUES = "MATCH {pattern}{unwind} WITH {owner}, {value} AS value WHERE value IS NOT NULL RETURN value, {number}"
"""A scan of a column."""

WITH_WORDS = """
MATCH (n:{label})
WITH n, CASE WHEN {named} THEN $exact ELSE 0 END AS exact, {text} AS text
WITH n, exact + {shared} AS hits WHERE hits > 0
RETURN {node} ORDER BY hits DESC, offset(id(n)) LIMIT $most
"""
SHARED_PIECE = "CASE WHEN text CONTAINS ${piece} THEN 1 ELSE 0 END"
"""A scan of the names of a table: 30 ms for 100,000 nodes."""

MATCHING = """
MATCH {pattern} WHERE {key} = $key
WITH r, m, {text} AS text WHERE {matches}
WITH r, m ORDER BY offset(id(r)) LIMIT $most
RETURN offset(id(r)) AS place, {edge} ORDER BY place
"""
MAY_MATCH = "regexp_matches(text, '[^ -~]')"
"""The far ends of the edges of one node. Texts with letters beyond ASCII are compared by the caller."""
