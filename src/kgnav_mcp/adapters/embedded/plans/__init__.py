"""Compiles a plan to one SQLite query. Each clause becomes a common table expression that reads the one before.

Parts of a plan that SQL cannot express raise Unsupported, usually before the query runs. A value whose type the query
cannot handle raises it while the query runs. The docstrings of `kgnav_mcp.plan` define the meaning of plans.
"""

from kgnav_mcp.adapters.embedded.plans.reader import PlanReader

__all__ = ["PlanReader"]
