"""Ids of an RDF graph: IRIs, shortened by prefixes, and paths to blank nodes.

A blank node has no lasting name, so its id is the path to it: a node with an IRI, a relation from there (`^` if it is
followed backwards), and a mark, which is a hash of the node's triples and distinguishes it from its siblings:
`_:ex:ada>ex:address>5f0c2a91`. Where a blank node has no neighbour with an IRI, the path continues from another blank
node. Such an id is valid in any process, as long as the node's triples do not change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from rdflib import RDF, XSD, URIRef

from kgnav_mcp.adapters.naming import is_iri
from kgnav_mcp.adapters.short_ids import ShortIds
from kgnav_mcp.adapters.sparql.terms import iri
from kgnav_mcp.errors import InvalidArgument

_LOCAL = re.compile(r"[^\s/#<>]+")
_PREFIXED = re.compile(r"([A-Za-z][\w.-]*|):([^\s/<>].*)")
_PART = re.compile(r"(\^?<[^<>]*>|[^<>]+)(?:>|$)")
_MARK = re.compile(r"[0-9a-f]{8}(\.\d{1,6})?")
_BLANK = "_:"
_MAX_LENGTH = 4_000
"""Maximum length of an id in characters."""
_PLAIN = {str(XSD.string), str(RDF.langString)}


@dataclass(frozen=True, slots=True)
class Step:
    """A step to a blank node: a relation, whether it is followed backwards, and the mark of the blank node."""

    relation: URIRef
    inverse: bool
    mark: str


@dataclass(frozen=True, slots=True)
class BlankPath:
    """The path to a blank node from a node with an IRI, through other blank nodes if necessary."""

    anchor: URIRef
    steps: tuple[Step, ...]

    def on(self, step: Step) -> BlankPath:
        """The path extended by one step."""
        return replace(self, steps=(*self.steps, step))


class Ids:
    """Converts between short and full forms of ids."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        """`prefixes` maps names to namespaces. Of two names for one namespace, the later one is printed."""
        self._short_ids = ShortIds(dict(reversed([*prefixes.items()])))

    @property
    def namespaces(self) -> Collection[str]:
        """Every namespace that has a prefix."""
        return self._short_ids.namespaces

    def short(self, full: str) -> str:
        """The printed form of an IRI: its short form, else the full IRI."""
        full = str(full)  # An rdflib term is a str, but does not equal one.
        short = self._short_ids.short(full)
        if short is not None and _LOCAL.fullmatch(short):
            return short
        # Brackets, since an IRI such as `geo:52.5,13.4` could be read as a prefixed name.
        return f"<{full}>" if self._short_ids.full(full) is not None else full

    def iri(self, reference: str) -> URIRef | None:
        """Resolve an id in any form to an IRI; None if the text is not the id of an IRI."""
        if not reference or len(reference) > _MAX_LENGTH or reference.startswith(_BLANK):
            return None
        if reference.startswith("<") and reference.endswith(">"):
            full = reference[1:-1]
        else:
            full = (self._short_ids.full(reference) if _PREFIXED.fullmatch(reference) else None) or reference
        if not is_iri(full) or full.endswith(":"):
            return None
        try:
            return iri(full)
        except InvalidArgument:
            return None  # The text is not an id.

    def paths(self, references: Sequence[tuple[str, ...]]) -> list[tuple[URIRef, ...]]:
        """Resolve paths of one or two relations, each once. Paths with a text that is not an id are left out."""
        found: list[tuple[URIRef, ...]] = []
        for path in references:
            iris = [resolved for relation in path if (resolved := self.iri(relation)) is not None]
            if len(iris) == len(path) and len(path) in {1, 2}:
                found.append(tuple(iris))
        return list(dict.fromkeys(found))

    def blank(self, reference: str) -> BlankPath | None:
        """Parse the id of a blank node; None if the text is not such an id."""
        if not reference.startswith(_BLANK) or len(reference) > _MAX_LENGTH:
            return None
        text = reference.removeprefix(_BLANK)
        parts = _PART.findall(text)
        if ">".join(parts) != text or len(parts) < 3 or len(parts) % 2 == 0:
            return None
        anchor = self.iri(parts[0])
        steps: list[Step] = []
        for relation, mark in zip(parts[1::2], parts[2::2], strict=True):
            resolved = self.iri(relation.removeprefix("^"))
            if resolved is None or not _MARK.fullmatch(mark):
                return None
            steps.append(Step(resolved, relation.startswith("^"), mark))
        return None if anchor is None else BlankPath(anchor, tuple(steps))

    def written(self, path: BlankPath) -> str:
        """The id of a blank node."""
        parts = [self.short(path.anchor)]
        for step in path.steps:
            parts += [("^" if step.inverse else "") + self.short(step.relation), step.mark]
        return _BLANK + ">".join(parts)

    def datatype(self, full: str | None) -> str | None:
        """The printed form of a datatype, such as `xsd:date`; None for plain text."""
        return None if full is None or full in _PLAIN else self.short(full)
