"""Compiles the patterns of plans to SQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import prod

from kgnav_mcp.adapters.embedded.plans.expressions import ExpressionCompiler
from kgnav_mcp.adapters.embedded.plans.names import NameResolver
from kgnav_mcp.adapters.embedded.plans.path_tables import LIST, MAX_ENDS, find_paths
from kgnav_mcp.adapters.embedded.plans.start_nodes import Start, start_of
from kgnav_mcp.adapters.embedded.plans.statement import Scope, Statement, Term, TermKind, unsupported
from kgnav_mcp.adapters.embedded.queries import plans as pieces
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
)
from kgnav_mcp.plan.walking import conjuncts, parts, variables_of

MAX_FORMS = 40
_MAX_HOPS = 6


@dataclass(frozen=True, slots=True)
class Step:
    """One edge to join, from one node to another. `edge` is None for a path of length 0 from a node to itself."""

    edge: str | None
    source: str
    target: str
    relations: tuple[int, ...] = ()
    loops: bool = True
    """Whether the edge may lead from a node to itself."""
    path: EdgePattern | None = None
    """The pattern of the path, if the step is a path that a function searches."""

    def belongs(self, edge: EdgePattern) -> bool:
        """Whether the step is this edge of the pattern or an edge of its path."""
        return self.edge == edge.variable or (self.edge or "").startswith(f"{edge.variable}\0e")


def edge_forms(words: NameResolver, edge: EdgePattern, scope: Scope, *, valued: bool) -> Iterator[list[Step]]:
    """Yields the alternative forms of one edge of a pattern, such as its lengths.

    `valued`: the path itself is used later.

    Raises:
        Unsupported: the path's variable is already bound.
    """
    relations = tuple(words.relations(edge))
    if edge.path is None:
        yield [Step(edge.variable, edge.source, edge.target, relations)]
        if edge.either:
            yield [Step(edge.variable, edge.target, edge.source, relations, loops=False)]
        return
    if edge.variable in scope:
        raise unsupported("the same path variable twice")
    shortest, longest = edge.path.shortest, edge.path.longest
    if valued or longest is None or not _is_short(edge.path, either=edge.either):
        yield [Step(edge.variable, edge.source, edge.target, relations, path=edge)]
        return
    for length in range(shortest, longest + 1):
        if not length:
            yield [Step(None, edge.source, edge.target)]
            continue
        names = [edge.source, *(f"{edge.variable}\0{place}" for place in range(1, length)), edge.target]
        steps = [
            Step(f"{edge.variable}\0e{place}", names[place], names[place + 1], relations) for place in range(length)
        ]
        backwards = [replace(step, source=step.target, target=step.source, loops=False) for step in steps]
        if not edge.either:
            yield steps
            continue
        for sides in product((0, 1), repeat=length):
            yield [(steps, backwards)[side][place] for place, side in enumerate(sides)]


def _is_short(path: PathLength, *, either: bool) -> bool:
    """Whether a path has so few forms that all of them can be joined."""
    longest = path.longest
    if path.kind is not PathKind.TRAILS or longest is None or longest > _MAX_HOPS:
        return False
    return not either or 2 ** (longest + 1) <= MAX_FORMS


@dataclass(slots=True)
class Branch:
    """One form of a pattern without alternatives: the tables it reads, its conditions, and its variables."""

    rows: list[str]
    conditions: list[str]
    scope: dict[str, Term]
    edges: list[str] = field(default_factory=list[str])
    """Variables of the edges that it binds, including edges within trails."""

    def query(self, selected: str, *, is_distinct: bool = False) -> str:
        """Returns the query for its rows, or its distinct rows, with these columns."""
        rows = f" FROM {' CROSS JOIN '.join(self.rows)}" if self.rows else ""
        where = f" WHERE {' AND '.join(f'({each})' for each in self.conditions)}" if self.conditions else ""
        return f"SELECT {'DISTINCT ' if is_distinct else ''}{selected}{rows}{where}"

    def path(self, path: PathPattern, edges: Iterable[EdgePattern]) -> Term:
        """Returns the term of a named path: its nodes and edges alternately."""
        patterns = {edge.variable: edge for edge in edges}
        backwards, elements = "", list[str]()
        for previous, name in zip((path.elements[0], *path.elements), path.elements, strict=False):
            term = self.scope[name]
            if name in patterns:
                backwards += "0" if previous == patterns[name].source else "1"
            if term.kind is TermKind.EDGE:
                elements.append(pieces.EDGE_ALONE.format(list=LIST, **_edge_columns(term)))
            else:
                elements.append(term.one)
        return Term(TermKind.PATH_OR_LIST, (f"kg_path('{backwards}', {', '.join(elements)})",))

    def keep_apart(self, *names: str) -> None:
        """Adds the condition that a searched path does not contain an edge of the pattern.

        Raises:
            Unsupported: both names are searched paths.
        """
        path, edge = sorted((self.scope[name] for name in names), key=lambda term: len(term.sql))
        if edge.kind is not TermKind.EDGE:
            raise unsupported("several paths that share no edge")
        self.conditions.append(f"NOT {pieces.EDGE_IN.format(edges=path.one, **_edge_columns(edge))}")


def _edge_columns(edge: Term) -> dict[str, str]:
    return dict(zip(("s", "p", "o", "n"), edge.sql, strict=True))


_KINDS_WITH_EDGES = frozenset((PathKind.TRAILS, PathKind.SHORTEST, PathKind.ALL_SHORTEST))
"""Kinds of paths whose edges can be returned."""
_SECOND_SEEK_COST, _SORT_COST = 3, 2
_MAX_START_NODES = 2
_MAX_PATH_START_NODES = 100
"""If the far end of an edge, or of a searched path, has at most this many nodes, the join starts from there."""


def match_queries(statement: Statement, words: NameResolver, match: Match, scope: Scope) -> list[str]:
    """Returns queries with one row for each match of a pattern, given the variables of an outer query."""
    return [branch.query("1") for branch in branches(statement, words, match, scope)]


def branches(
    statement: Statement,
    words: NameResolver,
    match: Match,
    scope: Scope,
    *,
    table: str | None = None,
    needed: frozenset[str] | None = None,
    grouped: str | None = None,
) -> list[Branch]:
    """Compiles each form of a pattern without alternatives.

    The variables of a table are given or (`needed` None) those of an outer query. `needed`: the variables used later.
    `grouped`: the variable by which rows are grouped, if there is exactly one.

    Raises:
        Unsupported: SQL cannot express the pattern.
    """
    if len({edge.variable for edge in match.edges}) < len(match.edges):
        raise unsupported("the same edge variable twice in a pattern")
    if any(path.variable in scope for path in match.paths):
        raise unsupported("paths that are named twice")
    in_where = frozenset[str]() if match.where is None else variables_of(match.where)
    used = in_where | (needed or frozenset())
    valued = used.union(*(path.elements for path in match.paths if path.variable in used))
    choices = [list(edge_forms(words, edge, scope, valued=edge.variable in valued)) for edge in match.edges]
    if prod(map(len, choices)) > MAX_FORMS:
        raise unsupported("paths of this many forms")
    return [
        _PatternCompiler(
            statement,
            words,
            match,
            scope,
            table,
            steps=[step for steps in chosen for step in steps],
            paths=[path for path in match.paths if path.variable in used],
            within=needed is None,
            grouped=grouped,
        ).branch()
        for chosen in product(*choices)
    ]


class _PatternCompiler:
    """Builds the joins for one form of a pattern."""

    def __init__(
        self,
        statement: Statement,
        words: NameResolver,
        match: Match,
        scope: Scope,
        table: str | None,
        *,
        steps: list[Step],
        paths: list[PathPattern],
        within: bool,
        grouped: str | None,
    ) -> None:
        """`paths`: named paths that are used. `within`: whether the scope belongs to an outer query."""
        self._paths, self._within, self._grouped = paths, within, grouped
        self._statement, self._words, self._match, self._steps = statement, words, match, steps
        self._outer_scope = scope
        self._patterns: dict[str, NodePattern] = {}
        if any(node.subclasses for node in match.nodes):
            raise unsupported("instances of subclasses")
        for node in match.nodes:
            known = self._patterns.get(node.variable)
            self._patterns[node.variable] = node if known is None else replace(known, labels=known.labels + node.labels)
        for step in steps:
            for name in (step.source, step.target):
                self._patterns.setdefault(name, NodePattern(name))
        self._conditions = list(conjuncts(match.where))
        self._starts: dict[str, Start] = {}
        self._hub_edges: dict[tuple[str, Step, int], int] = {}
        self._branch = Branch([f"{table}"] if table is not None else [], [], dict(scope))

    def branch(self) -> Branch:
        """Adds all joins and conditions, and returns the branch."""
        for name, node in self._patterns.items():
            if name in self._outer_scope:
                if self._outer_scope[name].kind is not TermKind.NODE:
                    raise unsupported("a pattern around a value that is not a node")
                self._branch.conditions.append(f"{self._outer_scope[name].one} IS NOT NULL")
                self._require_labels(node)
        steps = self._steps.copy()
        while steps or any(name not in self._branch.scope for name in self._patterns):
            step = self._next_step(steps)
            if step is None and (first := self._edge_to_scan(steps)) is not None:
                steps.remove(first)
                self._join_edge(first)
            elif step is None:
                self._bind_node()
            elif (far := self._better_start(step)) is not None:
                self._bind_node(far)
            else:
                steps.remove(step)
                self._join_edge(step)
        self._require_distinct()
        for edge in self._match.edges:
            self._branch.scope.setdefault(edge.variable, Term(TermKind.HIDDEN, ()))
        for path in self._match.paths:
            self._branch.scope[path.variable] = (
                self._branch.path(path, self._match.edges) if path in self._paths else Term(TermKind.HIDDEN, ())
            )
        compiler = self._expressions()
        self._branch.conditions += (compiler.holds(condition) for condition in self._conditions)
        return self._branch

    def _expressions(self) -> ExpressionCompiler:
        inner = partial(match_queries, self._statement, self._words)
        return ExpressionCompiler(self._statement, self._words, self._branch.scope, inner)

    def _is_bound(self, name: str) -> bool:
        return name in self._branch.scope

    def _next_step(self, steps: Sequence[Step]) -> Step | None:
        """Returns the edge to join next: one between bound nodes, else the one that adds the fewest rows, else None."""
        best: tuple[int, float, Step] | None = None
        for step in steps:
            ends = (step.source in self._branch.scope) + (step.target in self._branch.scope)
            known = step.edge is not None and self._is_bound(step.edge)
            if not ends and not known:
                continue
            far = step.target if step.source in self._branch.scope else step.source
            size = 0.0 if ends == 2 or known else self._fan_out(step) * self._share(far)
            rank = (2 if step.path else 0 if ends == 2 or known else 1, size, step)
            if best is None or rank[:2] < best[:2]:
                best = rank
        return None if best is None else best[2]

    def _fan_out(self, step: Step) -> float:
        """Estimates how many edges of a step leave a node."""
        return self._words.edges(list(step.relations)) / max(1, self._words.entities) + 1

    def _share(self, name: str) -> float:
        """Estimates which share (0 to 1) of all nodes can match a node of the pattern."""
        return self._start(name).size / max(1, self._words.entities)

    def _better_start(self, step: Step) -> str | None:
        """Returns the unbound end of an edge if its set is so small that it is better bound first, else None."""
        if step.edge is None or self._is_bound(step.edge):
            return None
        far = next((name for name in (step.source, step.target) if not self._is_bound(name)), None)
        if far is None:
            return None
        if step.path and any(self._is_equality(each, far) for each in self._conditions):
            return far  # a search that knows both ends reads far less than one from either end
        if not self._start(far).selective:
            return None
        return far if self._start(far).size <= (_MAX_PATH_START_NODES if step.path else _MAX_START_NODES) else None

    def _is_equality(self, condition: Expression, name: str) -> bool:
        """Whether a condition compares a value of a node with a constant, so that few nodes meet it."""
        match condition:
            case Compare(Property(owner), Comparison.EQUAL, Constant()) | Compare(
                Constant(), Comparison.EQUAL, Property(owner)
            ):
                return owner == name
            case _:
                return False

    def _start(self, name: str) -> Start:
        if name not in self._starts:
            scope = frozenset((*self._branch.scope, *self._patterns, *(step.edge or "" for step in self._steps)))
            own = [each for each in self._conditions if variables_of(each) & scope == frozenset((name,))]
            self._starts[name] = start_of(self._expressions(), self._patterns[name], own)
        return self._starts[name]

    def _edges_of_hubs(self, name: str, step: Step, side: int) -> int:
        """Returns how many edges of a step the hubs among a node's few known candidates have; 0 if none is a hub.

        `side`: 0 for outgoing edges, 1 for incoming ones.
        """
        start = self._start(name)
        if not start.selective or start.size > _MAX_PATH_START_NODES:
            return 0
        key = name, step, side
        if key not in self._hub_edges:
            rows = start.rows.replace("{alias}", "known")
            query = pieces.EDGES_OF_HUBS.format(rows=rows, side=side, relations=self._statement.numbers(step.relations))
            text, parameters = self._statement.text(query)
            found = self._words.builder.session.one(text, *parameters)
            self._hub_edges[key] = int(found[0]) if found is not None else 0
        return self._hub_edges[key]

    def _edge_to_scan(self, steps: Sequence[Step]) -> Step | None:
        """Returns the edge to start with if any node may be at its ends: a scan of edges needs no seek for each node.

        None if the node to start with has a set of its own.
        """
        name = self._cheapest_node()
        if self._start(name).rows != pieces.ALL_NODES:
            return None
        incident = [
            step for step in steps if step.edge is not None and step.path is None and name in (step.source, step.target)
        ]
        far = {step: step.target if step.source == name else step.source for step in incident}
        return min(incident, key=lambda step: self._fan_out(step) * self._share(far[step]), default=None)

    def _cheapest_node(self) -> str:
        return min((name for name in self._patterns if not self._is_bound(name)), key=self._cost)

    def _bind_node(self, name: str | None = None) -> None:
        """Binds a node from its own set: the given node, or the one that costs the least."""
        name = name or self._cheapest_node()
        start, alias = self._start(name), self._statement.alias("n")
        self._branch.rows.append(start.rows.replace("{alias}", alias))
        self._branch.scope[name] = Term(TermKind.NODE, (f"{alias}.node",))
        if start.condition is not None:
            self._drop_condition(start.condition)
        pattern = self._patterns[name]
        left = list(pattern.labels)
        if start.labels is not None:
            left.remove(start.labels)
        self._require_labels(replace(pattern, labels=tuple(left)))

    def _cost(self, name: str) -> float:
        """Estimates how many seeks it takes to start with a node. The edges of a hub count as those of many nodes.

        Edges are stored with their qualifiers in the order of heads, so starting at tails costs a second seek for each.
        Rows that do not come group by group must be sorted.
        """
        owners = {part.owner for each in self._conditions for part in parts(each) if isinstance(part, Property)}
        behind = any(step.edge in owners and step.target == name != step.source for step in self._steps)
        sorted_too = self._grouped is not None and self._grouped != name
        incident = [step for step in self._steps if name in (step.source, step.target) and step.edge is not None]
        hubs = min(
            (self._edges_of_hubs(name, step, int(step.target == name)) / self._fan_out(step) for step in incident),
            default=0.0,
        )
        size = self._start(name).size + hubs
        return size * (_SECOND_SEEK_COST if behind else 1) * (_SORT_COST if sorted_too else 1)

    def _drop_condition(self, condition: Expression) -> None:
        self._conditions = [each for each in self._conditions if each is not condition]

    def _require_labels(self, node: NodePattern) -> None:
        """Adds the conditions for the labels of a bound node."""
        compiler, own = self._expressions(), self._branch.scope[node.variable].one
        self._branch.conditions += (compiler.labelled(own, group) for group in node.labels)

    def _join_edge(self, step: Step) -> None:
        """Joins an edge by its ends that are already bound."""
        scope, conditions = self._branch.scope, self._branch.conditions
        if step.path is not None:
            self._join_paths(step, step.path)
            return
        if step.edge is None:
            near, far = (step.source, step.target) if self._is_bound(step.source) else (step.target, step.source)
            self._bind_ends([(far, scope[near].one)] if far != near else [])
            return
        if step.edge not in scope:
            alias = self._statement.alias("e")
            self._branch.rows.append(pieces.EDGES.format(alias=alias))
            key = tuple(f"{alias}.{column}" for column in ("s", "p", "o", "n"))
            scope[step.edge] = Term(TermKind.EDGE, key, f"{alias}.qualifiers")
            self._branch.edges.append(step.edge)
        elif scope[step.edge].kind is not TermKind.EDGE:
            raise unsupported("a variable that is not an edge used as one")
        elif step.edge in self._outer_scope:
            conditions.append(f"{scope[step.edge].one} IS NOT NULL")
        edge = scope[step.edge]
        if len(step.relations) == 1:
            conditions.append(f"{edge.sql[1]} = {step.relations[0]}")
        elif step.relations:
            conditions.append(f"{edge.sql[1]} IN ({', '.join(map(str, step.relations))})")
        if not step.loops:
            conditions.append(f"{edge.sql[0]} <> {edge.sql[2]}")
        self._bind_ends(self._by_smaller_hub(step, [(step.source, edge.sql[0]), (step.target, edge.sql[2])]))

    def _by_smaller_hub(self, step: Step, ends: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Returns the ends of an edge such that SQLite, which seeks by one of them, does not take the larger hub."""
        if len(step.relations) == 1 or not all(self._is_bound(name) for name, _ in ends):
            return ends
        hubs = [self._edges_of_hubs(name, step, side) for side, (name, _) in enumerate(ends)]
        larger = hubs.index(max(hubs)) if hubs[0] != hubs[1] else None
        return [(name, f"+{sql}" if side == larger else sql) for side, (name, sql) in enumerate(ends)]

    def _join_paths(self, step: Step, edge: EdgePattern) -> None:
        """Finds the paths between the nodes that the joins so far allow, and joins them as a table."""
        if self._within:
            raise unsupported("a path that is searched for each row")
        scope, edges = self._branch.scope, (one.edge or "" for one in self._steps)
        open_names = {*self._patterns, *edges, *(path.variable for path in self._match.paths)} - scope.keys()
        compiler, alias = self._expressions(), self._statement.alias("w")
        ready = [compiler.holds(each) for each in self._conditions if not variables_of(each) & open_names]
        so_far = Branch(self._branch.rows, [*self._branch.conditions, *ready], scope)
        ends = [scope[name].one if self._is_bound(name) else "NULL" for name in (step.source, step.target)]
        text, parameters = self._statement.text(
            f"{so_far.query(f'DISTINCT {ends[0]}, {ends[1]}')} LIMIT {MAX_ENDS + 1}"
        )
        pairs = self._words.builder.session.all(text, *parameters)
        if len(pairs) > MAX_ENDS:
            raise unsupported("paths from this many nodes")
        links = self._statement.parameter(find_paths(self._words, edge, step.relations, pairs))
        self._branch.rows.append(f"{self._statement.table(pieces.LINKS.format(links=links))} AS {alias}")
        walked = f"{alias}.edges" if edge.path is not None and edge.path.kind in _KINDS_WITH_EDGES else "NULL"
        scope[edge.variable] = Term(TermKind.PATH_OR_LIST, (walked,))
        self._bind_ends([(step.source, f"{alias}.source"), (step.target, f"{alias}.target")])

    def _bind_ends(self, ends: Sequence[tuple[str, str]]) -> None:
        """Binds the ends of an edge; ends that are already bound must be equal."""
        scope = self._branch.scope
        for name, sql in ends:
            if self._is_bound(name):
                self._branch.conditions.append(f"{sql} = {scope[name].one}")
            else:
                scope[name] = Term(TermKind.NODE, (sql,))
                self._require_labels(self._patterns[name])

    def _require_distinct(self) -> None:
        """Adds the conditions that edges of the pattern differ; edges within one trail always differ."""
        groups = [(edge, [step for step in self._steps if step.belongs(edge)]) for edge in self._match.edges]
        named = [
            (edge.variable, step)
            for edge, steps in groups
            for step in steps
            if step.edge is not None and (edge.path is None or edge.path.kind is PathKind.TRAILS)
        ]
        for place, (owner, one) in enumerate(named):
            for other_owner, other in named[:place]:
                if owner != other_owner and not self._match.edges_differ:
                    continue
                if one.relations and other.relations and not set(one.relations) & set(other.relations):
                    continue
                if one.edge is None or other.edge is None or one.edge == other.edge:
                    continue
                if one.path or other.path:
                    self._branch.keep_apart(one.edge, other.edge)
                    continue
                pairs = zip(self._branch.scope[one.edge].sql, self._branch.scope[other.edge].sql, strict=True)
                self._branch.conditions.append(f"NOT ({' AND '.join(f'{left} = {right}' for left, right in pairs)})")
