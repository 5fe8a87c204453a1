"""Plans over a small graph, each beside the Cypher that means the same."""

from tests.plans.cases import edges, nodes, paths, tables, values
from tests.plans.cases.people import PEOPLE

__all__ = ["CASES", "PEOPLE"]

CASES = (*nodes.CASES, *edges.CASES, *paths.CASES, *tables.CASES, *values.CASES)
