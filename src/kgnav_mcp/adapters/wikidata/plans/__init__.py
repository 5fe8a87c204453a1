"""Patterns of plans over a Wikibase."""
