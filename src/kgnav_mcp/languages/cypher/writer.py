"""Writes plans of the algebra as text in Cypher."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Final, cast

from kgnav_mcp.languages.cypher.values import ExpressionWriter, quoted
from kgnav_mcp.plan import (
    Clause,
    Column,
    Compare,
    Comparison,
    Connective,
    Constant,
    During,
    EdgePattern,
    Expression,
    HasLabel,
    Joined,
    ListOf,
    Match,
    NodePattern,
    Order,
    PathKind,
    PathLength,
    PathPattern,
    Plan,
    Project,
    Property,
    Unwind,
    Variable,
    is_named,
)
from kgnav_mcp.plan.walking import members_in, rewritten

_SEPARATE_CHAIN = frozenset({PathKind.SHORTEST, PathKind.ALL_SHORTEST, PathKind.DISTANCE})


@dataclass(slots=True)
class Chain:
    """Nodes, and the edge between each two, with a flag: True if it is written from its target to its source."""

    nodes: list[str]
    edges: list[tuple[EdgePattern, bool]] = field(default_factory=list[tuple[EdgePattern, bool]])
    path: str | None = None
    """The name of the path, if the chain is a named path."""

    @property
    def closed(self) -> bool:
        """Whether it cannot be extended: it is a named path or a shortest path."""
        return self.path is not None or any(needs_own_chain(edge) for edge, _ in self.edges)


def needs_own_chain(edge: EdgePattern) -> bool:
    """Whether an edge needs its own chain, as the argument of `shortestPath`."""
    return edge.path is not None and edge.path.kind in _SEPARATE_CHAIN


def chains(match: Match) -> list[Chain]:
    """The chains of a pattern. Parsing them again gives its nodes, edges and paths in the same order."""
    return _Layout(match).chains()


class _Layout:
    def __init__(self, match: Match) -> None:
        self._match = match
        self._unseen = [node.variable for node in match.nodes]
        self._edges = {edge.variable: edge for edge in match.edges}
        self._chains: list[Chain] = []

    def chains(self) -> list[Chain]:
        written: set[str] = set()
        paths = list(self._match.paths)
        path_of = {element: path for path in paths for element in path.elements if element in self._edges}
        for edge in self._match.edges:
            if edge.variable in written:
                continue
            path = path_of.get(edge.variable)
            if path is None:
                self._add_edge(edge)
                continue
            while paths and path in paths:
                first = paths.pop(0)
                self._add_path(first)
                written.update(first.elements)
        for path in paths:
            self._add_path(path)
        while self._unseen:
            self._add_single_node()
        return self._chains

    def _add_single_node(self) -> None:
        self._chains.append(Chain([self._unseen.pop(0)]))

    def _mark_written(self, *nodes: str) -> None:
        """Mark nodes as written. Unseen nodes that come before them are written as single nodes first."""
        unwritten = [node for node in dict.fromkeys(nodes) if node in self._unseen]
        while self._unseen[: len(unwritten)] != unwritten:
            self._add_single_node()
            unwritten = [node for node in unwritten if node in self._unseen]
        del self._unseen[: len(unwritten)]

    def _add_edge(self, edge: EdgePattern) -> None:
        last = self._chains[-1] if self._chains else None
        ends = edge.source, edge.target
        if last is not None and not last.closed and not needs_own_chain(edge) and last.nodes[-1] in ends:
            backwards = last.nodes[-1] != edge.source
            other = edge.source if backwards else edge.target
            if not (backwards and edge.either) and (other not in self._unseen or self._unseen[0] == other):
                self._mark_written(other)
                last.nodes.append(other)
                last.edges.append((edge, backwards))
                return
        backwards = not edge.either and self._comes_first(edge.target, edge.source)
        first, second = reversed(ends) if backwards else ends
        self._mark_written(first, second)
        self._chains.append(Chain([first, second], [(edge, backwards)]))

    def _comes_first(self, node: str, other: str) -> bool:
        """Whether both nodes are unseen, and `node` comes before `other`."""
        unseen = self._unseen
        return node in unseen and other in unseen and unseen.index(node) < unseen.index(other)

    def _add_path(self, path: PathPattern) -> None:
        nodes = list(path.elements[::2])
        edges = [self._edges[element] for element in path.elements[1::2]]
        self._mark_written(*nodes)
        directed_edges = [(edge, edge.source != node) for node, edge in zip(nodes, edges, strict=False)]
        self._chains.append(Chain(nodes, directed_edges, path.variable))


_FUNCTIONS: Final = {
    PathKind.SHORTEST: "shortestPath",
    PathKind.ALL_SHORTEST: "allShortestPaths",
    PathKind.DISTANCE: "distance",
}


def write_cypher(plan: Plan) -> str:
    """The text of a plan, one clause per line. Parsing it gives the same plan, except for names of unnamed variables.

    `Plan.only_exists` (only whether there is any row) cannot be written in Cypher and is lost.
    """
    writer = _Writer(_new_names(plan))
    union = "\nUNION ALL\n" if plan.keep_duplicates else "\nUNION\n"
    return union.join("\n".join(writer.clauses(pipeline.clauses)) for pipeline in plan.pipelines)


def write_part(part: Match | NodePattern | EdgePattern | Expression) -> str:
    """The text of a pattern with its conditions, such as `(f:Film)-[:starred]->(a)`, a node, an edge or a value."""
    match part:
        case NodePattern():
            part = Match((part,))
        case EdgePattern():
            part = Match((), (part,))
        case _:
            pass
    writer = _Writer(_new_names(part))
    return writer.pattern(part) if isinstance(part, Match) else writer.values.write(part)


def write_relations(names: Sequence[str]) -> str:
    """The text of an edge with any of these relations: `[:starred|directed]`."""
    return f"[{_relations(names)}]"


def _relations(names: Sequence[str]) -> str:
    return f":{'|'.join(map(quoted, names))}" if names else ""


class _Writer:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self.values = ExpressionWriter(names, self._subquery)

    def clauses(self, clauses: tuple[Clause, ...]) -> Iterator[str]:
        """The text of each clause."""
        for clause in clauses:
            match clause:
                case Match():
                    mode = "" if clause.edges_differ else "REPEATABLE ELEMENTS "
                    yield f"{'OPTIONAL ' if clause.optional else ''}MATCH {mode}{self.pattern(clause)}"
                case Unwind(of, variable):
                    yield f"UNWIND {self.values.write(of)} AS {self.values.variable(variable)}"
                case Project():
                    yield from self._project(clause, last=clause is clauses[-1])

    def _subquery(self, match: Match) -> str:
        """The content of EXISTS { }."""
        return self.pattern(match) if match.edges_differ else f"MATCH REPEATABLE ELEMENTS {self.pattern(match)}"

    def _project(self, project: Project, *, last: bool) -> Iterator[str]:
        returns = last and project.where is None
        implied: dict[Expression, Expression] = {
            Variable(column.name): column.value
            for column in project.columns
            if self._is_named_by_value(column, returns=returns)
        }
        parts = ["RETURN" if returns else "WITH", *(["DISTINCT"] if project.distinct else [])]
        parts.append(", ".join(self._column(column, returns=returns) for column in project.columns))
        if project.order:
            parts.append(f"ORDER BY {', '.join(self._sort_key(key, implied) for key in project.order)}")
        if project.skip:
            parts.append(f"SKIP {project.skip}")
        if project.limit is not None:
            parts.append(f"LIMIT {project.limit}")
        if project.where is not None:
            parts.append(f"WHERE {self.values.write(project.where)}")
        yield " ".join(parts)
        if last and not returns:
            yield f"RETURN {', '.join(self.values.variable(column.name) for column in project.columns)}"

    def _sort_key(self, key: Order, implied: Mapping[Expression, Expression]) -> str:
        """A value to sort by. A column without its own name is written as its value."""
        by = rewritten(key.by, implied.get)
        return f"{self.values.write(by)} DESC" if key.descending else self.values.write(by)

    def _is_named_by_value(self, column: Column, *, returns: bool) -> bool:
        """Whether a column's name is the text of its value, so that it needs no AS."""
        return returns and not isinstance(column.value, Variable) and self.values.write(column.value) == column.name

    def _column(self, column: Column, *, returns: bool) -> str:
        written = self.values.write(column.value)
        if column.value == Variable(column.name) or self._is_named_by_value(column, returns=returns):
            return written
        return f"{written} AS {self.values.variable(column.name)}"

    def pattern(self, match: Match) -> str:
        """The patterns separated by commas, and their conditions."""
        laid_out = chains(match)
        inline, rest = _inline(match, laid_out)
        nodes = {node.variable: node for node in match.nodes}
        texts = [self._chain(chain, nodes, inline) for chain in laid_out]
        where = f" WHERE {self.values.write(rest)}" if rest is not None else ""
        return ", ".join(texts) + where

    def _chain(self, chain: Chain, nodes: dict[str, NodePattern], inline: dict[str, list[Compare]]) -> str:
        """The text of a chain. Labels and properties are written once, so they are removed from both mappings."""
        texts = [self._node(chain.nodes[0], nodes, inline)]
        for (edge, backwards), node in zip(chain.edges, chain.nodes[1:], strict=True):
            before, after = ("-", "-") if edge.either else ("<-", "-") if backwards else ("-", "->")
            texts += [before, self._edge(edge, inline), after, self._node(node, nodes, inline)]
        text = "".join(texts)
        for edge, _ in chain.edges:
            if edge.path is not None and needs_own_chain(edge):
                text = f"{_FUNCTIONS[edge.path.kind]}({text})"
        return f"{self.values.variable(chain.path)} = {text}" if chain.path is not None else text

    def _node(self, name: str, nodes: dict[str, NodePattern], inline: dict[str, list[Compare]]) -> str:
        node = nodes.pop(name, NodePattern(name))
        groups = ["|".join(map(quoted, group)) for group in node.labels]
        if len(groups) > 1:
            groups = [f"({text})" if len(group) > 1 else text for text, group in zip(groups, node.labels, strict=True)]
        labels = f":{'&'.join(groups)}" if groups else ""
        return f"({self._bracket_content(name, labels + '*' * node.subclasses, inline)})"

    def _edge(self, edge: EdgePattern, inline: dict[str, list[Compare]]) -> str:
        filled = self._bracket_content(edge.variable, _relations(edge.relations) + _length(edge.path), inline)
        return f"[{filled}]" if filled else ""

    def _bracket_content(self, name: str, what: str, inline: dict[str, list[Compare]]) -> str:
        """The content of the brackets of a node or an edge."""
        shown = self.values.variable(name) if is_named(name) or name in self._names else ""
        pairs = [
            f"{quoted(condition.left.name)}: {self.values.write(condition.right)}"
            for condition in inline.pop(name, [])
            if isinstance(condition.left, Property)
        ]
        properties = f"{{{', '.join(pairs)}}}" if pairs else ""
        return " ".join(word for word in (shown + what, properties) if word)


