"""Plans over any adapter: checked against what a graph is made of, and evaluated where no store does it.

`evaluate` is the reference for what a plan means; `checking`, beside it, makes the plans that it takes.
"""

from __future__ import annotations

from kgnav_mcp.navigation.plans.evaluation import evaluate

__all__ = ["evaluate"]
