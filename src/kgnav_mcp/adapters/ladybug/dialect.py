"""LadybugDB's Cypher (0.22), Kuzu's successor: typed tables, no subqueries but EXISTS and COUNT."""

from __future__ import annotations

import re

from kgnav_mcp.adapters.cypher.dialect import Dialect
from kgnav_mcp.adapters.ladybug.tables import FORMATS
from kgnav_mcp.port import Capability

LADYBUG = Dialect(
    store="LadybugDB 0.22",
    tested=True,
    capabilities=frozenset(
        {
            Capability.EXACT_COUNTS,
            Capability.QUALIFIERS,
            Capability.LABELS,
            Capability.FUZZY_NAMES,
            Capability.STABLE_CURSORS,
            Capability.MATCH_PATTERN,
        }
    ),
    node_id="CAST(id({x}) AS STRING)",
    node_id_form=re.compile(r"(?!)"),  # ids are always those of the primary key
    labels="[label({x})]",
    relationship_type="label({x})",
    properties="properties({x})",
    keys="keys({x})",
    values=FORMATS,
    names=None,  # the catalogue is read table by table
    constraints=None,
    indexes=None,
    full_text=None,
    node_count="COUNT { MATCH () }",
    edge_count="COUNT { MATCH ()-[]->() }",
    label_count="COUNT { MATCH (:{label}) }",
    type_count="COUNT { MATCH ()-[:{type}]->() }",
    label_type_count="COUNT { MATCH (:{label})-[:{type}]->() } + COUNT { MATCH ()-[:{type}]->(:{label}) }",
    degree="COUNT { MATCH (n){edge}() }",
    own_degrees=None,
    subquery=None,
    optional_subquery=None,
    collected=None,
    exists="EXISTS { {query} }",
    count="COUNT { {query} }",
    any_shortest=None,  # the length stands in the brackets of an edge: [:T* SHORTEST 1..3]
    all_shortest=None,
    text="CAST({x} AS STRING)",
    folded="lower({x})",
    value_type="typeof({x})",
    is_list="typeof({x}) ENDS WITH ']'",
    is_text="typeof({x}) = 'STRING'",
    is_text_list="typeof({x}) = 'STRING[]'",
    is_number_list="typeof({x}) IN ['DOUBLE[]', 'FLOAT[]']",
    datatypes={},
)
"""Plans are not compiled for it: a variable-length path may repeat an edge here, and so may two edges of one MATCH."""
