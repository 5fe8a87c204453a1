"""Writes patterns of plans for a Wikibase, where an edge is a statement, with conditions on its qualifiers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base.names import Naming
from kgnav_mcp.adapters.sparql_base.plans.queries import AMONG, ANY_NUMBER, FILTER, NO
from kgnav_mcp.adapters.sparql_base.plans.writing import EdgeVariables, Writer, cannot_express
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, comma_separated, rows, sendable, values
from kgnav_mcp.adapters.wikibase_values import EXTERNAL_ID, NO_VALUE, QUANTITY, TIME, UNKNOWN_VALUE
from kgnav_mcp.adapters.wikidata import queries
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.plan import Scalar
from kgnav_mcp.port.pattern_conditions import QualifierCondition
from kgnav_mcp.values.comparison import date_parts

_READ_AS_WRITTEN = frozenset({"monolingualtext", "url", "commonsMedia", "math", "musical-notation"})
_INDEXED = frozenset({"string", EXTERNAL_ID})
_NUMBER_BOUND = 1e300
"""Numbers from here on are refused: they may not fit a double."""
_NO_VALUES = frozenset({NO_VALUE, UNKNOWN_VALUE})
_Write = Callable[..., Fragment]
"""Fills a template for one qualifier of a statement."""


class QualifierWriter:
    """Writes conditions on the qualifiers of statements."""

    def __init__(self, store: Store, catalogues: CatalogueCache) -> None:
        self._part = store.reader.part
        self._ids = store.ids
        self._catalogues = catalogues

    def joined(self, statement: Fragment, names: Sequence[str], node: Fragment) -> Fragment:
        """The pattern that one of these qualifiers of a statement has this node as its value."""
        qualifiers = Fragment("|".join(self._ids.qualifier(name).n3() for name in names))
        return self._part(queries.QUALIFIED_BY_NODE, statement=statement, qualifiers=qualifiers, value=node)

    def equal(self, statement: Fragment, names: Sequence[str], value: Fragment, wanted: Sequence[Scalar]) -> Fragment:
        """The pattern that one of these qualifiers of a statement has a value printed as one of these constants.

        The value is bound to the variable `value`.

        Raises:
            Unsupported: values of a qualifier are not printed as they are stored, or their datatype is unknown; or
                there are too many constants, or one is too large.
        """
        texts = [one for one in wanted if isinstance(one, str) and sendable(one)]
        numbers = [one for one in wanted if isinstance(one, int | float)]
        if len(wanted) > MAX_TERMS // 2 or not all(abs(number) < _NUMBER_BOUND for number in numbers):
            raise cannot_express("this many constants, or constants of this size")
        if not _NO_VALUES.isdisjoint(texts):
            raise cannot_express("qualifiers that are not compared with a constant")
        alternatives: list[str] = []
        for name in names:
            write = partial(self._part, statement=statement, qualifier=self._ids.qualifier(name), value=value)
            known = self._catalogues.current.get(name)
            if known.to_entities or (not known.datatype and all(map(self._entity, wanted))):
                alternatives += self._entities(write, texts)
            else:
                alternatives += _literals(write, known.datatype, texts, numbers)
        if not alternatives:
            return self._part(FILTER, condition=Fragment(NO))
        return Fragment(
            alternatives[0] if len(alternatives) == 1 else " UNION ".join(f"{{ {one} }}" for one in alternatives)
        )

    def _entities(self, write: _Write, texts: Sequence[str]) -> Iterator[str]:
        """Patterns for entities with these ids or labels."""
        ids = {text: iri for text in texts if (iri := self._entity(text)) is not None}
        if ids:
            yield write(queries.QUALIFIED_BY, terms=values(*ids.values())).text
        if labels := [Literal(text) for text in texts if text not in ids]:
            yield write(queries.QUALIFIED_BY_LABEL, texts=comma_separated(*labels)).text

    def _entity(self, constant: Scalar) -> URIRef | None:
        """The entity whose printed id is this constant; None if there is none."""
        iri = self._ids.entity(constant) if isinstance(constant, str) else None
        return iri if iri is not None and self._ids.shown(iri) == constant else None


def _literals(write: _Write, datatype: str, texts: Sequence[str], numbers: Sequence[float]) -> Iterator[str]:
    """Patterns for values of a datatype that are printed like these texts, or are these numbers.

    Raises:
        Unsupported: values of this datatype cannot be matched.
    """
    if datatype in _INDEXED:
        if texts:
            yield write(queries.QUALIFIED_BY, terms=values(*map(Literal, texts))).text
    elif datatype in _READ_AS_WRITTEN:
        if texts:
            yield write(queries.QUALIFIED_BY_TEXT, texts=comma_separated(*map(Literal, texts))).text
    elif datatype == TIME:
        for year in dict.fromkeys(map(_year, texts)):
            yield write(queries.QUALIFIED_BY_BEGINNING, text=Literal(year)).text
    elif datatype == QUANTITY:
        if texts:
            amounts = [sign + text.partition(" ")[0] for text in texts for sign in ("", "+")]
            yield write(queries.QUALIFIED_BY_TEXT, texts=comma_separated(*map(Literal, amounts))).text
        if numbers:
            yield write(
                queries.QUALIFIED_BY_NUMBER, numbers=comma_separated(*(Literal(float(one)) for one in numbers))
            ).text
    else:
        raise cannot_express(f"qualifiers that are {datatype or 'not known'}")


def _year(text: str) -> str:
    """The beginning of a time's stored text, up to its year. Times that are printed alike share it.

    Raises:
        Unsupported: the text is not a date. Decades and centuries are not stored as they are printed.
    """
    date = date_parts(text)
    if date is None:
        raise cannot_express("times that are not dates")
    return f"{'-' if date[0] < 0 else ''}{abs(int(date[0])):04}-"


class PatternWriter(Writer):
    """Writes patterns over the visible statements; in a truthy copy, over its triples."""

    def __init__(self, store: Store, naming: Naming, catalogues: CatalogueCache) -> None:
        super().__init__(store.reader, naming)
        self._qualifiers = QualifierWriter(store, catalogues)
        self._ids = store.ids
        store.reader.add_known({"typed": store.ids.direct(store.wikidata.instance_of)})
        self._statements = store.form.statements
        self._every_rank = store.wikidata.every_rank

    async def load_relations(self, relations: Iterable[str]) -> None:
        for relation in relations:
            self._property(relation)

    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        # Oxigraph evaluates each side of a UNION in full: with either direction, all statements of the relations.
        names = [self._property(relation) for relation in relations]
        if len(names) > MAX_TERMS // 2 or (ends.either and len(names) != 1):
            raise cannot_express("edges of so many relations, or of several that may lead either way")
        if not self._statements:
            return self._truthy_edge(names, ends)
        statement = ends.own("s")
        own = {"statement": statement, "rank": ends.own("k")} if self._every_rank else {"statement": statement}
        ranked = self.part(queries.RANK_OF if self._every_rank else queries.BEST_OF, **own)
        claim, value, narrowed = ends.own("p"), ends.own("q"), Fragment("")
        if len(names) == 1:
            claim, value = self._ids.claim(names[0]), self._ids.value(names[0])
        elif names:
            pairs = rows(*((self._ids.claim(name), self._ids.value(name)) for name in names))
            narrowed = self.part(queries.AMONG_PAIRS, claim=claim, p=value, pairs=pairs)
        else:
            narrowed = self.part(queries.OF_ANY, p=value)
        terms = {"claim": claim, "p": value, "statement": statement, "ranked": ranked, "narrowed": narrowed}
        return self._part(queries.STATED_EDGE, ends, **terms), (statement,)

    def _truthy_edge(self, names: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        """An edge in a copy without statements. Edges with the same ends are told apart by their relation."""
        if len(names) == 1:
            return self._part(queries.TRUTHY_EDGE, ends, direct=self._ids.direct(names[0]), narrowed=Fragment("")), ()
        direct = ends.own("p")
        narrowed = self.part(queries.OF_ANY, p=direct)
        if names:
            narrowed = self.part(AMONG, relation=direct, relations=values(*map(self._ids.direct, names)))
        return self._part(queries.TRUTHY_EDGE, ends, direct=direct, narrowed=narrowed), (direct,)

    def reaching(self, relations: Sequence[str], ends: EdgeVariables, edges: str = ANY_NUMBER) -> Fragment:
        if self._every_rank or not relations:
            raise cannot_express("paths of statements of any rank, or of any relation")
        direct = [self._ids.direct(self._property(relation)).n3() for relation in relations]
        return self._part(queries.REACHES, ends, relations=Fragment("|".join(direct)), edges=Fragment(edges))

    def qualifier(
        self,
        ends: EdgeVariables,
        condition: QualifierCondition,
        value: Fragment,
        terms: Sequence[Literal | URIRef] | None = None,
    ) -> Fragment:
        del terms
        if not self._statements:
            raise cannot_express("qualifiers")
        names = [self._property(name) for name in condition.owned.ids]
        statement = ends.own("s")
        if condition.node is not None:
            return self._qualifiers.joined(statement, names, value)
        return self._qualifiers.equal(statement, names, value, condition.values)

    def _part(self, template: str, ends: EdgeVariables, **terms: URIRef | Fragment) -> Fragment:
        return self.part(template, source=ends.source, target=ends.target, **terms)

    def _property(self, relation: str) -> str:
        local = self._ids.property(relation)
        if local is None:
            raise cannot_express(f"the relation {relation}")
        return local
