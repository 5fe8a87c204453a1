"""Converts ids between their stored form (full IRIs, ids of a table) and their printed form (prefixed if possible)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from kgnav_mcp.adapters.short_ids import ShortIds, namespace


class Prefixes:
    """The prefixes of one graph file. Without any, only ids of the OBO Foundry are printed otherwise than stored."""

    def __init__(self, namespaces: Mapping[str, str], unprefixed: Sequence[str] = ()) -> None:
        """`namespaces` maps prefixes to namespaces. Of two prefixes for one namespace, the first is printed.

        Ids in the namespaces `unprefixed` may also be written without a prefix.
        """
        self.unprefixed = tuple(unprefixed)
        self._short_ids = ShortIds(namespaces)

    @property
    def namespaces(self) -> Collection[str]:
        """All namespaces that have a prefix."""
        return self._short_ids.namespaces

    def short(self, key: str) -> str:
        """Returns the printed form of a stored id: its short form, if there is one."""
        return self._short_ids.short(key) or key

    def is_opaque(self, key: str) -> bool:
        """Whether a stored id, such as that of `Q42`, says nothing that could be read as a name."""
        return namespace(key) in self.unprefixed

    def printed(self, prefixes: Iterable[str]) -> dict[str, str]:
        """Returns those of the prefixes that printed ids use, with their namespaces."""
        found = ((prefix, self._short_ids.namespace_of(prefix)) for prefix in prefixes)
        return {prefix: iri for prefix, iri in found if iri is not None and self._short_ids.prefix_of(iri) == prefix}

    def is_id(self, text: str) -> bool:
        """Whether a text has the form of an id, whatever the graph has: a full IRI, or a known prefix and a name."""
        return "://" in text or self._short_ids.declared(text) is not None

    def keys(self, reference: str) -> tuple[str, ...]:
        """Returns the stored ids that a text may mean, the text itself first.

        Accepts `wd:Q42`, `DOID:734`, `<http://...>` and full IRIs; `Q42` if its namespace needs no prefix.
        """
        key = storable(reference)
        if key.startswith("<") and key.endswith(">"):
            return key, key[1:-1]
        if ":" not in key:
            return (key, *(namespace + key for namespace in self.unprefixed))
        full = self._short_ids.full(key)
        return (key,) if full is None else (key, full)

    def declared(self, reference: str) -> str | None:
        """Returns the IRI that a short form means by a prefix, not by the rule of the OBO Foundry; else None."""
        return self._short_ids.declared(reference)


def storable(text: str) -> str:
    """Returns the text in a form that SQLite accepts: lone surrogates, which no stored text has, become `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
