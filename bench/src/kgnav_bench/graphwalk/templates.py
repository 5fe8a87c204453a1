"""The twelve templates of GraphWalk's table 6. The questions are the paper's, the wording is this project's."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgnav_bench.graphwalk.evaluation import Evaluator, Row
from kgnav_bench.graphwalk.graphs import KEY, NodeClass, Pool, RelationshipClass, Value

MAX_HOPS = 3
"""Maximum length of a path of variable length (GraphWalk, 5.2)."""
RETRIEVAL, PATHS, LOGIC = "retrieval and aggregation", "path and relational traversal", "complex logical composition"

Fields = Mapping[str, str]
"""The fields of each object of an answer: `string` or `number`, by name."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A template with its placeholders filled in."""

    text: str
    cypher: str
    fields: Fields
    parameters: Mapping[str, Value]
    """The arguments of the template's evaluation."""


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of question. `fill` chooses its classes, properties and values at random."""

    name: str
    category: str
    fill: Callable[[Choices], Instance]
    evaluate: Callable[..., list[Row]]
    """Computes its answer in plain Python."""
    one_answer: bool = False
    """Whether the question asks for one of several valid answers. Any of them is right."""


class Choices:
    """Random choices among the classes that have members, and among the values that occur."""

    def __init__(self, evaluator: Evaluator, chance: random.Random) -> None:
        schema = evaluator.graph.schema
        self.chance = chance
        self.evaluator = evaluator
        self._classes = [each for each in schema.node_classes if evaluator.members[each.label]]
        self._relationships = [each for each in schema.relationship_classes if evaluator.of_type[each.type]]

    def node_class(self) -> NodeClass:
        return self.chance.choice(self._classes)

    def label(self) -> str:
        return self.node_class().label

    def two_labels(self) -> Sequence[str]:
        return [each.label for each in self.chance.sample(self._classes, 2)]

    def relationship_class(self) -> RelationshipClass:
        return self.chance.choice(self._relationships)

    def pool(self, pools: Sequence[Pool]) -> Pool:
        return self.chance.choice(pools)

    def value(self, pool: Pool) -> Value:
        return self.chance.choice(pool.values)

    def key(self, label: str) -> str:
        return self.evaluator.nodes[self.chance.choice(self.evaluator.members[label])].key

    def hops(self) -> int:
        return self.chance.randint(2, MAX_HOPS)


def literal(value: Value) -> str:
    """A value as a Cypher literal. No string here has characters to escape."""
    return f"'{value}'" if isinstance(value, str) else repr(value)


def _field(pool: Pool) -> str:
    return "number" if pool.numeric else "string"


_NODE = {"node_key": "string"}
_ENDS = {"source_node_key": "string", "target_node_key": "string"}


def _node_count(choose: Choices) -> Instance:
    source, target = choose.label(), choose.label()
    return Instance(
        f'How many "{source}" nodes have a relationship to at least one "{target}" node?',
        f"MATCH (a:{source})-->(b:{target}) RETURN count(DISTINCT a) AS count",
        {"count": "number"},
        {"source": source, "target": target},
    )


def _relationship_count(choose: Choices) -> Instance:
    kind = choose.relationship_class().type
    return Instance(
        f'How many "{kind}" relationships are in the graph?',
        f"MATCH ()-[r:{kind}]->() RETURN count(DISTINCT r) AS count",
        {"count": "number"},
        {"kind": kind},
    )


def _most_relationships(choose: Choices) -> Instance:
    source, kind = choose.label(), choose.relationship_class().type
    return Instance(
        f'Which "{source}" node has most outgoing "{kind}" relationships, and how many? Name one node.',
        f"MATCH (n:{source})-[r:{kind}]->() WITH n, count(r) AS rel_count "
        "RETURN n.key AS node_key, rel_count ORDER BY rel_count DESC LIMIT 1",
        {**_NODE, "rel_count": "number"},
        {"source": source, "kind": kind},
    )


def _node_by_property(choose: Choices) -> Instance:
    node_class = choose.node_class()
    pool = choose.pool(node_class.pools)
    label, name, value = node_class.label, pool.name, choose.value(pool)
    return Instance(
        f'Which "{label}" nodes have "{value}" as their "{name}"?',
        f"MATCH (n:{label} {{{name}: {literal(value)}}}) RETURN DISTINCT n.key AS node_key",
        _NODE,
        {"label": label, "name": name, "value": value},
    )


def _relationship_by_property(choose: Choices) -> Instance:
    relationship_class = choose.relationship_class()
    pool = choose.pool(relationship_class.pools)
    kind, name, value = relationship_class.type, pool.name, choose.value(pool)
    properties = {own.name: _field(own) for own in relationship_class.pools}
    returned = ", ".join(f"r.{own} AS {own}" for own in properties)
    return Instance(
        f'Which "{kind}" relationships have "{value}" as their "{name}"? Give both ends and all properties of each.',
        f"MATCH (s)-[r:{kind} {{{name}: {literal(value)}}}]->(t) "
        f"RETURN s.key AS source_key, t.key AS target_key, {returned}",
        {"source_key": "string", "target_key": "string", **properties},
        {"kind": kind, "name": name, "value": value},
    )


def _path_finding(choose: Choices) -> Instance:
    source, middle, target = choose.label(), choose.label(), choose.label()
    return Instance(
        f'Which paths lead from a "{source}" over a "{middle}" to a "{target}" node? Give both ends of each.',
        f"MATCH (a:{source})-->(b:{middle})-->(c:{target}) RETURN a.key AS source_node_key, c.key AS target_node_key",
        _ENDS,
        {"source": source, "middle": middle, "target": target},
    )


def _variable_hops(choose: Choices) -> Instance:
    source, target, hops = choose.label(), choose.label(), choose.hops()
    return Instance(
        f'From which "{source}" nodes do 1 to {hops} steps lead to which "{target}" nodes, from where one more step '
        "leads on to any node? Give both ends, without that last step.",
        f"MATCH (a:{source})-[*1..{hops}]->(b:{target})-->() "
        "RETURN DISTINCT a.key AS source_node_key, b.key AS target_node_key",
        _ENDS,
        {"source": source, "target": target, "hops": hops},
    )


def _path_from_node(choose: Choices) -> Instance:
    source, target, hops = choose.label(), choose.label(), choose.hops()
    key = choose.key(source)
    return Instance(
        f'Which "{target}" nodes are reached in 1 to {hops} steps from the node with the key "{key}"?',
        f"MATCH (a:{source} {{key: '{key}'}})-[*1..{hops}]->(b:{target}) RETURN DISTINCT b.key AS target_node_key",
        {"target_node_key": "string"},
        {"source": source, "key": key, "target": target, "hops": hops},
    )


def _remote_property(choose: Choices) -> Instance:
    source, target = choose.label(), choose.node_class()
    key, pool = choose.key(source), choose.pool(target.pools)
    return Instance(
        f'Start at the "{source}" node with the key "{key}". Find a "{target.label}" node which 2 to {MAX_HOPS} steps '
        f'lead to and no single one, and give its "{pool.name}". Any such node will do: give one answer.',
        f"MATCH (a:{source} {{key: '{key}'}})-[*2..{MAX_HOPS}]->(b:{target.label}) WHERE NOT (a)-->(b) "
        f"RETURN DISTINCT b.{pool.name} AS value",
        {"value": _field(pool)},
        {"source": source, "key": key, "target": target.label, "name": pool.name, "hops": MAX_HOPS},
    )


def _intersection(choose: Choices) -> Instance:
    source, (first, second) = choose.label(), choose.two_labels()
    return Instance(
        f'Which "{source}" nodes have a relationship to a "{first}" node and also one to a "{second}" node?',
        f"MATCH (a:{source}) WHERE EXISTS((a)-->(:{first})) AND EXISTS((a)-->(:{second})) "
        "RETURN DISTINCT a.key AS node_key",
        _NODE,
        {"source": source, "first": first, "second": second},
    )


def _negation_with_connection(choose: Choices) -> Instance:
    source, (positive, negative) = choose.label(), choose.two_labels()
    return Instance(
        f'Which "{source}" nodes have a relationship to a "{positive}" node and none to any "{negative}" node?',
        f"MATCH (a:{source}) WHERE EXISTS((a)-->(:{positive})) AND NOT EXISTS((a)-->(:{negative})) "
        "RETURN DISTINCT a.key AS node_key",
        _NODE,
        {"source": source, "positive": positive, "negative": negative},
    )


def _negation_on_relationship(choose: Choices) -> Instance:
    source, target, relationship_class = choose.node_class(), choose.label(), choose.relationship_class()
    source_pool, pool = choose.pool(source.pools), choose.pool(relationship_class.pools)
    source_value, value, kind = choose.value(source_pool), choose.value(pool), relationship_class.type
    return Instance(
        f'Of the "{source.label}" nodes with "{source_value}" as their "{source_pool.name}", which have a "{kind}" '
        f'relationship to a "{target}" node whose "{pool.name}" is not "{value}"?',
        f"MATCH (a:{source.label} {{{source_pool.name}: {literal(source_value)}}})-[r:{kind}]->(b:{target}) "
        f"WHERE r.{pool.name} <> {literal(value)} RETURN DISTINCT a.key AS node_key",
        _NODE,
        {
            "source": source.label,
            "source_name": source_pool.name,
            "source_value": source_value,
            "kind": kind,
            "target": target,
            "name": pool.name,
            "value": value,
        },
    )


TEMPLATES = (
    Template("node count", RETRIEVAL, _node_count, Evaluator.node_count),
    Template("relationship count", RETRIEVAL, _relationship_count, Evaluator.relationship_count),
    Template(
        "node with most relationships", RETRIEVAL, _most_relationships, Evaluator.most_relationships, one_answer=True
    ),
    Template("node by property", RETRIEVAL, _node_by_property, Evaluator.node_by_property),
    Template("relationship by property", RETRIEVAL, _relationship_by_property, Evaluator.relationship_by_property),
    Template("path finding", PATHS, _path_finding, Evaluator.path_finding),
    Template("variable hop path", PATHS, _variable_hops, Evaluator.variable_hops),
    Template("path from specific node", PATHS, _path_from_node, Evaluator.path_from_node),
    Template("remote node property", PATHS, _remote_property, Evaluator.remote_property, one_answer=True),
    Template("compositional intersection", LOGIC, _intersection, Evaluator.intersection),
    Template("negation with connection", LOGIC, _negation_with_connection, Evaluator.negation_with_connection),
    Template("negation on relationship property", LOGIC, _negation_on_relationship, Evaluator.negation_on_relationship),
)
"""All templates in the order of table 6."""

assert KEY == "key"  # written out in the queries
