"""All queries that the adapter runs on a graph file, each with its cost.

A "seek" is one descent in an index: a few microseconds on a graph of any size. Sets of nodes are passed as a JSON
array, so that one query serves one node or a thousand. Ten thousand nodes in file order cost half as much as in
another order. CROSS JOIN keeps the loops in the order written: from few rows to many.
"""

from kgnav_mcp.adapters.embedded.queries import around, entities, lists, plans

__all__ = ["around", "entities", "lists", "plans"]
