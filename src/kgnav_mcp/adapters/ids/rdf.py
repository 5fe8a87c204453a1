"""Ids of an RDF graph: IRIs, shortened by prefixes, and paths to blank nodes. Those of Freebase have one namespace.

A blank node has no lasting name, so its id is the path to it: a node with an IRI, a relation from there (`^` if it is
followed backwards), and a mark, which is a hash of the node's triples and distinguishes it from its siblings:
`_:ex:ada>ex:address>5f0c2a91`. Where a blank node has no neighbour with an IRI, the path continues from another blank
node. Such an id is valid in any process, as long as the node's triples do not change.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from rdflib import RDF, XSD, URIRef

from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.wellknown import PREFIXES
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.model.ids import is_iri

_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')
"""Characters that SPARQL 1.1 (section 19.8, IRIREF) forbids between `<` and `>`."""
_UNENCODABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates: no IRI has them, and percent-encoding cannot repair that."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
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


def iri(text: str) -> URIRef:
    """Convert a text to an IRI. Characters that SPARQL forbids in one (spaces, quotes) are percent-encoded.

    Raises:
        InvalidArgument: the text has no scheme, or has control characters.
    """
    if _SCHEME.match(text) is None or _UNENCODABLE.search(text):
        raise InvalidArgument(
            f"{echoed(text)} is not a full IRI", next_step="Write it in full, such as http://example.org/resource/Name."
        )
    return URIRef(_FORBIDDEN.sub(lambda match: quote(match[0], safe=""), text))


def is_encoded(text: str) -> bool:
    """Whether a text is an IRI as `iri` makes them."""
    return _SCHEME.match(text) is not None and not _FORBIDDEN.search(text) and not _UNENCODABLE.search(text)


class RdfIds(Prefixes):
    """Converts between short and full forms of the ids of a graph in which every id is an IRI."""

    def __init__(self, *namespaces: Mapping[str, str], unprefixed: Sequence[str] = ()) -> None:
        """Create the conversion for namespaces by prefix, as in `Prefixes`.

        An IRI such as `geo:52.5,13.4`, which could be read as a short form, is printed in brackets.
        """
        super().__init__(*namespaces, unprefixed=unprefixed, bracketed=True)

    def short(self, key: str) -> str:
        """The printed form of an IRI: its short form if it has one, otherwise the full IRI."""
        return super().short(str(key))  # An rdflib term is a str, but does not equal one.

    def iri(self, reference: str) -> URIRef | None:
        """Resolve an id in any form to an IRI; None if the text is not the id of an IRI."""
        if len(reference) > _MAX_LENGTH or reference.startswith(_BLANK) or _UNENCODABLE.search(reference):
            return None
        full = self.keys(reference)[-1]
        return iri(full) if is_iri(full) and not full.endswith(":") else None

    def relation_paths(self, references: Sequence[tuple[str, ...]]) -> list[tuple[URIRef, ...]]:
        """Resolve distinct paths of one or two relations. Paths with a text that is not an id are omitted."""
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
        return None if full is None or full in _PLAIN else self.without_brackets(full)


_SHORT = re.compile(r"[\w%~-]+(?:\.[\w%~-]+)+")
_PATH = re.compile(r"/[\w%~-]+(?:/[\w%~-]+)+")
"""The form of ids in Freebase's own query language: `/m/0abc`, `/people/person/place_of_birth`."""
_TOPIC = re.compile(r"[mg]\..+")
_MAX_FREEBASE_LENGTH = 2_000
"""Maximum length of an id in characters: Virtuoso stores no longer IRIs."""


class FreebaseIds(RdfIds):
    """Converts between short and full forms of the ids of one namespace; those of others are printed in full."""

    def __init__(self, namespace: str) -> None:
        super().__init__({"ns": namespace, "fb": namespace}, PREFIXES)
        self.namespace = namespace

    def short(self, key: str) -> str:
        local = key.removeprefix(self.namespace)
        return local if len(local) < len(key) and _SHORT.fullmatch(local) else str(key)

    def iri(self, reference: str) -> URIRef | None:
        if len(reference) > _MAX_FREEBASE_LENGTH:
            return None
        text = reference[1:-1] if reference.startswith("<") and reference.endswith(">") else reference
        if _PATH.fullmatch(text):
            text = text.strip("/").replace("/", ".")
        return iri(self.namespace + text) if _SHORT.fullmatch(text) else super().iri(reference)

    def is_topic(self, term: str) -> bool:
        """Whether an IRI identifies an entity or a mediator (`m.`, `g.`), and not a type or a relation."""
        return _TOPIC.fullmatch(self.short(term)) is not None

    def blank(self, reference: str) -> BlankPath | None:  # noqa: ARG002 - none is one
        """Always None: no blank node has an id."""
        return None
