"""The same rows in the formats of other systems, to compare sizes: SPARQL results in JSON, and the tables of SoG.

Both are as small as their formats allow: JSON without blanks and language tags, IRIs in a short namespace. SoG is
Search-on-Graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

ROW = ("property", "propertyLabel", "value", "valueLabel")
"""The variables of Search-on-Graph's query, and the columns of its table."""

PROPERTY = ROW[:2]
"""The columns of a neighbourhood that is too large, of which only the distinct properties are listed."""

_IS_ENTITY = {"property", "value"}
_SEPARATE = re.compile(r"([A-Za-z]+)|([0-9]+)|[^ \t\rA-Za-z0-9]")
_MERGED = re.compile(r"[A-Z]?[a-z]{1,5}|[A-Z]{1,3}|\d{1,3}|[^\sA-Za-z\d]+|\n")


NAMESPACE = "http://example.org/"
"""The namespace that turns ids of the film graph, which are plain names, into IRIs. Real namespaces are longer."""


def sparql_json(columns: Sequence[str], rows: Iterable[Sequence[str]], namespace: str = NAMESPACE) -> str:
    """Rows as an endpoint returns them (W3C, SPARQL 1.1 Query Results JSON Format).

    Without a namespace the ids are not IRIs, which is smaller than any real endpoint's answer.
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
    """Rows as the table that Search-on-Graph prints."""
    rule = "|".join("--" for _ in columns)
    return "\n".join((f"{len(rows)} rows:", "|".join(columns), rule, *("|".join(row) for row in rows)))


def separate_tokens(text: str) -> int:
    """The number of tokens by the rule of the server's budget: every punctuation mark and line break counts one.

    A word counts one, and one more for each six letters; a number counts one, and one more for each three digits.
    """
    return sum(1 + len(word) // 6 + len(number) // 3 for word, number in _SEPARATE.findall(text))


def merged_tokens(text: str) -> int:
    """The number of tokens if a run of punctuation counts as one: byte-pair vocabularies have tokens for such runs.

    Counting each mark separately makes JSON, which is mostly punctuation, look larger than it is.
    """
    return len(_MERGED.findall(text))
