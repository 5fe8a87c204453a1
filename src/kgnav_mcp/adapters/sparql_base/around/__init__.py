"""The neighbourhood of entities in SPARQL stores where a row is a triple: relations, rows and edges.

    counts       the number of rows of each relation
    rows         the rows, page by page
    blocks       sorted sections of the rows, from which pages are cut
    relations    relations with counts and a few far ends
    row_readers  the edges between two sets, and a search by far ends

An adapter derives from the readers and adds what is specific to it: which relations are shown, what a mediator is, how
nodes without an IRI and statements about triples are read, and templates that are fast on its store.
"""
