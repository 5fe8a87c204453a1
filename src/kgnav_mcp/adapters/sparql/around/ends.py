"""Far ends: the terms of an answer at the other side of a triple, and their order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from rdflib import BNode, Literal, URIRef

from kgnav_mcp.adapters.sparql.around.counts import Anchor
from kgnav_mcp.adapters.sparql.reading import Row, iri_in
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.model import Entity

Facts = tuple[tuple[URIRef, Term], ...]
"""What one statement says of a triple: relations and values."""
End = Term | Entity
"""A far end. A node without an IRI is an entity already; others are named later, all of a page at once."""
Pair = tuple[Anchor, URIRef]
"""An entity and a relation at it."""
Ends = Mapping[Pair, Sequence[Term]]
"""The far ends of relations at entities."""


def grouped(read: Iterable[Row], only: URIRef | None = None) -> Ends:
    """The far ends of rows by entity and relation, each once."""
    found: dict[Pair, dict[Term, None]] = defaultdict(dict)
    for row in read:
        if "p" in row:
            found[only if only is not None else iri_in(row, "s"), iri_in(row, "p")][row["o"]] = None
    return {pair: list(ends) for pair, ends in found.items()}


def in_order(terms: Iterable[Term]) -> Sequence[Term]:
    """Far ends with IRIs, and values, in their order, each once."""
    return sorted({term for term in terms if not isinstance(term, BNode)}, key=term_order)


def term_order(term: Term) -> tuple[bool, str, str, str]:
    """The order of far ends: values by their text, then entities by their IRIs, then blank nodes."""
    if isinstance(term, Literal):
        return False, str(term), term.language or "", str(term.datatype or "")
    return True, "" if isinstance(term, URIRef) else "_", str(term), ""
