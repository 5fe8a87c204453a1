"""Compiles patterns of plans to SPARQL over a Wikibase."""
