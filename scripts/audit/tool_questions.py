"""Questions to the tools that take a value or a name, and about whole lists."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from .conditions import compared, quoted
from .question import Expected, PrintedId, Question, Rows, canonical, plan
from .raw_graph import Edge, Node, RawGraph, Scalar, values_of
from .survey import Property, Survey

_LONGEST = 4_000
"""Maximum rows of a whole list by a plan."""
_HUBS = 12
"""So many of the longest lists are half of those that are asked for."""
_LIST = 120
"""Fewest rows of a list that is followed by cursors, where there is one."""
_WORDS = 40
"""The most frequent words from which the word of a hint is chosen."""
_ALIKE = 0.7
"""Similarity of two words of which one may be found as a misspelling of the other."""


def node_by_property(made: random.Random, survey: Survey) -> Question:
    """Nodes with a value, which is given as a text, as another kind of number, or as a part of a date."""
    graph = survey.graph
    of = made.choice([each for each in survey.of_nodes if each.name not in graph.names] or survey.of_nodes)
    value = of.value(made)
    given: Scalar = value
    if of.type == "number" and isinstance(value, int | float):
        given = made.choice(_as_given(value))
    elif of.type == "day":
        given = str(value)[: made.choice((4, 7, 10))]
    elif of.type == "boolean":
        given = made.choice((value, str(value).lower()))
    holders = _holders(graph, of, given if of.type == "day" else value)
    call = {"label": of.owner or "*", "property_name": of.name, "property_value": given}
    kind = {"number": "a number as clients send it", "day": "a date by its precision"}.get(of.type, "a value")
    if of.blank:
        return Question(of.kind(kind), "get_node_by_property", call, Expected(Counter(), total=len(holders)), "total")
    return _nodes(f"get_node_by_property: {kind}", call, holders)


def by_id(made: random.Random, survey: Survey) -> Question:
    """Ids in plans and in get_node_by_property: the property, or else the id as printed."""
    graph = survey.graph
    named = [node for node in graph.nodes.values() if not node.blank and node.labels and graph.key in node.properties]
    node = made.choice(named or list(graph.nodes.values()))
    if not named:
        return plan("ids", f"MATCH (n {{name: {quoted(node.key)}}}) RETURN n.name", [(node.key,)], rdf=True)
    label = min(node.labels)
    with_id = [other for other in named if "id" in other.properties and graph.key != "id"]
    value = made.choice(with_id).properties["id"] if with_id else node.properties["id"]
    rows = [(each.properties[graph.key or ""],) for each in named if each.properties.get("id") == value]
    way = made.randrange(6)
    if way < 3:
        form = (
            f"(n {{id: {quoted(str(value))}}})",
            f"(n) WHERE n.id = {quoted(str(value))}",
            f"(n) WHERE n.id IN [{quoted(str(value))}]",
        )
        return plan("ids: the property", f"MATCH {form[way]} RETURN n.{graph.key}", rows, rdf=graph.rdf)
    if way == 3:
        members = [each for each in graph.by_label[label] if each.properties.get("id") == node.properties.get("id")]
        if "id" in node.properties:
            return _nodes(
                "ids: the property",
                {"label": label, "property_name": "id", "property_value": node.properties["id"]},
                members,
            )
    elsewhere = {each.properties.get("id") for each in named}
    # Terms of the OBO Foundry are left out where their property `id` has the id as it is printed, too.
    unused = [
        each for each in named if (not each.key.startswith("DOID:") if graph.key == "id" else each.key not in elsewhere)
    ]
    node = made.choice(unused)
    expected = Expected(Counter([(canonical(node.properties[graph.key or ""]),)]), noted=way == 4)
    text = "(n {id: '%s'})" if way == 4 else "(n) WHERE elementId(n) = '%s'"
    return Question(
        "ids: as printed", "run_plan", {"plan": PrintedId(node.key, f"MATCH {text} RETURN n.{graph.key}")}, expected
    )


def unique_values(made: random.Random, survey: Survey) -> Question:
    """The values of a property and how many nodes or edges have each."""
    graph = survey.graph
    on_edges = bool(survey.of_edges) and made.random() < 0.3
    among = survey.of_edges if on_edges else survey.of_nodes
    of = made.choice([each for each in among if each.owner and len(set(each.values)) < 700] or among)
    holders: Iterable[Node | Edge] = graph.by_relation[of.owner] if on_edges else _members(graph, of)
    rows: Rows = Counter()
    for holder in holders:
        for value in {canonical(each) for each in values_of(holder.properties, of.name)}:
            rows[value,] += 1
    kind = made.choice(("relationship", "Relationship") if on_edges else ("node", "Node"))
    call = {"property_name": of.name, "entity_name": of.owner or "*", "entity_type": kind}
    counted = Counter({(*row, number): 1 for row, number in rows.items()})
    return Question(
        of.kind("get_unique_property_values"), "get_unique_property_values", call, Expected(counted), "values"
    )


def find_node(made: random.Random, survey: Survey) -> Question:
    """How many nodes of a label have a word in a name. No other word there could be meant by a misspelling of it."""
    graph = survey.graph
    named = [name for name, nodes in graph.by_label.items() if any(graph.names & n.properties.keys() for n in nodes)]
    if not named:
        return whole_list(made, survey)
    label = made.choice(named)
    each = Counter(word for node in graph.by_label[label] for word in _words(graph, node))
    words = [word for word, _ in each.most_common() if len(word) > 5 and word.isalpha()]
    unlike = [word for word in words[:_WORDS] if not get_close_matches(word, each.keys() - {word}, cutoff=_ALIKE)]
    word = made.choice((unlike or words)[:6])
    number = sum(word in _words(graph, node) for node in graph.by_label[label])
    call = {"hint": word, "node_type": label}
    return Question("find_node with node_type", "find_node", call, Expected(Counter(), total=number), "total")


def whole_list(made: random.Random, survey: Survey) -> Question:
    """The neighbours of a node along one relation, to the end of the list."""
    graph = survey.graph
    sides = survey.sides
    long = [side for side, number in sides.items() if number >= _LIST]
    largest = [side for side, _ in sides.most_common(_HUBS)]
    node, relation, direction = made.choice(largest if not long or made.random() < 0.5 else long)
    edges = (graph.outgoing if direction == "outgoing" else graph.incoming)[node]
    edges = [
        e for e in edges if e.relation == relation and not graph.nodes[e.head].blank and not graph.nodes[e.tail].blank
    ]
    far = [edge.tail if direction == "outgoing" else edge.head for edge in edges]
    here = PrintedId(node)
    qualified: Rows = Counter((key, _qualifiers(edge)) for key, edge in zip(far, edges, strict=True))
    tool = made.choice(("search", "get_triples", "get_all_nearest_neighbors"))
    if tool == "search":
        call: Mapping[str, Any] = {"entity": here, "direction": direction, "properties_to_filter_for": [relation]}
        return Question("whole list: search", tool, call, Expected(qualified), "search")
    if tool == "get_triples":
        if any(edge.head == edge.tail for edge in edges) or (node, relation, _other(direction)) in sides:
            return whole_list(made, survey)
        triples: Rows = Counter((e.head, e.tail, _qualifiers(e)) for e in edges)
        return Question(
            "whole list: get_triples", tool, {"entity": here, "relations": [relation]}, Expected(triples), "triples"
        )
    label = min(graph.nodes[node].labels, default="*")
    call = {"label": label, "property_name": graph.key, "property_value": graph.nodes[node].properties[graph.key or ""]}
    call = {**call, "direction": direction, "relationship": relation}
    return Question("whole list: get_all_nearest_neighbors", tool, call, Expected(qualified), "neighbors")


def degree(made: random.Random, survey: Survey) -> Question:
    """How many edges a node has along one relation in one direction, blank nodes at their other ends included."""
    graph = survey.graph
    sides = survey.sides
    node, relation, direction = made.choice([side for side, _ in sides.most_common(_HUBS)] + list(sides))
    edges = (graph.outgoing if direction == "outgoing" else graph.incoming)[node]
    rows: Rows = Counter([(direction, sum(edge.relation == relation for edge in edges), False)])
    call = {"entity": PrintedId(node), "relation": relation, "direction": direction}
    return Question("get_degree", "get_degree", call, Expected(rows), "degree")


def whole_plan(made: random.Random, survey: Survey) -> Question:
    """All nodes of a label, or all edges of a relation, by a plan and its cursors."""
    graph = survey.graph
    if graph.by_label and made.random() < 0.5:
        keyed = {k: n for k, n in graph.by_label.items() if all(graph.key in node.properties for node in n)}
        label = made.choice(sorted(keyed))
        rows = [(node.properties[graph.key or ""],) for node in keyed[label]]
        return plan("whole list: run_plan", f"MATCH (n:{label}) RETURN n.{graph.key}", rows, rdf=graph.rdf)
    short = [name for name in survey.named_relations if len(graph.by_relation[name]) < _LONGEST]
    relation = made.choice(short)
    rows = [
        tuple(graph.nodes[k].properties[graph.key or ""] for k in (e.head, e.tail)) for e in graph.by_relation[relation]
    ]
    text = f"MATCH (a)-[:{relation}]->(b) RETURN a.{graph.key}, b.{graph.key}"
    return plan("whole list: run_plan", text, rows, rdf=graph.rdf)


def by_name(made: random.Random, survey: Survey) -> Question:
    """A name, by the map of a pattern; or in lower case by a condition: all names, or a note that one was compared.

    A graph file shows the name of a deprecated node with a mark, which is then part of the name that is compared.
    """
    graph = survey.graph
    nodes = [node for node in graph.nodes.values() if any(values_of(node.properties, name) for name in graph.names)]
    node = made.choice(nodes)
    name = made.choice([v for each in sorted(graph.names) for v in values_of(node.properties, each)])
    lower = str(name).lower()
    key = graph.key or ""
    every = Counter((canonical(each.properties.get(key)),) for each in nodes if lower in _names(graph, each))
    exact = Counter(
        (canonical(each.properties.get(key)),) for each in nodes if name in _names(graph, each, lower=False)
    )
    if made.random() < 0.4 or True in values_of(node.properties, "deprecated"):
        text = f"MATCH (n {{name: {quoted(name)}}}) RETURN n.{key}"
        return Question("names", "run_plan", {"plan": text}, Expected(exact))
    preferred = max(graph.names)
    only_first = Counter(
        (canonical(each.properties.get(key)),)
        for each in nodes
        if lower in {str(v).lower() for v in values_of(each.properties, preferred)}
    )
    text = f"MATCH (n) WHERE toLower(n.name) = {quoted(lower)} RETURN n.{key}"
    return Question("names", "run_plan", {"plan": text}, Expected(every, other=only_first))


def _nodes(kind: str, call: Mapping[str, Any], holders: Iterable[Node]) -> Question:
    return Question(kind, "get_node_by_property", call, Expected(Counter((node.key,) for node in holders)), "nodes")


def _holders(graph: RawGraph, of: Property, value: Scalar) -> list[Node]:
    return [n for n in _members(graph, of) if any(compared(v, "=", value) for v in values_of(n.properties, of.name))]


def _members(graph: RawGraph, of: Property) -> Iterable[Node]:
    return graph.by_label[of.owner] if of.owner else graph.nodes.values()


def _as_given(value: float) -> list[Scalar]:
    """A number as clients send it: as a number, as a text, and of a round one both ways to write it."""
    given: list[Scalar] = [value, repr(value)]
    if abs(value) < 2**53 and value == int(value):
        given += [str(int(value)), int(value), f"{int(value)}.0"]
    return given


def _qualifiers(edge: Edge) -> tuple[object, ...]:
    return tuple(
        sorted((name, canonical(value)) for name in edge.properties for value in values_of(edge.properties, name))
    )


def _names(graph: RawGraph, node: Node, *, lower: bool = True) -> set[str]:
    names = {str(value) for name in graph.names for value in values_of(node.properties, name)}
    return {name.lower() for name in names} if lower else names


def _words(graph: RawGraph, node: Node) -> set[str]:
    return {word for name in _names(graph, node) for word in name.replace("-", " ").split()}


def _other(direction: str) -> str:
    return "incoming" if direction == "outgoing" else "outgoing"
