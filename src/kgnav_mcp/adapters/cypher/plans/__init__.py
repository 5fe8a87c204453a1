"""Compiles checked plans to Cypher, each to one query.

The meaning of plans is defined by `kgnav_mcp.plan`. It is that of Cypher, except for values of mixed types, dates and
lists of values. So the compiler tracks the possible types of every value: where Cypher's answer would differ, or Cypher
would fail with an error, the plan is refused (`Unsupported`), and evaluated outside the store.

reader        answers the verb `run`: compiles, runs and pages
pipelines     whole plans
patterns      patterns as MATCH clauses; `searches` for paths that need a subquery
expressions   conditions and values; `functions` and `aggregates`
context       what is shared while one query is written: parameters, variables, forms of nodes and edges
kinds         the possible types of values
cells         cells of the result as values of the model
queries       the templates
"""
