"""Compiles the patterns of plans to one SPARQL query.

writing    writes a pattern in SPARQL
triples    writes edges that are triples, or lead through mediators
parts      the variables of an edge, and the error for what SPARQL cannot express
reader     sends the query and reads its answer

An adapter derives from a writer and overrides how edges and labels are written.
"""
