"""Queries of LadybugDB, with what each costs. Names are filled in from the catalogue, values are parameters.

Every page is sorted by the offsets that the store gives to nodes and edges, as nothing else promises an order.
"""

from __future__ import annotations

TABLES = "CALL show_tables() RETURN name, type ORDER BY id"
COLUMNS = "CALL table_info({table}) RETURN *"
LINKS = "CALL show_connection({table}) RETURN *"
"""The catalogue."""

COUNTS_OF_COLUMNS = "MATCH {pattern} RETURN count(*){columns}"
"""A scan of the columns of a table; without columns, its statistics."""

NODES = "UNWIND $keys AS key MATCH (n:{label}) WHERE {key} = key RETURN {node}"
"""One look-up in the index of the primary key for each node; a scan if the key is neither text nor a whole number."""

COUNTS = "UNWIND $keys AS key MATCH {pattern} WHERE {key} = key RETURN key, count(*)"
"""A look-up for each node, and its number of edges."""

EDGES = "UNWIND $keys AS key MATCH {pattern} WHERE {key} = key{filter} RETURN key, offset(id(r)), {edge}"
"""A look-up for each node, and all its edges with their far ends."""

PLACES = """
MATCH {pattern} WHERE {key} = $key RETURN offset(id(r)) AS place ORDER BY place SKIP $skip LIMIT $take
"""
"""A sort of the edges of one node, without reading their far ends: 40 ms for 100,000."""

FAR_ENDS = """
MATCH {pattern} WHERE {key} = $key WITH m LIMIT $edges WITH DISTINCT m LIMIT $examples RETURN {node}
"""
"""A few edges."""

SELECTED = "MATCH (n:{label}){condition} RETURN {node} ORDER BY offset(id(n)) SKIP $skip LIMIT $limit"
SELECTED_COUNT = "MATCH (n:{label}){condition} RETURN count(*)"
"""A scan of the columns of the condition."""

VALUES = "MATCH {pattern}{unwind} WITH {owner}, {value} AS value WHERE value IS NOT NULL RETURN value, {number}"
"""A scan of a column."""

WITH_WORDS = """
MATCH (n:{label})
WITH n, {texts} AS texts
WITH n, CASE WHEN list_has_any(texts, $names) THEN $exact ELSE {shared} END AS hits WHERE hits > 0
RETURN {node} ORDER BY hits DESC, offset(id(n)) LIMIT $most
"""
SHARED_PIECES = """
list_sum(list_transform($pieces, piece -> CASE WHEN list_to_string(' ', texts) CONTAINS piece THEN 1 ELSE 0 END))
"""
"""A scan of the names of a table."""
