"""What is around entities: relations, rows and edges of any graph behind SPARQL, where a row is a triple.

counts     how many rows each relation has
rows       the rows themselves, page by page
blocks     what was read of them, before it is cut to a page
relations  relations with counts and a few far ends
edges      the edges between two sets

An adapter derives from the readers and says what is its own: which relations are shown, what a mediator is, which
nodes have no IRI, what is said of triples, and the templates that its store is fast with.
"""
