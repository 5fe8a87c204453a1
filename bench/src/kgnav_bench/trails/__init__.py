"""Benchmarks of trails: whether proofs can be trusted, and the cost of recording a call."""
