"""Checks plans against a graph, then runs them in its store, or evaluates them here if the store cannot.

`evaluate` defines the meaning of a checked plan. Source: GraphRunner, which writes a whole plan first, verifies it and
only then runs it.
"""

from __future__ import annotations

from kgnav_mcp.navigation.plans.evaluate.evaluator import evaluate

__all__ = ["evaluate"]
