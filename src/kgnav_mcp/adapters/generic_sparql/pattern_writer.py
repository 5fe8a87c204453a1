"""Writes patterns of plans for any endpoint, and finds their matches, also with blank nodes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.blanks import Seeds
from kgnav_mcp.adapters.generic_sparql.catalogue import Catalogue, CatalogueCache
from kgnav_mcp.adapters.generic_sparql.names import Names
from kgnav_mcp.adapters.generic_sparql.reification import Notation, ReifierFacts
from kgnav_mcp.adapters.generic_sparql.store import Store
from kgnav_mcp.adapters.sparql_base.plans.queries import (
    AMONG,
    ANY_NUMBER,
    CONTAINS_TEXT,
    EDGE,
    IRI,
    IS_LITERAL,
    NOTHING,
    TRUE,
    TYPE_ITEM,
    TYPES,
    WITH_TEXT,
)
from kgnav_mcp.adapters.sparql_base.plans.reader import MatchReader
from kgnav_mcp.adapters.sparql_base.plans.writing import EdgeVariables, Path, TripleWriter, cannot_express, union
from kgnav_mcp.adapters.sparql_base.query_reader import Row
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated, sendable, values
from kgnav_mcp.adapters.sparql_base.value_conditions import NUMBER_TYPES, number_terms, scalar_of
from kgnav_mcp.errors import InvalidArgument, StoreTimeout, Unsupported
from kgnav_mcp.model import Stop
from kgnav_mcp.plan import Property, Scalar
from kgnav_mcp.port.pattern_conditions import EXACT_BELOW, QualifierCondition
from kgnav_mcp.port.pattern_queries import PatternMatch
from kgnav_mcp.values.comparison import date_parts
from kgnav_mcp.values.scalars import is_always_text

_MAX_VALUES = 50
"""Maximum number of values of a qualifier in one query."""
_MAX_FILTERED = 200
"""Values of a qualifier up to which a pattern filters them: looking up the equal ones first is one query more."""
_MAX_TERMS = 100
"""Maximum number of literals that equal the constants of a condition."""
_TERMS_SHARE = 0.2
"""The fraction of a call's time for the query that finds them."""
_MAX_RELATIONS = 100
"""Maximum number of relations that are listed in place of any relation."""


