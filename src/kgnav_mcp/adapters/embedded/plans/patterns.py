"""Patterns as joins: the edges of one by seeks from what is known already, the smallest set first.

An edge that may lead either way, and a trail that may have several lengths, are a union of patterns without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from kgnav_mcp.adapters.embedded.plans.expressions import Asking
from kgnav_mcp.adapters.embedded.plans.starting import Start, start_of
from kgnav_mcp.adapters.embedded.plans.statement import Kind, Scope, Statement, Term, refused
from kgnav_mcp.adapters.embedded.plans.words import Words
from kgnav_mcp.adapters.embedded.queries import plans as pieces
from kgnav_mcp.plan import EdgePattern, Expression, Match, NodePattern, PathKind, Property
from kgnav_mcp.plan.walking import conjuncts, parts, variables_of

_MOST_BRANCHES = 40
_MOST_HOPS = 6
_SECOND_SEEK = 3
_ALWAYS_BY_ENDS = 2
"""So few nodes at a far end are always a way in."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One edge to join, from a node to a node. `edge` is None where both are one node: a trail of no edges."""

    edge: str | None
    source: str
    target: str
    relations: tuple[int, ...] = ()
    loops: bool = True
    """Whether it may lead from a node to itself."""


@dataclass(slots=True)
class Branch:
    """One union-free form of a pattern: what it reads, under which conditions, and what its variables are."""

    rows: list[str]
    conditions: list[str]
    scope: dict[str, Term]
    edges: list[str] = field(default_factory=list[str])
    """The variables of the edges that it binds, also of those within trails."""

    def query(self, selected: str) -> str:
        """The query of its rows."""
        rows = f" FROM {' CROSS JOIN '.join(self.rows)}" if self.rows else ""
        where = f" WHERE {' AND '.join(f'({each})' for each in self.conditions)}" if self.conditions else ""
        return f"SELECT {selected}{rows}{where}"


def fits(statement: Statement, words: Words, match: Match, scope: Scope) -> list[str]:
    """The queries whose rows are the ways in which a pattern fits around variables of another query."""
    return [branch.query("1") for branch in branches(statement, words, match, scope, None)]


def branches(statement: Statement, words: Words, match: Match, scope: Scope, table: str | None) -> list[Branch]:
    """The forms of a pattern around the variables of a table, or of the query around it."""
    if len({edge.variable for edge in match.edges}) < len(match.edges):
        raise refused("an edge that stands twice in a pattern")
    if any(path.variable in scope for path in match.paths):
        raise refused("paths that are named twice")
    choices = [list(_ways(words, edge, scope)) for edge in match.edges]
    if prod(map(len, choices)) > _MOST_BRANCHES:
        raise refused("paths of so many forms")
    return [
        _Fitting(statement, words, match, scope, table, steps=[step for way in ways for step in way]).branch()
        for ways in product(*choices)
    ]


def _ways(words: Words, edge: EdgePattern, scope: Scope) -> Iterator[list[_Step]]:
    """The forms of one edge of a pattern."""
    relations = tuple(words.relations(edge))
    if edge.path is None:
        yield [_Step(edge.variable, edge.source, edge.target, relations)]
        if edge.either:
            yield [_Step(edge.variable, edge.target, edge.source, relations, loops=False)]
        return
    shortest, longest = edge.path.shortest, edge.path.longest
    if edge.path.kind is not PathKind.TRAILS or longest is None or longest > _MOST_HOPS or edge.variable in scope:
        raise refused(f"paths of the kind {edge.path.kind}, or of that length,")
    for length in range(shortest, longest + 1):
        if not length:
            yield [_Step(None, edge.source, edge.target)]
            continue
        names = [edge.source, *(f"{edge.variable}\0{place}" for place in range(1, length)), edge.target]
        steps = [
            _Step(f"{edge.variable}\0e{place}", names[place], names[place + 1], relations) for place in range(length)
        ]
        turned = [replace(step, source=step.target, target=step.source, loops=False) for step in steps]
        if not edge.either:
            yield steps
            continue
        if 2**length > _MOST_BRANCHES:
            raise refused("paths of so many forms")
        for sides in product((0, 1), repeat=length):
            yield [(steps, turned)[side][place] for place, side in enumerate(sides)]


