"""Quads as batches of numbers: what the parser hands to the staging, cheap to send from one process to another."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading.wellknown import RDF, RDF_REIFIES, XSD

Value = tuple[str, str | None, str | None]
"""Text, datatype and language of a literal."""


def _numbers() -> array[int]:
    return array("L")


@dataclass(slots=True)
class Batch:
    """Some thousand quads. Numbers are places in `nodes` and `relations`, which are in the order of first use."""

    position: int
    """Bytes of the source read so far."""
    nodes: list[str]
    relations: list[str]
    heads: array[int] = field(default_factory=_numbers)
    links: array[int] = field(default_factory=_numbers)
    tails: array[int] = field(default_factory=_numbers)
    """Head, relation and tail of each triple between nodes, in three columns."""
    literals: list[tuple[int, int, Value]] = field(default_factory=list[tuple[int, int, Value]])
    reifiers: list[tuple[int, int, int, int | Value]] = field(default_factory=list[tuple[int, int, int, "int | Value"]])
    """Reifier, head, relation, and the tail: a node's number or a literal."""
    rejected: list[tuple[int | None, str]] = field(default_factory=list[tuple[int | None, str]])
    """Line and reason of the bad lines left out."""


class Encoder:
    """Encodes the quads of one source. `index` keeps its blank nodes apart from those of other sources."""

    def __init__(self, index: int) -> None:
        self._blank = f"_:{index}:"
        self._datatypes: dict[str, str | None] = {XSD + "string": None, RDF + "langString": None}

    def encode(self, quads: list[ox.Quad], position: int) -> Batch:
        """One batch: the loop that decides how long a load takes, so it works on local names."""
        nodes: dict[str, int] = {}
        relations: dict[str, int] = {}
        batch = Batch(position, [], [])
        node, relation_of, datatypes = nodes.setdefault, relations.setdefault, self._datatypes
        add_head, add_link, add_tail = batch.heads.append, batch.links.append, batch.tails.append
        add_literal, named_node, literal = batch.literals.append, ox.NamedNode, ox.Literal
        for quad in quads:
            subject, tail = quad.subject, quad.object
            head = node(subject.value if type(subject) is named_node else self._key(subject), len(nodes))
            name = quad.predicate.value
            if type(tail) is named_node:
                add_head(head)
                add_link(relation_of(name, len(relations)))
                add_tail(node(tail.value, len(nodes)))
            elif type(tail) is literal:
                datatype = tail.datatype.value
                short = datatypes[datatype] if datatype in datatypes else self._datatype(datatype)
                add_literal((head, relation_of(name, len(relations)), (tail.value, short, tail.language)))
            elif isinstance(tail, ox.Triple):
                if name == RDF_REIFIES and not isinstance(tail.object, ox.Triple):
                    quoted_head = node(self._key(tail.subject), len(nodes))
                    link = relation_of(tail.predicate.value, len(relations))
                    batch.reifiers.append((head, quoted_head, link, self._quoted_tail(tail.object, nodes)))
                else:  # as the tail of any other relation, or of a triple that is itself a tail: kept as its text
                    add_literal((head, relation_of(name, len(relations)), (str(tail), None, None)))
            else:
                add_head(head)
                add_link(relation_of(name, len(relations)))
                add_tail(node(self._key(tail), len(nodes)))
        batch.nodes, batch.relations = list(nodes), list(relations)
        return batch

    def _key(self, term: object) -> str:
        if isinstance(term, ox.NamedNode):
            return term.value
        return self._blank + term.value if isinstance(term, ox.BlankNode) else str(term)

    def _quoted_tail(self, tail: object, nodes: dict[str, int]) -> int | Value:
        if isinstance(tail, ox.Literal):
            return tail.value, self._datatype(tail.datatype.value), tail.language
        return nodes.setdefault(self._key(tail), len(nodes))

    def _datatype(self, iri: str) -> str | None:
        """The datatype as it is stored: XML Schema's, which nearly every literal has, by prefix."""
        if iri not in self._datatypes:
            self._datatypes[iri] = f"xsd:{iri.removeprefix(XSD)}" if iri.startswith(XSD) else iri
        return self._datatypes[iri]
