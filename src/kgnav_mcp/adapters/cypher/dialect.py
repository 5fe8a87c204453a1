"""How one store speaks Cypher, as data: what differs between stores is a field here, and in no query."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kgnav_mcp.adapters.cypher.values import ValueFormats
from kgnav_mcp.model import Direction


@dataclass(frozen=True, slots=True)
class Dialect:
    """Expressions and queries of one store. Places in braces are filled by `session.Session`; `{x}` is an argument."""

    node_id: str
    """The store's own id of the node `{x}`, as text."""
    node_id_form: re.Pattern[str]
    """What such an id looks like."""
    values: ValueFormats
    """The driver's values as text, and back."""

    names: str
    """One row: the names of all labels, of all relationship types and of all property keys."""
    constraints: str
    """Rows: labels and keys of each constraint that makes values unique."""
    indexes: str
    """Rows: name, RANGE or FULLTEXT, labels and keys of each index of nodes."""
    full_text: str
    """Yields `n` and `score` for the words `$words` in the index `$index`, `$hits` nodes at most."""

    node_count: str
    edge_count: str
    label_count: str
    """Nodes with the label `{label}`: from the store's statistics where it keeps some, as all counts here."""
    type_count: str
    """Relationships of the type `{type}`."""
    label_type_count: str
    """Relationships of the type `{type}` at nodes with the label `{label}`, at either end."""
    degree: str
    """Relationships of the pattern `{edge}` at the node `n`, without reading them."""
    own_degrees: Mapping[Direction, str] | None
    """Pairs of each relationship type that the node `n` has and its degree; None: types are counted one by one."""

    subquery: str
    """`{query}` run for each row with the variables `{variables}`."""
    collected: str
    """The only column of `{query}` as a list."""

    value_type: str
    """The type of the value `{x}`, as text."""
    is_list: str
    is_text: str
    is_text_list: str
    is_number_list: str
    """Whether the value `{x}` is a list of floating point numbers."""
    datatypes: Mapping[str, str]
    """Datatypes as answers name them, by what `value_type` calls them; others are shown in lower case."""
