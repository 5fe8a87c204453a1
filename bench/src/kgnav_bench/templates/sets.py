"""GraphWalk's templates of intersections and negations."""

from __future__ import annotations

from kgnav_bench.templates.paths import hop
from kgnav_bench.templates.questions import Asker, Question, leading_to, led_to, literal


def intersection(ask: Asker) -> Question:
    """The nodes that are connected to both of two sets of nodes."""
    first, second = ask.two_hops()
    near, far = ask.of_node(first.source), ask.of_node(second.target)
    start, middle, end = first.source.label, first.target.label, second.target.label
    truth = led_to(first, ask.with_value(first.source, near))
    truth &= leading_to(second, ask.with_value(second.target, far))
    order = {"return": ["b.name"], "order": "b.name"}
    return Question(
        "compositional intersection",
        f"Which {middle} nodes does a {start} node with {near.text} lead to by {first.type}, and lead themselves by "
        f"{second.type} to a {end} node with {far.text}?",
        f"MATCH (:{start} {near.braces})-[:{first.type}]->(b:{middle})-[:{second.type}]->(:{end} {far.braces}) "
        "RETURN DISTINCT b.name AS name ORDER BY name",
        ask.names(truth),
        {
            "nodes": {
                "a": {"label": start, "where": near.where},
                "b": {"label": middle},
                "c": {"label": end, "where": far.where},
            },
            "edges": [
                {"from": "a", "edge": first.type, "to": "b"},
                {"from": "b", "edge": second.type, "to": "c"},
            ],
            **order,
        },
        [
            {"as": "a", "find_node": {"type": start, "where": near.where}},
            {"as": "c", "find_node": {"type": end, "where": far.where}},
            {
                "as": "b",
                "find_common_nodes": [
                    {"node": "a", "edge_type": first.type, "direction": "outgoing"},
                    {"node": "c", "edge_type": second.type, "direction": "incoming"},
                ],
            },
            order,
        ],
    )


def without_connection(ask: Asker) -> Question:
    """The nodes to which one set of nodes leads, and that lead to none of another set."""
    first, second = ask.two_hops()
    near, far = ask.of_node(first.source), ask.of_node(second.target)
    start, middle, end = first.source.label, first.target.label, second.target.label
    truth = led_to(first, ask.with_value(first.source, near))
    truth -= leading_to(second, ask.with_value(second.target, far))
    order = {"return": ["b.name"], "order": "b.name"}
    fetch = {"from": "a", "edge_type": first.type, "direction": "outgoing", "except": "other"}
    return Question(
        "negation with connection",
        f"Which {middle} nodes does a {start} node with {near.text} lead to by {first.type}, that have no {second.type}"
        f" relationship to a {end} node with {far.text}?",
        f"MATCH (:{start} {near.braces})-[:{first.type}]->(b:{middle}) WHERE NOT EXISTS "
        f"{{ (b)-[:{second.type}]->(:{end} {far.braces}) }} RETURN DISTINCT b.name AS name ORDER BY name",
        ask.names(truth),
        {
            "nodes": {
                "a": {"label": start, "where": near.where},
                "b": {"label": middle},
                "c": {"label": end, "where": far.where},
            },
            "edges": [{"from": "a", "edge": first.type, "to": "b"}],
            "not": [{"from": "b", "edge": second.type, "to": "c"}],
            **order,
        },
        [
            {"as": "a", "find_node": {"type": start, "where": near.where}},
            {"as": "c", "find_node": {"type": end, "where": far.where}},
            hop("other", "c", second, incoming=True),
            {"as": "b", "fetch_neighbors": fetch},
            order,
        ],
    )


def other_relationship(ask: Asker) -> Question:
    """The nodes to which a set of nodes leads by a relationship without a certain value."""
    one = ask.relation()
    near, other = ask.of_node(one.source), ask.of_edge(one)
    start, end = one.source.label, one.target.label
    order = {"return": ["b.name"], "order": "b.name"}
    unlike = {other.pool.name: {"!=": other.value}}
    return Question(
        "negation on relationship property",
        f"Which {end} nodes does a {start} node with {near.text} lead to by a {one.type} relationship whose "
        f"{other.pool.name} is not {other.value}?",
        f"MATCH (:{start} {near.braces})-[r:{one.type}]->(b:{end}) WHERE NOT r.{other.pool.name} = "
        f"{literal(other.value)} RETURN DISTINCT b.name AS name ORDER BY name",
        ask.names(led_to(one, ask.with_value(one.source, near), other, equal=False)),
        {
            "nodes": {"a": {"label": start, "where": near.where}, "b": {"label": end}},
            "edges": [{"from": "a", "edge": one.type, "to": "b", "where": unlike}],
            **order,
        },
        [
            {"as": "a", "find_node": {"type": start, "where": near.where}},
            {
                "as": "b",
                "fetch_neighbors": {
                    "from": "a",
                    "edge_type": one.type,
                    "direction": "outgoing",
                    "edge_where": unlike,
                },
            },
            order,
        ],
    )
