"""Questions with conditions on nodes and edges: with and without functions, negated, on one and on several values."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from .conditions import Between, Both, Compare, Condition, Either, Missing, Not, OneOf, Present
from .question import MAX_ROWS, Question, Refusal, plan
from .raw_graph import Node, RawGraph, Value
from .survey import Property, Survey, only


class Conditions:
    """Generates conditions on one property."""

    def __init__(self, made: random.Random) -> None:
        self._made = made

    def any(self, of: Property) -> Condition:
        """A condition that suits the property's type."""
        simple: Condition = {"text": self.text, "number": self.number, "day": self.day, "boolean": self.boolean}[
            of.type
        ](of)
        return Not(simple) if self._made.random() < 0.25 else simple

    def text(self, of: Property) -> Condition:
        """A comparison with a text or a part of one."""
        value = str(of.value(self._made))
        function = self._made.choice((None, None, "toLower", "toUpper"))
        shown = {"toLower": str.lower, "toUpper": str.upper}[function](value) if function else value
        comparison = self._made.choice(("=", "<>", "CONTAINS", "STARTS WITH", "ENDS WITH"))
        if comparison == "CONTAINS" and len(shown) > 3:
            start = self._made.randrange(len(shown) - 3)
            shown = shown[start : start + 4]
        elif comparison == "STARTS WITH":
            shown = shown[:4]
        elif comparison == "ENDS WITH":
            shown = shown[-4:]
        return Compare(of.name, comparison, shown, function)

    def number(self, of: Property) -> Condition:
        """A comparison with a number: an integer is written as a float now and then, and the other way round."""
        value = of.number(self._made)
        if isinstance(value, int) and abs(value) < 2**53 and self._made.random() < 0.4:
            value = float(value)
        elif isinstance(value, float) and value.is_integer() and abs(value) < 2**53 and self._made.random() < 0.4:
            value = int(value)
        if self._made.random() < 0.2:
            return Compare(of.name, "=", abs(value), "abs")
        if self._made.random() < 0.25:
            low, high = sorted((value, of.number(self._made)))
            return Between(of.name, low, high)
        return Compare(of.name, self._made.choice(("=", "=", "<>", "<", "<=", ">", ">=")), value)

    def day(self, of: Property) -> Condition:
        """A comparison with a date of any precision."""
        value = str(of.value(self._made))[: self._made.choice((4, 4, 7, 10))]
        if self._made.random() < 0.2:
            low, high = sorted((value[:4], str(of.value(self._made))[:4]))
            return Between(of.name, low, high)
        return Compare(of.name, self._made.choice(("=", "=", "<>", "<", "<=", ">", ">=")), value)

    def boolean(self, of: Property) -> Condition:
        """A comparison with true or false."""
        return Compare(of.name, self._made.choice(("=", "<>")), of.value(self._made))


def on_nodes(made: random.Random, survey: Survey) -> Question:
    """All nodes of a label for which a condition holds, or their number."""
    of = made.choice(survey.of_nodes)
    condition = _combined(made, of, survey.of_nodes)
    return _about_nodes(made, survey.graph, of, condition, "filter on nodes")


def on_several(made: random.Random, survey: Survey) -> Question:
    """A condition on a property with several values."""
    several = only(survey.of_nodes, several=True)
    of = made.choice(several or survey.of_nodes)
    condition = Conditions(made).any(of)
    if made.random() < 0.2:
        condition = Both(condition, Conditions(made).any(of))
    return _about_nodes(made, survey.graph, of, condition, "several values" if several else "filter on nodes")


def with_size(made: random.Random, survey: Survey) -> Question:
    """The length of a text, or the number of values: refused where it could be either."""
    of = made.choice(only(survey.of_nodes, type="text"))
    if not only(survey.of_nodes, name=of.name, several=True):
        length = len(str(of.value(made)))
        condition = Compare(of.name, made.choice(("=", "<", ">=", "<>")), length, "size")
        return _about_nodes(made, survey.graph, of, condition, "size of a text")
    least = made.choice((1, 1, 2, 3))
    rows = [
        (_shown(survey.graph, node, of),)
        for node in _members(survey.graph, of)
        if of.name in node.properties and len(_listed(node.properties[of.name])) > least
    ]
    text = f"MATCH (n{_label(of)}) WHERE size(n.{of.name}) > {least} RETURN {_access(survey.graph, of)}"
    refusal = Refusal.COUNTED if of.array else Refusal.ALLOWED
    return plan("size of a list", text, rows, rdf=survey.graph.rdf, refusal=refusal)


def on_edges(made: random.Random, survey: Survey) -> Question:
    """Edges for whose properties a condition holds."""
    if not survey.of_edges:
        return on_several(made, survey)
    of = made.choice(survey.of_edges)
    condition = _combined(made, of, survey.of_edges)
    rows = [(e.head, e.tail) for e in survey.graph.by_relation[of.owner] if condition.holds(e.properties)]
    match = f"MATCH (a)-[r:{of.owner}]->(b) WHERE {condition.text('r')}"
    key = survey.graph.key
    if made.random() < 0.4 or len(rows) > MAX_ROWS:
        return plan("filter on edges", f"{match} RETURN count(*) AS number", [(len(rows),)], rdf=survey.graph.rdf)
    return plan("filter on edges", f"{match} RETURN a.{key}, b.{key}", rows, rdf=survey.graph.rdf)


def _about_nodes(made: random.Random, graph: RawGraph, of: Property, condition: Condition, kind: str) -> Question:
    rows = [(_shown(graph, node, of),) for node in _members(graph, of) if condition.holds(node.properties)]
    match = f"MATCH (n{_label(of)}) WHERE {condition.text('n')}"
    kind = of.kind(kind)
    if made.random() < 0.4 or len(rows) > MAX_ROWS:
        return plan(kind, f"{match} RETURN count(*) AS number", [(len(rows),)], rdf=graph.rdf)
    return plan(kind, f"{match} RETURN {_access(graph, of)}", rows, rdf=graph.rdf)


def _combined(made: random.Random, of: Property, among: Sequence[Property]) -> Condition:
    conditions = Conditions(made)
    first = conditions.any(of)
    if made.random() < 0.6:
        return first
    other = made.choice(only(among, owner=of.owner))
    second = made.choice((conditions.any(other), Missing(other.name), Present(other.name)))
    ways: tuple[Callable[[Condition, Condition], Condition], ...] = (Both, Either, lambda a, b: Not(Both(a, b)))
    return made.choice(ways)(first, second)


def one_of(made: random.Random, survey: Survey) -> Question:
    """Values in a list of constants."""
    of = made.choice([each for each in survey.of_nodes if each.type in {"text", "number"} and not each.several])
    condition: Condition = OneOf(of.name, tuple(of.value(made) for _ in range(3)))
    if made.random() < 0.3:
        condition = Not(condition)
    return _about_nodes(made, survey.graph, of, condition, "IN")


def _members(graph: RawGraph, of: Property) -> Sequence[Node]:
    return graph.by_label[of.owner] if of.owner else tuple(graph.nodes.values())


def _label(of: Property) -> str:
    return f":{of.owner}" if of.owner else ""


def _shown(graph: RawGraph, node: Node, of: Property) -> Value | None:
    """What a row shows of a node: its key, or the property itself of one that has no key."""
    return node.properties.get(of.name) if node.blank else node.properties.get(graph.key or "")


def _access(graph: RawGraph, of: Property) -> str:
    blank = any(node.blank for node in _members(graph, of))
    return f"n.{of.name if blank else graph.key}"


def _listed(value: Value) -> tuple[object, ...]:
    return value if isinstance(value, tuple) else (value,)
