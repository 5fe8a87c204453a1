"""The dialect of one store, as data: everything in Cypher that differs between stores is a field here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kgnav_mcp.adapters.cypher.values import ValueFormats
from kgnav_mcp.model import Direction
from kgnav_mcp.port import Capability


@dataclass(frozen=True, slots=True)
class Dialect:
    """Expressions and queries of one store. Placeholders in braces are filled by `builder`; `{x}` is the argument.

    None is a construct that the store does not have. A query that needs it cannot be built (`Unsupported`).
    """

    store: str
    """The store's name and the versions that are meant."""
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
    """The same, with a row of nulls where it has none."""
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
    """The same of all shortest paths."""

    text: str | None
    """The value `{x}` as text; null for lists and other values that have none."""
    folded: str
    """The text `{x}` in lower case, with accents apart from their letters: for a search that ignores both."""
    value_type: str | None
    """The type of the value `{x}`, as text."""
    is_list: str | None
    is_text: str | None
    is_text_list: str | None
    is_number_list: str | None
    """Whether the value `{x}` is a list of floating point numbers."""
    datatypes: Mapping[str, str]
    """Printed names of datatypes, by the names that `value_type` returns. Others are printed in lower case."""
