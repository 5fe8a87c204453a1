"""Dialects of stores that no adapter reads yet, from the stores' own documentation. None was run against its store.

An adapter that uses one has to pass the contract suite first, and then sets `tested`.
"""

from __future__ import annotations

import re

from kgnav_mcp.adapters.cypher.dialect import Dialect
from kgnav_mcp.adapters.cypher.values import ValueFormats
from kgnav_mcp.port import Capability

_WITHOUT_PLANS = frozenset({Capability.QUALIFIERS, Capability.LABELS})
_INTEGER = re.compile(r"[0-9]+")

MEMGRAPH = Dialect(
    store="Memgraph 3",
    tested=False,
    capabilities=_WITHOUT_PLANS,
    node_id="elementId({x})",
    node_id_form=_INTEGER,
    labels="labels({x})",
    relationship_type="type({x})",
    properties="properties({x})",
    keys="keys({x})",
    values=ValueFormats(),
    names=None,  # SHOW NODE_LABELS INFO and the like are queries of their own
    constraints=None,
    indexes=None,
    full_text="CALL text_search.search_all($index, $words) YIELD node AS n, score",
    node_count="COUNT { MATCH () }",
    edge_count="COUNT { MATCH ()-->() }",
    label_count="COUNT { MATCH (:{label}) }",
    type_count="COUNT { MATCH ()-[:{type}]->() }",
    label_type_count="COUNT { MATCH (:{label})-[:{type}]->() } + COUNT { MATCH ()-[:{type}]->(:{label}) }",
    degree="COUNT { MATCH (n){edge}() }",
    own_degrees=None,
    subquery="CALL ({variables}) { {query} }",
    optional_subquery=None,  # OPTIONAL CALL takes no variables
    collected="COLLECT { {query} }",
    exists="EXISTS { {query} }",
    count="COUNT { {query} }",
    any_shortest=None,  # the kind of search stands in the brackets of an edge: [:T *BFS ..3]
    all_shortest=None,
    text="toStringOrNull({x})",
    folded="toLower({x})",
    value_type="valueType({x})",
    is_list="valueType({x}) = 'LIST'",
    is_text="valueType({x}) = 'STRING'",
    is_text_list="(valueType({x}) = 'LIST' AND all(item IN {x} WHERE valueType(item) = 'STRING'))",
    is_number_list="(valueType({x}) = 'LIST' AND all(item IN {x} WHERE valueType(item) = 'FLOAT'))",
    datatypes={},
)
"""From https://memgraph.com/docs/querying: functions, CALL clause, subquery expressions, expansions."""

FALKORDB = Dialect(
    store="FalkorDB 4",
    tested=False,
    capabilities=_WITHOUT_PLANS,
    node_id="toString(id({x}))",
    node_id_form=_INTEGER,
    labels="labels({x})",
    relationship_type="type({x})",
    properties="properties({x})",
    keys="keys({x})",
    values=ValueFormats(),
    names="""
CALL db.labels() YIELD label WITH collect(label) AS labels
CALL db.relationshipTypes() YIELD relationshipType WITH labels, collect(relationshipType) AS types
CALL db.propertyKeys() YIELD propertyKey RETURN labels, types, collect(propertyKey)
""",
    constraints="""
CALL db.constraints() YIELD type, label, properties, entitytype
WITH * WHERE type = 'UNIQUE' AND entitytype = 'NODE' RETURN [label], properties
""",
    indexes=None,  # db.indexes() lists labels, with the kinds of each property in a map
    full_text="CALL db.idx.fulltext.queryNodes($index, $words) YIELD node AS n, score",
    node_count=None,  # there are no COUNT subqueries; db.meta.stats() has the counts
    edge_count=None,
    label_count=None,
    type_count=None,
    label_type_count=None,
    degree=None,  # indegree(n, type) and outdegree(n, type) are functions of one direction
    own_degrees=None,
    subquery="CALL { {importing} {query} }",
    optional_subquery=None,
    collected=None,
    exists=None,  # a condition may be a bare pattern, without WHERE
    count=None,
    any_shortest=None,  # shortestPath() stands in WITH or RETURN, between known ends
    all_shortest=None,  # allShortestPaths() stands in MATCH, between known ends
    text="toStringOrNull({x})",
    folded="toLower({x})",
    value_type="typeOf({x})",
    is_list="typeOf({x}) = 'List'",
    is_text="typeOf({x}) = 'String'",
    is_text_list="(typeOf({x}) = 'List' AND all(item IN {x} WHERE typeOf(item) = 'String'))",
    is_number_list="(typeOf({x}) = 'List' AND all(item IN {x} WHERE typeOf(item) = 'Float'))",
    datatypes={},
)
"""From https://docs.falkordb.com/cypher: coverage, CALL {}, functions, procedures, known limitations.

Edges of a pattern that are not referred to may be the same one, so plans cannot be compiled as for Neo4j.
"""

NEPTUNE = Dialect(
    store="Amazon Neptune 1.4.1",
    tested=False,
    capabilities=_WITHOUT_PLANS,
    node_id="id({x})",
    node_id_form=re.compile(r"\S+"),
    labels="labels({x})",
    relationship_type="type({x})",
    properties="properties({x})",
    keys="keys({x})",
    values=ValueFormats(),
    names=None,  # the summary is read over HTTP, not by a query
    constraints=None,
    indexes=None,
    full_text=None,
    node_count=None,
    edge_count=None,
    label_count=None,
    type_count=None,
    label_type_count=None,
    degree=None,
    own_degrees=None,
    subquery="CALL { {importing} {query} }",
    optional_subquery=None,
    collected=None,
    exists=None,
    count=None,
    any_shortest=None,  # shortestPath() and allShortestPaths() are not supported
    all_shortest=None,
    text=None,  # toString() fails for lists
    folded="toLower({x})",
    value_type=None,
    is_list=None,
    is_text=None,
    is_text_list=None,
    is_number_list=None,
    datatypes={},
)
"""From https://docs.aws.amazon.com/neptune/latest/userguide: openCypher compliance, rewrites, engine release 1.4.1.0.

It has neither any(), all(), none() nor reduce(), which most queries of the verbs use.
"""
