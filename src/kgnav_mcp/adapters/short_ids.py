"""Short forms of IRIs, as RDF stores and graph files print and accept them: `foaf:name`, `DOID:734`.

An IRI is shortened by a prefix or, if it is a term of the OBO Foundry, by the Foundry's own rule: `obo/DOID_734` is
`DOID:734`, whatever prefixes there are. Stores with ids of their own kind (Freebase, Wikibase) have their own modules.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

OBO = "http://purl.obolibrary.org/obo/"

_SPACE = r"(?=[a-z_]*[A-Z])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z][A-Za-z0-9]*)*?"
"""An id space, such as `DOID` and `NCBITaxon`. It has a capital letter, unlike a scheme such as `tel`."""
_NUMBER = r"[A-Za-z]{0,2}\d[A-Za-z0-9.-]*"
"""What is behind it: a number, or the code of another database, as in `NCIT:C3262`."""
_OBO_TERM = re.compile(f"({_SPACE})_({_NUMBER})")
_OBO_ID = re.compile(f"({_SPACE}):({_NUMBER})")


def obo_id(iri: str) -> str | None:
    """The id of a term of the OBO Foundry, such as `DOID:734`; None if the IRI is not that of one."""
    match = _OBO_TERM.fullmatch(iri, len(OBO)) if iri.startswith(OBO) else None
    return None if match is None else f"{match[1]}:{match[2]}"


def obo_iri(text: str) -> str | None:
    """The IRI of a term of the OBO Foundry; None if the text does not have the form of such an id."""
    match = _OBO_ID.fullmatch(text)
    return None if match is None else f"{OBO}{match[1]}_{match[2]}"


def is_obo_id(text: str) -> bool:
    """Whether a text has the form `DOID:734`."""
    return _OBO_ID.fullmatch(text) is not None


class ShortIds:
    """The prefixes of one graph. Of two prefixes for one namespace, the first is printed."""

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        """`namespaces` maps prefixes to namespaces."""
        self._namespace_of = dict(namespaces)
        self._prefix_of: dict[str, str] = {}
        for prefix, space in namespaces.items():
            self._prefix_of.setdefault(space, prefix)
        self._other_namespaces = sorted(
            (space for space in self._prefix_of if not space.endswith(("#", "/"))), key=len, reverse=True
        )

    @property
    def namespaces(self) -> Collection[str]:
        """All namespaces that have a prefix."""
        return self._prefix_of.keys()

    def namespace_of(self, prefix: str) -> str | None:
        """The namespace of a declared prefix."""
        return self._namespace_of.get(prefix)

    def prefix_of(self, namespace: str) -> str | None:
        """The prefix that is printed for a namespace."""
        return self._prefix_of.get(namespace)

    def short(self, iri: str) -> str | None:
        """The short form of an IRI; None if it has none.

        A namespace usually ends with the last `#` or `/`.
        """
        if iri.startswith(OBO) and (found := obo_id(iri)) is not None and self.full(found) == iri:
            return found
        start = namespace(iri)
        prefix = self._prefix_of.get(start)
        if prefix is None and self._other_namespaces:
            start = next((space for space in self._other_namespaces if iri.startswith(space)), start)
            prefix = self._prefix_of.get(start)
        return None if prefix is None or len(start) == len(iri) else f"{prefix}:{iri[len(start) :]}"

    def full(self, text: str) -> str | None:
        """The IRI that a short form means: by a prefix of the graph, else by the rule of the OBO Foundry."""
        return self.declared(text) or obo_iri(text)

    def declared(self, text: str) -> str | None:
        """The IRI that a short form means by a prefix of the graph; None if it has no such prefix."""
        prefix, separator, local = text.partition(":")
        space = self._namespace_of.get(prefix) if separator and local else None
        return None if space is None else space + local


def namespace(iri: str) -> str:
    """An IRI up to its last `#` or `/`, the part that a prefix may replace."""
    return iri[: (max(iri.rfind("#"), iri.rfind("/")) if "#" in iri else iri.rfind("/")) + 1]
