"""Answers as rdflib terms: the W3C's SPARQL results in JSON and in XML, and Virtuoso's own ways of writing them."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any, Final, TypeAlias, TypeVar, cast
from xml.parsers.expat import ExpatError

from rdflib import XSD, BNode, Literal, URIRef
from SPARQLWrapper import JSON, QueryResult

from kgnav_mcp.adapters.sparql import xml

Term: TypeAlias = URIRef | Literal | BNode
R = TypeVar("R")

JSON_TYPE: Final = "application/sparql-results+json"

_BLANK = "nodeID://"
"""How Virtuoso writes a blank node, which it calls an IRI at times; the text can be asked for again as an IRI."""
_TRUTH = {"1": "true", "0": "false"}
"""Virtuoso's booleans, in the form that XSD calls canonical."""
_ASKED = "__ASK_RETVAL"
"""Virtuoso 7 answers an ASK as if it were a SELECT of this variable: a row with the number 1 is yes, no row is no."""
_NO = Literal("0", datatype=XSD.integer)
_LANGUAGE = re.compile(r"[A-Za-z]+(-[A-Za-z0-9]+)*")
"""A language tag as rdflib takes it; a text whose tag is none loses the tag, not the row."""

# rdflib logs every ill-typed literal and odd IRI with a stack trace. The graph's data is not a fault of this program.
logging.getLogger("rdflib.term").addFilter(lambda _: False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a SELECT, with what the endpoint said of their completeness."""

    rows: tuple[Mapping[str, Term], ...]
    """One mapping a row, from variable to term; an unbound variable is absent."""
    row_cap: int | None = None
    """The endpoint's own limit, where it cut the answer; None where it did not."""
    partial: bool = False
    """The endpoint's time ran out: rows, and counts in them, may be missing."""


class NoResults(ValueError):
    """A body that is no SPARQL result, or not of the kind that was asked for; translated by the client."""


class Unwritable(NoResults):
    """A body in XML with characters that no XML can have; JSON can."""


def read_rows(body: bytes, media_type: str = JSON_TYPE) -> tuple[Mapping[str, Term], ...]:
    """The rows of a SELECT's answer.

    Raises:
        NoResults: the body is no answer to a SELECT, or is cut.
        Unwritable: it is XML, and has characters that XML cannot have.
    """
    return _read(body, media_type, _rows)


def read_truth(body: bytes, media_type: str = JSON_TYPE) -> bool:
    """The answer to an ASK.

    Raises:
        NoResults: the body is no answer to an ASK, or is cut.
    """
    return _read(body, media_type, _truth)


class _Body:
    """The bytes of an answer, as much like a response as SPARQLWrapper's reader needs."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self) -> bytes:
        return self._content

    def info(self) -> Mapping[str, str]:
        return {"content-type": JSON_TYPE}


def _read(body: bytes, media_type: str, reader: Callable[[Mapping[str, Any]], R]) -> R:
    try:
        return reader(xml.decoded(body) if "xml" in media_type else _decoded(body))
    except ExpatError as error:
        raise (Unwritable if xml.is_unwritable(error) else NoResults)("no XML") from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise NoResults("no SPARQL result") from error


def _decoded(body: bytes) -> Mapping[str, Any]:
    # SPARQLWrapper's Bindings would turn a malformed row into a missing one: it decodes, the rows are read here.
    result = QueryResult((cast("HTTPResponse", _Body(body)), JSON))
    return cast("Mapping[str, Any]", result.convert())


def _rows(answer: Mapping[str, Any]) -> tuple[Mapping[str, Term], ...]:
    bindings = cast("Iterable[Mapping[str, Mapping[str, str]]]", answer["results"]["bindings"])
    return tuple({name: _term(cell) for name, cell in row.items()} for row in bindings)


def _truth(answer: Mapping[str, Any]) -> bool:
    if "boolean" in answer:
        truth = answer["boolean"]
    elif answer["head"]["vars"] == [_ASKED]:
        truth = any(row[_ASKED] != _NO for row in _rows(answer))
    else:
        truth = None
    if not isinstance(truth, bool):
        raise TypeError(f"a truth of {truth!r}")
    return truth


def _term(cell: Mapping[str, Any]) -> Term:
    value = cell["value"]
    if cell["type"] == "triple":
        return _triple(value)
    if not isinstance(value, str):
        raise TypeError(f"a value of {type(value).__name__}")
    match cell["type"]:
        case "uri" if not value.startswith(_BLANK):
            return URIRef(value)
        case "uri" | "bnode":
            return BNode(value)
        case "literal" | "typed-literal":
            return _literal(value, cell.get("xml:lang"), cell.get("datatype"))
        case other:
            raise TypeError(other)


def _triple(value: Mapping[str, Mapping[str, Any]]) -> Literal:
    """A triple that stands in the place of a term (RDF 1.2, RDF-star), as a text: it is no node."""
    parts = (_term(value[part]) for part in ("subject", "predicate", "object"))
    return Literal(f"<<( {' '.join(part.n3() for part in parts)} )>>")


def _literal(text: str, language: str | None, datatype: str | None) -> Literal:
    if language and _LANGUAGE.fullmatch(tag := language.replace("_", "-")):
        return Literal(text, lang=tag)
    if datatype == str(XSD.boolean):
        text = _TRUTH.get(text, text)
    return Literal(text, datatype=datatype, normalize=False)
