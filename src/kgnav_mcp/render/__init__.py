"""Answers as a reader sees them: compact markdown tables, or the same facts as structured content.

text        text of a graph made harmless: control characters stripped, table cells escaped, long literals clipped
tokens      the size of an answer, counted offline
columns     columns with their types: cells as text and as values, the schema of an answer
table       one table with its completeness line, cut at a row to fit the budget
triples     tables of triples and relations (SoG, GraphWalker)
nodes       tables of nodes, values and candidates (GraphWalk, GraphRunner)
overview    the schema of a graph
paper       SoG's table as the paper prints it
problems    errors as text that says what to do next
"""
