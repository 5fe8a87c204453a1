"""Writes the parts of a pattern in SPARQL, as one store represents edges and labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base.names import Naming
from kgnav_mcp.adapters.sparql_base.plans import queries
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, comma_separated, sendable, values
from kgnav_mcp.adapters.sparql_base.value_conditions import NUMBER_TYPES
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.plan import Comparison, EdgePattern, Match, Property
from kgnav_mcp.plan.walking import parts
from kgnav_mcp.port.pattern_conditions import Bound, QualifierCondition
from kgnav_mcp.values.scalars import BOOLEANS, NUMBER, is_always_text_from


@dataclass(frozen=True, slots=True)
class EdgeVariables:
    """The variables of one edge in a query."""

    source: Fragment
    target: Fragment
    number: int
    """Makes the names of the edge's other variables unique within the query."""
    either: bool = False
    """Whether the edge matches in both directions."""
    relations: tuple[str, ...] = ()
    """The relations that it may have; empty: any."""
    any_nodes: bool = False
    """Whether nothing else in the pattern selects its ends, so that all edges of the graph match."""
    distinct_ends: bool = False
    """Whether only its distinct ends matter, so that a triple that makes several edges may match once."""

    def own(self, letter: str) -> Fragment:
        """Another variable of the edge, such as its statement: `?s0`."""
        return Fragment(f"?{letter}{self.number}")

    @property
    def reversed(self) -> EdgeVariables:
        """The same edge in the other direction."""
        return replace(self, source=self.target, target=self.source)


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge in SPARQL: one row for each edge of the graph that matches.

    Its ends, with the way that it leads, and its own variables together identify it.
    """

    text: Fragment
    relations: tuple[str, ...]
    ends: tuple[Fragment, Fragment]
    way: Fragment | None
    """The variable of the direction in which it matches; None if it matches in its own only."""
    own: tuple[Fragment, ...]


def relations_of(match: Match) -> dict[str, None]:
    """The relations in a pattern and in its conditions."""
    inner = [part for part in parts(match, patterns=True) if isinstance(part, EdgePattern)]
    return {relation: None for edge in inner for relation in edge.relations}


def cannot_express(what: str) -> Unsupported:
    """The error for a part of a pattern that cannot be written in SPARQL for this store."""
    return Unsupported(f"a SPARQL query cannot express {what} here", next_step="Walk with search or get_triples.")


class Writer(ABC):
    """Writes patterns. A subclass writes edges as its store represents them."""

    def __init__(self, reader: Reader, naming: Naming, *, types: int = 1) -> None:
        """`types` is the number of relations to types, which are `$typed` in queries."""
        self._reader = reader
        self._naming = naming
        self._types = types

    @property
    def nests_exists(self) -> bool:
        """Whether EXISTS may be nested within an expression."""
        return self._reader.nests_exists

    @property
    def joins_from_outside(self) -> bool:
        """Whether the patterns of an EXISTS are joined from the variables that are bound outside."""
        return self._reader.joins_from_outside

    @property
    def nests_unions(self) -> bool:
        """Whether EXISTS may have several UNIONs."""
        return self._reader.nests_unions

    @abstractmethod
    async def load_relations(self, relations: Iterable[str]) -> None:
        """Look up the relations of a pattern. Called before it is written.

        Raises:
            Unsupported: an edge with one of them cannot be expressed.
        """

    async def load_any_relation(self) -> None:
        """Prepare for edges of any relation. Called before a pattern with one is written."""
        return

    @abstractmethod
    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        """Write an edge with one of these relations (empty: any).

        Its ends may match more than nodes, such as literals; `is_head` and `is_tail` exclude these. Returns its text,
        and the variables that identify it together with its ends.
        """

    def is_head(self, node: Fragment, relations: Sequence[str], *, iris_only: bool) -> Fragment:
        """Write a condition that the head of an edge with one of these relations is a node; empty if it always is one.

        `relations`: empty means any. `iris_only`: nodes without an IRI may be left out.
        """
        del node, relations, iris_only
        return Fragment("")

    def is_tail(self, node: Fragment) -> Fragment:
        """Write a condition that the tail of an edge can be a head, unlike a literal; empty if it always can."""
        del node
        return Fragment("")

    def is_listed(self, node: Fragment) -> Fragment:
        """Write a condition that a node is in lists of nodes: by default, that it has an id.

        It is for nodes that no edge of the pattern leads to.
        """
        return self.part(queries.NAMED, node=node)

    def labelled(self, node: Fragment, labels: Sequence[str], *, alone: bool) -> Fragment:
        """Write a pattern that a node has one of the labels.

        It adds no rows. `alone`: nothing else in the pattern binds the node.
        """
        if self.is_listed_by(labels):
            return self.part(queries.LABELLED, node=node, type=self.term(labels[0]))
        if alone:
            return self.part(queries.INSTANCES, node=node, types=comma_separated(*self.terms(labels)))
        return self.part(queries.FILTER, condition=self.has_label(node, labels))

    def is_listed_by(self, labels: Sequence[str]) -> bool:
        """Whether the nodes with one of the labels are those of one triple pattern."""
        return len(labels) == self._types == 1

    def has_label(self, node: Fragment, labels: Sequence[str]) -> Fragment:
        """Write a condition that a node has one of the labels."""
        return self.part(queries.HAS_LABEL, node=node, types=comma_separated(*self.terms(labels)))

    @property
    def paths_need_constant(self) -> bool:
        """Whether a path of any length needs a constant at one end, and an end that is not listed at the other."""
        return self._reader.dialect.paths_need_constant

    @property
    def reaches_cycles(self) -> bool:
        """Whether a path of at least one edge also leads to the nodes of a cycle that it begins in."""
        return self._reader.dialect.reaches_cycles

    def reaching(self, relations: Sequence[str], ends: EdgeVariables, edges: str = queries.ANY_NUMBER) -> Fragment:
        """Write a path of any length, also zero, over these relations; or one with a number of `edges`.

        Raises:
            Unsupported: SPARQL cannot express it for this store.
        """
        del relations, ends, edges
        raise cannot_express("paths")

    def number(self, node: Fragment, relations: Sequence[str], bounds: Sequence[Bound]) -> Fragment:
        """Write a condition that one of the values of some properties is within all bounds.

        Raises:
            Unsupported: this store cannot tell numbers from other values by their datatypes.
        """
        del node, relations, bounds
        raise cannot_express("values of properties")

    async def load_texts(self, owned: Property) -> None:
        """Prepare for a condition on texts of a property. Called before it is written.

        Raises:
            Unsupported: its values are not known to be literals.
        """
        raise cannot_express(f"texts of {owned.name}")

    def prefix(self, node: Fragment, relation: str, text: str) -> Fragment:
        """Write a condition that one of the values of a property is a text that starts so."""
        del node, relation, text
        raise cannot_express("texts of properties")

    async def load_text_part(self, owned: Property) -> None:
        """Prepare for a part of a text of a property, or of names. Called before it is written.

        Raises:
            Unsupported: its values are not known to be literals.
        """
        raise cannot_express(f"parts of {owned.name}")

    def text_part(self, node: Fragment, owned: Property, text: str) -> Fragment:
        """Write a pattern of the nodes one of whose values of a property, or one of whose names, contains a text."""
        del node, text
        raise cannot_express(f"parts of {owned.name}")

    async def value_terms(self, owned: Property, constants: Sequence[float | str]) -> Sequence[Literal] | None:
        """The literals that a property equal to one of these numbers, or texts, may have; None if not known.

        They are for a pattern that begins with this property: a store looks them up, and compares no other values.
        """
        del owned, constants
        return None

    def has_value(
        self, node: Fragment, relations: Sequence[str], value: Fragment, terms: Sequence[Literal | URIRef]
    ) -> Fragment:
        """Write a pattern that one of the values of some properties is one of these literals.

        `value` is a variable of its own.

        Raises:
            Unsupported: values of properties are not the objects of triples.
        """
        del node, relations, value, terms
        raise cannot_express("values of properties")

    def qualifier(
        self,
        ends: EdgeVariables,
        condition: QualifierCondition,
        value: Fragment,
        terms: Sequence[Literal | URIRef] | None = None,
    ) -> Fragment:
        """Write a pattern that an edge has a qualifier, and bind its value. It may match more than `condition`.

        `terms`: the literals and nodes that equal the constants, if they are known.

        Raises:
            Unsupported: edges have no qualifiers here, or SPARQL cannot express such a value.
        """
        del ends, condition, value, terms
        raise cannot_express("properties of edges")

    def exact_qualifier(
        self,
        ends: EdgeVariables,
        condition: QualifierCondition,
        value: Fragment,
        *,
        selects: bool,
        terms: Sequence[Literal | URIRef] | None = None,
    ) -> Fragment:
        """Write a condition that an edge has a qualifier with one of some constants, or none with it; it adds no rows.

        `selects`: the qualifier is matched first, as it is the start of the pattern. `terms`: those of `equal_terms`.

        Raises:
            Unsupported: SPARQL cannot express it exactly.
        """
        del ends, condition, value, selects, terms
        raise cannot_express("properties of edges")

    def qualifier_values(self, ends: EdgeVariables, relation: str, value: Fragment) -> Fragment:
        """Write a pattern that binds each value of a property of an edge, once.

        Raises:
            Unsupported: edges have no such properties here.
        """
        del ends, relation, value
        raise cannot_express("properties of edges")

    async def equal_terms(self, condition: QualifierCondition) -> Sequence[Literal | URIRef] | None:
        """The literals and nodes that a qualifier equal to one of some constants may have; None if not known.

        They are for a pattern that begins with this qualifier: a store finds its edges by them many times faster.
        """
        del condition
        return None

    def property(self, relation: str) -> URIRef:
        """The IRI of a relation whose values are the objects of its triples.

        Raises:
            Unsupported: it is not such a relation.
        """
        raise cannot_express(f"values of {relation}")

    def relation_variable(self, ends: EdgeVariables) -> Fragment:
        """The variable bound to the relation of an edge that may have several.

        Raises:
            Unsupported: there is no such variable.
        """
        del ends
        raise cannot_express("the types of edges")

    def labels(self, node: Fragment, value: Fragment) -> tuple[Fragment, Fragment]:
        """The text of a type of a node, and the pattern that binds `value` to each.

        Raises:
            Unsupported: the labels of nodes are not the names of types here.
        """
        del node, value
        raise cannot_express("the labels of nodes")

    def part(self, template: str, **terms: URIRef | Literal | Fragment) -> Fragment:
        """Fill a fragment."""
        return self._reader.part(template, **terms)

    def term(self, reference: str) -> URIRef:
        """Resolve an id to its IRI.

        Raises:
            Unsupported: the entity has no IRI, as for a blank node.
        """
        iri = self._naming.iri(reference)
        if iri is None:
            raise cannot_express(f"the id {reference}")
        return iri

    def terms(self, references: Sequence[str]) -> list[URIRef]:
        """Resolve a list of ids to their IRIs.

        Raises:
            Unsupported: an entity has no IRI, or the list is too long.
        """
        if len(references) > MAX_TERMS:
            raise cannot_express(f"a list of {len(references):,} ids")
        return [self.term(each) for each in dict.fromkeys(references)]


Path = tuple[URIRef, ...]
_NUMBERS = Literal(f"^({NUMBER.replace(chr(92) + '.', '[.]')}|[+-]?INF|-?Infinity|NaN)$")
"""The spellings of numbers."""
_TRUTHS = comma_separated(*map(Literal, BOOLEANS))
_STRICT = {
    Comparison.AT_MOST: (Comparison.LESS, Comparison.EQUAL),
    Comparison.AT_LEAST: (Comparison.GREATER, Comparison.EQUAL),
}


class TripleWriter(Writer):
    """Writes patterns over triples."""

    def __init__(self, reader: Reader, naming: Naming, mediator: str, *, types: int = 1) -> None:
        """`mediator` is the condition that `$via` is a mediator."""
        super().__init__(reader, naming, types=types)
        self._mediator = mediator
        self._paths: dict[str, Path] = {}

    @abstractmethod
    async def _shown_relations(self) -> Collection[URIRef]:
        """The known relations of the graph that are shown."""

    async def load_relations(self, relations: Iterable[str]) -> None:
        for relation in relations:
            if relation not in self._paths:
                self._paths[relation] = await self._path(relation)

    async def _path(self, relation: str) -> Path:
        """The hops of a relation id: one, or two joined by a dot."""
        dots = [position for position, character in enumerate(relation) if character == "."]
        known = await self._shown_relations() if dots else {self.term(relation)}
        for form in ([relation], *([relation[:dot], relation[dot + 1 :]] for dot in dots)):
            path = tuple(iri for hop in form if (iri := self._naming.iri(hop)) is not None and iri in known)
            if len(path) == len(form):
                return path
        raise cannot_express(f"the relation {relation}")

    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        paths = [self._paths[relation] for relation in relations]
        if len(paths) == 1 and len(paths[0]) == 2:
            near, far = paths[0]
            via = ends.own("m")
            mediator = self.part(self._mediator, via=via)
            terms = {"source": ends.source, "target": ends.target, "via": via, "mediator": mediator}
            return self.part(queries.TWO_HOPS, near=near, far=far, **terms), (via,)
        if any(len(path) == 2 for path in paths):
            raise cannot_express("one of several relations, some of which lead through mediators")
        if len(paths) == 1:
            return self.part(queries.EDGE, source=ends.source, relation=paths[0][0], target=ends.target), ()
        relation = ends.own("p")
        edge = self.part(queries.EDGE, source=ends.source, relation=relation, target=ends.target)
        among = self._restricted(ends, [path[0] for path in paths])
        return Fragment(f"{among.text} {edge.text}".strip()), (relation,)

    def relation_variable(self, ends: EdgeVariables) -> Fragment:
        if len(ends.relations) == 1:
            return super().relation_variable(ends)
        return ends.own("p")

    def is_tail(self, node: Fragment) -> Fragment:
        return self.part(queries.NO_VALUE, node=node)

    def _restricted(self, ends: EdgeVariables, iris: Sequence[URIRef]) -> Fragment:
        """The pattern that restricts an edge to some relations; without any, to those that are shown."""
        return self.part(queries.AMONG, relation=ends.own("p"), relations=values(*iris)) if iris else Fragment("")

    def reaching(self, relations: Sequence[str], ends: EdgeVariables, edges: str = queries.ANY_NUMBER) -> Fragment:
        paths = [self._paths[relation] for relation in relations]
        if not paths or any(len(path) == 2 for path in paths):
            raise cannot_express("paths of any relation, or through mediators")
        relation = Fragment("|".join(path[0].n3() for path in paths))
        terms = {"source": ends.source, "relations": relation, "target": ends.target}
        return self.part(queries.REACHES, **terms, edges=Fragment(edges))

    def number(self, node: Fragment, relations: Sequence[str], bounds: Sequence[Bound]) -> Fragment:
        tests = [self._within(comparison, bound).text for comparison, bound in bounds]
        return self.part(
            queries.HAS_NUMBER,
            node=node,
            relations=values(*self.terms(relations)),
            numbers=NUMBER_TYPES,
            within=Fragment(" && ".join(tests)),
        )

    def prefix(self, node: Fragment, relation: str, text: str) -> Fragment:
        if not sendable(text):
            raise cannot_express("such a text")
        is_text = Fragment(queries.TRUE)
        if not is_always_text_from(text):
            is_text = self.part(queries.NO_NUMBER, numbers=NUMBER_TYPES, form=_NUMBERS, truths=_TRUTHS)
        terms = {"relation": self.property(relation), "text": Literal(text), "is_text": is_text}
        return self.part(queries.HAS_PREFIX, node=node, **terms)

    def _within(self, comparison: Comparison, bound: float | tuple[float, ...]) -> Fragment:
        if not isinstance(bound, tuple):
            # For Virtuoso, any malformed number is at most and at least any number, but neither less nor equal.
            signs = _STRICT.get(comparison, (comparison,))
            tests = (self.part(queries.WITHIN, sign=Fragment(sign), number=Literal(bound)).text for sign in signs)
            return Fragment(f"({' || '.join(tests)})")
        if len(bound) > MAX_TERMS:
            raise cannot_express(f"a list of {len(bound):,} numbers")
        return self.part(queries.AMONG_NUMBERS, numbers=comma_separated(*map(Literal, bound)))

    def has_value(
        self, node: Fragment, relations: Sequence[str], value: Fragment, terms: Sequence[Literal | URIRef]
    ) -> Fragment:
        among = self.part(queries.AMONG, relation=value, relations=values(*terms)).text if terms else queries.NOTHING
        own = (self.part(queries.EDGE, source=node, relation=one, target=value).text for one in self.terms(relations))
        return union([f"{among} {edge}" for edge in own])


def union(branches: Sequence[str]) -> Fragment:
    """Write a pattern that matches what one of the branches does."""
    return Fragment(branches[0] if len(branches) == 1 else " UNION ".join(f"{{ {branch} }}" for branch in branches))
