"""Short forms of IRIs, as RDF stores and graph files print and accept them: `foaf:name`, `DOID:734`.

An IRI is shortened by a prefix or, if it is a term of the OBO Foundry, by the Foundry's own rule: `obo/DOID_734` is
`DOID:734`, whatever prefixes there are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from kgnav_mcp.adapters.wellknown import OBO
from kgnav_mcp.model.ids import ID_NUMBER, ID_SPACE, is_obo_id

_OBO_TERM = re.compile(f"({ID_SPACE})_({ID_NUMBER})")
_LOCAL = re.compile(r"[^\s/#<>]+")
"""What may stand behind a prefix."""


def obo_id(iri: str) -> str | None:
    """The id of a term of the OBO Foundry, such as `DOID:734`; None if the IRI is not that of a term."""
    match = _OBO_TERM.fullmatch(iri, len(OBO)) if iri.startswith(OBO) else None
    return None if match is None else f"{match[1]}:{match[2]}"


def obo_iri(text: str) -> str | None:
    """The IRI of a term of the OBO Foundry; None if the text does not have the form of such an id."""
    return f"{OBO}{text.replace(':', '_')}" if is_obo_id(text) else None


def namespace(iri: str) -> str:
    """An IRI up to its last `#` or `/`, the part that a prefix may replace."""
    return iri[: (max(iri.rfind("#"), iri.rfind("/")) if "#" in iri else iri.rfind("/")) + 1]


def encodable(text: str) -> str:
    """The text made valid for UTF-8: lone surrogates, which no stored text contains, become question marks."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class Prefixes:
    """The prefixes of one graph. Without prefixes, all ids are printed as stored, except those of the OBO Foundry."""

    def __init__(self, *namespaces: Mapping[str, str], unprefixed: Sequence[str] = (), bracketed: bool = False) -> None:
        """Create the prefixes from tables of namespaces by prefix. If two tables have a prefix, the first counts.

        Of two prefixes for one namespace, the first is printed. Ids in the namespaces `unprefixed` may also be written
        without a prefix. `bracketed`: a stored id that could be read as a short form, such as `PMID:1`, is printed as
        `<PMID:1>`, because the graph may also have the IRI which that short form means.
        """
        self._bracketed = bracketed
        self.unprefixed = tuple(unprefixed)
        self._namespace_of: dict[str, str] = {}
        self._prefix_of: dict[str, str] = {}
        for prefix, space in (pair for table in namespaces for pair in table.items()):
            if self._namespace_of.setdefault(prefix, space) == space:
                self._prefix_of.setdefault(space, prefix)
        others = (space for space in self._prefix_of if not space.endswith(("#", "/")))
        self._other_namespaces = sorted(others, key=len, reverse=True)

    @property
    def namespaces(self) -> Collection[str]:
        """All namespaces that have a prefix."""
        return self._prefix_of.keys()

    def short(self, key: str) -> str:
        """The printed form of a stored id: its short form if it has one, otherwise the id."""
        short = self.without_brackets(key)
        return f"<{key}>" if self._bracketed and short == key and self.full(key) is not None else short

    def without_brackets(self, key: str) -> str:
        """The short form of a stored id, otherwise the id itself, without the brackets of `bracketed`.

        A namespace usually ends with the last `#` or `/`.
        """
        if key.startswith(OBO) and (found := obo_id(key)) is not None and self.full(found) == key:
            return found
        start = namespace(key)
        prefix = self._prefix_of.get(start)
        if prefix is None and self._other_namespaces:
            start = next((space for space in self._other_namespaces if key.startswith(space)), start)
            prefix = self._prefix_of.get(start)
        return key if prefix is None or not _LOCAL.fullmatch(key, len(start)) else f"{prefix}:{key[len(start) :]}"

    def full(self, text: str) -> str | None:
        """The IRI that a short form means: by a prefix of the graph, else by the rule of the OBO Foundry."""
        return self.declared(text) or obo_iri(text)

    def declared(self, text: str) -> str | None:
        """The IRI that a short form means by a prefix of the graph; None if it has no such prefix."""
        prefix, _, local = text.partition(":")
        space = self._namespace_of.get(prefix) if local and not local.startswith("/") else None
        return None if space is None else space + local

    def keys(self, reference: str) -> tuple[str, ...]:
        """The stored ids that a text may mean, the text itself first.

        Accepts `wd:Q42`, `DOID:734`, `<http://...>` and full IRIs; `Q42` if its namespace needs no prefix.
        """
        key = encodable(reference)
        if key.startswith("<") and key.endswith(">"):
            return key, key[1:-1]
        if ":" not in key:
            return (key, *(space + key for space in self.unprefixed))
        full = self.full(key)
        return (key,) if full is None else (key, full)

    def preferred_keys(self, reference: str) -> tuple[str, ...]:
        """The stored ids that a text may mean, the one that is printed as this text first."""
        keys = self.keys(reference)
        return keys[::-1] if self._bracketed else keys

    def is_id(self, text: str) -> bool:
        """Whether a text has the form of an id, whatever the graph has: a full IRI, or a known prefix and a name."""
        return "://" in text or self.declared(text) is not None

    def is_opaque(self, key: str) -> bool:
        """Whether a stored id, such as that of `Q42`, cannot be read as a name."""
        return namespace(key) in self.unprefixed

    def printed(self, prefixes: Iterable[str]) -> dict[str, str]:
        """The prefixes among these that printed ids use, with their namespaces."""
        found = ((prefix, self._namespace_of.get(prefix)) for prefix in prefixes)
        return {prefix: space for prefix, space in found if space is not None and self._prefix_of[space] == prefix}
