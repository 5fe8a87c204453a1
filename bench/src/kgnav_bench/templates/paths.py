"""GraphWalk's templates of paths."""

from __future__ import annotations

from kgnav_bench.templates.questions import Asker, Json, Question, leading_to, led_to, ordered, pairs
from kgnav_bench.templates.synthetic import RelationClass

LONGEST = 3
"""Most hops of a path of variable length."""


def hop(name: str, source: str, relation: RelationClass, *, incoming: bool = False) -> Json:
    """GraphRunner's step along the relationships of a class."""
    direction = "incoming" if incoming else "outgoing"
    return {"as": name, "fetch_neighbors": {"from": source, "edge_type": relation.type, "direction": direction}}


def path_finding(ask: Asker) -> Question | None:
    """The path between two nodes."""
    first, second = ask.two_hops()
    found = ask.way(first, second)
    if found is None:
        return None
    start, _, end = found
    a, c = ask.graph.name(start), ask.graph.name(end)
    start_label, label, end_label = first.source.label, first.target.label, second.target.label
    return Question(
        "path finding",
        f"Which nodes lie on a path from {a} to {c} by {first.type} and then {second.type}?",
        f"MATCH (:{start_label} {{name: '{a}'}})-[:{first.type}]->(b:{label})-[:{second.type}]->"
        f"(:{end_label} {{name: '{c}'}}) RETURN DISTINCT b.name AS name ORDER BY name",
        ask.names(led_to(first, {start}) & leading_to(second, {end})),
        {
            "nodes": {
                "a": {"label": start_label, "name": a},
                "b": {"label": label},
                "c": {"label": end_label, "name": c},
            },
            "edges": [
                {"from": "a", "edge": first.type, "to": "b"},
                {"from": "b", "edge": second.type, "to": "c"},
            ],
            "return": ["b.name"],
            "order": "b.name",
        },
        [
            {"as": "a", "find_node": {"name": a, "type": start_label}},
            {"as": "c", "find_node": {"name": c, "type": end_label}},
            {
                "as": "b",
                "find_common_nodes": [
                    {"node": "a", "edge_type": first.type, "direction": "outgoing"},
                    {"node": "c", "edge_type": second.type, "direction": "incoming"},
                ],
            },
            {"return": ["b.name"], "order": "b.name"},
        ],
    )


def variable_hops(ask: Asker) -> Question:
    """The nodes with one value that are several hops from those with another, along any relationships."""
    first, second = ask.two_hops()
    start, end = first.source, ask.chance.choice((first.target, second.target))
    near, far = ask.of_node(start), ask.of_node(end)
    reached, here = set[int](), ask.with_value(start, near)
    for _ in range(LONGEST):
        here = {tail for relation in ask.graph.relations for head, tail in pairs(relation) if head in here}
        reached |= here
    order = {"return": ["b.name"], "order": "b.name"}
    return Question(
        "variable-hop path",
        f"Which {end.label} nodes with {far.text} are one to {LONGEST} hops from a {start.label} node with {near.text},"
        " along relationships of any kind?",
        f"MATCH (:{start.label} {near.braces})-[*1..{LONGEST}]->(b:{end.label} {far.braces}) "
        "RETURN DISTINCT b.name AS name ORDER BY name",
        ask.names(reached & ask.with_value(end, far)),
        {
            "nodes": {"a": {"label": start.label, "where": near.where}, "b": {"label": end.label, "where": far.where}},
            "edges": [{"from": "a", "to": "b", "hops": [1, LONGEST]}],
            **order,
        },
        [
            {"as": "a", "find_node": {"type": start.label, "where": near.where}},
            {
                "as": "b",
                "fetch_neighbors": {
                    "from": "a",
                    "node_type": end.label,
                    "direction": "outgoing",
                    "hops": [1, LONGEST],
                    "where": far.where,
                },
            },
            order,
        ],
    )


def path_from_node(ask: Asker) -> Question | None:
    """The nodes two hops from a node."""
    return _two_hops(ask, "path from specific node", with_value=False)


def remote_property(ask: Asker) -> Question | None:
    """The values of a property of the nodes two hops from a node."""
    return _two_hops(ask, "remote node property", with_value=True)


def _two_hops(ask: Asker, template: str, *, with_value: bool) -> Question | None:
    """The nodes at the end of two hops, with the value of a property of each if `with_value`."""
    first, second = ask.two_hops()
    found = ask.way(first, second)
    if found is None:
        return None
    a, label, end = ask.graph.name(found[0]), first.source.label, second.target
    place = ask.chance.randrange(len(end.pools))
    value = end.pools[place].name
    reached = led_to(second, led_to(first, {found[0]}))
    returned = ["c.name", f"c.{value}"] if with_value else ["c.name"]
    columns = f"c.name AS name, c.{value} AS value" if with_value else "c.name AS name"
    order = {"return": returned, "order": "c.name"}
    return Question(
        template,
        f"Which {end.label} nodes are reached from {a} by {first.type} and then {second.type}"
        f"{f', and what is the {value} of each' if with_value else ''}?",
        f"MATCH (:{label} {{name: '{a}'}})-[:{first.type}]->(:{first.target.label})-[:{second.type}]->(c:{end.label}) "
        f"RETURN DISTINCT {columns} ORDER BY name",
        ordered((ask.graph.name(n), end.value(n, place)) if with_value else (ask.graph.name(n),) for n in reached),
        {
            "nodes": {"a": {"label": label, "name": a}, "b": {}, "c": {"label": end.label}},
            "edges": [
                {"from": "a", "edge": first.type, "to": "b"},
                {"from": "b", "edge": second.type, "to": "c"},
            ],
            **order,
        },
        [
            {"as": "a", "find_node": {"name": a, "type": label}},
            hop("b", "a", first),
            hop("c", "b", second),
            order,
        ],
    )
