"""Questions about paths, groups, sums, lists and whole values, as plans."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from .condition_questions import Conditions
from .conditions import quoted
from .question import MAX_ROWS, Question, Refusal, plan
from .raw_graph import Edge, Node, RawGraph, Scalar, Value, values_of
from .survey import BLANK, Property, Survey, only

_ATTEMPTS = 50

_AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "avg": lambda numbers: sum(numbers) / len(numbers),
    "min": min,
    "max": max,
}


def two_edges(made: random.Random, survey: Survey) -> Question:
    """Paths of two different edges, with a condition on an end or on an edge."""
    graph = survey.graph
    forward = made.random() < 0.5
    around = graph.outgoing if forward else graph.incoming
    pairs = (
        (first, others)
        for first in (made.choice(graph.edges) for _ in range(_ATTEMPTS))
        if (others := [edge for edge in around.get(first.tail, ()) if edge is not first])
    )
    first, others = next(pairs, (None, ()))
    if first is None:
        return one_edge_from_a_node(made, survey)
    second = made.choice(others)
    start = graph.nodes[first.head]
    paths = [
        (graph.nodes[a.head], graph.nodes[c])
        for a in _edges(graph, start, first.relation)
        for b in around.get(a.tail, ())
        if b is not a and b.relation == second.relation
        for c in (b.tail if forward else b.head,)
    ]
    left, right = ("-", "->") if forward else ("<-", "-")
    match = f"MATCH ({_named(graph, 'a', start)})-[:{first.relation}]->(b){left}[:{second.relation}]{right}(c)"
    rows = [(_key(graph, end),) for _, end in paths]
    counted = made.random() < 0.4 or len(rows) > MAX_ROWS or any(graph.nodes[e].blank for e in _far(paths))
    return _answer("two-edge path", match, rows, "c", graph, counted=counted)


def paths_of_a_label(made: random.Random, survey: Survey) -> Question:
    """All paths over two relations between labelled nodes, where a condition holds in their middle."""
    graph = survey.graph
    if not graph.by_label:
        return two_edges(made, survey)
    of = made.choice(survey.of_nodes)
    condition = Conditions(made).any(of)
    middles = [node for node in graph.by_label[of.owner] if condition.holds(node.properties)]
    relations = sorted({e.relation for node in middles for e in graph.incoming.get(node.key, ())})
    onward = sorted({e.relation for node in middles for e in graph.outgoing.get(node.key, ())})
    if not relations or not onward:
        return two_edges(made, survey)
    first, second = made.choice(relations), made.choice(onward)
    number = sum(
        1
        for node in middles
        for a in graph.incoming.get(node.key, ())
        for c in graph.outgoing.get(node.key, ())
        if a.relation == first and c.relation == second and a is not c
    )
    match = f"MATCH (a)-[:{first}]->(b:{of.owner})-[:{second}]->(c) WHERE {condition.text('b')}"
    return plan(of.kind("two-edge path"), f"{match} RETURN count(*) AS number", [(number,)], rdf=graph.rdf)


def one_edge_from_a_node(made: random.Random, survey: Survey) -> Question:
    """The far ends of one relation of one node."""
    graph = survey.graph
    edges = iter(lambda: made.choice(graph.edges), None)
    edge = next(e for e in edges if not graph.nodes[e.head].blank and not graph.nodes[e.tail].blank)
    start = graph.nodes[edge.head]
    ends = [graph.nodes[e.tail] for e in _edges(graph, start, edge.relation)]
    match = f"MATCH ({_named(graph, 'a', start)})-[:{edge.relation}]->(c)"
    blank = any(end.blank for end in ends)
    return _answer("one edge", match, [(_key(graph, end),) for end in ends], "c", graph, counted=blank)


def without_edge(made: random.Random, survey: Survey) -> Question:
    """Nodes of a label that lack an edge, or that have one."""
    graph = survey.graph
    if not graph.by_label:
        relation = made.choice(sorted(graph.by_relation))
        heads = {edge.head for edge in graph.by_relation[relation]}
        text = f"MATCH (n)-[:{relation}]->() RETURN count(DISTINCT n) AS number"
        return plan("negated edge", text, [(len(heads),)], rdf=graph.rdf)
    label = made.choice(sorted(graph.by_label))
    relation = made.choice(sorted({e.relation for n in graph.by_label[label] for e in _around(graph, n)}) or ["none"])
    if relation == "none":
        return without_edge(made, survey)
    denied = made.random() < 0.7
    heads = {edge.head for edge in graph.by_relation[relation]}
    number = sum((node.key not in heads) is denied for node in graph.by_label[label])
    text = f"MATCH (n:{label}) WHERE {'NOT ' if denied else ''}(n)-[:{relation}]->() RETURN count(*) AS number"
    kind = BLANK if any(node.blank for node in graph.by_label[label]) else "negated edge"
    return plan(kind, text, [(number,)], rdf=graph.rdf)


def groups(made: random.Random, survey: Survey) -> Question:
    """The number of edges of each node, or of nodes of each value."""
    graph = survey.graph
    single = [each for each in survey.of_nodes if not each.several and each.type != "text" and each.owner]
    if single and made.random() < 0.5:
        of = made.choice(single)
        counts = Counter(node.properties.get(of.name) for node in graph.by_label[of.owner])
        rows = [(value, number) for value, number in counts.items()]
        text = f"MATCH (n:{of.owner}) RETURN n.{of.name}, count(*) AS number"
        return plan(of.kind("groups"), text, rows, rdf=graph.rdf)
    relation = made.choice(survey.named_relations)
    counts = Counter(edge.tail for edge in graph.by_relation[relation])
    least = sorted(counts.values())[-min(len(counts), 40)]
    rows = [(_key(graph, graph.nodes[key]), number) for key, number in counts.items() if number >= least]
    text = (
        f"MATCH (a)-[:{relation}]->(b) WITH b, count(*) AS number WHERE number >= {least} RETURN b.{graph.key}, number"
    )
    return plan("groups", text, rows, rdf=graph.rdf)


def aggregate(made: random.Random, survey: Survey) -> Question:
    """A sum, a mean, the least or the greatest of all values."""
    numbers = [each for each in only(survey.of_nodes, type="number") if max(map(abs, each.numbers)) < 2**40]
    if not numbers:
        return groups(made, survey)
    several = only(numbers, several=True)
    of = made.choice(several if several and made.random() < 0.6 else numbers)
    function = made.choice(sorted(_AGGREGATES))
    value = _AGGREGATES[function](of.numbers)
    text = f"MATCH (n:{of.owner}) RETURN {function}(n.{of.name}) AS value"
    return plan(of.kind("sum over several values" if of.several else "sum"), text, [(value,)], rdf=survey.graph.rdf)


def whole_values(made: random.Random, survey: Survey) -> Question:
    """All values of a property as they are: empty texts, line breaks, arrays in their order."""
    graph = survey.graph
    edges = made.random() < 0.3 and bool(survey.of_edges)
    of = made.choice(survey.of_edges if edges else survey.of_nodes)
    holders = graph.by_relation[of.owner] if edges else _members(graph, of)
    picked = made.sample(range(len(holders)), min(25, len(holders)))
    if edges or not of.owner or any(graph.nodes[n.key].blank for n in holders if isinstance(n, Node)):
        if len(holders) > MAX_ROWS:
            return one_edge_from_a_node(made, survey)
        pattern = f"()-[x:{of.owner}]->()" if edges else f"(x:{of.owner})"
        rows = [(holder.properties.get(of.name),) for holder in holders]
        return plan(of.kind("values as they are"), f"MATCH {pattern} RETURN x.{of.name}", rows, rdf=graph.rdf)
    nodes = [holders[place] for place in picked]
    keys = [str(node.properties.get(graph.key or "")) for node in nodes if isinstance(node, Node)]
    among = f"x.{graph.key} IN [{', '.join(map(quoted, keys))}]"
    text = f"MATCH (x:{of.owner}) WHERE {among} RETURN x.{graph.key} AS key, x.{of.name}"
    rows = [(key, node.properties.get(of.name)) for key, node in zip(keys, nodes, strict=True)]
    return plan("values as they are", text, rows, rdf=graph.rdf)


def list_operation(made: random.Random, survey: Survey) -> Question:
    """Operations that Cypher has on lists, on declared arrays."""
    graph = survey.graph
    arrays = only(survey.of_nodes, array=True)
    if not arrays:
        return unwound(made, survey)
    of = made.choice(arrays)
    value = of.value(made)
    lists = [(node, tuple(values)) for node in _members(graph, of) if (values := values_of(node.properties, of.name))]
    some = made.choice(lists)[1]
    literal = f"[{', '.join(map(quoted, some))}]"
    name = f"n.{of.name}"
    operations: Mapping[str, Callable[[tuple[Scalar, ...]], bool]] = {
        f"{quoted(value)} IN {name}": lambda values: value in values,
        f"{name} = {literal}": lambda values: values == some,
        f"{name}[0] = {quoted(value)}": lambda values: values[0] == value,
        f"all(x IN {name} WHERE x = {quoted(value)})": lambda values: set(values) == {value},
        f"single(x IN {name} WHERE x = {quoted(value)})": lambda values: values.count(value) == 1,
        f"head({name}) = last({name})": lambda values: values[0] == values[-1],
    }
    text = made.choice(sorted(operations))
    rows = [(_key(graph, node),) for node, values in lists if operations[text](values)]
    return plan("operations on lists", f"MATCH (n:{of.owner}) WHERE {text} RETURN n.{graph.key}", rows, rdf=False)


def unwound(made: random.Random, survey: Survey) -> Question:
    """How often each single value occurs."""
    graph = survey.graph
    several = [each for each in only(survey.of_nodes, several=True) if len(set(each.values)) < MAX_ROWS]
    if not several:
        return groups(made, survey)
    of = made.choice(several)
    text = f"MATCH (n:{of.owner}) UNWIND n.{of.name} AS x RETURN x, count(*) AS number"
    return plan(of.kind("UNWIND"), text, list(Counter(of.values).items()), rdf=graph.rdf)


def refused(made: random.Random, survey: Survey) -> Question:
    """Arithmetic on a list and an order by one have no meaning: the answer is an error with a rewrite."""
    several = only(survey.of_nodes, several=True)
    if not several:
        return groups(made, survey)
    of = made.choice(several)
    text = f"MATCH (n:{of.owner}) RETURN n.{of.name} ORDER BY n.{of.name}"
    if of.type == "number" and made.random() < 0.5:
        text = f"MATCH (n:{of.owner}) RETURN n.{of.name} * 2 AS twice"
    return plan("refused by the rule", text, [], rdf=survey.graph.rdf, refusal=Refusal.REQUIRED)


def _answer(
    kind: str, match: str, rows: Sequence[tuple[Value | None, ...]], variable: str, graph: RawGraph, *, counted: bool
) -> Question:
    if counted or graph.key is None:
        return plan(kind, f"{match} RETURN count(*) AS number", [(len(rows),)], rdf=graph.rdf)
    return plan(kind, f"{match} RETURN {variable}.{graph.key}", rows, rdf=graph.rdf)


def _named(graph: RawGraph, variable: str, node: Node) -> str:
    """A node of a pattern by its key; or, if it is blank, by its label alone."""
    key = node.properties.get(graph.key or "")
    return f"{variable} {{{graph.key}: {quoted(str(key))}}}" if key is not None else f"{variable}:{min(node.labels)}"


def _edges(graph: RawGraph, start: Node, relation: str) -> Iterator[Edge]:
    """The edges of a relation that leave the node, or any node with a label of it that has no key."""
    if graph.key in start.properties:
        starts: Sequence[Node] = (start,)
    else:
        starts = graph.by_label[min(start.labels)]
    return (edge for node in starts for edge in graph.outgoing.get(node.key, ()) if edge.relation == relation)


def _key(graph: RawGraph, node: Node) -> Value | None:
    return node.properties.get(graph.key or "")


def _far(paths: Sequence[tuple[Node, Node]]) -> set[str]:
    return {end.key for _, end in paths}


def _around(graph: RawGraph, node: Node) -> Sequence[Edge]:
    return graph.outgoing.get(node.key, ())


def _members(graph: RawGraph, of: Property) -> Sequence[Node]:
    return graph.by_label[of.owner] if of.owner else tuple(graph.nodes.values())
