"""Writes a pattern of a plan in SPARQL: each match of the pattern is one row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import nullcontext, suppress
from itertools import combinations, count
from types import MappingProxyType

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base.plans import queries
from kgnav_mcp.adapters.sparql_base.plans.windows import Listing
from kgnav_mcp.adapters.sparql_base.plans.writing import Edge, EdgeVariables, Writer, cannot_express, relations_of
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated, rows, values
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.plan import (
    Compare,
    Comparison,
    Connective,
    EdgePattern,
    Exists,
    Expression,
    HasLabel,
    Joined,
    Match,
    NodePattern,
    Not,
    PathKind,
    PathLength,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import conjuncts, id_condition, node_patterns, parts, variables_of
from kgnav_mcp.port.pattern_conditions import QualifierCondition, equal_constants, number_condition, prefix_condition
from kgnav_mcp.port.pattern_queries import PatternQuery

KnownTerms = Mapping[QualifierCondition | Expression, Sequence[Literal | URIRef]]
"""The literals and nodes that equal the constants of a condition."""


async def write_pattern(writer: Writer, question: PatternQuery, *, iris_only: bool = False) -> Pattern:
    """Write a pattern in SPARQL. With `iris_only`, edges of nodes without an IRI may be omitted, which is faster.

    Raises:
        Unsupported: SPARQL cannot express a part of it, or any of the qualifiers.
    """
    match, given = question.match, question.given_nodes
    await writer.load_relations(relations_of(match))
    matches = [one for one in parts(match, patterns=True) if isinstance(one, Match)]
    if any(_counts_any_relation(one, distinct=one is not match or question.counted is not None) for one in matches):
        await writer.load_any_relation()
    names = sorted({*variables_of(match), *given})
    nodes = {name: Fragment(f"?n{place}") for place, name in enumerate(names)}
    terms = await _known_terms(writer, question)
    distinct_nodes = question.counted is not None
    pattern = Pattern(
        writer, nodes, count(), frozenset(given), iris_only=iris_only, terms=terms, distinct_nodes=distinct_nodes
    )
    for owned, _ in question.texts:
        await writer.load_text_part(owned)
    pattern.add(match, question.qualifiers, question.texts, exact=question.exact)
    return pattern


async def _known_terms(writer: Writer, question: PatternQuery) -> KnownTerms:
    """The literals and nodes that equal the constants of conditions, where they are known.

    Those of qualifiers are read only for a pattern that can begin with them.
    """
    match = question.match
    found: dict[QualifierCondition | Expression, Sequence[Literal | URIRef] | None] = {}
    if not question.given_nodes and not any(map(_ids_of_node, conjuncts(match.where))):
        found |= {one: await writer.equal_terms(one) for one in question.qualifiers if not one.unequal}
    for part in parts(match, patterns=True):
        if not isinstance(part, Compare):
            continue
        if (equal := equal_constants(part)) is not None:
            found[part] = await writer.value_terms(*equal)
        elif (prefix := prefix_condition(part)) is not None:
            await writer.load_texts(prefix[0])
    return {one: own for one, own in found.items() if own is not None}


def _counts_any_relation(match: Match, *, distinct: bool) -> bool:
    """Whether it matters how many edges of any relation lead between two nodes.

    `distinct`: only distinct nodes are counted, or whether there is a match.
    """
    return not (distinct and len(match.edges) == 1) and any(not edge.relations for edge in match.edges)


def _ids_of_node(condition: Expression) -> tuple[str, Sequence[str]] | None:
    """The node whose ids a condition lists, and these."""
    ids = id_condition(condition)
    return ids if ids is not None and ids[1] and isinstance(condition, Compare) else None


class Pattern:
    """One pattern while it is being written."""

    def __init__(
        self,
        writer: Writer,
        nodes: Mapping[str, Fragment],
        numbers: Iterable[int],
        known: Iterable[str] = (),
        *,
        iris_only: bool = False,
        terms: KnownTerms = MappingProxyType({}),
        outside: Collection[str] | None = None,
        distinct_nodes: bool = False,
    ) -> None:
        """`known`: variables whose values are certainly nodes.

        `outside`: nodes that are bound outside of the pattern of a condition, which may have a match several times;
        None: it is no such pattern. `distinct_nodes`: only distinct nodes of its matches are wanted, or only
        whether there is a match, however many edges lead between these.
        """
        self._writer = writer
        self._nodes = nodes
        self._numbers = iter(numbers)
        self._known = set(known)
        self._single: dict[str, Fragment] = {}
        self._iris_only = iris_only
        self._terms = terms
        self._outside = outside or ()
        self._repeats = outside is not None
        self._own: Set[str] = frozenset()
        self._distinct_nodes = distinct_nodes
        self._any_nodes = False
        self._edges: dict[str, EdgeVariables] = {}
        self._edge_variables: list[str] = []
        self._edge_texts: list[Fragment] = []
        self._listings: list[Listing] = []
        self._started: set[str] = set()
        self._parts: list[Fragment] = []

    @property
    def text(self) -> Fragment:
        """The text between the braces of the query."""
        return _joined(*self._parts)

    @property
    def identity(self) -> Sequence[str]:
        """The variables whose values identify a match."""
        return list(dict.fromkeys([*(node.text for node in self._nodes.values()), *self._edge_variables]))

    @property
    def edge_texts(self) -> Sequence[Fragment]:
        """Each edge alone, without paths."""
        return self._edge_texts

    def listings(self, nodes: Collection[str]) -> Sequence[Listing]:
        """Triple patterns of which each match has exactly one, and whose nodes are among these variables."""
        return [one for one in self._listings if {node.text for node in one.nodes} <= {*nodes}]

    @property
    def has_known_nodes(self) -> bool:
        """Whether it begins with nodes of known ids, so that few matches are expected."""
        return bool(self._known)

    def node(self, name: str) -> Fragment:
        """The variable of a node in the query."""
        return self._nodes[name]

    def edge_ends(self, name: str) -> EdgeVariables | None:
        """The variables of an edge of the pattern; None if it has no such edge."""
        return self._edges.get(name)

    def relation(self, edge: str) -> Fragment:
        """The variable of the relation of an edge.

        Raises:
            Unsupported: there is no such variable.
        """
        return self._writer.relation_variable(self._edges[edge])

    def given(self, names: Sequence[str], ids: Sequence[Sequence[str]]) -> Fragment:
        """Write the values of the given nodes; they come before the pattern."""
        term = self._writer.term
        nodes = Fragment(" ".join(self.node(name).text for name in names))
        return self._writer.part(queries.GIVEN, nodes=nodes, rows=rows(*([term(each) for each in row] for row in ids)))

    def add(
        self,
        match: Match,
        qualifiers: Sequence[QualifierCondition] = (),
        texts: Iterable[tuple[Property, str]] = (),
        *,
        exact: bool = True,
    ) -> None:
        """Write the edges, labels and conditions of a match. Conditions on ids and parts of texts are written first.

        `exact`: the qualifiers are applied exactly; otherwise as far as possible.
        """
        self._own = node_patterns(match).keys()
        self._parts += (self._writer.text_part(self.node(owned.owner), owned, text) for owned, text in texts)
        conditions = self._start(conjuncts(match.where))
        if not match.edges and not self._parts and not any(node.labels for node in match.nodes):
            raise cannot_express("a node of any label, by a value that this store does not look up")
        self._distinct_nodes = self._distinct_nodes and len(match.edges) == 1
        selected = self._known or self._parts or any(node.labels for node in match.nodes)
        self._any_nodes = not (self._repeats or selected)
        ends = self._edges = {edge.variable: self._ends(edge) for edge in match.edges}
        if exact:
            self._parts += (self._exact_qualifier(one, ends[one.owned.owner]) for one in qualifiers)
        else:
            self._qualify(qualifiers, ends)
        matched_edges = [edge for edge in match.edges if edge.path is None]
        identified = not self._repeats or (match.edges_differ and len(matched_edges) > 1)
        edges = [self._edge(edge, ends[edge.variable], identified=identified) for edge in matched_edges]
        self._edge_texts += (edge.text for edge in edges)
        self._listings += () if qualifiers else self._listed(match, edges)
        for edge in match.edges:
            if edge.path is not None:
                self._reach(edge, edge.path, ends[edge.variable])
        directed = (edge for edge in match.edges if edge.path is None and not _leads_either_way(edge))
        self._parts += self._only_nodes((edge.source, edge.target, edge.relations) for edge in directed)
        for node in match.nodes:
            self._labels(node, alone=not match.edges)
        for edge in edges:
            self._edge_variables += (one.text for one in (*edge.ends, edge.way, *edge.own) if one is not None)
        if match.edges_differ:
            for one, other in combinations(edges, 2):
                self._differ(one, other)
        for condition in conditions:
            self._parts.append(self._writer.part(queries.FILTER, condition=self._condition(condition)))

    def _listed(self, match: Match, edges: Sequence[Edge]) -> Iterator[Listing]:
        """The listings from whose nodes the pattern can be joined in the order in which it is written."""
        if self._repeats or self._known or len(edges) < len(match.edges):
            return
        listings = [
            Listing((self.node(node.variable),), self._writer.labelled(self.node(node.variable), group, alone=False))
            for node in match.nodes
            for group in node.labels
            if self._writer.is_listed_by(group) and not node.subclasses
        ]
        listings += (
            Listing(edge.ends, edge.text)
            for edge in edges
            if len(edge.relations) == 1 and edge.way is None and not edge.own and edge.ends[0] != edge.ends[1]
        )
        for listing in listings:
            reached = {node.text for node in listing.nodes}
            if not self._started <= reached:
                continue
            for edge in edges:
                ends = {end.text for end in edge.ends}
                if reached.isdisjoint(ends):
                    break
                reached |= ends
            else:
                if reached >= {self.node(name).text for name in self._own}:
                    yield listing

    def _start(self, conditions: Sequence[Expression]) -> list[Expression]:
        """Write the conditions with which the pattern begins: on ids, or else on values. Returns the others."""
        others: list[Expression] = []
        for condition in conditions:
            if ids := _ids_of_node(condition):
                iris = self._writer.terms(ids[1])
                self._parts.append(self._writer.part(queries.ONE_OF, node=self.node(ids[0]), terms=values(*iris)))
                self._known.add(ids[0])
                if len(iris) == 1:
                    self._single[self.node(ids[0]).text] = Fragment(iris[0].n3())
            else:
                others.append(condition)
        if self._known and not self._repeats:
            return others
        found = {one: self._equal_constant(one) for one in others}
        for node, pattern, is_single in filter(None, found.values()):
            self._started.add(node.text)
            # Oxigraph joins a sub-query with all nodes of a label.
            is_plain = is_single or self._repeats
            self._parts.append(pattern if is_plain else self._writer.part(queries.EQUAL, node=node, pattern=pattern))
        return [one for one in others if found[one] is None]

    def _equal_constant(self, condition: Expression) -> tuple[Fragment, Fragment, bool] | None:
        """A node, the pattern that a property of it equals a constant, and whether it matches each node once at most.

        None if the literals of the constant are not known.
        """
        equal, terms = equal_constants(condition), self._terms.get(condition)
        if equal is None or terms is None:
            return None
        node, value = self.node(equal[0].owner), Fragment(f"?v{next(self._numbers)}")
        pattern = self._writer.has_value(node, equal[0].ids, value, terms)
        return node, pattern, len(terms) <= 1 == len(equal[0].ids)

    def _ends(self, edge: EdgePattern) -> EdgeVariables:
        source, target = self.node(edge.source), self.node(edge.target)
        return EdgeVariables(
            source,
            target,
            next(self._numbers),
            edge.either,
            edge.relations,
            any_nodes=self._any_nodes,
            distinct_ends=self._distinct_nodes,
        )

    def _qualify(self, qualifiers: Sequence[QualifierCondition], ends: Mapping[str, EdgeVariables]) -> None:
        """Write the qualifiers that can be expressed, but at least one, and all those that refer to a node."""
        written = 0
        for qualifier in qualifiers:
            value = Fragment(f"?v{next(self._numbers)}") if qualifier.node is None else self.node(qualifier.node)
            with suppress(Unsupported) if qualifier.node is None else nullcontext():
                own, terms = ends[qualifier.owned.owner], self._terms.get(qualifier)
                self._parts.append(self._writer.qualifier(own, qualifier, value, terms))
                written += 1
        if qualifiers and not written:
            raise cannot_express("the values of qualifiers")

    def _exact_qualifier(self, qualifier: QualifierCondition, ends: EdgeVariables) -> Fragment:
        """Write a condition on a qualifier. It selects the edges, unless they are near known nodes."""
        value = Fragment(f"?v{next(self._numbers)}")
        terms = self._terms.get(qualifier)
        selects = not (self._known or qualifier.unequal)
        return self._writer.exact_qualifier(ends, qualifier, value, selects=selects, terms=terms)

    def _edge(self, edge: EdgePattern, ends: EdgeVariables, *, identified: bool) -> Edge:
        """Write an edge. `identified`: its variables identify it."""
        writer = self._writer
        forth, other_variables = writer.edge(edge.relations, ends)
        way = ends.own("w") if identified and _leads_either_way(edge) else None
        if _leads_either_way(edge):
            back, _ = writer.edge(edge.relations, ends.reversed)
            forth = writer.part(
                queries.EITHER_WAY,
                forth=_joined(forth, *self._only_nodes([(edge.source, edge.target, edge.relations)])),
                back=_joined(back, *self._only_nodes([(edge.target, edge.source, edge.relations)])),
                source=ends.source,
                target=ends.target,
                is_forth=self._way(way, queries.FORTH),
                is_back=self._way(way, queries.BACK),
            )
        self._parts.append(forth)
        return Edge(forth, edge.relations, (ends.source, ends.target), way, other_variables)

    def _way(self, way: Fragment | None, number: str) -> Fragment:
        """The text that binds the variable of an edge's direction."""
        if way is None:
            return Fragment("")
        template = queries.INNER_WAY if self._repeats else queries.WAY
        return self._writer.part(template, way=way, number=Fragment(number))

    def _only_nodes(self, edges: Iterable[tuple[str, str, Sequence[str]]]) -> Iterator[Fragment]:
        """Write the conditions that heads and tails of edges are nodes. No head is a literal, so it needs one only.

        A head of several edges is a node if one of them shows that it is.
        """
        ends = list(edges)
        conditions: dict[str, list[Fragment]] = {}
        for head, _, relations in ends:
            condition = self._writer.is_head(self.node(head), relations, iris_only=self._iris_only)
            conditions.setdefault(head, []).append(condition)
        for name in sorted(conditions.keys() - self._known):
            yield next((one for one in conditions[name] if not one.text), conditions[name][0])
        for name in sorted({tail for _, tail, _ in ends} - conditions.keys() - self._known):
            yield self._writer.is_tail(self.node(name))

    def _reach(self, edge: EdgePattern, path: PathLength, ends: EdgeVariables) -> None:
        """Write a path of any length, which leads to each node once.

        If the path needs at least one edge, a node only leads to itself by a cycle.

        SPARQL's `+` means the same, but Virtuoso leaves out nodes of a cycle.
        """
        if path.kind is not PathKind.REACHABLE or path.shortest > 1 or edge.either or edge.source == edge.target:
            raise cannot_express("a path of this kind")
        writer, number, between = self._writer, ends.number, ends.own("x")
        single = {} if {edge.source, edge.target} <= self._known else self._single
        if writer.paths_need_constant and single.keys().isdisjoint((ends.source.text, ends.target.text)):
            raise cannot_express("a path between such nodes")
        source, target = (single.get(end.text, end) for end in (ends.source, ends.target))
        if path.shortest == 1 and writer.reaches_cycles:
            edges = EdgeVariables(source, target, number)
            self._parts.append(writer.reaching(edge.relations, edges, queries.AT_LEAST_ONE))
            return
        self._parts.append(writer.reaching(edge.relations, EdgeVariables(source, target, number)))
        if path.shortest == 1:
            end = target if ends.target.text in single else source  # where they are the same node
            first, _ = writer.edge(edge.relations, EdgeVariables(end, between, number))
            rest = writer.reaching(edge.relations, EdgeVariables(between, end, number))
            cycle = self._exists(queries.EXISTS, Fragment(f"{first.text} {rest.text}"), whole=False)
            other = writer.part(queries.DIFFERS, one=ends.source, other=ends.target)
            self._parts.append(writer.part(queries.FILTER, condition=Fragment(f"{other.text} || {cycle.text}")))

    def _labels(self, node: NodePattern, *, alone: bool) -> None:
        if node.subclasses:
            raise cannot_express("subclasses")
        name, writer = self.node(node.variable), self._writer
        if alone or writer.joins_from_outside or self._own.isdisjoint(self._outside):
            self._parts += (writer.labelled(name, group, alone=alone) for group in node.labels)
        else:
            tests = (writer.has_label(name, group) for group in node.labels)
            self._parts += (writer.part(queries.FILTER, condition=one) for one in tests)
        if alone:
            self._parts.append(self._writer.is_listed(name))

    def _differ(self, one: Edge, other: Edge) -> None:
        """Write a condition that two edges of the pattern are not the same edge of the graph."""
        if one.relations and other.relations and not {*one.relations} & {*other.relations}:
            return
        if len(one.own) != len(other.own):
            raise cannot_express("an edge of several relations together with an edge of one relation")
        unlike = self._unlike(one.ends, other.ends)
        part = self._writer.part
        if one.way or other.way:
            ways = {"one": one.way or Fragment(queries.FORTH), "other": other.way or Fragment(queries.FORTH)}
            crossed = Fragment(" || ".join(self._unlike(one.ends, other.ends[::-1])) or queries.NO)
            straight = Fragment(" || ".join(unlike) or queries.NO)
            unlike = [part(queries.OTHER_WAYS, straight=straight, crossed=crossed, **ways).text]
        unlike += self._unlike(one.own, other.own)
        self._parts.append(part(queries.FILTER, condition=Fragment(" || ".join(unlike) or queries.NO)))

    def _unlike(self, ones: Sequence[Fragment], others: Sequence[Fragment]) -> list[str]:
        """The conditions that variables differ from others, except those that are the same variable."""
        pairs = ((one, other) for one, other in zip(ones, others, strict=True) if one.text != other.text)
        return [self._writer.part(queries.DIFFERS, one=one, other=other).text for one, other in pairs]

    def _condition(self, condition: Expression, *, whole: bool = True) -> Fragment:
        """Write a condition. `whole`: it is all of a filter."""
        part = self._writer.part
        match condition:
            case Joined(Connective.AND | Connective.OR as connective, parts):
                sign = " && " if connective is Connective.AND else " || "
                return Fragment(sign.join(f"({self._condition(one, whole=False).text})" for one in parts))
            case Exists(match) | Not(Exists(match)):
                template = queries.EXISTS if isinstance(condition, Exists) else queries.NOT_EXISTS
                return self._exists(template, self._inner(match), whole=whole)
            case Not(opposite):
                return part(queries.NOT, condition=self._condition(opposite, whole=False))
            case Compare(Variable(one), Comparison.EQUAL | Comparison.UNEQUAL as comparison, Variable(other)):
                template = queries.SAME if comparison is Comparison.EQUAL else queries.DIFFERS
                return part(template, one=self.node(one), other=self.node(other))
            case HasLabel(variable, labels):
                return self._writer.has_label(self.node(variable), labels)
            case _:
                return self._value_condition(condition)

    def _inner(self, match: Match) -> Fragment:
        """Write the pattern of a condition."""
        outside = {*self._outside, *self._own, *self._known}
        inner = Pattern(
            self._writer,
            self._nodes,
            self._numbers,
            self._known,
            terms=self._terms,
            outside=outside,
            distinct_nodes=True,
        )
        inner.add(match)
        return inner.text

    def _exists(self, template: str, pattern: Fragment, *, whole: bool) -> Fragment:
        """Write the condition that a pattern has a match, or has none. `whole`: it is all of a filter.

        Raises:
            Unsupported: the store does not evaluate a condition on a pattern there.
        """
        if not whole and not self._writer.nests_exists and queries.EXISTS.partition(" ")[0] in pattern.text:
            raise cannot_express("a pattern with a condition on a pattern, within another condition")
        if not self._writer.nests_unions and pattern.text.count(" UNION ") > 1:
            raise cannot_express("several edges of either direction in a condition")
        return self._writer.part(template, pattern=pattern)

    def _value_condition(self, condition: Expression) -> Fragment:
        if (equal := self._equal_constant(condition)) is not None:
            return self._writer.part(queries.EXISTS, pattern=equal[1])
        if (prefix := prefix_condition(condition)) is not None:
            owned, text = prefix
            return self._writer.prefix(self.node(owned.owner), owned.ids[0], text)
        number = number_condition(condition)
        if number is None:
            return self._id_condition(condition)
        owned, bounds = number
        return self._writer.number(self.node(owned.owner), owned.ids, bounds)

    def _id_condition(self, condition: Expression) -> Fragment:
        ids = id_condition(condition)
        if ids is None:
            raise cannot_express("a condition")
        name, references = ids
        if not references:
            return Fragment(queries.NO)
        terms = comma_separated(*self._writer.terms(references))
        return self._writer.part(queries.IS_ONE_OF, node=self.node(name), terms=terms)


def _leads_either_way(edge: EdgePattern) -> bool:
    """Whether an edge has to be matched in both directions. One from a node to itself is the same in both."""
    return edge.either and edge.source != edge.target


def _joined(*parts: Fragment) -> Fragment:
    return Fragment(" ".join(part.text for part in parts if part.text))
