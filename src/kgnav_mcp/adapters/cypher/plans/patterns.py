"""Writes the patterns of plans as MATCH clauses, or as subqueries for paths that Cypher's patterns do not express."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.plans.context import QueryContext
from kgnav_mcp.adapters.cypher.plans.expressions import Expressions, Scope
from kgnav_mcp.adapters.cypher.plans.kinds import NULL, Listed, OfEdge, OfNode, OfPath, Typed, unsupported
from kgnav_mcp.plan import Connective, EdgePattern, Expression, HasLabel, Joined, Match, PathKind, PathPattern
from kgnav_mcp.plan.walking import conjuncts, variables_of


class Search:
    """The search for the paths of one edge of a pattern (an edge with a length), from a known node."""

    def __init__(self, context: QueryContext, edge: EdgePattern, types: str) -> None:
        if edge.path is None:
            raise TypeError("an edge without a length is not a path")
        self._context, self._edge, self._length = context, edge, edge.path
        self._types = f":{types}" if types else ""

    @property
    def gives_edges(self) -> bool:
        """Whether the edges of the paths are returned, not only their ends."""
        return self._length.kind in {PathKind.SHORTEST, PathKind.ALL_SHORTEST}

    @property
    def to_known_end(self) -> bool:
        """Whether the search can be given both ends, if both are known."""
        return self.gives_edges

    def ends(self, near: str, far: str, *, forward: bool) -> str:
        """The clause that finds the ends that can be reached, or those at the requested distance."""
        shortest, longest = self._length.shortest, self._length.longest
        fill, subquery = self._context.fill, self._context.builder.subquery
        if longest == 0:
            if shortest > 0:
                raise unsupported("a path whose maximum length is less than its minimum length")
            return subquery(near, queries.ONLY_ITSELF, near=near, far=far)
        itself = fill(queries.ITSELF, near=near, far=far) if shortest == 0 else ""
        if self._length.kind is PathKind.DISTANCE:
            if shortest > 1:
                way = self._context.new_variable()
                condition = f"{far} <> {near} AND length({way}) >= {shortest}"
            else:
                way, condition = self._context.new_variable(), f"{far} <> {near}"
            path = self._quantified("any_shortest", near, far, way, forward=forward)
            return subquery(near, queries.AT_DISTANCE, far=far, path=path, condition=condition, itself=itself)
        if shortest > 1:
            raise unsupported("nodes reached by a path of a minimum length, which may repeat an edge")
        length = f"*{shortest}..{longest or ''}"
        path = self._arrow(near, length, far, forward=forward)
        return subquery(near, queries.REACHED, far=far, path=path, itself=itself)

    def shortest(self, near: str, far: str, way: str, edge: str, *, forward: bool, known: bool) -> str:
        """The clause that finds the shortest paths to each end: one of them, or all."""
        shortest, longest = self._length.shortest, self._length.longest
        ends = f"{near}, {far}" if known else near
        itself = ""
        if shortest == 0:
            itself = self._context.fill(
                queries.NO_EDGES,
                near=near,
                way=way,
                edge=edge,
                far="" if known else f"{near} AS {far}, ",
                condition=f"WHERE {near} = {far}" if known else "",
            )
            if longest == 0:
                return self._context.builder.subquery(ends, itself)
            itself = self._context.fill(queries.OR_NO_EDGES, no_edges=itself)
        elif longest == 0:
            raise unsupported("a path whose maximum length is less than its minimum length")
        path = self._quantified("all_shortest", near, far, way, forward=forward)
        one = self._length.kind is PathKind.SHORTEST
        condition = f"{near} <> {far}"
        if not one and shortest > 1:
            condition += f" AND length({way}) >= {shortest}"
        nodes = self._context.sort_key(Typed(f"nodes({way})", Listed(OfNode())))
        edges = self._context.sort_key(Typed(f"relationships({way})", Listed(OfEdge(self._edge.relations))))
        return self._context.builder.subquery(
            ends,
            queries.SHORTEST if one else queries.ALL_SHORTEST,
            path=path,
            way=way,
            condition=condition,
            first=queries.FIRST if known else self._context.fill(queries.FIRST_OF_EACH, far=far, way=way),
            far="" if known else f"{far}, ",
            nodes=nodes,
            edges=edges,
            edge=edge,
            itself=itself,
            long_enough=f"WHERE length({way}) >= {shortest}" if shortest > 1 else "",
        )

    def _arrow(self, near: str, length: str, far: str, *, forward: bool) -> str:
        inner = f"[{self._types}{length}]"
        return f"({near}){self._directed(inner, forward=forward)}({far})"

    def _directed(self, inner: str, *, forward: bool) -> str:
        return f"-{inner}-" if self._edge.either else f"-{inner}->" if forward else f"<-{inner}-"

    def _quantified(self, construct: str, near: str, far: str, way: str, *, forward: bool) -> str:
        """The pattern of the shortest paths, written from source to target, whichever of them is known."""
        source, target = (near, far) if forward else (far, near)
        return self._context.builder.construct(
            construct,
            way=way,
            source=source,
            target=target,
            step=self._directed(f"[{self._types}]", forward=True),
            longest="" if self._length.longest is None else str(self._length.longest),
        )


NOTHING = "null"
"""The expression of a variable that the query does not return."""


class Patterns:
    """Writes the patterns of one query."""

    def __init__(self, context: QueryContext) -> None:
        self._context = context
        self.expressions = Expressions(context, self._in_condition)

    def match(self, match: Match, scope: Scope) -> tuple[str, Scope]:
        """The clauses of a pattern, and the scope after it.

        Raises:
            Unsupported: Cypher cannot express it.
        """
        body = _PatternWriter(self._context, self.expressions, match, scope)
        clauses = body.clauses()
        if not match.optional:
            return "\n".join(clauses), body.scope
        if len(clauses) == 1:
            return f"OPTIONAL {clauses[0]}", body.scope
        inner = ", ".join(body.new())
        if not inner:
            raise unsupported("an optional pattern that binds nothing")
        query = self._context.fill(queries.OPTIONAL, body="\n".join(clauses), inner=inner)
        text = self._context.builder.construct("optional_subquery", variables=outer(scope), query=query)
        return text, body.scope

    def _in_condition(self, match: Match, scope: Scope, construct: str) -> str:
        """A pattern inside a condition, in the construct `exists` or `count` of the dialect."""
        body = _PatternWriter(self._context, self.expressions, match, scope, inner=True)
        clauses = body.clauses()
        query = "\n".join(clauses if len(clauses) == 1 else [*clauses, queries.ANY_ROW])
        return self._context.builder.construct(construct, query=query)


def outer(scope: Scope) -> str:
    """The variables of the surrounding query that a subquery may use."""
    return ", ".join(dict.fromkeys(value.text for value in scope.values() if value.text != NOTHING))


def _without_implied(groups: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Groups of alternative labels without those that another group implies."""
    distinct = [frozenset(group) for group in dict.fromkeys(groups)]
    return [tuple(sorted(group)) for group in dict.fromkeys(distinct) if not any(one < group for one in distinct)]


