"""The same rows as other systems hand them to a model, to compare sizes with: SPARQL results in JSON, and SoG's tables.

Both are written as small as their formats allow: JSON without blanks and language tags, IRIs in a short namespace.
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


NAMESPACE = "http://example.org/"
"""What turns an id of the film graph, which is a mere name, into an IRI. Real ones are longer."""


def sparql_json(columns: Sequence[str], rows: Iterable[Sequence[str]], namespace: str = NAMESPACE) -> str:
    """Rows as an endpoint answers them (W3C, SPARQL 1.1 Query Results JSON Format).

    Without a namespace the ids stay bare, which no endpoint can answer: smaller than what there is.
    """

    def iri(name: str) -> str:
        return namespace + name.replace(" ", "_") if namespace else name

    bindings = [
        {
            name: {"type": "uri", "value": iri(value)} if name in _IS_ENTITY else {"type": "literal", "value": value}
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
    """Tokens when every run of punctuation counts as one, as byte-pair vocabularies have such runs of JSON.

    A count that takes each mark by itself makes JSON, which is mostly marks, look larger than it is.
    """
    return len(_MERGED.findall(text))
