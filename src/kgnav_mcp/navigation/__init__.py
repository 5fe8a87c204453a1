"""The papers' algorithms over the port, independent of protocol, store and markdown.

neighbourhood   Search-on-Graph's `search` (Algorithm 1)
relations       GraphWalker's `get_relations` and `get_triples`
graphwalk       GraphWalk's node, neighbour and value look-ups
references      resolves references of a user to entities or relations
relation_reader the rows of relations chosen by name
relation_lists  lists of relations: filtered, ranked, paged
flattening      mediators folded into one triple with qualifiers
ranking         relations by a question
cursor          cursors of lists, bound to their call
pages           pages made of lists in memory and of other pages; cursors
shown_graph     the graph that a trail has shown, and paths within it
evidence        the evidence of a trail for answers, checked against the store
reasoning_steps ARK-V1's reasoning steps
maze            GraphWalk's maze
plans           checks plans, and runs them in the store or evaluates them
"""
