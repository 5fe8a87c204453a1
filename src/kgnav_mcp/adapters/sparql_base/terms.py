"""Fills values into queries as typed terms, never as bare text: IRIs, literals, numbers and lists of them.

A query is a constant with `$name` placeholders. Its variables are written `?name`, so the two cannot be confused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rdflib import Literal, URIRef

from kgnav_mcp.adapters.ids.rdf import is_encoded
from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidArgument

MAX_TERMS = 1_000
"""Maximum number of terms in one list of a query: Virtuoso refuses a query somewhere above 3,000."""

_PLACEHOLDER = re.compile(r"\$([A-Za-z_]\w*)")
_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
"""Characters that a query cannot carry: NUL, which ends a text in stores written in C, and lone surrogates."""


def sendable(text: str) -> bool:
    """Whether a query can contain a text. A text that no query can contain is in no graph."""
    return _NOT_TEXT.search(text) is None


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of SPARQL text that is safe to insert in a query, as made by `values`, `rows` and `comma_separated`."""

    text: str


def values(*terms: URIRef | Literal) -> Fragment:
    """Format 1 to 1,000 terms for `VALUES ?x { $terms }`: separated by blanks, without duplicates.

    With a duplicate text, Virtuoso 7.2.5 reads all triples and finds none. With a duplicate IRI it returns each row
    twice.
    """
    _check_size(len(terms))
    return Fragment(" ".join(map(_n3, dict.fromkeys(terms))))


def rows(*terms: Sequence[URIRef | Literal]) -> Fragment:
    """Format rows for `VALUES (?x ?y) { $rows }`: each in brackets, all of one width, 1 to 1,000 terms in total."""
    if len({len(row) for row in terms}) > 1:
        raise ValueError("the rows of one VALUES block have one width")
    _check_size(sum(map(len, terms)))
    return Fragment(" ".join(f"({' '.join(map(_n3, row))})" for row in terms))


def comma_separated(*terms: URIRef | Literal) -> Fragment:
    """Format 1 to 1,000 terms for `?x IN ($terms)`: separated by commas."""
    _check_size(len(terms))
    return Fragment(", ".join(map(_n3, terms)))


def fill(template: str, **terms: URIRef | Literal | int | Fragment) -> str:
    """Replace every `$name` in a query by the term of that name, in one pass: a `$` inside a value stays.

    Raises:
        InvalidArgument: a term cannot be written in SPARQL, such as a relative IRI or a text with NUL.
        TypeError: a value is not a term. This and ValueError are mistakes in the calling code, not the user's.
        ValueError: the template and the terms do not have the same names, or a number is negative.
    """
    wanted = set(_PLACEHOLDER.findall(template))
    if wanted != terms.keys():
        raise ValueError(f"the query has {sorted(wanted)}, but was given {sorted(terms)}")
    return _PLACEHOLDER.sub(lambda match: _format(terms[match[1]]), template)


def _format(value: URIRef | Literal | int | Fragment) -> str:
    match value:
        case Fragment(text=text):
            return text
        case URIRef() | Literal():
            return _n3(value)
        case bool():
            raise TypeError("a truth value enters a query as a Literal")
        case int() if value < 0:
            raise ValueError(f"a LIMIT or OFFSET of {value}")
        case int():
            return str(value)
        case _:
            raise TypeError(f"{type(value).__name__} is not a term")


def _n3(term: URIRef | Literal) -> str:
    if isinstance(term, Literal):
        return _literal(term)
    if not isinstance(term, URIRef):  # pyright: ignore[reportUnnecessaryIsInstance] - the last gate before a query
        raise TypeError(f"{type(term).__name__} is neither an IRI nor a literal")
    if not is_encoded(term):
        raise InvalidArgument(
            f"{echoed(str(term))} is not a valid IRI in a query", next_step="Use a full, encoded IRI."
        )
    return term.n3()


def _literal(term: Literal) -> str:
    """Format a literal on one line.

    rdflib writes a text with line breaks between triple quotes, and then does not escape a final quote after a
    backslash. Each line by itself is written correctly, so the lines are formatted one by one and then joined.
    """
    if not sendable(term):
        raise InvalidArgument(f"{echoed(str(term))} has characters that are invalid in a query", next_step="Omit them.")
    text = r"\n".join(Literal(line).n3()[1:-1] for line in str(term).split("\n"))
    if term.language:
        return f'"{text}"@{term.language.strip()}'  # rdflib accepts a line break after a tag
    return f'"{text}"^^{_n3(term.datatype)}' if term.datatype is not None else f'"{text}"'


def _check_size(count: int) -> None:
    if not 1 <= count <= MAX_TERMS:
        raise ValueError(f"a list of {count} terms: one query takes 1 to {MAX_TERMS:,}")
