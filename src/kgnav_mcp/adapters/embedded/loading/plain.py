"""N-Triples in the form that nearly every dump has, split block by block, which is faster than parsing statements.

A block is split only if it is plain: one statement a line, single spaces between its terms, no escape outside
literals, no character that the grammar forbids. The parser reads all others, and makes all error messages. A block
that both can read gives the same triples.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import pyoxigraph as ox

LITERAL = re.compile(r'"([^"\\\n]*(?:\\.[^"\\\n]*)*)"([^ \n]*)')
"""A literal's text and, behind the closing quote, its language or datatype."""

MARK = '"'
"""Stands for a literal among the terms: no IRI that is split here can hold it."""

BLANK = re.compile(r"(?:(?<=[ \n])|^)_:([A-Za-z0-9]+)(?= )")
"""Blank nodes with the simplest of labels; those with others are left to the parser."""

STRUCTURE = b'<> \n"'
FORBIDDEN = bytes(code for code in range(0x20) if code not in STRUCTURE) + b"{}|^`\\"
"""What the grammar keeps out of an IRI, between the brackets and the white space that hold the statements together."""

STRUCTURE_OF_A_LINE = 10
"""Three pairs of brackets, three spaces and the line's end."""


@dataclass(slots=True)
class Columns:
    """The terms of a block, line by line. The literals are kept apart, in their order."""

    terms: list[str | None]
    """Head and tail of the first line, of the second, and so on, without brackets; None for a literal."""
    relations: list[str]
    literals: list[tuple[str, str]]
    """Text, escapes and all, and what stands behind the closing quote."""


def split_statements(block: bytes, blank: str) -> Columns | None:
    """The terms of a block of whole lines; None if it is not plain. `blank` is the prefix of blank nodes' keys."""
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
    terms = _terms(text, len(literals))
    if terms is None:
        return None
    relations = cast("list[str]", terms[1::3])
    del terms[1::3]
    if blanks and any(relation.startswith("_:") for relation in set(relations)):
        return None
    if literals:
        places = [place for place in range(1, len(terms), 2) if terms[place] == MARK]
        if len(places) != len(literals):
            return None
        for place in places:
            terms[place] = None
    return Columns(terms, relations, literals)


def _terms(text: str, marks: int) -> list[str | None] | None:
    """Head, relation and tail of every line, or None where a line is anything but three terms in brackets and a dot.

    The brackets, spaces and line ends that hold the statements together are counted, and must be all there are: then
    no term can hold one. That every fourth term is the dot, and no other is, tells that each line has its three.
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
    """Literals as the parser reads them; None if it finds an error."""
    lines = "".join(f'<a:> <a:> "{text}"{behind} .\n' for text, behind in literals)
    try:
        found = [quad.object for quad in ox.parse(lines.encode(), ox.RdfFormat.N_TRIPLES, lenient=True)]
    except SyntaxError:
        return None
    return [tail for tail in found if isinstance(tail, ox.Literal)]
