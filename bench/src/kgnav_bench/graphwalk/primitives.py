"""Answers the questions with GraphWalk's four primitives, with only the paper's arguments, as its agent must.

The script knows the schema, and reads everything else from the answers of the tools: it collects nodes and their
neighbours, then counts and compares them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgnav_bench.graphwalk.arms import Tools, every_row, output
from kgnav_bench.graphwalk.graphs import KEY, Schema
from kgnav_bench.graphwalk.questions import Question

Rows = Sequence[Sequence[object]]


@dataclass(frozen=True, slots=True)
class Step:
    """A relationship that leaves a node, with the node at its end."""

    source: str
    type: str
    target: str
    label: str
    target_properties: Mapping[str, str]
    properties: Mapping[str, str]


class Reader:
    """Reads nodes and neighbours with the primitives, and caches them (GraphWalk, B.2)."""

    def __init__(self, tools: Tools, schema: Schema) -> None:
        self._tools = tools
        self.schema = schema
        self._steps: dict[str, Sequence[Step]] = {}

    def think(self, thought: str) -> None:
        """Call `think` with what is looked up next."""
        self._tools.call("think", {"thought": thought})

    def keys(self, label: str) -> Sequence[str]:
        """The keys of all nodes of a class."""
        arguments = {"property_name": KEY, "entity_name": label, "entity_type": "node"}
        return [key for (key,) in every_row(self._tools, "get_unique_property_values", arguments, ("value",))]

    def keys_with(self, label: str, name: str, value: object) -> Sequence[str]:
        """The keys of the nodes of a class with a value."""
        arguments = {"label": label, "property_name": name, "property_value": value}
        rows = every_row(self._tools, "get_node_by_property", arguments, ("properties",))
        return [properties(cell)[KEY] for (cell,) in rows]

    def steps(self, label: str, key: str) -> Sequence[Step]:
        """The relationships that leave a node."""
        if key not in self._steps:
            arguments = {"label": label, "property_name": KEY, "property_value": key}
            columns = ("direction", "relationship", "neighborLabels", "neighborProperties", "relationshipProperties")
            rows = every_row(self._tools, "get_all_nearest_neighbors", arguments, columns)
            self._steps[key] = [_step(key, *row[1:]) for row in rows if row[0] == "outgoing"]
        return self._steps[key]

    def trails(self, label: str, key: str, hops: int) -> Iterator[tuple[Step, ...]]:
        """Every path of one to `hops` relationships from a node. As in Cypher, no relationship is repeated."""
        paths: list[tuple[Step, ...]] = [()]
        for _ in range(hops):
            paths = [
                (*path, step)
                for path in paths
                for step in (self.steps(path[-1].label, path[-1].target) if path else self.steps(label, key))
                if step not in path
            ]
            yield from paths


def properties(cell: str) -> Mapping[str, str]:
    """The properties in a cell such as `a: 1; b: xy`."""
    return dict(pair.split(": ", 1) for pair in cell.split("; ")) if cell else {}


def _step(key: str, kind: str, label: str, target_properties: str, own: str) -> Step:
    target = properties(target_properties)
    return Step(key, kind, target[KEY], label, target, properties(own))


def _node_count(read: Reader, source: str, target: str) -> Rows:
    return [(sum(target in _labels(read, source, key) for key in read.keys(source)),)]


def _relationship_count(read: Reader, kind: str) -> Rows:
    return [(len(_of_type(read, kind)),)]


def _most_relationships(read: Reader, source: str, kind: str) -> Rows:
    counts = Counter(step.source for step in _of_type(read, kind, (source,)))
    return counts.most_common(1)


def _node_by_property(read: Reader, label: str, name: str, value: object) -> Rows:
    return [(key,) for key in read.keys_with(label, name, value)]


def _relationship_by_property(read: Reader, kind: str, name: str, value: object) -> Rows:
    (pools,) = [each.pools for each in read.schema.relationship_classes if each.type == kind]
    return [
        (step.source, step.target, *(step.properties[pool.name] for pool in pools))
        for step in _of_type(read, kind)
        if step.properties[name] == str(value)
    ]


def _path_finding(read: Reader, source: str, middle: str, target: str) -> Rows:
    return [
        (key, path[1].target)
        for key in read.keys(source)
        for path in read.trails(source, key, 2)
        if len(path) == 2 and (path[0].label, path[1].label) == (middle, target)
    ]


def _variable_hops(read: Reader, source: str, target: str, hops: int) -> Rows:
    return _distinct(
        (key, path[-1].target)
        for key in read.keys(source)
        for path in read.trails(source, key, hops)
        if path[-1].label == target and any(step not in path for step in read.steps(target, path[-1].target))
    )


def _path_from_node(read: Reader, source: str, key: str, target: str, hops: int) -> Rows:
    return _distinct((path[-1].target,) for path in read.trails(source, key, hops) if path[-1].label == target)


def _remote_property(read: Reader, *, source: str, key: str, target: str, name: str, hops: int) -> Rows:
    near = {step.target for step in read.steps(source, key)}
    for path in read.trails(source, key, hops):
        if len(path) > 1 and path[-1].label == target and path[-1].target not in near:
            return [(path[-1].target_properties[name],)]
    return []


def _intersection(read: Reader, source: str, first: str, second: str) -> Rows:
    return [(key,) for key in read.keys(source) if {first, second} <= _labels(read, source, key)]


def _negation_with_connection(read: Reader, source: str, positive: str, negative: str) -> Rows:
    reached = {key: _labels(read, source, key) for key in read.keys(source)}
    return [(key,) for key, labels in reached.items() if positive in labels and negative not in labels]


def _negation_on_relationship(
    read: Reader,
    *,
    source: str,
    source_name: str,
    source_value: object,
    kind: str,
    target: str,
    name: str,
    value: object,
) -> Rows:
    return [
        (key,)
        for key in read.keys_with(source, source_name, source_value)
        if any(
            (step.type, step.label) == (kind, target) and step.properties[name] != str(value)
            for step in read.steps(source, key)
        )
    ]


def _labels(read: Reader, label: str, key: str) -> set[str]:
    """The classes of the nodes that relationships lead to."""
    return {step.label for step in read.steps(label, key)}


def _of_type(read: Reader, kind: str, sources: Sequence[str] = ()) -> list[Step]:
    """The relationships of a type that leave nodes of these classes: of all where it may begin, if none are given."""
    (pairs,) = [each.pairs for each in read.schema.relationship_classes if each.type == kind]
    labels = sources or list(dict.fromkeys(source for source, _ in pairs))
    return [
        step for label in labels for key in read.keys(label) for step in read.steps(label, key) if step.type == kind
    ]


def _distinct(rows: Iterable[tuple[str, ...]]) -> Rows:
    return list(dict.fromkeys(rows))


_SCRIPTS: Mapping[str, Callable[..., Rows]] = {
    "node count": _node_count,
    "relationship count": _relationship_count,
    "node with most relationships": _most_relationships,
    "node by property": _node_by_property,
    "relationship by property": _relationship_by_property,
    "path finding": _path_finding,
    "variable hop path": _variable_hops,
    "path from specific node": _path_from_node,
    "remote node property": _remote_property,
    "compositional intersection": _intersection,
    "negation with connection": _negation_with_connection,
    "negation on relationship property": _negation_on_relationship,
}


class PrimitivesArm:
    """Answers with get_node_by_property, get_all_nearest_neighbors, get_unique_property_values and think."""

    name = "primitives"
    toolsets: Sequence[str] = ("graphwalk",)

    def answer(self, tools: Tools, schema: Schema, question: Question) -> str:
        read = Reader(tools, schema)
        read.think(f"{question.template.name}: {question.text}")
        return output(question, _SCRIPTS[question.template.name](read, **question.parameters))
