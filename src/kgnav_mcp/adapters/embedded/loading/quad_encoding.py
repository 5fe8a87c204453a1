"""Encodes quads as batches of numbers, which are cheap to send from the parser's process to the load."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

import pyoxigraph as ox

from kgnav_mcp.adapters.embedded.loading.headers import Value
from kgnav_mcp.adapters.wellknown import RDF, RDF_REIFIES, XSD

WINDOW = 1 << 15
"""Nodes in the dictionary before it is cleared: enough that common nodes are found again, and fit the CPU cache."""

WINDOW_TEXT = 64 * 1024 * 1024
"""Characters of these nodes and relations: a single id may have millions."""


class Numbers(dict[str | None, int]):
    """Numbers keys in the order of first use. Looking up a new key adds it. `text`: characters of all keys."""

    text = 0

    def __missing__(self, key: str) -> int:
        number = self[key] = len(self)
        self.text += len(key)
        return number

    def clear(self) -> None:
        super().clear()
        self.text = 0

    def since(self, place: int) -> list[str]:
        """Returns the keys from a number on."""
        newest = [key for key in islice(reversed(self), len(self) - place) if key is not None]
        newest.reverse()
        return newest


def _numbers() -> array[int]:
    return array("L")


@dataclass(slots=True)
class Batch:
    """Some thousand quads, encoded. Nodes and relations are numbered in the order of first use across batches.

    Numbers of nodes start at 1, those of relations at 0.
    """

    position: int
    """Bytes of the source read so far."""
    restart: bool
    """Whether numbering starts again with this batch."""
    nodes: list[str] = field(default_factory=list[str])
    relations: list[str] = field(default_factory=list[str])
    """Nodes and relations used for the first time, in the order of their numbers."""
    heads: array[int] = field(default_factory=_numbers)
    links: array[int] = field(default_factory=_numbers)
    tails: array[int] = field(default_factory=_numbers)
    """Head, relation and tail of each triple with a node as tail, as three columns."""
    literals: list[tuple[int, int, Value]] = field(default_factory=list[tuple[int, int, Value]])
    reifiers: list[tuple[int, int, int, int | Value]] = field(default_factory=list[tuple[int, int, int, "int | Value"]])
    """Reifier, head, relation, and the tail: a node's number or a literal."""
    rejected: list[tuple[int | None, str]] = field(default_factory=list[tuple[int | None, str]])
    """Line and reason of each bad line."""
    text: int = 0
    """Characters of its literals and new keys, approximately."""


class Encoder:
    """Encodes the quads of one source. `index` distinguishes its blank nodes from those of other sources."""

    def __init__(self, index: int) -> None:
        self._blank = f"_:{index}:"
        self._datatypes: dict[str, str | None] = {XSD + "string": None, RDF + "langString": None}
        self._nodes = Numbers()
        self._relations = Numbers()

    def encode(self, quads: Iterable[ox.Quad], position: int, most_text: int = sys.maxsize) -> Batch:
        """Encodes parsed quads as one batch. It ends with the quad that reaches `most_text` characters."""
        batch, known, known_relations = self._new_batch(position)
        nodes, relations = self._nodes, self._relations
        number_node, number_relation, datatypes = nodes.__getitem__, relations.__getitem__, self._datatypes
        before = nodes.text + relations.text
        add_head, add_link, add_tail = batch.heads.append, batch.links.append, batch.tails.append
        add_literal, named_node, literal = batch.literals.append, ox.NamedNode, ox.Literal
        for quad in quads:
            subject, tail = quad.subject, quad.object
            head = number_node(subject.value if type(subject) is named_node else self._key(subject))
            name = quad.predicate.value
            if type(tail) is named_node:
                add_head(head)
                add_link(number_relation(name))
                add_tail(number_node(tail.value))
            elif type(tail) is literal:
                datatype = tail.datatype.value
                short = datatypes[datatype] if datatype in datatypes else self._datatype(datatype)
                text = tail.value
                add_literal((head, number_relation(name), (text, short, tail.language)))
                batch.text += len(text)
            elif isinstance(tail, ox.Triple):
                if name == RDF_REIFIES and not isinstance(tail.object, ox.Triple):
                    quoted_head = number_node(self._key(tail.subject))
                    link = number_relation(tail.predicate.value)
                    batch.reifiers.append((head, quoted_head, link, self._quoted_tail(tail.object, nodes)))
                else:  # a triple as tail of any other relation, or nested in another triple: stored as text
                    add_literal((head, number_relation(name), (str(tail), None, None)))
            else:
                add_head(head)
                add_link(number_relation(name))
                add_tail(number_node(self._key(tail)))
            if batch.text + nodes.text + relations.text - before >= most_text:
                break
        batch.text += nodes.text + relations.text - before
        batch.nodes, batch.relations = nodes.since(known), relations.since(known_relations)
        return batch

    def _new_batch(self, position: int) -> tuple[Batch, int, int]:
        """Returns an empty batch, and the numbers of nodes and relations known before it. Number 0 is never a node."""
        nodes, relations = self._nodes, self._relations
        restart = not nodes or len(nodes) > WINDOW or nodes.text + relations.text > WINDOW_TEXT
        if restart:
            if len(self._datatypes) > WINDOW:
                self._datatypes = {XSD + "string": None, RDF + "langString": None}
            nodes.clear()
            nodes[None] = 0
            relations.clear()
        return Batch(position, restart), len(nodes), len(relations)

    def _key(self, term: object) -> str:
        if isinstance(term, ox.NamedNode):
            return term.value
        return self._blank + term.value if isinstance(term, ox.BlankNode) else str(term)

    def _quoted_tail(self, tail: object, nodes: Numbers) -> int | Value:
        if isinstance(tail, ox.Literal):
            return tail.value, self._datatype(tail.datatype.value), tail.language
        return nodes[self._key(tail)]

    def _datatype(self, iri: str) -> str | None:
        """Returns a datatype as it is stored: XML Schema's with the prefix `xsd:`, others as their IRI."""
        if iri not in self._datatypes:
            self._datatypes[iri] = f"xsd:{iri.removeprefix(XSD)}" if iri.startswith(XSD) else iri
        return self._datatypes[iri]
