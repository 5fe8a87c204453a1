"""Compiles checked plans to Cypher, each to one query.

The meaning of plans is defined by `kgnav_mcp.plan`. It is that of Cypher, except for values of mixed types, dates and
lists of values. Therefore the compiler tracks the possible types of every value. Where Cypher would give another
answer, or an error, the plan is refused (`Unsupported`) and evaluated outside the store.
"""
