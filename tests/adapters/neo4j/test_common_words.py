"""A word that very many names have: the total of a search within a label is exact or a lower bound."""

from __future__ import annotations

from typing import LiteralString

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.model import Certainty
from kgnav_mcp.port import AdapterOptions
from tests.adapters.neo4j.graphs import fill
from tests.neo4j_service import Neo4j
from tests.sampling import extended

_GRAPH: tuple[LiteralString, ...] = (
    "CREATE FULLTEXT INDEX names FOR (n:Disease) ON EACH [n.name]",
    "UNWIND range(1, 4000) AS n CREATE (:Disease {name: 'disease ' + n})",
    "MATCH (n:Disease) WITH n ORDER BY n.name LIMIT 4000 WITH collect(n) AS found "
    "UNWIND range(0, 3999, 80) AS place WITH found[place] AS n SET n:Rare",
    "CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()",
    "CALL db.awaitIndexes()",
)

_RARE = 50


@pytest.mark.parametrize("label", ["Rare", extended("Disease")])
async def test_a_total_is_a_lower_bound_where_not_all_hits_were_tested_for_the_label(neo4j: Neo4j, label: str):
    async with open_adapter(fill(neo4j, _GRAPH), AdapterOptions()) as graph:
        total = (await graph.find("disease", label=label, limit=5)).total
    assert total.certainty is Certainty.AT_LEAST or (label == "Rare" and total.value == _RARE)
