"""Trails measured: whether proofs can be trusted, and what it costs to record a call."""
