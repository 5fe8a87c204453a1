"""The same rows as other systems hand them to a model, to compare sizes with: SPARQL results in JSON, and SoG's tables.

Both are written as small as their formats allow: JSON without blanks, ids without the namespace that real IRIs have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

ROW = ("property", "propertyLabel", "value", "valueLabel")
"""The variables of Search-on-Graph's query, and the columns of its table."""

PROPERTY = ROW[:2]
"""What is left of them where the neighbourhood is too large and only its distinct properties are listed."""

_IS_ENTITY = {"property", "value"}
_MERGED = re.compile(r"[A-Z]?[a-z]{1,5}|[A-Z]{1,3}|\d{1,3}|[^\sA-Za-z\d]+|\n")


def sparql_json(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows as an endpoint answers them (W3C, SPARQL 1.1 Query Results JSON Format)."""
    bindings = [
        {
            name: {"type": "uri" if name in _IS_ENTITY else "literal", "value": value}
            for name, value in zip(columns, row, strict=True)
        }
        for row in rows
    ]
    document = {"head": {"vars": list(columns)}, "results": {"bindings": bindings}}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def sog_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows as Search-on-Graph prints them."""
    rule = "|".join("--" for _ in columns)
    return "\n".join((f"{len(rows)} rows:", "|".join(columns), rule, *("|".join(row) for row in rows)))


def merged_tokens(text: str) -> int:
    """Tokens when every run of punctuation counts as one: the fewest that a byte-pair vocabulary can make of it.

    JSON is mostly such runs, so a count that takes each character by itself would make it look larger than it is.
    """
    return len(_MERGED.findall(text))
