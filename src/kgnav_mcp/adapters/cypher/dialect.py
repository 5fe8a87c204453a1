"""The dialect of one store, as data: everything in Cypher that differs between stores is a field here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kgnav_mcp.adapters.cypher.values import ValueFormats
from kgnav_mcp.model import Direction


@dataclass(frozen=True, slots=True)
class Dialect:
    """Expressions and queries of one store. Placeholders in braces are filled by `builder`; `{x}` is the argument."""

    node_id: str
    """The store's own id of the node `{x}`, as text."""
    node_id_form: re.Pattern[str]
    """The form of such an id."""
    values: ValueFormats
    """Conversion of the driver's values to text, and back."""

    names: str
    """One row: the list of all labels, of all relationship types and of all property keys."""
    constraints: str
    """Rows: the labels and keys of each uniqueness constraint."""
    indexes: str
    """Rows: name, type (RANGE or FULLTEXT), labels and keys of each index of nodes."""
    full_text: str
    """Yields `n` and `score` for the query `$words` in the full-text index `$index`, at most `$hits` nodes."""

    node_count: str
    edge_count: str
    label_count: str
    """Nodes with the label `{label}`. Like all counts here, from the store's statistics if it keeps them."""
    type_count: str
    """Relationships of the type `{type}`."""
    label_type_count: str
    """Relationships of the type `{type}` at nodes with the label `{label}`, at either end."""
    degree: str
    """The number of relationships of the pattern `{edge}` at the node `n`, without reading them."""
    own_degrees: Mapping[Direction, str] | None
    """Pairs of type and degree, for each type that the node `n` has. None: types are counted one by one."""

    subquery: str
    """The subquery `{query}`, run for each row with its variables `{variables}`."""
    collected: str
    """The only column of `{query}`, as a list."""

    value_type: str
    """The type of the value `{x}`, as text."""
    is_list: str
    is_text: str
    is_text_list: str
    is_number_list: str
    """Whether the value `{x}` is a list of floating point numbers."""
    datatypes: Mapping[str, str]
    """Printed names of datatypes, by the names that `value_type` returns. Others are printed in lower case."""
