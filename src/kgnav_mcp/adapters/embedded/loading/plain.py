"""Splits plain N-Triples block by block, which is faster than parsing. Nearly every dump has this form.

A block is plain if it has one statement per line, single spaces between terms, no escapes outside literals, and no
character that the grammar forbids. All other blocks go to the parser, which also makes all error messages. For a
plain block, both give the same triples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import pyoxigraph as ox

LITERAL = re.compile(r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"([^ \n]*)')
"""A literal's text and, after the closing quote, its language or datatype."""

MARK = '"'
"""Placeholder for a literal among the terms. No IRI in a plain block can contain it."""

BLANK = re.compile(r"(?:(?<=[ \n])|^)_:([A-Za-z0-9]+)(?= )")
"""Blank nodes with simple labels. Others are left to the parser."""

STRUCTURE = b'<> \n"'
FORBIDDEN = bytes(code for code in range(0x20) if code not in STRUCTURE) + b"{}|^`\\"
"""Characters forbidden in an IRI, without those of STRUCTURE."""

STRUCTURE_OF_A_LINE = 10
"""STRUCTURE characters in a line: three pairs of brackets, three spaces and the line's end."""


@dataclass(slots=True)
class Columns:
    """The terms of a block in line order. Literals are in a list of their own."""

    terms: list[str | None]
    """Head and tail of the first line, of the second, and so on, without brackets; None for a literal."""
    relations: list[str]
    literals: list[tuple[str, str]]
    """Text with its escapes, and what follows the closing quote."""


def split_statements(block: bytes, blank: str) -> Columns | None:
    """Splits a block of whole lines; None if it is not plain. `blank` is the prefix for blank nodes' keys."""
    try:
        text = block.decode()
    except UnicodeDecodeError:
        return None
    literals: list[tuple[str, str]] = []
    if MARK in text:
        parts = LITERAL.split(text)
        literals = list(zip(parts[1::3], parts[2::3], strict=True))
        text = f"<{MARK}>".join(parts[0::3])
    blanks = 0
    if "_:" in text:
        text, blanks = BLANK.subn(rf"<{blank}\1>", text)
    terms = _split_terms(text, len(literals))
    if terms is None:
        return None
    relations = cast("list[str]", terms[1::3])
    del terms[1::3]
    if blanks and any(relation.startswith("_:") for relation in set(relations)):
        return None
    if literals:
        literal_indexes = [place for place in range(1, len(terms), 2) if terms[place] == MARK]
        if len(literal_indexes) != len(literals):
            return None
        for index in literal_indexes:
            terms[index] = None
    return Columns(terms, relations, literals)


def _split_terms(text: str, marks: int) -> list[str | None] | None:
    """Returns head, relation and tail of every line; None unless each line is three terms in brackets and a dot.

    If the number of brackets, spaces and line ends is exactly what the statements need, no term contains one. If every
    fourth term is the dot, and no other is, each line has three terms.
    """
    if not (text.startswith("<") and text.endswith("> .\n")):
        return None
    lines = text.count("\n")
    raw = text.encode()
    if len(raw) - len(raw.translate(None, STRUCTURE + FORBIDDEN)) != lines * STRUCTURE_OF_A_LINE + marks:
        return None
    terms: list[str | None] = [*text[1:-4].replace("> .\n<", "> <.> <").split("> <")]
    if len(terms) != 4 * lines - 1 or terms[3::4].count(".") != lines - 1:
        return None
    del terms[3::4]
    return terms


def parse_literals(literals: Iterable[tuple[str, str]]) -> list[ox.Literal] | None:
    """Parses literals; None if one is invalid."""
    lines = "".join(f'<a:> <a:> "{text}"{suffix} .\n' for text, suffix in literals)
    try:
        found = [quad.object for quad in ox.parse(lines.encode(), ox.RdfFormat.N_TRIPLES, lenient=True)]
    except SyntaxError:
        return None
    return [tail for tail in found if isinstance(tail, ox.Literal)]
