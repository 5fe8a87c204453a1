"""Compiles a plan to one SQLite query. Each clause becomes a common table expression that reads the one before.

Parts of a plan that SQL cannot express raise Unsupported, mostly before anything runs. A value that turns out at run
time to have a type that the query cannot handle raises it too. The docstrings of `kgnav_mcp.plan` define the meaning.
"""

from kgnav_mcp.adapters.embedded.plans.reader import PlanReader

__all__ = ["PlanReader"]
