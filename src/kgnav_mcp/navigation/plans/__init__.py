"""Plans over any graph: checked against it, then run by its store, or evaluated here where the store cannot.

`evaluate` is the reference for what a checked plan means. Source: GraphRunner, which writes a whole plan first,
verifies it and only then runs it.
"""

from __future__ import annotations

from kgnav_mcp.navigation.plans.evaluation import evaluate

__all__ = ["evaluate"]
