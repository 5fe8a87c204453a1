"""Ids as they are stored (full IRIs, ids of a table) and as they are printed (short where a prefix fits)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping


class Prefixes:
    """The prefixes of one graph file. Without any, every id is printed as it is stored."""

    def __init__(self, namespaces: Mapping[str, str]) -> None:
        """`namespaces` maps prefixes to namespaces; of two prefixes for one namespace the first one is printed."""
        self._namespace_of = dict(namespaces)
        self._prefix_of: dict[str, str] = {}
        for prefix, namespace in namespaces.items():
            self._prefix_of.setdefault(namespace, prefix)
        self._odd = sorted(
            (space for space in self._prefix_of if not space.endswith(("#", "/"))), key=len, reverse=True
        )

    @property
    def namespaces(self) -> Collection[str]:
        """Every namespace that has a prefix."""
        return self._prefix_of.keys()

    def short(self, key: str) -> str:
        """The printed form of a stored id: its namespace, mostly up to the last `#` or `/`, replaced by a prefix."""
        if not self._prefix_of:
            return key
        start = namespace(key)
        prefix = self._prefix_of.get(start)
        if prefix is None and self._odd:
            start = next((space for space in self._odd if key.startswith(space)), start)
            prefix = self._prefix_of.get(start)
        return key if prefix is None or len(start) == len(key) else f"{prefix}:{key[len(start) :]}"

    def printed(self, prefixes: Iterable[str]) -> dict[str, str]:
        """Those of some prefixes that ids are printed with, with their namespaces."""
        found = ((prefix, self._namespace_of[prefix]) for prefix in prefixes if prefix in self._namespace_of)
        return {prefix: iri for prefix, iri in found if self._prefix_of[iri] == prefix}

    def keys(self, reference: str) -> tuple[str, ...]:
        """The stored ids that a text may mean, the text itself first: `wd:Q42`, `<http://...>` and full IRIs."""
        key = storable(reference)
        if key.startswith("<") and key.endswith(">"):
            return key, key[1:-1]
        prefix, _, local = key.partition(":")
        namespace = self._namespace_of.get(prefix) if local else None
        return (key,) if namespace is None else (key, namespace + local)


def namespace(key: str) -> str:
    """A stored id up to its last `#` or `/`: what a prefix may stand for."""
    return key[: (max(key.rfind("#"), key.rfind("/")) if "#" in key else key.rfind("/")) + 1]


def storable(text: str) -> str:
    """The text as SQLite can take it: half a surrogate pair, which no stored text has, becomes a question mark."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
