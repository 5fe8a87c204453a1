"""Behaviour of SPARQL adapters if their endpoint exceeds its time or row limit: one query of a call fails or is cut."""
