"""Plans over any graph: checked against it, then run by its store, or evaluated here if the store cannot run them.

`evaluate` defines the meaning of a checked plan. Source: GraphRunner, which writes a whole plan first, verifies it and
only then runs it.
"""

from __future__ import annotations

from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate

__all__ = ["evaluate"]
