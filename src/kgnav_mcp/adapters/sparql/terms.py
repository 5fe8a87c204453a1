"""Values enter queries here, as typed terms: IRIs, literals, numbers and lists of them, never as bare text.

A query is a constant with `$name` placeholders; its variables are written `?name`, so that the two never meet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar
from urllib.parse import quote

from rdflib import Literal, URIRef

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidArgument

T = TypeVar("T")

MAX_TERMS = 1_000
"""The most terms one list in a query may have: Virtuoso refuses a query somewhere above 3,000."""

_PLACEHOLDER = re.compile(r"\$([A-Za-z_]\w*)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')
"""What SPARQL 1.1 (section 19.8, IRIREF) does not let stand between `<` and `>`."""
_UNENCODABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and halves of surrogate pairs: no IRI has them, and no encoding makes one of them."""
_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
"""What cannot travel in a query: NUL, which ends a text in stores written in C, and halves of surrogate pairs."""


def iri(text: str) -> URIRef:
    """An absolute IRI as a term; characters that SPARQL forbids in one (spaces, quotes) are percent-encoded.

    Raises:
        InvalidArgument: the text has no scheme, or control characters.
    """
    if _SCHEME.match(text) is None or _UNENCODABLE.search(text):
        raise InvalidArgument(
            f"{echoed(text)} is no full IRI", next_step="Write it whole, such as http://example.org/resource/Name."
        )
    return URIRef(_FORBIDDEN.sub(lambda match: quote(match[0], safe=""), text))


def sendable(text: str) -> bool:
    """Whether a query can carry a text; what it cannot carry is in no graph."""
    return _NOT_TEXT.search(text) is None


@dataclass(frozen=True, slots=True)
class Terms:
    """A list of terms in the form it has inside a query; made by `values`, `rows` and `listed`."""

    text: str


def values(*terms: URIRef | Literal) -> Terms:
    """Terms for `VALUES ?x { $terms }`: blank-separated, 1 to 1,000 of them."""
    _check_size(len(terms))
    return Terms(" ".join(map(_n3, terms)))


def rows(*terms: Sequence[URIRef | Literal]) -> Terms:
    """Rows for `VALUES (?x ?y) { $rows }`: each in brackets and of one width, 1 to 1,000 terms in all."""
    if len({len(row) for row in terms}) > 1:
        raise ValueError("the rows of one VALUES block have one width")
    _check_size(sum(map(len, terms)))
    return Terms(" ".join(f"({' '.join(map(_n3, row))})" for row in terms))


def listed(*terms: URIRef | Literal) -> Terms:
    """Terms for `?x IN ($terms)`: separated by commas, 1 to 1,000 of them."""
    _check_size(len(terms))
    return Terms(", ".join(map(_n3, terms)))


def batches(items: Sequence[T], size: int = MAX_TERMS) -> Iterator[Sequence[T]]:
    """The items in their order, in slices that one query can take."""
    return (items[start : start + size] for start in range(0, len(items), size))


def fill(template: str, **terms: URIRef | Literal | int | Terms) -> str:
    """A query with every `$name` replaced by the term of that name, in one pass: a `$` inside a value stays.

    Raises:
        InvalidArgument: a term cannot be written in SPARQL: a relative IRI, a NUL.
        TypeError: a value is no term. These two are mistakes of the caller's code, not of a user.
        ValueError: the template and the terms do not have the same names, or a number is negative.
    """
    wanted = set(_PLACEHOLDER.findall(template))
    if wanted != terms.keys():
        raise ValueError(f"the query has {sorted(wanted)}, but was given {sorted(terms)}")
    return _PLACEHOLDER.sub(lambda match: _written(terms[match[1]]), template)


def _written(value: URIRef | Literal | int | Terms) -> str:
    match value:
        case Terms(text=text):
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
            raise TypeError(f"{type(value).__name__} is no term")


def _n3(term: URIRef | Literal) -> str:
    if isinstance(term, Literal):
        return _literal(term)
    if not isinstance(term, URIRef):  # pyright: ignore[reportUnnecessaryIsInstance] - the last gate before a query
        raise TypeError(f"{type(term).__name__} is no IRI and no literal")
    if _SCHEME.match(term) is None or _FORBIDDEN.search(term) or _UNENCODABLE.search(term):
        raise InvalidArgument(
            f"{echoed(str(term))} cannot stand in a query as an IRI", next_step="Use a full, encoded IRI."
        )
    return term.n3()


def _literal(term: Literal) -> str:
    """A literal on one line.

    rdflib writes a text with line breaks between three quotes, and then leaves a last quote behind a backslash
    open. Line by line its form is sound, and one line cannot end a comment or a string of the query.
    """
    if not sendable(term):
        raise InvalidArgument(
            f"{echoed(str(term))} has characters that no query can carry", next_step="Leave them out."
        )
    text = r"\n".join(Literal(line).n3()[1:-1] for line in str(term).split("\n"))
    if term.language:
        return f'"{text}"@{term.language.strip()}'  # rdflib lets a line break behind a tag by
    return f'"{text}"^^{_n3(term.datatype)}' if term.datatype is not None else f'"{text}"'


def _check_size(count: int) -> None:
    if not 1 <= count <= MAX_TERMS:
        raise ValueError(f"a list of {count} terms: one query takes 1 to {MAX_TERMS:,}")