def _length(path: PathLength | None) -> str:
    if path is None:
        return ""
    if path.shortest == path.longest:
        return f"*{path.shortest}"
    if path.longest is None and path.shortest == 1:
        return "*"
    return f"*{path.shortest}..{'' if path.longest is None else path.longest}"


def _inline(match: Match, laid_out: Iterable[Chain]) -> tuple[dict[str, list[Compare]], Expression | None]:
    """The conditions to write with their node or edge, such as `{name: 'x'}`, and the remaining ones for WHERE.

    Parsing reads inline conditions before WHERE, in the order of the pattern. To keep the order of the conditions, only
    the first ones can be inline, and only while they follow that order.
    """
    where = match.where
    if where is None:
        return {}, None
    conditions = where.parts if isinstance(where, Joined) and where.connective is Connective.AND else (where,)
    if any(isinstance(part, Joined) and part.connective is Connective.AND for part in conditions):
        return {}, where
    places: dict[str, int] = {}
    for chain in laid_out:
        for node, edge in zip(chain.nodes, [*(edge for edge, _ in chain.edges), None], strict=True):
            places.setdefault(node, len(places))
            if edge is not None and edge.path is None:
                places.setdefault(edge.variable, len(places))
    inline: dict[str, list[Compare]] = {}
    last_place, inline_count = 0, 0
    for condition in conditions:
        owner = _owner(condition)
        if owner is None or places.get(owner, -1) < last_place:
            break
        last_place, inline_count = places[owner], inline_count + 1
        inline.setdefault(owner, []).append(cast("Compare", condition))
    rest = conditions[inline_count:]
    return inline, (Joined(Connective.AND, rest) if len(rest) > 1 else rest[0] if rest else None)


