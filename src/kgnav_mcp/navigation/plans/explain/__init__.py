"""Explanations beside an answer: why it is empty, and what its order leaves open."""
