"""Patterns of plans as one SPARQL query.

writing    a pattern in SPARQL, of edges and labels as an adapter writes them
triples    edges that are triples, or lead through mediators
parts      what edges are in a query
reader     the query, sent and read

An adapter derives from a writer and says how its edges and labels are written.
"""
