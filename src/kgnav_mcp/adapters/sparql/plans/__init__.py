"""Patterns of plans as one SPARQL query.

writing    a pattern in SPARQL, of edges and labels as an adapter writes them
reader     the query, sent and read

An adapter derives from the writer and says how its edges and labels are written.
"""
