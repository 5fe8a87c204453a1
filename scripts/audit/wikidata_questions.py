"""Questions about statements with qualifiers, ranks and references."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

from .condition_questions import Conditions
from .conditions import Not, Present
from .question import Expected, Question, Rows, canonical, plan
from .raw_graph import Edge, RawGraph, values_of
from .survey import Property, Survey
from .wikidata import LITERAL

_ENTITY = re.compile("Q[0-9]+")
_NOT_SHOWN = "?"
"""Stands for a value whose printed form the audit does not know: quantities, coordinates."""


def statements_of(made: random.Random, survey: Survey) -> Question:
    """The statements of an item about one or two properties, with all their qualifiers."""
    item, relations = _some_relations(made, survey.graph)
    edges = [edge for name in relations for edge in _of(survey.graph, item, name)]
    rows: Rows = Counter((_value(edge), _qualifiers(edge)) for edge in edges)
    call = {"entity": item, "direction": "outgoing", "properties_to_filter_for": relations}
    return Question("statements by search", "search", call, Expected(rows), "search")


def triples_of(made: random.Random, survey: Survey) -> Question:
    """The same by get_triples."""
    item, relations = _some_relations(made, survey.graph)
    edges = [edge for name in relations for edge in _of(survey.graph, item, name)]
    rows: Rows = Counter((item, _value(edge), _qualifiers(edge)) for edge in edges)
    return Question(
        "statements by get_triples", "get_triples", {"entity": item, "relations": relations}, Expected(rows), "triples"
    )


def edges(made: random.Random, survey: Survey) -> Question:
    """The ends of all statements about a property, or their number."""
    relation = made.choice(_to_entities(survey.graph))
    rows = [(edge.head, edge.tail) for edge in survey.graph.by_relation[relation]]
    match = f"MATCH (a)-[r:{relation}]->(b)"
    if made.random() < 0.4:
        return plan("statements by plan", f"{match} RETURN count(*) AS number", [(len(rows),)], rdf=True)
    return plan("statements by plan", f"{match} RETURN a, b", rows, rdf=True)


def with_qualifier(made: random.Random, survey: Survey) -> Question:
    """Statements whose qualifiers meet a condition."""
    graph = survey.graph
    of = made.choice([p for p in _qualifier_properties(survey) if p.owner in _to_entities(graph)])
    present = made.choice((Present(of.name), Not(Present(of.name))))
    condition = present if _has_entities(of) or made.random() < 0.2 else Conditions(made).any(of)
    rows = [(e.head, e.tail) for e in graph.by_relation[of.owner] if condition.holds(e.properties)]
    match = f"MATCH (a)-[r:{of.owner}]->(b) WHERE {condition.text('r')}"
    if made.random() < 0.3:
        return plan("qualifiers", f"{match} RETURN count(*) AS number", [(len(rows),)], rdf=True)
    return plan("qualifiers", f"{match} RETURN a, b", rows, rdf=True)


def paths(made: random.Random, survey: Survey) -> Question:
    """Pairs of statements with one value."""
    graph = survey.graph
    first = made.choice([edge for edge in graph.edges if not edge.tail.startswith(LITERAL)])
    relation = made.choice([edge.relation for edge in graph.incoming[first.tail]])
    rows = [
        (a.head, a.tail, c.head)
        for a in graph.by_relation[first.relation]
        for c in graph.incoming[a.tail]
        if c.relation == relation and c is not a and not a.tail.startswith(LITERAL)
    ]
    text = f"MATCH (a)-[:{first.relation}]->(b)<-[:{relation}]-(c) RETURN a, b, c"
    return plan("two-edge path", text, rows, rdf=True)


def qualifier_values(made: random.Random, survey: Survey) -> Question:
    """The values of a qualifier, with the number of statements that have each."""
    of = made.choice([p for p in _qualifier_properties(survey) if not _has_entities(p)])
    counts = Counter(
        canonical(v) for e in survey.graph.by_relation[of.owner] for v in set(values_of(e.properties, of.name))
    )
    rows: Rows = Counter(dict.fromkeys(counts.items(), 1))
    call = {"property_name": of.name, "entity_name": of.owner, "entity_type": "relationship"}
    return Question("values of qualifiers", "get_unique_property_values", call, Expected(rows), "values")


def by_value(made: random.Random, survey: Survey) -> Question:
    """Items with a literal value."""
    graph = survey.graph
    edge = made.choice([e for e in graph.edges if e.tail.startswith(LITERAL) and _known(e)])
    value = edge.tail.removeprefix(LITERAL)
    holders = {e.head for e in graph.by_relation[edge.relation] if e.tail == edge.tail}
    call = {"label": "*", "property_name": edge.relation, "property_value": value}
    rows: Rows = Counter((key,) for key in holders)
    return Question("get_node_by_property", "get_node_by_property", call, Expected(rows), "nodes")


def _some_relations(made: random.Random, graph: RawGraph) -> tuple[str, list[str]]:
    item = made.choice(sorted(graph.outgoing))
    relations = sorted({e.relation for e in graph.outgoing[item]})
    known = [name for name in relations if all(map(_known, _of(graph, item, name)))]
    return item, sorted(made.sample(known, made.choice((1, 1, 2))))


def _qualifier_properties(survey: Survey) -> Sequence[Property]:
    return [of for of in survey.of_edges if of.name[0] == "P" and _NOT_SHOWN not in of.values]


def _has_entities(of: Property) -> bool:
    return any(isinstance(value, str) and _ENTITY.fullmatch(value) for value in of.values)


def _of(graph: RawGraph, item: str, relation: str) -> Sequence[Edge]:
    return [edge for edge in graph.outgoing[item] if edge.relation == relation]


def _to_entities(graph: RawGraph) -> Sequence[str]:
    return [name for name, some in graph.by_relation.items() if not any(e.tail.startswith(LITERAL) for e in some)]


def _known(edge: Edge) -> bool:
    values = [value for name in edge.properties for value in values_of(edge.properties, name)]
    return edge.tail != LITERAL + _NOT_SHOWN and _NOT_SHOWN not in values


def _value(edge: Edge) -> str:
    return edge.tail.removeprefix(LITERAL)


def _qualifiers(edge: Edge) -> tuple[object, ...]:
    pairs = [(name, canonical(value)) for name in edge.properties for value in values_of(edge.properties, name)]
    return tuple(sorted(pairs, key=repr))
