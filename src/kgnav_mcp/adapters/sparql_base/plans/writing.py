"""Writes the parts of a pattern in SPARQL in the way of one store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.sparql_base.names import Naming
from kgnav_mcp.adapters.sparql_base.plans import queries
from kgnav_mcp.adapters.sparql_base.plans.parts import EdgeVariables, cannot_express
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.terms import MAX_TERMS, Fragment, comma_separated
from kgnav_mcp.port.pattern_queries import Bound, QualifierCondition


class Writer(ABC):
    """Writes patterns. Each store has its own way to write an edge."""

    def __init__(self, reader: Reader, naming: Naming, *, types: int = 1) -> None:
        """`types` is the number of relations to types, which are `$typed` in queries."""
        self._reader = reader
        self._naming = naming
        self._types = types

    @property
    def nests_exists(self) -> bool:
        """Whether EXISTS may be nested within an expression."""
        return self._reader.nests_exists

    @abstractmethod
    async def load_relations(self, relations: Iterable[str]) -> None:
        """Look up the relations of a pattern. Called before it is written.

        Raises:
            Unsupported: an edge with one of them cannot be expressed.
        """

    @abstractmethod
    def edge(self, relations: Sequence[str], ends: EdgeVariables) -> tuple[Fragment, tuple[Fragment, ...]]:
        """Write an edge with one of these relations (empty: any), whose ends may be more than nodes.

        Returns its text, and the variables that identify it together with its ends.
        """

    def is_head(self, node: Fragment) -> Fragment:
        """Write a condition that the head of an edge is a node; empty if it always is one."""
        del node
        return Fragment("")

    def is_tail(self, node: Fragment) -> Fragment:
        """Write a condition that the tail of an edge may be a head, such as no literal; empty if it always may."""
        del node
        return Fragment("")

    def is_listed(self, node: Fragment) -> Fragment:
        """Write a condition that a node that no edge leads to is listed: here, that it has an id."""
        return self.part(queries.NAMED, node=node)

    def labelled(self, node: Fragment, labels: Sequence[str], *, alone: bool) -> Fragment:
        """Write a pattern that a node has one of the labels; it adds no rows. `alone`: nothing else binds the node."""
        if len(labels) == self._types == 1:
            return self.part(queries.LABELLED, node=node, type=self.term(labels[0]))
        if alone:
            return self.part(queries.INSTANCES, node=node, types=comma_separated(*self.terms(labels)))
        return self.part(queries.FILTER, condition=self.has_label(node, labels))

    def has_label(self, node: Fragment, labels: Sequence[str]) -> Fragment:
        """Write a condition that a node has one of the labels."""
        return self.part(queries.HAS_LABEL, node=node, types=comma_separated(*self.terms(labels)))

    def reaching(self, relations: Sequence[str], ends: EdgeVariables) -> Fragment:
        """Write a path of any length, also zero, over these relations.

        Raises:
            Unsupported: SPARQL cannot express it for this store.
        """
        del relations, ends
        raise cannot_express("paths")

    def number(self, node: Fragment, relations: Sequence[str], bounds: Sequence[Bound]) -> Fragment:
        """Write a condition that one of the values of some properties is within all bounds.

        Raises:
            Unsupported: this store does not tell numbers by their datatypes.
        """
        del node, relations, bounds
        raise cannot_express("values of properties")

    def qualifier(self, ends: EdgeVariables, asked: QualifierCondition, value: Fragment) -> Fragment:
        """Write a pattern that an edge has a qualifier, and bind its value. It may match more than `asked`.

        Raises:
            Unsupported: edges have no qualifiers here, or SPARQL cannot express such a value.
        """
        del ends, asked, value
        raise cannot_express("properties of edges")

    def property(self, relation: str) -> URIRef:
        """The IRI of a relation whose values are the objects of its triples. Raises Unsupported for any other."""
        raise cannot_express(f"values of {relation}")

    def part(self, template: str, **terms: URIRef | Literal | Fragment) -> Fragment:
        """Fill a fragment."""
        return self._reader.part(template, **terms)

    def term(self, reference: str) -> URIRef:
        """Resolve an id to its IRI.

        Raises:
            Unsupported: it has no IRI, as for a blank node.
        """
        iri = self._naming.iri(reference)
        if iri is None:
            raise cannot_express(f"the id {reference}")
        return iri

    def terms(self, references: Sequence[str]) -> list[URIRef]:
        """Resolve the ids of one list to their IRIs.

        Raises:
            Unsupported: one has no IRI, or the list is too long.
        """
        if len(references) > MAX_TERMS:
            raise cannot_express(f"a list of {len(references):,} ids")
        return [self.term(each) for each in dict.fromkeys(references)]
