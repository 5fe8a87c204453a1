"""Writes synthetic graphs as RDF: node properties as literals, relationship properties as statements about triples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgnav_bench.plans.synthetic import NAME, Graph, Value
from kgnav_bench.wikibase import RDF_TYPE, quoted

NAMESPACE = "http://synthetic.example/"
"""Namespace of nodes, labels, relationship types and properties."""

_TYPE = f"<{RDF_TYPE}>"
_RDF = RDF_TYPE.removesuffix("type")
NAMED = f"<http://schema.org/{NAME}>"
"""The relation of names. Its last part is the property's name."""
_DOUBLE = "http://www.w3.org/2001/XMLSchema#double"


def write_rdf(graph: Graph, folder: Path) -> Path:
    """Write a file of N-Triples. The folder is created if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "graph.nt"
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{' '.join(triple)} .\n" for triple in _triples(graph))
    return path


def _triples(graph: Graph) -> Iterator[tuple[str, str, str]]:
    for each in graph.classes:
        columns = list(zip(each.pools, each.columns, strict=True))
        for place, node in enumerate(each.members):
            subject = _node(node)
            yield subject, _TYPE, iri(each.label)
            yield subject, NAMED, quoted(graph.name(node))
            for pool, column in columns:
                yield subject, iri(pool.name), rdf_literal(pool.values[column[place]])
    for number, each in enumerate(graph.relations):
        relation, name = iri(each.type), iri(each.pool.name)
        for place, (head, tail) in enumerate(zip(each.heads, each.tails, strict=True)):
            triple = _node(head), relation, _node(tail)
            statement = f"_:s{number}x{place}"
            yield triple
            yield statement, _TYPE, f"<{_RDF}Statement>"
            for role, term in zip(("subject", "predicate", "object"), triple, strict=True):
                yield statement, f"<{_RDF}{role}>", term
            yield statement, name, rdf_literal(each.pool.values[each.column[place]])


def _node(number: int) -> str:
    return iri(f"n{number}")


def iri(local: str) -> str:
    """The IRI of a label, type or property."""
    return f"<{NAMESPACE}{local}>"


def rdf_literal(value: Value) -> str:
    """A value as an RDF literal."""
    return quoted(value) if isinstance(value, str) else f'"{value!r}"^^<{_DOUBLE}>'
