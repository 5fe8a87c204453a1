"""The papers' algorithms over the port: pure of protocol, store and markdown.

neighbourhood   Search-on-Graph's `search` (Algorithm 1)
relations       GraphWalker's `get_relations` and `get_triples`
primitives      GraphWalk's node, neighbour and value look-ups
linking         GraphRunner's `Find_Node`
resolving       from what a user wrote to entities or relations
following       the rows of relations that were chosen by name
listing         relations as a list: offered, ordered, from a place on
flattening      mediators folded into one triple with qualifiers
ranking         relations by a question
cursor          where a list goes on
pages           pages made of lists in memory, and of other pages
"""
