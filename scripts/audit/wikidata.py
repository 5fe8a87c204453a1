"""Items of Wikidata as its export writes them: best statements with qualifiers, rank and references."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Sequence
from pathlib import Path

from rdflib import RDF, XSD, Graph, Literal, Namespace, URIRef
from rdflib.term import Node as Term

from .ontology import local, scalar
from .raw_graph import Day, Edge, Node, RawGraph, Scalar, Value

FILES = ("wikidata/Q42.ttl.gz", "wikidata/Q513.ttl.gz")

_PROP = "http://www.wikidata.org/prop/"
_ENTITY = "http://www.wikidata.org/entity/"
_WIKIBASE = Namespace("http://wikiba.se/ontology#")
_REFERENCES = URIRef("http://www.w3.org/ns/prov#wasDerivedFrom")
_PARTS = {9: 4, 10: 7, 11: 10}
"""Characters of a time by its precision: a year, a month, a day."""

REFERENCES, RANK = "wasDerivedFrom", "rank"
"""What qualifiers have beside properties."""

LITERAL = "literal "
"""How the key of a node that stands for a literal value begins."""


def read(files: Iterable[Path]) -> RawGraph:
    """The graph of the best statements. A literal value is a node of its own, so that it has qualifiers."""
    triples = Graph()
    for file in files:
        triples.parse(data=gzip.decompress(file.read_bytes()), format="turtle")
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for statement in sorted(triples.subjects(RDF.type, _WIKIBASE.BestRank), key=str):
        item, claim = next((s, p) for s, p in triples.subject_predicates(statement) if str(p).startswith(_PROP))
        name = local(claim)
        value = triples.value(statement, URIRef(f"{_PROP}statement/{name}"))
        full = triples.value(statement, URIRef(f"{_PROP}statement/value/{name}"))
        tail = _tail(triples, value, full)
        for key in (local(item), tail):
            nodes.setdefault(key, Node(key))
        edges.append(Edge(local(item), name, tail, _qualifiers(triples, statement)))
    return RawGraph("wikidata", nodes, tuple(edges), key=None, names=frozenset(), rdf=True)


def _tail(triples: Graph, value: Term | None, full: Term | None) -> str:
    if isinstance(value, URIRef) and str(value).startswith(_ENTITY):
        return local(value)
    shown = _shown(triples, value, full)
    return f"{LITERAL}{shown}" if shown is not None else f"{LITERAL}?"


def _shown(triples: Graph, value: Term | None, full: Term | None) -> Scalar | None:
    """A value as it is printed; None for quantities, coordinates and values that are not known."""
    if isinstance(value, URIRef):
        return local(value) if str(value).startswith(_ENTITY) else str(value)
    if not isinstance(value, Literal):
        return None
    if value.datatype == XSD.dateTime:
        precision = triples.value(full, _WIKIBASE.timePrecision) if full is not None else None
        length = _PARTS.get(int(str(precision))) if precision is not None else None
        return Day(str(value)[:length]) if length else None
    return scalar(value) if value.datatype is None or value.datatype == XSD.string else None


def _qualifiers(triples: Graph, statement: Term) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for predicate, value in triples.predicate_objects(statement):
        if str(predicate).rpartition("/")[0] == f"{_PROP}qualifier":
            name = local(predicate)
            full = triples.value(statement, URIRef(f"{_PROP}qualifier/value/{name}"))
            shown = _shown(triples, value, full)
            found[name] = (*_several(found.get(name)), "?" if shown is None else shown)
    references = sum(1 for _ in triples.objects(statement, _REFERENCES))
    if references:
        found[REFERENCES] = str(references)
    if triples.value(statement, _WIKIBASE.rank) == _WIKIBASE.PreferredRank:
        found[RANK] = "preferred"
    return {name: value[0] if isinstance(value, tuple) and len(value) == 1 else value for name, value in found.items()}


def _several(value: Value | None) -> Sequence[Scalar]:
    return () if value is None else value if isinstance(value, tuple) else (value,)
