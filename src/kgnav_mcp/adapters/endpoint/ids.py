"""Ids of an RDF graph: IRIs, short by prefixes, and blank nodes by a path that leads to them.

A blank node has no name that outlives an answer. What is printed for one is the way to it: a node with an IRI, a
relation from there (`^` before one that is followed backwards), and a mark of what the node says of itself, which
tells it from its siblings: `_:ex:ada>ex:address>5f0c2a91`. Where a blank node has no neighbour with an IRI, the way
goes on from another blank node. Such an id holds in any process, as long as the node's own triples stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rdflib import RDF, XSD, URIRef

from kgnav_mcp.adapters.naming import is_iri
from kgnav_mcp.adapters.sparql.terms import iri
from kgnav_mcp.errors import InvalidArgument

_LOCAL = re.compile(r"[^\s/#<>]+")
_PREFIXED = re.compile(r"([A-Za-z][\w.-]*|):([^\s/<>].*)")
_PART = re.compile(r"(\^?<[^<>]*>|[^<>]+)(?:>|$)")
_MARK = re.compile(r"[0-9a-f]{8}(\.\d{1,6})?")
_BLANK = "_:"
_LONGEST = 4_000
"""Characters of the longest id that is taken for one."""
_PLAIN = {str(XSD.string), str(RDF.langString)}


@dataclass(frozen=True, slots=True)
class Step:
    """A step to a blank node: a relation, whether it is followed backwards, and the mark of the node it leads to."""

    relation: URIRef
    inverse: bool
    mark: str


@dataclass(frozen=True, slots=True)
class BlankPath:
    """The way to a blank node from a node with an IRI, over other blank nodes where it must be."""

    anchor: URIRef
    steps: tuple[Step, ...]

    def on(self, step: Step) -> BlankPath:
        """The way one step further."""
        return replace(self, steps=(*self.steps, step))


class Ids:
    """Short and full forms of ids."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        """`prefixes` maps names to namespaces; of two names for one namespace the later one is printed."""
        self._namespaces = dict(prefixes)
        self._names = {namespace: name for name, namespace in prefixes.items()}
        self._odd = sorted((space for space in self._names if not space.endswith(("#", "/"))), key=len, reverse=True)

    @property
    def namespaces(self) -> Collection[str]:
        """Every namespace that has a prefix."""
        return self._names.keys()

    def short(self, full: str) -> str:
        """The form that is printed: a prefix and the rest, else the whole IRI."""
        full = str(full)  # A term is a text as well, but no equal of one.
        cut = max(full.rfind("#"), full.rfind("/")) + 1
        for namespace in (full[:cut], *(space for space in self._odd if full.startswith(space))):
            name = self._names.get(namespace)
            if name is not None and _LOCAL.fullmatch(full, len(namespace)):
                return f"{name}:{full[len(namespace) :]}"
        # An IRI that begins as a prefixed name does would be taken for one: `geo:52.5,13.4`.
        return f"<{full}>" if full.partition(":")[0] in self._namespaces else full

    def iri(self, reference: str) -> URIRef | None:
        """The IRI that an id means in any of its forms; None where the text is the id of no IRI."""
        if not reference or len(reference) > _LONGEST or reference.startswith(_BLANK):
            return None
        match = _PREFIXED.fullmatch(reference)
        if reference.startswith("<") and reference.endswith(">"):
            full = reference[1:-1]
        elif match is not None and match[1] in self._namespaces:
            full = self._namespaces[match[1]] + match[2]
        else:
            full = reference
        if not is_iri(full) or full.endswith(":"):
            return None
        try:
            return iri(full)
        except InvalidArgument:
            return None  # The caller asked whether it is an id: it is none.

    def paths(self, references: Sequence[tuple[str, ...]]) -> list[tuple[URIRef, ...]]:
        """Paths of one or two relations as IRIs, each once; those with a text that is no id are left out."""
        found: list[tuple[URIRef, ...]] = []
        for path in references:
            iris = [meant for relation in path if (meant := self.iri(relation)) is not None]
            if len(iris) == len(path) and len(path) in {1, 2}:
                found.append(tuple(iris))
        return list(dict.fromkeys(found))

    def blank(self, reference: str) -> BlankPath | None:
        """The way that the id of a blank node says; None where the text is no such id."""
        if not reference.startswith(_BLANK) or len(reference) > _LONGEST:
            return None
        text = reference.removeprefix(_BLANK)
        parts = _PART.findall(text)
        if ">".join(parts) != text or len(parts) < 3 or len(parts) % 2 == 0:
            return None
        anchor = self.iri(parts[0])
        steps: list[Step] = []
        for relation, mark in zip(parts[1::2], parts[2::2], strict=True):
            meant = self.iri(relation.removeprefix("^"))
            if meant is None or not _MARK.fullmatch(mark):
                return None
            steps.append(Step(meant, relation.startswith("^"), mark))
        return None if anchor is None else BlankPath(anchor, tuple(steps))

    def written(self, path: BlankPath) -> str:
        """The id of a blank node."""
        parts = [self.short(path.anchor)]
        for step in path.steps:
            parts += [("^" if step.inverse else "") + self.short(step.relation), step.mark]
        return _BLANK + ">".join(parts)

    def datatype(self, full: str | None) -> str | None:
        """A datatype as it is printed: `xsd:date`. Plain text has none."""
        return None if full is None or full in _PLAIN else self.short(full)
