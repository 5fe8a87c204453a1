"""Values of plans, the same for every store: literals as Python values, their order, functions and arithmetic."""
