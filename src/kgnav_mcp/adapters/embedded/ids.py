"""Converts ids between their stored form (full IRIs, ids of a table) and their printed form (prefixed if possible)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence


class Prefixes:
    """The prefixes of one graph file. Without any, ids are printed as they are stored."""

    def __init__(self, namespaces: Mapping[str, str], unprefixed: Sequence[str] = ()) -> None:
        """`namespaces` maps prefixes to namespaces. Of two prefixes for one namespace, the first is printed.

        Ids in the namespaces `unprefixed` may also be written without a prefix.
        """
        self.unprefixed = tuple(unprefixed)
        self._namespace_of = dict(namespaces)
        self._prefix_of: dict[str, str] = {}
        for prefix, namespace in namespaces.items():
            self._prefix_of.setdefault(namespace, prefix)
        self._other_namespaces = sorted(
            (space for space in self._prefix_of if not space.endswith(("#", "/"))), key=len, reverse=True
        )

    @property
    def namespaces(self) -> Collection[str]:
        """All namespaces that have a prefix."""
        return self._prefix_of.keys()

    def short(self, key: str) -> str:
        """Returns the printed form of a stored id: its namespace replaced by a prefix, if there is one.

        A namespace usually ends with the last `#` or `/`.
        """
        if not self._prefix_of:
            return key
        start = namespace(key)
        prefix = self._prefix_of.get(start)
        if prefix is None and self._other_namespaces:
            start = next((space for space in self._other_namespaces if key.startswith(space)), start)
            prefix = self._prefix_of.get(start)
        return key if prefix is None or len(start) == len(key) else f"{prefix}:{key[len(start) :]}"

    def is_opaque(self, key: str) -> bool:
        """Whether a stored id, such as that of `Q42`, says nothing that could be read as a name."""
        return namespace(key) in self.unprefixed

    def printed(self, prefixes: Iterable[str]) -> dict[str, str]:
        """Returns those of the prefixes that printed ids use, with their namespaces."""
        found = ((prefix, self._namespace_of[prefix]) for prefix in prefixes if prefix in self._namespace_of)
        return {prefix: iri for prefix, iri in found if self._prefix_of[iri] == prefix}

    def is_id(self, text: str) -> bool:
        """Whether a text has the form of an id, whatever the graph has: a full IRI, or a known prefix and a name."""
        return "://" in text or (":" in text and len(self.keys(text)) > 1)

    def keys(self, reference: str) -> tuple[str, ...]:
        """Returns the stored ids that a text may mean, the text itself first.

        Accepts `wd:Q42`, `<http://...>` and full IRIs; `Q42` if its namespace needs no prefix.
        """
        key = storable(reference)
        if key.startswith("<") and key.endswith(">"):
            return key, key[1:-1]
        prefix, separator, local = key.partition(":")
        if not separator:
            return (key, *(namespace + key for namespace in self.unprefixed))
        namespace = self._namespace_of.get(prefix) if local else None
        return (key,) if namespace is None else (key, namespace + local)


def namespace(key: str) -> str:
    """Returns a stored id up to its last `#` or `/`, the part that a prefix may replace."""
    return key[: (max(key.rfind("#"), key.rfind("/")) if "#" in key else key.rfind("/")) + 1]


def storable(text: str) -> str:
    """Returns the text in a form that SQLite accepts: lone surrogates, which no stored text has, become `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