class _Fitting:
    """One form of a pattern while it is joined."""

    def __init__(
        self,
        statement: Statement,
        words: Words,
        match: Match,
        scope: Scope,
        table: str | None,
        *,
        steps: list[_Step],
    ) -> None:
        self._statement, self._words, self._match, self._steps = statement, words, match, steps
        self._given = scope
        self._patterns: dict[str, NodePattern] = {}
        if any(node.subclasses for node in match.nodes):
            raise refused("instances of subclasses")
        for node in match.nodes:
            known = self._patterns.get(node.variable)
            self._patterns[node.variable] = node if known is None else replace(known, labels=known.labels + node.labels)
        for step in steps:
            for name in (step.source, step.target):
                self._patterns.setdefault(name, NodePattern(name))
        self._conditions = list(conjuncts(match.where))
        self._starts: dict[str, Start] = {}
        self._branch = Branch([f"{table}"] if table is not None else [], [], dict(scope))
        self._settled: set[str] = set()

    def branch(self) -> Branch:
        """All joins."""
        for name, node in self._patterns.items():
            if name in self._given:
                if self._given[name].kind is not Kind.NODE:
                    raise refused("a pattern around what is no node")
                self._branch.conditions.append(f"{self._given[name].one} IS NOT NULL")
                self._label(node)
        steps = self._steps.copy()
        while steps or any(name not in self._branch.scope for name in self._patterns):
            step = self._next(steps)
            if step is None:
                self._begin()
            elif (far := self._way_in(step)) is not None:
                self._begin(far)
            else:
                steps.remove(step)
                self._follow(step)
        self._differ()
        for edge in self._match.edges:
            if edge.path is not None:
                self._branch.scope[edge.variable] = Term(Kind.HIDDEN, ())
        for path in self._match.paths:
            self._branch.scope[path.variable] = Term(Kind.HIDDEN, ())
        asking = self._asking()
        self._branch.conditions += (asking.holds(condition) for condition in self._conditions)
        return self._branch

    def _asking(self) -> Asking:
        def inner(match: Match, scope: Scope) -> list[str]:
            return fits(self._statement, self._words, match, scope)

        return Asking(self._statement, self._words, self._branch.scope, inner)

    def _is_bound(self, name: str) -> bool:
        return name in self._branch.scope

    def _next(self, steps: Sequence[_Step]) -> _Step | None:
        """The edge to join next: one between known nodes, else the one that leads to the smallest set."""
        best: tuple[int, float, _Step] | None = None
        for step in steps:
            ends = (step.source in self._branch.scope) + (step.target in self._branch.scope)
            known = step.edge is not None and self._is_bound(step.edge)
            if not ends and not known:
                continue
            far = step.target if step.source in self._branch.scope else step.source
            size = 0.0 if ends == 2 or known else self._fan_out(step) * self._share(far)
            rank = (0 if ends == 2 or known else 1, size, step)
            if best is None or rank[:2] < best[:2]:
                best = rank
        return None if best is None else best[2]

    def _fan_out(self, step: _Step) -> float:
        """About how many edges lead on from a node."""
        return self._words.edges(list(step.relations)) / max(1, self._words.entities) + 1

    def _share(self, name: str) -> float:
        """About which part of all nodes may stand for one."""
        return self._start(name).size / max(1, self._words.entities)

    def _way_in(self, step: _Step) -> str | None:
        """The far end of an edge where it is better begun with than come by."""
        if step.edge is None or self._is_bound(step.edge):
            return None
        far = next((name for name in (step.source, step.target) if not self._is_bound(name)), None)
        if far is None or not self._start(far).selective:
            return None
        return far if self._start(far).size <= _ALWAYS_BY_ENDS else None

    def _start(self, name: str) -> Start:
        if name not in self._starts:
            scope = frozenset((*self._branch.scope, *self._patterns, *(step.edge or "" for step in self._steps)))
            own = [each for each in self._conditions if variables_of(each) & scope == frozenset((name,))]
            self._starts[name] = start_of(self._asking(), self._patterns[name], own)
        return self._starts[name]

    def _begin(self, name: str | None = None) -> None:
        """Bind a node by a set of its own: this one, or the one with the smallest."""
        unbound = [each for each in self._patterns if each not in self._branch.scope]
        name = name or min(unbound, key=self._cost)
        start, alias = self._start(name), self._statement.alias("n")
        self._branch.rows.append(start.rows.replace("{alias}", alias))
        self._branch.scope[name] = Term(Kind.NODE, (f"{alias}.node",))
        if start.condition is not None:
            self._done(start.condition)
        pattern = self._patterns[name]
        left = list(pattern.labels)
        if start.labels is not None:
            left.remove(start.labels)
        self._label(replace(pattern, labels=tuple(left)))

    def _cost(self, name: str) -> int:
        """About how many seeks it takes to begin with a node: edges are kept with their qualifiers by their heads."""
        owners = {part.owner for each in self._conditions for part in parts(each) if isinstance(part, Property)}
        behind = any(step.edge in owners and step.target == name != step.source for step in self._steps)
        return self._start(name).size * (_SECOND_SEEK if behind else 1)

    def _done(self, condition: Expression) -> None:
        self._conditions = [each for each in self._conditions if each is not condition]

    def _label(self, node: NodePattern) -> None:
        """Ask for the labels of a node that is bound."""
        asking, own = self._asking(), self._branch.scope[node.variable].one
        self._branch.conditions += (asking.labelled(own, group) for group in node.labels)

    def _follow(self, step: _Step) -> None:
        """Join an edge by what is known of it."""
        scope, conditions = self._branch.scope, self._branch.conditions
        if step.edge is None:
            self._ends(step, None)
            return
        if step.edge not in scope:
            alias = self._statement.alias("e")
            self._branch.rows.append(pieces.EDGES.format(alias=alias))
            key = tuple(f"{alias}.{column}" for column in ("s", "p", "o", "n"))
            scope[step.edge] = Term(Kind.EDGE, key, f"{alias}.qualifiers")
            self._branch.edges.append(step.edge)
        elif scope[step.edge].kind is not Kind.EDGE:
            raise refused("a variable that is no edge in the place of one")
        elif step.edge in self._given:
            conditions.append(f"{scope[step.edge].one} IS NOT NULL")
        edge = scope[step.edge]
        if len(step.relations) == 1:
            conditions.append(f"{edge.sql[1]} = {step.relations[0]}")
        elif step.relations:
            conditions.append(f"{edge.sql[1]} IN ({', '.join(map(str, step.relations))})")
        if not step.loops:
            conditions.append(f"{edge.sql[0]} <> {edge.sql[2]}")
        self._ends(step, edge)

    def _ends(self, step: _Step, edge: Term | None) -> None:
        """Bind the ends of an edge, or hold them to what they are."""
        scope = self._branch.scope
        if edge is None:
            near, far = (step.source, step.target) if self._is_bound(step.source) else (step.target, step.source)
            ends = [(far, scope[near].one)] if far != near else []
        else:
            ends = [(step.source, edge.sql[0]), (step.target, edge.sql[2])]
        for name, sql in ends:
            if self._is_bound(name):
                self._branch.conditions.append(f"{sql} = {scope[name].one}")
            else:
                scope[name] = Term(Kind.NODE, (sql,))
                self._label(self._patterns[name])

    def _differ(self) -> None:
        """No edge stands for two of the pattern; within one trail none does in any case."""
        groups = [(edge, [step for step in self._steps if _belongs(step, edge)]) for edge in self._match.edges]
        named = [(edge.variable, step) for edge, steps in groups for step in steps if step.edge is not None]
        for place, (owner, one) in enumerate(named):
            for other_owner, other in named[:place]:
                if owner != other_owner and not self._match.edges_differ:
                    continue
                if one.relations and other.relations and not set(one.relations) & set(other.relations):
                    continue
                if one.edge is None or other.edge is None or one.edge == other.edge:
                    continue
                pairs = zip(self._branch.scope[one.edge].sql, self._branch.scope[other.edge].sql, strict=True)
                self._branch.conditions.append(f"NOT ({' AND '.join(f'{left} = {right}' for left, right in pairs)})")


def _belongs(step: _Step, edge: EdgePattern) -> bool:
    return step.edge == edge.variable or (step.edge or "").startswith(f"{edge.variable}\0e")
