"""The shared floor of all adapters for property graphs that are queried in Cypher, whatever the store and driver.

adapter      `CypherAdapter`, the base class; it hands each verb of the port to a reader
dialect      what differs between stores, as data
builder      fills the templates of queries with the words of a dialect
session      runs queries
queries      every query, with what it costs
options      which properties are ids, names, aliases and descriptions
catalogue    labels, relationship types, property keys and indexes of a database
entities     nodes as entities, and ids back to nodes
values       property values as text, and text back to values
counts       number of rows of each relation at each node
pages        positions that notice when a list has changed
plans        compiles plans to Cypher

Readers of one verb each: names, linking, relations, neighbours (with rows), edges, matching, lists, schema.
"""