def _scanned(known: Sequence[tuple[str, ...]], groups: Sequence[tuple[str, ...]]) -> Sequence[tuple[str, ...]]:
    """The groups of alternative labels that are written with a node; all others are conditions. The `known` ones hold.

    Neo4j 5.26 loses matches of `(:B&(A|B|C))`, also in `MATCH (n:A|B|C) MATCH (n:B)`: 349 of 502 paths of two edges on
    a graph of 150 nodes.
    """
    if any(len(group) > 1 for group in known):
        return []
    single = [group for group in groups if len(group) == 1]
    return single if single or known else groups[:1]


class _PatternWriter:
    """Writes one pattern with its conditions."""

    def __init__(
        self, context: QueryContext, expressions: Expressions, match: Match, scope: Scope, *, inner: bool = False
    ) -> None:
        self._context, self._expressions, self._match = context, expressions, match
        self._outer_scope = scope
        self._in_condition = inner
        self.scope: dict[str, Typed] = dict(scope)
        self._labels: dict[str, list[tuple[str, ...]]] = {}
        for node in match.nodes:
            self._labels.setdefault(node.variable, []).extend(node.labels)
        own = {*self._labels, *(name for edge in match.edges for name in (edge.variable, edge.source, edge.target))}
        own |= {path.variable for path in match.paths}
        conditions = [each for each in conjuncts(match.where) if not self._takes_label(each)]
        self._labels = {name: _without_implied(groups) for name, groups in self._labels.items()}
        self._pending = [(variables_of(each) & {*own, *scope}, each) for each in conditions]
        self._use_counts = Counter(_variable_uses(match))
        self._bound = set(scope)
        self._clauses: list[str] = []
        self._label_conditions: list[str] = []

    def _takes_label(self, condition: Expression) -> bool:
        """Write a condition on the labels of a new node with the node. Returns whether it is one."""
        either = (
            condition.parts if isinstance(condition, Joined) and condition.connective is Connective.OR else (condition,)
        )
        tests = [each for each in either if isinstance(each, HasLabel)]
        names = {each.variable for each in tests}
        if len(tests) < len(either) or len(names) > 1 or names & self._outer_scope.keys():
            return False
        groups = self._labels.get(tests[0].variable)
        if groups is not None:
            groups.append(tuple(label for each in tests for label in each.labels))
        return groups is not None

    def clauses(self) -> list[str]:
        """The clauses of the pattern, with its conditions."""
        self._check()
        matched_edges = [edge for edge in self._match.edges if edge.path is None or edge.path.kind is PathKind.TRAILS]
        searched_edges = [edge for edge in self._match.edges if edge not in matched_edges]
        ends = {end for edge in searched_edges for end in (edge.source, edge.target)}
        single_nodes = [
            name
            for name in self._labels
            if not any(name in (edge.source, edge.target) for edge in matched_edges)
            and (
                name not in ends
                or name in self._bound
                or any(needed == frozenset((name,)) for needed, _ in self._pending)
            )
        ]
        paths = {path.elements[1]: path for path in self._match.paths if len(path.elements) > 1}
        node_paths = [path for path in self._match.paths if len(path.elements) == 1]
        if self._match.edges_differ or len(matched_edges) < 2:
            self._write(
                single_nodes,
                matched_edges,
                [path for path in self._match.paths if not _has_searched_part(path, searched_edges)],
            )
        else:
            if any(len(path.elements) > 3 for path in self._match.paths):
                raise unsupported("a path whose edges may be equal")
            self._write(single_nodes, [], node_paths)
            for edge in matched_edges:
                own = [paths[edge.variable]] if edge.variable in paths else []
                self._write([], [edge], own)
        for edge in searched_edges:
            self._search(edge, paths.get(edge.variable))
        if self._pending:
            self._clauses.append(f"WITH *{self._where()}")
        return self._clauses

    def new(self) -> list[str]:
        """The variables that the pattern adds to the query."""
        own = (value.text for name, value in self.scope.items() if name not in self._outer_scope)
        return [text for text in own if text != NOTHING]

    def _check(self) -> None:
        """Check that Cypher accepts the pattern, with the same meaning.

        Raises:
            Unsupported: it does not.
        """
        edges = [edge.variable for edge in self._match.edges]
        if len(set(edges)) < len(edges):
            raise unsupported("the same edge variable twice in a pattern")
        for edge in self._match.edges:
            if edge.variable in self._outer_scope and (
                edge.path is not None or not isinstance(self._outer_scope[edge.variable].kind, OfEdge)
            ):
                raise unsupported("a path variable that is already bound")
        nodes = {*self._labels, *(end for edge in self._match.edges for end in (edge.source, edge.target))}
        if any(name in self._outer_scope and not isinstance(self._outer_scope[name].kind, OfNode) for name in nodes):
            raise unsupported("a value used as a node")

    def _write(self, alone: Sequence[str], edges: Sequence[EdgePattern], paths: Sequence[PathPattern]) -> None:
        """Add one MATCH clause with these nodes, edges and paths."""
        filters = [f"{self._outer_scope[name].text} IS NOT NULL" for name in alone if name in self._outer_scope]
        unwritten = {edge.variable: edge for edge in edges}
        texts = [self._path(path, unwritten) for path in paths]
        texts += [
            f"{self._node(edge.source)}{self._edge(edge)}{self._node(edge.target)}" for edge in unwritten.values()
        ]
        texts += [self._node(name) for name in alone]
        filters += self._label_conditions
        self._label_conditions = []
        if texts:
            self._clauses.append(f"MATCH {', '.join(dict.fromkeys(texts))}{self._where(filters)}")

    def _where(self, more: Sequence[str] = ()) -> str:
        ready = [each for needed, each in self._pending if needed <= self._bound]
        self._pending = [(needed, each) for needed, each in self._pending if not needed <= self._bound]
        texts = [*more, *(self._expressions.start_condition(each, self.scope) for each in ready)]
        return f" WHERE {' AND '.join(texts)}" if texts else ""

    def _node(self, name: str) -> str:
        """A node, with its labels where it is written for the first time."""
        kind = self.scope[name].kind if name in self._bound else None
        known = kind.labels if isinstance(kind, OfNode) else ()
        all_groups = _without_implied([*known, *self._labels.get(name, [])])
        groups = [group for group in all_groups if group not in known]
        scanned = _scanned(known, groups)
        labels = "&".join(f"({self._context.labels(each, self._context.catalogue.labels)})" for each in scanned)
        self._labels[name] = []
        if name not in self._bound:
            self._bind(name, OfNode(tuple(all_groups)))
        else:
            self.scope[name] = replace(self.scope[name], kind=OfNode(tuple(all_groups)))
        conditions = [self._has_label(name, group) for group in groups if group not in scanned]
        self._label_conditions += conditions
        variable = self.scope[name].text if conditions or self._is_referenced(name) else ""
        return f"({variable}{f':{labels}' if labels else ''})"

    def _has_label(self, name: str, group: tuple[str, ...]) -> str:
        return self._expressions.condition(HasLabel(name, group), self.scope)

    def _bind(self, name: str, kind: OfNode | OfEdge | Listed | OfPath) -> str:
        self.scope[name] = Typed(self._context.new_variable(), kind)
        self._bound.add(name)
        return self.scope[name].text

    def _is_referenced(self, name: str) -> bool:
        """Whether a variable has to be named, because it is used elsewhere."""
        return not self._in_condition or name in self._outer_scope or self._use_counts[name] > 1

    def _edge(self, edge: EdgePattern, *, backwards: bool = False) -> str:
        types = self._context.labels(edge.relations, self._context.catalogue.types)
        if edge.variable not in self._bound:
            kind = OfEdge(edge.relations)
            self._bind(edge.variable, kind if edge.path is None else Listed(kind))
        shown = self.scope[edge.variable].text if self._is_referenced(edge.variable) else ""
        length = "" if edge.path is None else f"*{edge.path.shortest}..{edge.path.longest or ''}"
        if edge.path is not None and edge.path.longest == 0:
            length = "*0"
        inner = f"[{shown}{f':{types}' if types else ''}{length}]"
        return f"-{inner}-" if edge.either else f"<-{inner}-" if backwards else f"-{inner}->"

    def _path(self, path: PathPattern, edges: dict[str, EdgePattern]) -> str:
        """A named path. Its edges are removed from `edges`, the ones still to be written."""
        text = ""
        types: list[str] = []
        for before, name in zip((path.elements[0], *path.elements), path.elements, strict=False):
            if name not in self._match_edges:
                text += self._node(name)
                continue
            edge = edges.pop(name, None)
            backwards = edge is not None and before != edge.source
            if edge is None or (backwards and edge.path is not None):
                raise unsupported("two paths through one edge, or a path followed against its direction")
            types += edge.relations or ("",)
            text += self._edge(edge, backwards=backwards)
        variable = self._bind(path.variable, OfPath(() if "" in types else tuple(dict.fromkeys(types))))
        return f"{variable} = {text}"

    @property
    def _match_edges(self) -> set[str]:
        return {edge.variable for edge in self._match.edges}

    def _search(self, edge: EdgePattern, path: PathPattern | None) -> None:
        """Add the search for the paths of an edge: one for each end, or all shortest ones."""
        if edge.source not in self._bound and edge.target not in self._bound:
            self._write([edge.source], [], [])
        search = Search(self._context, edge, self._context.labels(edge.relations, self._context.catalogue.types))
        forward = edge.source in self._bound
        near, far = (edge.source, edge.target) if forward else (edge.target, edge.source)
        known = self.scope[far].text if far in self._bound and far != near else None
        end = known if known is not None and search.to_known_end else self._context.new_variable()
        path_variable = None
        if search.gives_edges:
            path_variable = (
                self._context.new_variable() if path is None else self._bind(path.variable, OfPath(edge.relations))
            )
            variable = self._bind(edge.variable, Listed(OfEdge(edge.relations)))
            self._clauses.append(
                search.shortest(
                    self.scope[near].text, end, path_variable, variable, forward=forward, known=end == known
                )
            )
        else:
            if path is not None or self._use_counts[edge.variable] > 1:
                raise unsupported("the edges of a path of which only the ends are read")
            self._clauses.append(search.ends(self.scope[near].text, end, forward=forward))
            self._bound.add(edge.variable)
            self.scope[edge.variable] = Typed(NOTHING, NULL)
        if path is not None and path.elements != (edge.source, edge.variable, edge.target):
            raise unsupported("a path followed against its direction, or of several parts")
        filters: list[str] = []
        if far not in self._bound:
            self.scope[far] = Typed(end, OfNode(tuple(self._labels.get(far, ()))))
            self._bound.add(far)
        elif end != self.scope[far].text:
            filters.append(f"{end} = {self.scope[far].text}")
        filters += (self._has_label(far, group) for group in self._labels.get(far, ()))
        self._labels[far] = []
        if where := self._where(filters):
            self._clauses.append(f"WITH *{where}")


def _has_searched_part(path: PathPattern, searched: Iterable[EdgePattern]) -> bool:
    """Whether a path contains an edge that needs a search.

    Raises:
        Unsupported: that edge is only a part of the path.
    """
    names = {edge.variable for edge in searched}
    found = names.intersection(path.elements)
    if found and len(path.elements) > 3:
        raise unsupported("a path of which a part is a shortest path")
    return bool(found)


def _variable_uses(match: Match) -> Iterable[str]:
    """The variables of a pattern, each as often as it is used. Labels do not count as a use."""
    for edge in match.edges:
        yield from (edge.variable, edge.source, edge.target)
        if edge.path is not None and edge.path.kind is not PathKind.TRAILS:
            yield from (edge.source, edge.target)
    for path in match.paths:
        yield from path.elements
        yield from path.elements
        yield path.variable
    if match.where is not None:
        for name in variables_of(match.where):
            yield from (name, name)