def _owner(condition: Expression) -> str | None:
    """The variable of a condition `variable.property = constant`; None for any other condition."""
    match condition:
        case Compare(Property(owner), Comparison.EQUAL, Constant()):
            return owner
        case Compare(Property(owner), Comparison.EQUAL, ListOf(items)) if all(
            isinstance(item, Constant) for item in items
        ):
            return owner
        case _:
            return None


def _new_names(part: object) -> dict[str, str]:
    """New names for the unnamed variables that occur in more than one place."""
    uses = Counter(_uses(part))
    used = {name for name in uses if is_named(name)}
    free = (name for number in count(1) if (name := f"v{number}") not in used)
    return {name: next(free) for name, times in uses.items() if not is_named(name) and times > 1}


def _uses(part: object) -> Iterator[str]:
    """The variables of a part, once for each time that they would occur in its text."""
    match part:
        case Match():
            laid_out = chains(part)
            _, rest = _inline(part, laid_out)
            for chain in laid_out:
                yield from chain.nodes
                yield from (edge.variable for edge, _ in chain.edges)
                if chain.path is not None:
                    yield from (chain.path, chain.path)
            yield from _uses(rest)
        case _:
            yield from _uses_of_value(part)


def _uses_of_value(part: object) -> Iterator[str]:
    match part:
        case Variable(name) | Property(name) | HasLabel(name) | During(name):
            yield from (name, name)
        case Column(name) | Unwind(_, name):
            yield from (name, name)
        case _:
            pass
    for member in members_in(part):
        yield from _uses(member)
