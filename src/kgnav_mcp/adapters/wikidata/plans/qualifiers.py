"""SPARQL conditions on qualifiers of statements: that a value is printed like a constant of a plan, or is a node.

The conditions may also let other statements pass: a time is matched by its year, a quantity by its number. Entities
given by id and texts without a language are found by index. Everything else costs all uses of the qualifier.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base.plans.parts import cannot_express
from kgnav_mcp.adapters.sparql_base.plans.queries import FILTER, NO
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, comma_separated, sendable, values
from kgnav_mcp.adapters.wikibase_values import EXTERNAL_ID, NO_VALUE, QUANTITY, TIME, UNKNOWN_VALUE
from kgnav_mcp.adapters.wikidata.catalogue import CatalogueCache
from kgnav_mcp.adapters.wikidata.plans import queries
from kgnav_mcp.adapters.wikidata.store import Store
from kgnav_mcp.plan import Scalar
from kgnav_mcp.values.comparison import date_parts

_READ_AS_WRITTEN = frozenset({"monolingualtext", "url", "commonsMedia", "math", "musical-notation"})
_INDEXED = frozenset({"string", EXTERNAL_ID})
_NUMBER_BOUND = 1e300
"""Numbers from here on are refused: they may not fit a double."""
_NO_VALUES = frozenset({NO_VALUE, UNKNOWN_VALUE})
_Write = Callable[..., Fragment]
"""Fills a template for one qualifier of a statement."""


class QualifierWriter:
    """Writes patterns of qualifiers."""

    def __init__(self, store: Store, catalogues: CatalogueCache) -> None:
        self._part = store.reader.part
        self._ids = store.ids
        self._catalogues = catalogues

    def joined(self, statement: Fragment, names: Sequence[str], node: Fragment) -> Fragment:
        """The pattern that one of these qualifiers of a statement has this node as its value."""
        qualifiers = Fragment("|".join(self._ids.qualifier(name).n3() for name in names))
        return self._part(queries.QUALIFIED_BY_NODE, statement=statement, qualifiers=qualifiers, value=node)

    def equal(self, statement: Fragment, names: Sequence[str], value: Fragment, wanted: Sequence[Scalar]) -> Fragment:
        """The pattern that one of these qualifiers of a statement has a value printed like one of these constants.

        The value is bound to the variable `value`.

        Raises:
            Unsupported: values of a qualifier are not printed as they are stored, or their datatype is unknown; or
                there are too many constants, or one is too large.
        """
        texts = [one for one in wanted if isinstance(one, str) and sendable(one)]
        numbers = [one for one in wanted if isinstance(one, int | float)]
        if len(wanted) > MAX_TERMS // 2 or not all(abs(number) < _NUMBER_BOUND for number in numbers):
            raise cannot_express("so many constants, or so large ones")
        if not _NO_VALUES.isdisjoint(texts):
            raise cannot_express("qualifiers without a known value")
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
        raise cannot_express("times that are no dates")
    return f"{'-' if date[0] < 0 else ''}{abs(int(date[0])):04}-"
