"""The shared floor of all adapters for property graphs that are queried in Cypher, whatever the store and driver.

`dialect` has what differs between stores, `queries` every query with what it costs. `adapter` hands each verb of the
port to a reader of it: names, relations, neighbours, lists, schema. `plans` compiles plans.
"""