class PatternWriter(TripleWriter):
    """Writes patterns over triples.

    Raises Unsupported for relations where one triple may make several edges: matches of triples would then be too few.
    """

    def __init__(self, store: Store, names: Names, catalogues: CatalogueCache) -> None:
        mediator = queries.MEDIATOR_VIA[store.endpoint.mediators]
        super().__init__(store.reader, names.naming, mediator, types=len(store.types))
        self._names, self._name_relations = names, store.names
        self._reification = store.reification
        self._catalogues = catalogues
        self._catalogue: Catalogue | None = None
        self._any_parallel: bool | None = None

    async def load_relations(self, relations: Iterable[str]) -> None:
        wanted = list(relations)
        await super().load_relations(wanted)
        self._catalogue = await self._catalogues.get()

    async def load_any_relation(self) -> None:
        self._any_parallel = await self._catalogues.any_parallel()

    async def _shown_relations(self) -> Collection[URIRef]:
        return (await self._catalogues.get()).relations

    async def _path(self, relation: str) -> Path:
        path = await super()._path(relation)
        if self._reification:
            catalogue = await self._catalogues.get(*map(str, path))
            if any([await self._catalogues.has_parallel(iri) is not False for iri in path]):
                raise cannot_express(f"the relation {relation}, of which one triple may be several edges,")
            if any(iri not in catalogue.relations for iri in path):
                raise cannot_express(f"the relation {relation}")
        return path

    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        if not relations and self._any_parallel is not False and not ends.distinct_ends:
            raise cannot_express("edges of any relation, of which some triples may be several")
        if ends.source.text != ends.target.text or self._reader.dialect.joins_loops:
            return super().edge(relations, ends)
        end = ends.own("end")
        edge, own = super().edge(relations, replace(ends, target=end))
        return self.part(queries.LOOP, edge=edge, source=ends.source, end=end), own

    def is_head(self, node: Fragment, relations: Sequence[str], *, iris_only: bool) -> Fragment:
        reifiers = None if self._catalogue is None else self._catalogue.reifiers
        if reifiers is not None and relations and not reifiers.may_include(self._paths[one][0] for one in relations):
            return Fragment("")
        if iris_only and self._reification and reifiers is not None and not reifiers.may_have_iris:
            return self.part(IRI, node=node)
        return self._reification.head(node.text, may_have_iris=reifiers is None or reifiers.may_have_iris)

    def is_listed(self, node: Fragment) -> Fragment:
        may_have_iris = self._catalogue is None or self._catalogue.reifiers.may_have_iris
        return self._reification.no_reifier(node.text, may_have_iris=may_have_iris)

    def _restricted(self, ends: EdgeVariables, iris: Sequence[URIRef]) -> Fragment:
        catalogue = self._catalogue
        if iris or not ends.any_nodes or catalogue is None or catalogue.stop is not Stop.COMPLETE or catalogue.sampled:
            return super()._restricted(ends, iris)
        # Of all triples most have values or belong to statements: a store is many times faster without them. Between
        # selected nodes it is slower: Virtuoso then reads all edges of these relations, or refuses two hops.
        to_entities = [iri for iri, use in catalogue.relations.items() if use.has_edges]
        if not to_entities:
            return Fragment(NOTHING)
        if len(to_entities) > _MAX_RELATIONS:
            return Fragment("")
        return self.part(queries.ONE_OF_RELATIONS, relation=ends.own("p"), relations=comma_separated(*to_entities))

    async def load_texts(self, owned: Property) -> None:
        uses = (await self._catalogues.get()).relations
        if any(iri not in uses or uses[iri].has_edges for iri in self.terms(owned.ids)):
            raise cannot_express(f"texts of {owned.name}, whose values may be nodes")

    async def load_text_part(self, owned: Property) -> None:
        if owned.ids:
            await self.load_texts(owned)

    def text_part(self, node: Fragment, owned: Property, text: str) -> Fragment:
        if not sendable(text):
            raise cannot_express("such a text")
        relations = self.terms(owned.ids) if owned.ids else self._name_relations
        condition = self.part(CONTAINS_TEXT, text=Literal(text)) if text else Fragment(IS_LITERAL)
        return self.part(WITH_TEXT, node=node, relations=values(*relations), condition=condition)

    async def value_terms(self, owned: Property, constants: Sequence[float | str]) -> Sequence[Literal] | None:
        texts = [one for one in constants if isinstance(one, str)]
        numbers = [one for one in constants if not isinstance(one, str)]
        return await self._terms_of_texts(owned, texts) if texts else await self._terms_of_numbers(owned, numbers)

    async def _terms_of_texts(self, owned: Property, texts: Sequence[str]) -> Sequence[Literal] | None:
        """The literals of texts; None if a value of the property may be a node, or no text."""
        relations, dialect = self.terms(owned.ids), self._reader.dialect
        uses = (await self._catalogues.get()).relations
        if not dialect.repeats_texts or any(iri not in uses or uses[iri].has_edges for iri in relations):
            return None
        forms = await self._names.text_forms.of(relations)
        if forms is None or not forms.only_texts or not all(map(sendable, texts)):
            return None
        terms = forms.terms(texts)
        if len(terms) > dialect.max_texts:
            return None
        used = await self.used_terms(relations, terms) if len(terms) > 1 and dialect.repeats_literals else terms
        return [term for term in used if isinstance(term, Literal)]

    async def _terms_of_numbers(self, owned: Property, numbers: Sequence[float]) -> Sequence[Literal] | None:
        found: dict[Literal, None] = {}
        for number in numbers:
            terms = number_terms(number)
            if terms is None or (number in (0, 1) and not self._reader.dialect.repeats_literals):
                return None  # Virtuoso finds true and false by 1 and 0
            found |= dict.fromkeys(terms)
        for relation in owned.ids:
            unusual = await self._catalogues.unusual_numbers(self.term(relation))
            if unusual is None:
                return None
            equal = [term for term in unusual if scalar_of(term) in numbers]
            if equal and not self._reader.dialect.repeats_literals:
                return None
            found |= dict.fromkeys(equal)
        if len(found) > self._reader.dialect.max_texts:
            return None
        if not self._reader.dialect.repeats_literals:
            return list(found)
        used = await self.used_terms(self.terms(owned.ids), list(found))
        return [term for term in used if isinstance(term, Literal)]

    async def used_terms(
        self, relations: Sequence[URIRef], terms: Sequence[Literal | URIRef]
    ) -> Sequence[Literal | URIRef]:
        """Those terms that are values of the relations, as the store writes them."""
        read = await self._reader.union(
            [self.part(queries.USED_VALUE, value=term, relation=one).text for term in terms for one in relations]
        )
        found = (row["v"] for row in read.all_rows())
        return list(dict.fromkeys(term if isinstance(term, Literal) else URIRef(str(term)) for term in found))

    async def equal_terms(self, condition: QualifierCondition) -> Sequence[Literal | URIRef] | None:
        if not (self._reification and condition.values):
            return None
        names, dialect = [self.term(name) for name in condition.owned.ids], self._reader.dialect
        literals, have_nodes = self._number_of_literals(names), self._have_nodes(names)
        if dialect.repeats_literals and not have_nodes and literals is not None and literals <= _MAX_FILTERED:
            return None
        numbers = _numbers(condition.values)
        texts = [one for one in condition.values if isinstance(one, str) and _is_only_a_text(one)]
        if len(numbers) + len(texts) < len(condition.values):
            return None
        try:
            of_numbers = await self._terms_of_numbers(condition.owned, numbers) if numbers else ()
            of_texts = await self._text_terms(texts, names, literals) if texts else ()
        except (Unsupported, StoreTimeout):
            return None
        return None if of_numbers is None or of_texts is None else [*of_numbers, *of_texts]

    async def _text_terms(
        self, texts: Sequence[str], names: Sequence[URIRef], number: int | None
    ) -> Sequence[Literal | URIRef] | None:
        """The values of qualifiers that equal one of some texts: literals, and nodes with this name or id.

        `number`: of their literals. None if the store does not find these, or they are too many.
        """
        literals: list[Literal] = []
        if number != 0:
            if not self._reader.dialect.repeats_texts:
                return None
            read = await self._values_equal(texts, names, queries.EQUAL_TEXT)
            literals = [term for row in read if isinstance(term := row["v"], Literal)]
            if len(literals) == len(read):
                return literals if len(literals) <= _MAX_TERMS else None
            read = await self._values_equal(texts, names, queries.EQUAL_LITERAL)
            literals = [term for row in read if isinstance(term := row["v"], Literal)]
        nodes = await self._nodes_called(texts)
        if nodes is None or len(literals) + len(nodes) > _MAX_TERMS:
            return None
        return [*literals, *(await self.used_terms(names, nodes))] if nodes else literals

    async def _values_equal(self, texts: Sequence[str], names: Sequence[URIRef], equal: str) -> Sequence[Row]:
        """Rows of the values of qualifiers that equal one of some texts; one too many if there are many."""
        value = Fragment("?v")
        conditions = (self.part(equal, v=value, text=Literal(text)).text for text in texts)
        read = await self._reader.select(
            queries.EQUAL_VALUES,
            share=_TERMS_SHARE,
            values=union([self.part(queries.VALUES_OF, q=name, v=value).text for name in names]),
            equal=Fragment(" || ".join(conditions)),
            most=_MAX_TERMS + 1,
        )
        return read.all_rows()

    async def _nodes_called(self, texts: Sequence[str]) -> Sequence[URIRef] | None:
        """The nodes whose name or id is one of these texts; None if they are not known, or blank nodes are among them.

        Names in other languages than a node shows are looked up, too, and left out here.
        """
        forms = await self._names.name_forms()
        if forms is None or len(terms := forms.terms(texts)) > self._reader.dialect.max_texts:
            return None
        read = await self._reader.select(queries.NODES_CALLED, names=values(*terms), most=_MAX_TERMS + 1)
        found = [row["v"] for row in read.all_rows()]
        if len(found) > _MAX_TERMS or any(isinstance(node, BNode) for node in found):
            return None
        nodes = dict.fromkeys([*map(URIRef, found), *filter(None, map(self._naming.iri, texts))])
        labels = await self._names.read_labels(nodes)
        return [node for node in nodes if labels.get(node) in texts or self._naming.short(node) in texts]

    def _any_equal(self, condition: QualifierCondition, value: Fragment) -> str:
        """The condition that a qualifier's value may equal one of the constants."""
        if len(condition.values) > _MAX_VALUES:
            raise cannot_express("this many values")
        return " || ".join(self._equal(constant, value).text for constant in condition.values)

    def qualifier(
        self,
        ends: EdgeVariables,
        condition: QualifierCondition,
        value: Fragment,
        terms: Sequence[Literal | URIRef] | None = None,
    ) -> Fragment:
        through_mediators = any(len(self._paths[relation]) == 2 for relation in ends.relations)
        if ends.either or not (self._reification or through_mediators):
            raise cannot_express("qualifiers")
        equal = "" if terms is not None and not through_mediators else self._any_equal(condition, value)
        names = [self.term(name) for name in condition.owned.ids]
        if through_mediators:  # the other roles of a mediator are the qualifiers of the edge through it
            own = [self._reader.filled(EDGE, source=ends.own("m"), relation=name, target=value) for name in names]
        else:
            own = self._qualifier_branches(ends, names, value, ends.own("q"), terms)
        branches = union(own)
        return Fragment(f"{branches.text} FILTER({equal})") if equal else branches

    def exact_qualifier(
        self,
        ends: EdgeVariables,
        condition: QualifierCondition,
        value: Fragment,
        *,
        selects: bool,
        terms: Sequence[Literal | URIRef] | None = None,
    ) -> Fragment:
        through_mediators = any(len(self._paths[relation]) == 2 for relation in ends.relations)
        if ends.either or through_mediators or not self._reification or len(condition.values) > _MAX_VALUES:
            raise cannot_express("such qualifiers")
        names = [self.term(name) for name in condition.owned.ids]
        equal = Fragment(self._exactly(condition, names, value, terms))
        single = len(ends.relations) == 1
        relation = self._paths[ends.relations[0]][0] if single else ends.own("p")
        branches = self._qualifier_branches(ends, names, value, relation, terms)
        source, target = {"source": ends.source}, {"target": ends.target}
        if selects and terms is not None and len(terms) <= 1 == len(branches):
            # one row for each edge, unlike several terms or branches, which an edge may have at once
            return self.part(queries.QUALIFIED_EDGE, pattern=Fragment(branches[0]), equal=equal, **source, **target)
        if selects:
            edge = Fragment(" ".join([ends.source.text, ends.target.text, *([] if single else [ends.own("p").text])]))
            pattern = union(branches)
            return self.part(queries.QUALIFIED_EDGES, edge=edge, pattern=pattern, equal=equal, **source, **target)
        if len(branches) > 1 and not self.nests_exists:
            raise cannot_express("qualifiers in several notations, or of several names")
        wanted = Fragment(TRUE) if condition.unequal else equal
        tests = (self.part(queries.HAS_EXACT_QUALIFIER, pattern=Fragment(one), equal=wanted).text for one in branches)
        test = self.part(queries.EDGE_IS_QUALIFIED, exists=Fragment(" || ".join(tests)), **source, **target)
        excluded = branches if condition.unequal else ()
        others = (self.part(queries.HAS_NO_SUCH_QUALIFIER, pattern=Fragment(one), equal=equal) for one in excluded)
        return Fragment(" ".join(one.text for one in (test, *others)))

    def qualifier_values(self, ends: EdgeVariables, relation: str, value: Fragment) -> Fragment:
        if ends.either or len(ends.relations) != 1 or len(self._paths[ends.relations[0]]) == 2:
            raise cannot_express("properties of edges in either direction, of several relations, or through mediators")
        if not self._reification:
            raise cannot_express("properties of edges")
        own = self._paths[ends.relations[0]][0]
        return union([one.text for one in self._reification.qualifier_of(ends, self.term(relation), value, own)])

    def _qualifier_branches(
        self,
        ends: EdgeVariables,
        names: Sequence[URIRef],
        value: Fragment,
        relation: URIRef | Fragment,
        terms: Sequence[Literal | URIRef] | None = None,
    ) -> list[str]:
        among = ""
        if terms is not None:
            among = self.part(AMONG, relation=value, relations=values(*terms)).text if terms else NOTHING
        patterns = (one for name in names for one in self._reification.qualifier_of(ends, name, value, relation))
        return [f"{among} {one.text}".strip() for one in patterns]

    def _exactly(
        self,
        condition: QualifierCondition,
        names: Sequence[URIRef],
        value: Fragment,
        terms: Sequence[Literal | URIRef] | None,
    ) -> str:
        """The condition that a qualifier's value, one of the `terms` if they are known, equals one of the constants."""
        if terms is not None:
            return TRUE  # these terms are exact; a filter would compare floats of Virtuoso wrongly, and no names
        may_be_node = self._have_nodes(names)
        own = (self._exactly_equal(constant, value, may_be_node=may_be_node).text for constant in condition.values)
        return " || ".join(own)

    def _exactly_equal(self, constant: Scalar, value: Fragment, *, may_be_node: bool) -> Fragment:
        """The condition that a qualifier's value equals a constant. A node's name is not known here.

        Raises:
            Unsupported: a value with the same text may be of another kind, or may be a node with this name.
        """
        if isinstance(constant, str):
            if not _is_only_a_text(constant) or may_be_node:
                raise cannot_express("texts that may be equal to other values")
            return self.part(queries.EXACT_TEXT, v=value, text=Literal(constant))
        if constant is None or isinstance(constant, bool) or abs(constant) >= EXACT_BELOW:
            raise cannot_express("such a value")
        return self.part(queries.EXACT_NUMBER, v=value, numbers=NUMBER_TYPES, number=Literal(float(constant)))

    def _number_of_literals(self, qualifiers: Sequence[URIRef]) -> int | None:
        """The number of literals that are values of these qualifiers; None if they were not counted."""
        reifiers = self._known_reifiers()
        return None if reifiers is None else sum(reifiers.uses.get((one, True), 0) for one in qualifiers)

    def _have_nodes(self, qualifiers: Sequence[URIRef]) -> bool:
        """Whether a value of these qualifiers may be a node."""
        reifiers = self._known_reifiers()
        return reifiers is None or any(reifiers.uses.get((qualifier, False)) for qualifier in qualifiers)

    def _known_reifiers(self) -> ReifierFacts | None:
        """The facts of reifiers, if all were counted by kind; those of quoted triples are not."""
        reifiers = None if self._catalogue is None else self._catalogue.reifiers
        if reifiers is None or reifiers.stop is not Stop.COMPLETE or Notation.QUOTED in self._reification.notations:
            return None
        return reifiers

    def _equal(self, constant: Scalar, value: Fragment) -> Fragment:
        """The condition that a qualifier's value may equal a constant."""
        if isinstance(constant, bool) or constant is None:
            raise cannot_express("a value of this kind")
        if isinstance(constant, str):
            if date_parts(constant) is not None:
                raise cannot_express("dates, which are compared by their precision")
            return self.part(queries.EQUAL_TEXT, v=value, text=Literal(constant))
        return self.part(queries.EQUAL_NUMBER, v=value, number=Literal(float(constant)))

    def property(self, relation: str) -> URIRef:
        return self.term(relation)

    def labels(self, node: Fragment, value: Fragment) -> tuple[Fragment, Fragment]:
        return self.part(TYPE_ITEM, value=value), self.part(TYPES, node=node, value=value)

    def reaching(self, relations: Sequence[str], ends: EdgeVariables, edges: str = ANY_NUMBER) -> Fragment:
        reifiers = None if self._catalogue is None else self._catalogue.reifiers
        if reifiers is None or reifiers.may_include(self._paths[one][0] for one in relations):
            raise cannot_express("paths that may lead through statements about triples")
        return super().reaching(relations, ends, edges)


