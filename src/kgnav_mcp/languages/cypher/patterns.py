"""Converts the syntax trees of patterns and label expressions to the algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from kgnav_mcp.languages.cypher.expressions import Expressions
from kgnav_mcp.languages.cypher.reader import Context, Reading, Scope, has_token, name_of, subtree, subtrees, tokens
from kgnav_mcp.languages.cypher.syntax import Node
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    Constant,
    EdgePattern,
    Expression,
    Match,
    NodePattern,
    PathKind,
    PathLength,
    PathPattern,
    Property,
    is_named,
)
from kgnav_mcp.plan.walking import conjunction


def conjuncts(labels: Node) -> Iterator[Node]:
    """The label expressions that are joined by "and"."""
    if labels.data == "all_of":
        for part in subtrees(labels):
            yield from conjuncts(part)
    else:
        yield labels


def any_of_labels(labels: Node) -> tuple[str, ...] | None:
    """The labels of a single label or an "or" of labels; None for any other expression."""
    if labels.data == "label":
        return (name_of(labels),)
    if labels.data == "any_of" and all(part.data == "label" for part in subtrees(labels)):
        return tuple(dict.fromkeys(name_of(part) for part in subtrees(labels)))
    return None


def types_of(labels: Node) -> tuple[str, ...] | None:
    """The types that an edge may have; None if the expression is not a type or an "or" of types.

    An edge has only one type, so `:wdt:P57` is a single id with its prefix.
    """
    if labels.data == "any_of":
        alternatives = [types_of(part) for part in subtrees(labels)]
        return (
            tuple(dict.fromkeys(name for names in alternatives if names for name in names))
            if all(alternatives)
            else None
        )
    parts = [labels] if labels.data == "label" else list(subtrees(labels))
    joined = labels.data == "all_of" and len(parts) == 2 and not has_token(labels, "AMPERSAND")
    if not (joined or labels.data == "label") or any(part.data != "label" for part in parts):
        return None
    return (":".join(name_of(part) for part in parts),)


MAX_ELEMENTS: Final = 200
"""Maximum nodes and edges in the patterns of one plan."""

_SELECTORS: Final = {"one_shortest": PathKind.SHORTEST, "all_shortest": PathKind.ALL_SHORTEST}
_PATH_FUNCTIONS: Final = {
    "shortestpath": PathKind.SHORTEST,
    "allshortestpaths": PathKind.ALL_SHORTEST,
    "distance": PathKind.DISTANCE,
}
_NO_AGGREGATE: Final = "a condition of a pattern cannot contain an aggregate"

_Condition = Callable[[Scope], Iterable[Expression]]


@dataclass(slots=True)
class _Parts:
    """The parts of one match, collected while reading. Conditions are read last, when all variables are known."""

    bound: Scope
    nodes: dict[str, NodePattern] = field(default_factory=dict[str, NodePattern])
    edges: dict[str, EdgePattern] = field(default_factory=dict[str, EdgePattern])
    paths: dict[str, PathPattern] = field(default_factory=dict[str, PathPattern])
    conditions: list[_Condition] = field(default_factory=list[_Condition])

    @property
    def scope(self) -> dict[str, str]:
        """The variables bound before the match and those that it binds."""
        named = dict.fromkeys(self.nodes, "node") | dict.fromkeys(self.edges, "edge")
        named |= dict.fromkeys(self.paths, "path")
        return {**self.bound, **{name: kind for name, kind in named.items() if is_named(name)}}

    def taken(self, name: str) -> bool:
        """Whether a variable of the match has this name."""
        return name in self.nodes or name in self.edges or name in self.paths


class Patterns:
    """Converts the patterns of one text, and the expressions in them."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self.expressions = Expressions(reading, self.subquery)

    def match(self, node: Node, bound: Scope, *, optional: bool = False) -> tuple[Match, dict[str, str]]:
        """The pattern of a clause with its condition, and the variables known after it."""
        parts = _Parts(bound)
        for pattern in (part for patterns in subtrees(node, "patterns") for part in subtrees(patterns)):
            self._pattern(pattern, parts)
        self._where(node, parts)
        edges_differ = subtree(node, "repeatable") is None
        return self._build_match(parts, optional=optional, edges_differ=edges_differ), parts.scope

    def _build_match(self, parts: _Parts, *, optional: bool = False, edges_differ: bool = True) -> Match:
        scope = parts.scope
        expressions = [condition for conditions in parts.conditions for condition in conditions(scope)]
        return Match(
            tuple(parts.nodes.values()),
            tuple(parts.edges.values()),
            tuple(parts.paths.values()),
            conjunction(expressions),
            optional,
            edges_differ,
        )

    def subquery(self, node: Node, bound: Scope) -> Match | None:
        """The pattern of EXISTS { }, COUNT { } or a pattern used as a condition; None if it is not a single pattern."""
        if node.data == "pattern_predicate":
            return self._predicate(node, bound)
        query = subtree(node, "query")
        if query is None:
            return self.match(node, bound)[0]
        pipelines = list(subtrees(query))
        clauses = [clause for pipeline in pipelines for clause in subtrees(pipeline)]
        plain = len(pipelines) == 1 and clauses[0].data == "match" and not has_token(clauses[0], "OPTIONAL")
        if not plain or [clause.data for clause in clauses[1:]] not in ([], ["return"]):
            reason = "{ } must contain one pattern with its condition"
            self._reading.report(query, reason, "EXISTS { (a)-[:R]->(b), (b)-[:S]->(c) WHERE b.x > 1 }")
            return None
        match, scope = self.match(clauses[0], bound)
        for returned in clauses[1:]:
            if has_token(returned, "DISTINCT") or subtree(returned, "offset", "limit"):
                reason = "DISTINCT, SKIP and LIMIT are not supported in { }"
                self._reading.report(query, reason, "MATCH, then WITH a, count(DISTINCT b) AS c")
            for column in (
                column for columns in subtrees(returned, "columns") for column in subtrees(columns, "column")
            ):
                self.expressions.read(next(subtrees(column)), Context(scope, _NO_AGGREGATE))
        return match

    def _predicate(self, node: Node, bound: Scope) -> Match:
        parts = _Parts(bound)
        self._chain(node, parts, None)
        for name in (name for name in (*parts.nodes, *parts.edges) if is_named(name) and name not in bound):
            reason = f"unknown variable {name}: a pattern used as a condition cannot bind variables"
            self._reading.report(node, reason, f"EXISTS {{ {self._reading.source_text(node)} }}")
        return self._build_match(parts)

    def _where(self, node: Node, parts: _Parts) -> None:
        for where in subtrees(node, "where"):
            condition = next(subtrees(where))

            def read(scope: Scope, condition: Node = condition) -> Iterator[Expression]:
                yield self.expressions.read(condition, Context(scope, _NO_AGGREGATE))

            parts.conditions.append(read)

    def _pattern(self, node: Node, parts: _Parts) -> None:
        """Read one of the patterns separated by commas."""
        kind = self._path_selector(node)
        chains = list(subtrees(node, "chain", "group", "shortest"))
        chain = chains[0]
        if len(chains) > 1:
            self._reading.report(chains[1], "missing edge between two nodes", "(a)-->(b)", "(a)-[:R]->{1,3}(b)")
        if chain.data == "group":
            self._group(chain, parts)
            return
        if chain.data == "shortest":
            kind = _PATH_FUNCTIONS[next(tokens(chain, "PATH_FUNCTION")).lower()]
            chain = next(subtrees(chain))
        elements = self._chain(chain, parts, kind)
        if name := subtree(node, "path_name"):
            path = name_of(next(subtrees(name)))
            self._check_unused(next(subtrees(name)), path, parts)
            parts.paths[path] = PathPattern(path, elements)

    def _path_selector(self, node: Node) -> PathKind | None:
        if (selector := subtree(node, *_SELECTORS)) is not None:
            return _SELECTORS[selector.data]
        if (selector := subtree(node, "k_shortest")) is None:
            return None
        if str(next(tokens(selector, "INTEGER"))) != "1":
            self._reading.report(selector, "the k shortest paths are not supported", "ANY SHORTEST", "ALL SHORTEST")
        return PathKind.SHORTEST

    def _group(self, group: Node, parts: _Parts) -> None:
        """Read a pattern in brackets."""
        inner, *rest = subtrees(group)
        if any(part.data != "where" for part in rest):
            self._reading.report(group, "a repeated group is not supported", "a repeated edge: (a)-[:R]->{1,3}(b)")
            return
        self._pattern(inner, parts)
        self._where(group, parts)

    def _chain(self, chain: Node, parts: _Parts, kind: PathKind | None) -> tuple[str, ...]:
        """Read nodes and edges in turn, and return their variables. With `kind` the one edge is a path of that kind."""
        elements = list(subtrees(chain))
        before = self._reading.elements
        self._reading.elements += len(elements)
        if self._reading.elements > MAX_ELEMENTS:
            if before <= MAX_ELEMENTS:
                self._reading.report(chain, f"a plan has at most {MAX_ELEMENTS} nodes and edges in its patterns")
            return ()
        if kind is not None and len(elements) != 3:
            reason = "a shortest path needs a single edge of variable length"
            self._reading.report(chain, reason, "p = shortestPath((a)-[:R|S*]->(b))")
        variables = [self._element(element, parts) for element in elements]
        for place in range(1, len(elements), 2):
            self._edge(elements[place], variables[place], (variables[place - 1], variables[place + 1]), parts, kind)
        return tuple(variables)

    def _element(self, element: Node, parts: _Parts) -> str:
        named = subtree(element, "name")
        name = name_of(named) if named else self._reading.unnamed()
        if named and not is_named(name):
            self._reading.report(named, "invalid variable name", name[1:] or "a")
        if element.data == "node":
            self._node(element, name, parts)
        return name

    def _node(self, node: Node, name: str, parts: _Parts) -> None:
        if name in parts.edges or name in parts.paths or parts.bound.get(name) in {"edge", "path", "literal"}:
            self._reading.report(node, f"{name} is not a node", f"{name}2")
        node_pattern = parts.nodes.get(name, NodePattern(name))
        groups: list[tuple[str, ...]] = []
        with_subclasses = subtree(node, "subclasses") is not None
        for labels in subtrees(node, "labels"):
            for label in conjuncts(next(subtrees(labels))):
                if (group := any_of_labels(label)) is not None:
                    groups.append(group)
                elif with_subclasses:
                    self._reading.report(label, "* includes subclasses only of labels that a node has, not with !")
                else:
                    self._label_condition(name, label, parts)
        subclasses = node_pattern.subclasses or with_subclasses
        parts.nodes[name] = replace(
            node_pattern, labels=tuple(dict.fromkeys((*node_pattern.labels, *groups))), subclasses=subclasses
        )
        self._properties(node, name, parts)
        self._where(node, parts)

    def _label_condition(self, name: str, label: Node, parts: _Parts) -> None:
        parts.conditions.append(lambda _scope: [self.expressions.label_condition(name, label)])

    def _properties(self, node: Node, name: str, parts: _Parts) -> None:
        for argument in subtrees(node, "parameter"):
            self._reading.report(argument, "a parameter can only be a single value or a list", "{name: $name}")
        for key, value in (tuple(subtrees(pair)) for argument in subtrees(node, "map") for pair in subtrees(argument)):
            owned = Property(name, name_of(key))

            def read(scope: Scope, owned: Property = owned, value: Node = value) -> Iterator[Expression]:
                yield Compare(owned, Comparison.EQUAL, self.expressions.read(value, Context(scope, _NO_AGGREGATE)))

            parts.conditions.append(read)

    def _edge(self, edge: Node, name: str, ends: tuple[str, str], parts: _Parts, kind: PathKind | None) -> None:
        if parts.taken(name) or parts.bound.get(name) in {"node", "path", "literal"}:
            self._reading.report(
                edge, f"{name} is already used: each edge of a pattern needs its own variable", f"{name}2"
            )
        path = self._length(edge, kind)
        relations: tuple[str, ...] = ()
        for labels in subtrees(edge, "labels"):
            expression = next(subtrees(labels))
            if (types := types_of(expression)) is not None:
                relations = types
            elif expression.data == "not_label" and path is None:
                self._label_condition(name, expression, parts)
            else:
                self._reading.report(labels, "an edge can only have one type, or one of several (A|B)", "[:R|S]")
        if path is not None and (subtree(edge, "map", "where") is not None):
            self._reading.report(
                edge, "a condition on each edge of a path is not supported", "-[:R {x: 1}]->(b)-[:R {x: 1}]->"
            )
        source, target = reversed(ends) if edge.data == "edge_left" else ends
        pattern = EdgePattern(name, source, target, relations, edge.data == "edge_either", path)
        parts.edges[name] = pattern
        self._properties(edge, name, parts)
        self._where(edge, parts)

    def _length(self, edge: Node, kind: PathKind | None) -> PathLength | None:
        hops = list(
            subtrees(edge, "hops_any", "hops_any_or_none", "hops_exactly", "hops_between", "quantifier_between")
        )
        if len(hops) > 1:
            self._reading.report(hops[1], "the length of a path is given twice", "-[:R*1..3]->", "-[:R]->{1,3}")
        if not hops:
            return None if kind is None else PathLength(kind, 1, 1)
        shortest, longest = self._bounds(hops[0])
        if longest is not None and longest < shortest:
            self._reading.report(hops[0], "the upper bound is below the lower bound", f"*{longest}..{shortest}")
        if kind is None:
            kind = PathKind.TRAILS
        return PathLength(kind, shortest, longest)

    def _bounds(self, hops: Node) -> tuple[int, int | None]:
        """The smallest and the largest number of edges; None for no upper bound."""
        sides: list[int | None] = [None]
        for token in tokens(hops):
            if token.type == "INTEGER":
                number = self.expressions.whole_number(token, hops)
                sides[-1] = number.value if isinstance(number, Constant) and isinstance(number.value, int) else 0
            elif token.type in {"DOTS", "COMMA"}:
                sides.append(None)
        least = 0 if hops.data in {"hops_any_or_none", "quantifier_between"} else 1
        shortest = least if sides[0] is None else sides[0]
        return shortest, shortest if hops.data == "hops_exactly" else sides[-1]

    def _check_unused(self, node: Node, name: str, parts: _Parts) -> None:
        """Check that the name of a path is not in use."""
        if parts.taken(name) or name in parts.bound:
            self._reading.report(node, f"{name} is already used", f"{name}2")
