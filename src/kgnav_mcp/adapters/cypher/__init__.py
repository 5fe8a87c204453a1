"""What all adapters for property graphs queried in Cypher share, whatever the store and driver.

`dialect` describes the differences between stores, `queries` has every query with its cost. `adapter` passes each verb
of the port to its reader: names, relations, neighbours, lists, schema. `plans` compiles plans.
"""
