"""Renders answers as compact markdown tables, or as structured content.

text        makes text of a graph safe to print: strips control characters, escapes table cells, clips long literals
tokens      the size of an answer, counted offline
columns     typed columns: cells as text and as JSON, the schema of an answer
table       one table with its completeness line, truncated between rows to fit the budget
triples     tables of triples and relations (SoG, GraphWalker)
nodes       tables of nodes, values and candidates (GraphWalk, GraphRunner)
overview    the schema of a graph
paper       the formats that Search-on-Graph, GraphWalker and GraphWalk print
problems    error messages that say what to do next
"""
