"""Predicate pushdown: the parts of a plan that a store runs or counts itself, and proofs by the store."""
