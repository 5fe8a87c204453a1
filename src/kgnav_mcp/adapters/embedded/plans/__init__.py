"""Plans as one query of SQLite: each clause a common table expression over the one before.

What SQL cannot say as the algebra has it raises Unsupported, mostly before anything runs; a value that only a row shows
to be of another kind ends the query the same way. Source of the meaning: the docstrings of `kgnav_mcp.plan`.
"""

from kgnav_mcp.adapters.embedded.plans.reader import PlanReader

__all__ = ["PlanReader"]
