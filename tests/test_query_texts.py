"""Queries stand in query modules, where each has its cost beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ADAPTERS = Path(__file__).parents[1] / "src/kgnav_mcp/adapters"
HOMES = re.compile(r"queries|dialects?\.py$|fileformat\.py$")
"""Query modules, dialects, and the tables of a graph file."""
FOREIGN_DATABASES = "embedded/loading/formats/databases.py"
"""A format is one module. This one reads other programs' databases."""
QUERY = re.compile(
    r"""\s*(?:
        SELECT\b.*(?:\bFROM\b|\{) | ASK\b.*\{ | CONSTRUCT\b.*\{ | PREFIX\s+\w*:
        | INSERT\s+(?:OR\s+\w+\s+)?INTO\b | UPDATE\b.*\bSET\b | DELETE\s+FROM\b
        | CREATE\s+(?:TEMP\s+|UNIQUE\s+|VIRTUAL\s+)*(?:TABLE|INDEX)\b | DROP\s+(?:TABLE|INDEX)\b
        | WITH\s+(?:RECURSIVE\s+)?\w+\s*(?:\(.*\)\s*)?AS\b.*\(
        | (?:OPTIONAL\s+)?MATCH\b.*\bRETURN\b | UNWIND\b.*\b(?:MATCH|RETURN)\b | (?:CALL|SHOW)\b.*\bYIELD\b
        | CREATE\s*\(
    )""",
    re.DOTALL | re.VERBOSE,
)
"""The beginning of a whole query. Clauses from which code composes a query are not queries yet."""


def query_texts(source: str) -> Iterator[tuple[int, str]]:
    """The line and the text of each string in Python source that is a query."""
    tree = ast.parse(source)
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            text = node.value
        else:
            continue
        if QUERY.match(text):
            yield node.lineno, text


@pytest.mark.slow
def test_adapters_keep_their_queries_in_query_modules():
    modules = {path.relative_to(ADAPTERS).as_posix(): path for path in sorted(ADAPTERS.rglob("*.py"))}
    assert modules.pop(FOREIGN_DATABASES)
    elsewhere = [
        f"{name}:{line}: {text[:60]!r}"
        for name, path in modules.items()
        if not HOMES.search(name)
        for line, text in query_texts(path.read_text())
    ]
    assert elsewhere == []


@pytest.mark.parametrize("place", ["embedded/queries/lists.py", "wikidata/queries.py", "cypher/queries.py"])
def test_queries_are_recognized(place: str):
    assert len(list(query_texts((ADAPTERS / place).read_text()))) > 5
