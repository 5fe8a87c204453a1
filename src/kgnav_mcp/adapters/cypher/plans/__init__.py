"""Checked plans as Cypher: one query of the store for each that it can express with the same meaning.

What a plan means is said by `kgnav_mcp.plan`, which is Cypher's own meaning but for values of several kinds, dates and
lists of values. So the compiler knows of each value what it may be: where Cypher would answer otherwise, or end with an
error, the plan is refused (`Unsupported`) and evaluated outside.
"""
