"""Which questions are asked about a graph, and how many of each among 200."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from . import condition_questions as conditions
from . import plan_questions as plans
from . import tool_questions as tools
from . import wikidata_questions as wikidata
from .question import Question
from .survey import Survey

Mix = Sequence[tuple[Callable[[random.Random, Survey], Question], int]]

GENERAL: Mix = (
    (conditions.on_nodes, 28),
    (conditions.on_several, 26),
    (conditions.with_size, 8),
    (conditions.on_edges, 16),
    (conditions.one_of, 4),
    (plans.two_edges, 10),
    (plans.paths_of_a_label, 10),
    (plans.one_edge_from_a_node, 4),
    (plans.without_edge, 5),
    (plans.groups, 6),
    (plans.aggregate, 8),
    (plans.whole_values, 10),
    (plans.list_operation, 8),
    (plans.unwound, 4),
    (plans.refused, 3),
    (tools.node_by_property, 14),
    (tools.by_id, 8),
    (tools.by_name, 4),
    (tools.unique_values, 6),
    (tools.find_node, 4),
    (tools.whole_list, 6),
    (tools.degree, 6),
    (tools.whole_plan, 2),
)
"""Of a graph with labels and many kinds of values."""

FILMS: Mix = (
    (conditions.on_nodes, 14),
    (conditions.with_size, 4),
    (conditions.one_of, 4),
    (plans.two_edges, 60),
    (plans.one_edge_from_a_node, 30),
    (plans.without_edge, 9),
    (plans.groups, 12),
    (tools.node_by_property, 10),
    (tools.by_id, 10),
    (tools.by_name, 10),
    (tools.whole_list, 25),
    (tools.degree, 5),
    (tools.whole_plan, 7),
)
"""Of names and edges alone."""

WIKIDATA: Mix = (
    (wikidata.statements_of, 50),
    (wikidata.triples_of, 30),
    (wikidata.edges, 30),
    (wikidata.with_qualifier, 50),
    (wikidata.paths, 15),
    (wikidata.qualifier_values, 15),
    (wikidata.by_value, 10),
)
"""Of an item export, whose statements have qualifiers, ranks and references."""
