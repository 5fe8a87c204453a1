"""Property graphs that are asked in Cypher, whatever the store and the driver.

dialect      how one store speaks Cypher, as data
session      runs queries: templates filled in the words of the dialect
queries      every query, with what it costs
values       values of properties as text, and text as values
catalogue    labels, relationship types, keys and indexes, and what a user may call them
entities     nodes as entities, and ids as nodes
options      which properties are ids, names, aliases and descriptions
lists, linking, schema, advice   what the verbs of the port answer
"""
