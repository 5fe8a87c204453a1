"""Neo4j's Cypher, 5.26 and later."""

from __future__ import annotations

import re

from kgnav_mcp.adapters.cypher.dialect import Dialect
from kgnav_mcp.adapters.neo4j.values import BOLT
from kgnav_mcp.model import Direction
from kgnav_mcp.port import Capability

APOC_FUNCTIONS = frozenset({"apoc.node.relationship.types", "apoc.node.degree.in", "apoc.node.degree.out"})
"""The functions of the APOC plugin that `APOC_DEGREES` needs."""

APOC_DEGREES = {
    side: f"[type IN apoc.node.relationship.types(n) | [type, apoc.node.degree.{name}(n, type)]]"
    for side, name in ((Direction.OUTGOING, "out"), (Direction.INCOMING, "in"))
}
"""Degrees by type with APOC: costs one look-up in the degree store for each relationship type of the node."""

NEO4J = Dialect(
    store="Neo4j 5.26",
    tested=True,
    capabilities=frozenset(
        {Capability.EXACT_COUNTS, Capability.QUALIFIERS, Capability.LABELS, Capability.FUZZY_NAMES, Capability.PLANS}
    ),
    node_id="elementId({x})",
    node_id_form=re.compile(r"[0-9]+:[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}:[0-9]+"),
    labels="labels({x})",
    relationship_type="type({x})",
    properties="properties({x})",
    keys="keys({x})",
    values=BOLT,
    names="""
RETURN COLLECT { CALL db.labels() YIELD label RETURN label },
       COLLECT { CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type },
       COLLECT { CALL db.propertyKeys() YIELD propertyKey AS key RETURN key }
""",
    constraints="""
SHOW CONSTRAINTS YIELD type, entityType, labelsOrTypes, properties
WHERE entityType = 'NODE' AND type IN ['UNIQUENESS', 'NODE_PROPERTY_UNIQUENESS', 'NODE_KEY']
RETURN labelsOrTypes, properties
""",
    indexes="""
SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, state
WHERE entityType = 'NODE' AND state = 'ONLINE' AND type IN ['RANGE', 'FULLTEXT']
RETURN name, type, labelsOrTypes, properties
""",
    full_text="CALL db.index.fulltext.queryNodes($index, $words, {limit: $hits}) YIELD node AS n, score",
    node_count="COUNT { () }",
    edge_count="COUNT { ()-->() }",
    label_count="COUNT { (:{label}) }",
    type_count="COUNT { ()-[:{type}]->() }",
    label_type_count="COUNT { (:{label})-[:{type}]->() } + COUNT { ()-[:{type}]->(:{label}) }",
    degree="COUNT { (n){edge}() }",
    own_degrees=None,
    subquery="CALL ({variables}) { {query} }",
    optional_subquery="OPTIONAL CALL ({variables}) { {query} }",
    collected="COLLECT { {query} }",
    exists="EXISTS { {query} }",
    count="COUNT { {query} }",
    any_shortest="{way} = ANY SHORTEST ({source}){step}{1,{longest}}({target})",
    all_shortest="{way} = ALL SHORTEST ({source}){step}{1,{longest}}({target})",
    text="toStringOrNull({x})",
    folded="toLower(normalize({x}, NFKD))",
    value_type="valueType({x})",
    is_list="valueType({x}) STARTS WITH 'LIST'",
    is_text="valueType({x}) STARTS WITH 'STRING'",
    is_text_list="valueType({x}) STARTS WITH 'LIST<STRING'",
    is_number_list="valueType({x}) STARTS WITH 'LIST<FLOAT'",
    datatypes={
        "LOCAL DATETIME": "localdatetime",
        "LOCAL TIME": "localtime",
        "ZONED DATETIME": "datetime",
        "ZONED TIME": "time",
    },
)
"""Neo4j without plugins. Counts come from the count store and the degree store."""