def _is_only_a_text(constant: str) -> bool:
    """Whether a text equals no dates, numbers or truth values."""
    return date_parts(constant) is None and is_always_text(constant)


def _numbers(constants: Sequence[Scalar]) -> Sequence[float]:
    """The numbers among some constants."""
    return [float(one) for one in constants if isinstance(one, float | int) and not isinstance(one, bool)]


class PatternReader(MatchReader):
    """Runs plans that are single patterns, also with blank nodes."""

    def __init__(self, store: Store, names: Names, writer: PatternWriter) -> None:
        super().__init__(store.reader, names, writer)
        self._store = store

    async def _blank_matches(
        self, matches: Fragment, pattern: Fragment, names: Sequence[str], blanks: Sequence[str]
    ) -> Sequence[PatternMatch]:
        """The matches of a query, some of whose variables, `blanks`, may be blank nodes.

        Raises:
            InvalidArgument: no path identifies one of them.
            Unsupported: there are too many to identify them.
        """
        seeds = [
            Seeds(self._reader.part(queries.BLANKS_OF_PATTERN, node=Fragment(name), pattern=pattern), name[1:])
            for name in blanks
        ]
        read = await self._store.blanks.identified(seeds, [f"{{ {matches.text} }}"])
        if read.unidentified:  # edge by edge they would not be found: no path leads to them
            raise InvalidArgument(
                f"{read.unidentified:,} nodes of the rows are blank nodes that no path from an IRI leads to",
                next_step="Return only the nodes next to them, or count the rows: RETURN count(*).",
            )
        written = self._store.endpoint.ids.written
        return await self._converted(read.rows, names, {label: written(path) for label, path in read.paths.items()})
