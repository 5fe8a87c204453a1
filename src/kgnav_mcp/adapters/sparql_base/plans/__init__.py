"""Compiles the patterns of plans to one SPARQL query.

`patterns` writes a whole pattern and `writing` its parts; `queries` has the texts, and `reader` sends the query and
reads its answer. An adapter derives from a writer and overrides how edges and labels are written.
"""
