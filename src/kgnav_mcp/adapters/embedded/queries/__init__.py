"""Every query the adapter asks a graph file, each with what it costs.

"Seek" is one descent in an index, some microseconds on any size of graph. Sets of nodes come as a JSON array, so that
one query serves one node and a thousand; ten thousand in the order of the file cost half of what they cost in any
other. CROSS JOIN fixes the order of loops as written: from few rows to many.
"""

from kgnav_mcp.adapters.embedded.queries import around, entities, lists, names, plans

__all__ = ["around", "entities", "lists", "names", "plans"]
