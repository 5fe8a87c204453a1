"""Far ends: the terms at the other end of a triple, and their order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.sparql_base.around.counts import Anchor
from kgnav_mcp.adapters.sparql_base.query_reader import Row, iri_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.model import Entity

Facts = tuple[tuple[URIRef, Term], ...]
"""The qualifiers that one statement about a triple gives: relations and values."""
End = Term | Entity
"""A far end: an entity if it has no IRI, else a term, whose name is read later for the whole page."""
Pair = tuple[Anchor, URIRef]
"""An entity and a relation at it."""
Ends = Mapping[Pair, Sequence[Term]]
"""The far ends of relations at entities."""


def grouped(read: Iterable[Row], entity: URIRef | None = None) -> Ends:
    """Group the far ends of rows by entity and relation, each once. `entity` is the entity where rows lack ?s."""
    found: dict[Pair, dict[Term, None]] = defaultdict(dict)
    for row in read:
        if "p" in row:
            found[entity if entity is not None else iri_in(row, "s"), iri_in(row, "p")][row["o"]] = None
    return {pair: list(ends) for pair, ends in found.items()}


def in_order(terms: Iterable[Term]) -> Sequence[Term]:
    """Sort the far ends, each once. Blank nodes are left out."""
    return sorted({term for term in terms if not isinstance(term, BNode)}, key=term_order)


def term_order(term: Term) -> tuple[bool, str, str, str]:
    """Sort key: values by their text, then entities by their IRIs, then blank nodes."""
    if isinstance(term, Literal):
        return False, str(term), term.language or "", str(term.datatype or "")
    return True, "" if isinstance(term, URIRef) else "_", str(term), ""
