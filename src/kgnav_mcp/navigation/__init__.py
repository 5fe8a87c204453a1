"""The papers' algorithms over the port, independent of protocol, store and markdown.

neighbourhood   Search-on-Graph's `search` (Algorithm 1)
relations       GraphWalker's `get_relations` and `get_triples`
primitives      GraphWalk's node, neighbour and value look-ups
resolving       references that a user wrote, resolved to entities or relations
following       the rows of relations that were chosen by name
listing         lists of relations: which are offered, in which order, page by page
flattening      mediators folded into one triple with qualifiers
ranking         relations by a question
cursor          cursors of lists, bound to their call
pages           pages made of lists in memory, and of other pages
trails          the path over what a trail visited
evidence        proof of answers by a trail, checked against the store
steps           ARK-V1's reasoning steps
maze            GraphWalk's maze
plans           plans: checked, run by the store, or evaluated here
"""
