"""Kinds of values: what each expression of a plan may be, and which types the properties of a graph actually have."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from kgnav_mcp.adapters.cypher.plans import queries
from kgnav_mcp.adapters.cypher.session import Session, labelled, quoted
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.plan import Scalar

_MAX_AGE = 60.0
"""Seconds after which the types of a property are read again."""
WHOLE, FRACTION = frozenset(("INTEGER",)), frozenset(("FLOAT",))
NUMBERS = WHOLE | FRACTION
TEXT = frozenset(("STRING",))
BOOLEAN = frozenset(("BOOLEAN",))
PLAIN = NUMBERS | TEXT | BOOLEAN
"""Types that Cypher compares, sorts and counts as plans do."""
DATE, SEVERAL = "DATE", "LIST"
"""DATE: a date, handled as its text. SEVERAL: a property with several values, as a list."""
NOTHING = "NOTHING"
"""The type of the members of an empty list."""
DATES = frozenset((DATE,))
SORTED = PLAIN | {DATE, SEVERAL}
"""Types that Cypher sorts and counts as plans do."""


@dataclass(frozen=True, slots=True)
class Single:
    """A value of one of these types. Without types: null."""

    types: frozenset[str] = frozenset()
    by_code_points: bool = False
    """Whether Neo4j compares its texts by code points, as plans do: so it does with texts that it stores.

    Texts that it makes are compared by units of UTF-16: characters beyond U+FFFF come before those from U+E000 on.
    """


@dataclass(frozen=True, slots=True)
class OfNode:
    """A node that has at least one label of each group."""

    labels: tuple[tuple[str, ...], ...] = ()

    @property
    def label(self) -> str | None:
        """A label that the node certainly has; None if there is none."""
        return next((group[0] for group in self.labels if len(group) == 1), None)


@dataclass(frozen=True, slots=True)
class OfEdge:
    """An edge of one of these types; empty: of any type."""

    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfPath:
    """A path along edges of these types; empty: of any type."""

    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listed:
    """A list with members of one kind."""

    of: Kind


Kind = Single | OfNode | OfEdge | OfPath | Listed
NULL = Single()


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression of Cypher with its kind."""

    text: str
    kind: Kind
    constant: Scalar = None
    """The value, if the expression is a constant."""


@dataclass(frozen=True, slots=True, order=True)
class PropertyKey:
    """A key at the nodes of a label, or at the edges of a type. An empty owner means any, an empty key all keys."""

    edges: bool
    owner: str
    key: str


def common_kind(kinds: Iterable[Kind]) -> Kind:  # noqa: PLR0911 - one for each kind
    """The kind that covers all of these kinds.

    Raises:
        Unsupported: there is none.
    """
    found = dict.fromkeys(kind for kind in kinds if kind != NULL)
    if not found:
        return NULL
    first, *others = found
    if not others:
        return first
    if all(isinstance(kind, Single) for kind in found):
        singles = [kind for kind in found if isinstance(kind, Single)]
        types = frozenset[str]().union(*(kind.types for kind in singles))
        return Single(types, all(map(is_by_code_points, singles)))
    if all(isinstance(kind, OfNode) for kind in found):
        return OfNode()
    if all(isinstance(kind, OfEdge) for kind in found):
        return OfEdge()
    if all(isinstance(kind, OfPath) for kind in found):
        return OfPath()
    if all(isinstance(kind, Listed) for kind in found):
        return Listed(common_kind(kind.of for kind in found if isinstance(kind, Listed)))
    raise unsupported("values of several types in one column or list")


def unsupported(what: str) -> Unsupported:
    """The error for a part of a plan that Cypher cannot express, or only with another meaning."""
    return Unsupported(f"Cypher has no equivalent: {what}")


def member_type(name: str) -> str:
    """The type of a list's members; any other type is returned as it is."""
    return name.removeprefix("LIST<").removesuffix(">").removesuffix(" NOT NULL") if name.startswith("LIST<") else name


def is_by_code_points(kind: Kind) -> bool:
    """Whether no values of this kind are texts that Neo4j compares otherwise than plans do."""
    return not isinstance(kind, Single) or kind.by_code_points or kind.types.isdisjoint(TEXT)


def is_plain(kind: Kind) -> bool:
    """Whether all values of this kind have types that Cypher treats as plans do."""
    return isinstance(kind, Single) and kind.types <= PLAIN


class PropertyTypes:
    """A cache of the types of the graph's properties. Only those that plans needed are read."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: dict[PropertyKey, tuple[float, frozenset[str]]] = {}

    def known(self, key: PropertyKey) -> frozenset[str] | None:
        """The types of the values under a key; None if they are not in the cache."""
        read_at, types = self._known.get(key, (0.0, frozenset[str]()))
        return types if read_at > time.monotonic() - _MAX_AGE else None

    async def read(self, wanted: Iterable[PropertyKey]) -> None:
        """Read the types of some properties into the cache.

        Raises:
            StoreError: the store fails.
        """
        for (edges, owner), group in groupby(sorted(wanted), key=lambda one: (one.edges, one.owner)):
            keys = list(group)
            await self._read(edges, owner, [one for one in keys if one.key])
            if len(keys) > 1 or not keys[0].key:
                await self._read_all_keys([one for one in keys if not one.key])

    async def _read(self, edges: bool, owner: str, keys: Sequence[PropertyKey]) -> None:
        if not keys:
            return
        types = ", ".join(self._session.builder.fill(queries.TYPE_OF, value=f"n.{quoted(one.key)}") for one in keys)
        template = queries.KINDS_OF_EDGES if edges else queries.KINDS_OF_NODES
        parts = {"type" if edges else "label": labelled(owner or None), "types": types}
        rows = await self._session.items(template, parts)
        for place, one in enumerate(keys):
            self._store(one, {row[place] for row in rows})

    async def _read_all_keys(self, keys: Sequence[PropertyKey]) -> None:
        for one in keys:
            rows = await self._session.items(queries.KINDS_OF_ALL_KEYS, {"type": labelled(one.owner or None)})
            self._store(one, rows)

    def _store(self, key: PropertyKey, types: Iterable[str]) -> None:
        names = {name.removesuffix(" NOT NULL") for name in types}
        self._known[key] = time.monotonic(), frozenset(names - {"NULL"})
