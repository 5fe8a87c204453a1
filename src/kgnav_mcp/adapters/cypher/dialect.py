"""How the Cypher of stores differs, as data, and the conversion of their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from kgnav_mcp.model import Direction, Literal
from kgnav_mcp.port import Capability
from kgnav_mcp.values.comparison import WantedValue

VECTOR_SIZE = 64
"""A list of at least this many floating point numbers is a vector (embedding): only its length is shown."""

_LANGUAGE = re.compile(r"(?P<name>.+)@(?P<language>[A-Za-z]{2,3}(-[A-Za-z0-9]+)*)")
"""`name@nl`: a key for values in a language, as in the headers of files for `kgnav load`."""

_INTEGER = re.compile(r"-?(0|[1-9][0-9]{0,18})")
_INTEGER_BOUND = 2**63

Writer = tuple[type | tuple[type, ...], Callable[[Any], str], str | Callable[[Any], str]]
"""How to print values of some Python types: the types, a function to text, and the datatype."""
Reader = Callable[[str], object | None]
"""Parses a text. Returns None, or raises ValueError or OverflowError, if the text is not a value of its kind."""


@lru_cache(maxsize=10_000)
def split_key(key: str) -> tuple[str, str | None]:
    """The property and the language of a key: `name@nl` is `name` in Dutch."""
    match = _LANGUAGE.fullmatch(key)
    return (match["name"], match["language"]) if match else (key, None)


def whole_number(text: str) -> int | None:
    """The integer that a text represents; None if it is not one, or does not fit into 64 bits."""
    return int(text) if _INTEGER.fullmatch(text) and -_INTEGER_BOUND <= int(text) < _INTEGER_BOUND else None


def number(value: float) -> str:
    """A floating point number as text."""
    return str(value) if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")


def vector(length: int) -> Literal:
    """A vector as it is shown: by its length only."""
    return Literal(f"vector of {length:,} numbers", "vector")


def _numbers(number: float) -> list[object]:
    """A number as Cypher has it: a larger integer than 64 bits is a float there."""
    if isinstance(number, int) and not -_INTEGER_BOUND <= number < _INTEGER_BOUND:
        return [float(number)] if int(float(number)) == number else []
    return [number]


_WRITERS: tuple[Writer, ...] = (
    (bool, lambda value: str(value).lower(), "boolean"),
    (int, str, "integer"),
    (float, number, "float"),
    ((bytes, bytearray), lambda value: f"{len(value):,} bytes", "bytes"),
)
"""Tried in this order, because True is also an int in Python."""


@dataclass(frozen=True, slots=True)
class ValueFormats:
    """How values of a driver's own types are written and parsed. Python's types are built in."""

    writers: tuple[Writer, ...] = ()
    readers: tuple[Reader, ...] = ()

    def literal(self, value: object, language: str | None = None, index: int | None = None) -> Literal:
        """One value with its datatype. `index`: its index if it is an item of a list."""
        if isinstance(value, str):
            return Literal(value, None, language, index)
        for kinds, write, datatype in (*_WRITERS, *self.writers):
            if isinstance(value, kinds):
                return Literal(write(value), datatype(value) if callable(datatype) else datatype, index=index)
        return Literal(str(value), type(value).__name__.lower(), index=index)

    def literals(self, key: str, value: object, length: int | None = None) -> list[Literal]:
        """The values of a property; each item of a list is one, with its index. Of a vector only the length is shown.

        `length` is given if the query omitted a vector's numbers.
        """
        if length is not None:
            return [vector(length)]
        language = split_key(key)[1]
        if not isinstance(value, list):
            return [self.literal(value, language)]
        items = cast("Sequence[object]", value)
        if len(items) >= VECTOR_SIZE and all(isinstance(item, float) for item in items):
            return [vector(len(items))]
        return [self.literal(item, language, index) for index, item in enumerate(items)]

    def possible_values(self, text: str) -> list[object]:
        """All values that a printed text may represent: the text itself first, then a number, then others."""
        found: list[object] = [text]
        if text.lower() in {"true", "false"}:
            found.append(text.lower() == "true")
        number = WantedValue.read(text).number
        if number is not None:
            found += _numbers(number)
        for read in self.readers:
            try:
                value = read(text)
            except (ValueError, OverflowError):
                continue  # The text is not a value of this kind.
            if value is not None:
                found.append(value)
        return found


@dataclass(frozen=True, slots=True)
class Dialect:
    """Expressions and queries of one store. `Builder` fills the placeholders in braces; `{x}` is the argument.

    None marks a construct that the store does not have. A query that needs it raises Unsupported.
    """

    store: str
    """The store's name and its supported versions."""
    capabilities: frozenset[Capability]
    """What an adapter can do with this dialect beyond the basic verbs."""

    node_id: str
    """The store's own id of the node `{x}`, as text."""
    node_id_form: re.Pattern[str]
    """The form of such an id."""
    labels: str
    """The list of the labels of the node `{x}`."""
    relationship_type: str
    """The type of the relationship `{x}`."""
    properties: str
    """The map of the properties of the node or relationship `{x}`."""
    keys: str
    """The list of the keys of the node or relationship `{x}` that have a value."""
    values: ValueFormats
    """Conversion of the driver's values to text, and back."""

    names: str | None
    """One row: the list of all labels, of all relationship types and of all property keys."""
    constraints: str | None
    """Rows: the labels and keys of each uniqueness constraint."""
    indexes: str | None
    """Rows: name, type (RANGE or FULLTEXT), labels and keys of each index of nodes."""
    full_text: str | None
    """Yields `n` and `score` for the query `$words` in the full-text index `$index`, at most `$hits` nodes."""

    node_count: str | None
    edge_count: str | None
    label_count: str | None
    """Nodes with the label `{label}`. Like all counts here, from the store's statistics if it keeps them."""
    type_count: str | None
    """Relationships of the type `{type}`."""
    label_type_count: str | None
    """Relationships of the type `{type}` at nodes with the label `{label}`, at either end."""
    degree: str | None
    """The number of relationships of the pattern `{edge}` at the node `n`, without reading them."""
    own_degrees: Mapping[Direction, str] | None
    """Pairs of type and degree, for each type that the node `n` has. None: types are counted one by one."""

    subquery: str | None
    """The subquery `{query}`, run for each row with its variables `{variables}`."""
    optional_subquery: str | None
    """As `subquery`, with a row of nulls where it has no row."""
    collected: str | None
    """The only column of `{query}`, as a list."""
    exists: str | None
    """Whether `{query}` has a row."""
    count: str | None
    """The number of rows of `{query}`."""
    any_shortest: str | None
    """The pattern of one shortest path `{way}` from `{source}` to `{target}` along edges of the pattern `{step}`.

    It has at most `{longest}` edges; empty: any number.
    """
    all_shortest: str | None
    """As `any_shortest`, for all shortest paths."""

    text: str | None
    """The value `{x}` as text; null for lists and other values that have none."""
    folded: str
    """The text `{x}` in lower case, with accents decomposed from their letters, for a search that ignores both."""
    value_type: str | None
    """The type of the value `{x}`, as text."""
    is_list: str | None
    is_text: str | None
    is_text_list: str | None
    is_number_list: str | None
    """Whether the value `{x}` is a list of floating point numbers."""
    datatypes: Mapping[str, str]
    """Printed names of datatypes, by the names that `value_type` returns. Others are printed in lower case."""
