"""GraphWalk's templates of at most one hop: counts, hubs, and look-ups by property."""

from __future__ import annotations

from collections import Counter

from kgnav_bench.templates.questions import Asker, Question, ordered, pairs


def node_count(ask: Asker) -> Question:
    """The number of nodes of a class, or of those with a value."""
    one = ask.node_class()
    condition = ask.of_node(one) if ask.chance.random() < 0.8 else None
    truth = len(one.members) if condition is None else len(ask.with_value(one, condition))
    node = {"label": one.label} if condition is None else {"label": one.label, "where": condition.where}
    step = {"type": one.label} if condition is None else {"type": one.label, "where": condition.where}
    return Question(
        "node count",
        f"How many {one.label} nodes are there{f' with {condition.text}' if condition else ''}?",
        f"MATCH (n:{one.label}{f' {condition.braces}' if condition else ''}) RETURN count(n) AS count",
        ((truth,),),
        {"nodes": {"n": node}, "return": ["count(n)"]},
        [{"as": "n", "find_node": step}, {"return": ["count(n)"]}],
    )


def relationship_count(ask: Asker) -> Question:
    """The number of relationships of a class, or of those with a value."""
    one = ask.relation()
    condition = ask.of_edge(one) if ask.chance.random() < 0.8 else None
    heads, tails = one.source.label, one.target.label
    edge = {"from": "a", "edge": one.type, "to": "b", "as": "r"}
    fetch = {"from": "a", "edge_type": one.type, "direction": "outgoing", "label": tails, "edge_as": "r"}
    return Question(
        "relationship count",
        f"How many {one.type} relationships{f' with {condition.text}' if condition else ''} lead from {heads} nodes "
        f"to {tails} nodes?",
        f"MATCH (:{heads})-[r:{one.type}{f' {condition.braces}' if condition else ''}]->(:{tails}) "
        "RETURN count(r) AS count",
        ((sum(1 for _ in pairs(one, condition)),),),
        {
            "nodes": {"a": {"label": heads}, "b": {"label": tails}},
            "edges": [edge if condition is None else {**edge, "where": condition.where}],
            "return": ["count(r)"],
        },
        [
            {"as": "a", "find_node": {"label": heads}},
            {"as": "b", "fetch_neighbors": fetch if condition is None else {**fetch, "edge_where": condition.where}},
            {"return": ["count(r)"]},
        ],
    )


def most_relationships(ask: Asker) -> Question:
    """The node with most outgoing (or incoming) relationships of a class; of several, the first by name."""
    one, outgoing = ask.relation(), ask.chance.random() < 0.5
    condition = ask.of_edge(one) if ask.chance.random() < 0.7 else None
    near, far = (one.source, one.target) if outgoing else (one.target, one.source)
    counts = Counter(pair[0 if outgoing else 1] for pair in pairs(one, condition))
    best = min(counts, key=lambda node: (-counts[node], ask.graph.name(node)))
    edge = f"[r:{one.type}{f' {condition.braces}' if condition else ''}]"
    fetch = {"from": "n", "edge_type": one.type, "direction": "outgoing" if outgoing else "incoming"}
    order = {"order": ["-count(m)", "n.name"], "limit": 1}
    ends = {"from": "n", "to": "m"} if outgoing else {"from": "m", "to": "n"}
    pattern_edge = {**ends, "edge": one.type, "as": "r"}
    return Question(
        "node with most relationships",
        f"Which {near.label} node has the most {one.type} relationships{f' with {condition.text}' if condition else ''}"
        f" {'to' if outgoing else 'from'} {far.label} nodes, and how many? Of several, the first by name.",
        f"MATCH (n:{near.label}){'-' if outgoing else '<-'}{edge}{'->' if outgoing else '-'}(:{far.label}) "
        "RETURN n.name AS name, count(r) AS count ORDER BY count DESC, name LIMIT 1",
        ((ask.graph.name(best), counts[best]),),
        {
            "nodes": {"n": {"label": near.label}, "m": {"label": far.label}},
            "edges": [pattern_edge if condition is None else {**pattern_edge, "where": condition.where}],
            "return": ["n.name", "count(r)"],
            "order": ["-count(r)", "n.name"],
            "limit": 1,
        },
        [
            {"as": "n", "find_node": {"type": near.label}},
            {"as": "m", "fetch_neighbors": fetch if condition is None else {**fetch, "edge_where": condition.where}},
            {"return": ["n.name", "count(m)"], **order},
        ],
    )


def node_by_property(ask: Asker) -> Question:
    """The nodes of a class with a value."""
    one = ask.node_class()
    condition = ask.of_node(one)
    return Question(
        "node by property",
        f"Which {one.label} nodes have {condition.text}?",
        f"MATCH (n:{one.label} {condition.braces}) RETURN n.name AS name ORDER BY name",
        ask.names(ask.with_value(one, condition)),
        {"nodes": {"n": {"label": one.label, "where": condition.where}}, "return": ["n.name"], "order": "n.name"},
        [
            {"as": "n", "find_node": {"type": one.label, "where": condition.where}},
            {"return": ["n.name"], "order": "n.name"},
        ],
    )


def relationship_by_property(ask: Asker) -> Question:
    """The ends of the relationships of a class with a value."""
    one = ask.relation()
    condition = ask.of_edge(one)
    heads, tails, name = one.source.label, one.target.label, ask.graph.name
    order = {"return": ["a.name", "b.name"], "order": ["a.name", "b.name"]}
    return Question(
        "relationship by property",
        f"Which {heads} nodes and {tails} nodes are joined by a {one.type} relationship with {condition.text}?",
        f"MATCH (a:{heads})-[:{one.type} {condition.braces}]->(b:{tails}) "
        "RETURN a.name AS head, b.name AS tail ORDER BY head, tail",
        ordered((name(head), name(tail)) for head, tail in pairs(one, condition)),
        {
            "nodes": {"a": {"label": heads}, "b": {"label": tails}},
            "edges": [{"from": "a", "edge": one.type, "to": "b", "where": condition.where}],
            **order,
        },
        [
            {"as": "a", "find_node": {"type": heads}},
            {
                "as": "b",
                "fetch_neighbors": {
                    "from": "a",
                    "edge_type": one.type,
                    "direction": "outgoing",
                    "node_type": tails,
                    "edge_where": condition.where,
                },
            },
            order,
        ],
    )
