"""Parses SPARQL results in JSON and XML (W3C), and Virtuoso's variants of them, into rdflib terms."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar, cast
from xml.parsers import expat
from xml.parsers.expat import ExpatError

from rdflib import XSD, BNode, Literal, URIRef
from rdflib.term import Identifier

Term: TypeAlias = URIRef | Literal | BNode
R = TypeVar("R")

JSON_TYPE: Final = "application/sparql-results+json"

_BLANK_PREFIX = "nodeID://"
"""Prefix of Virtuoso's blank nodes, which it sometimes types as IRIs. A query can use the text as an IRI."""
_BOOLEANS = {"1": "true", "0": "false"}
"""Virtuoso's booleans in XSD's canonical form."""
_ASK_VARIABLE = "__ASK_RETVAL"
"""Virtuoso 7 answers an ASK like a SELECT of this variable: a row with the number 1 is yes, no row is no."""
_NO = Literal("0", datatype=XSD.integer)
_LANGUAGE = re.compile(r"[A-Za-z]+(-[A-Za-z0-9]+)*")
"""A language tag that rdflib accepts. A text with another tag loses the tag, not the row."""

# rdflib logs every ill-typed literal and odd IRI with a stack trace. Such data is no fault of this program.
logging.getLogger("rdflib.term").addFilter(lambda _: False)


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a SELECT, and what the endpoint reported about their completeness."""

    rows: tuple[Mapping[str, Term], ...]
    """One mapping a row, from variable to term; an unbound variable is absent."""
    row_cap: int | None = None
    """The endpoint's row cap, where it cut the answer; None where it did not."""
    partial: bool = False
    """Whether the endpoint's time was over: rows may be missing, and counts in them too low."""


class NoResults(ValueError):
    """The body is not a SPARQL result, or not of the expected kind. The client translates this error."""


class Unwritable(NoResults):
    """The XML body has characters that XML does not allow. The query is sent again for JSON, which can carry them."""


def read_rows(body: bytes, media_type: str = JSON_TYPE) -> tuple[Mapping[str, Term], ...]:
    """Parse the answer to a SELECT.

    Raises:
        NoResults: the body is not an answer to a SELECT, or is cut.
        Unwritable: it is XML with characters that XML does not allow.
    """
    return _read(body, media_type, _rows)


def read_truth(body: bytes, media_type: str = JSON_TYPE) -> bool:
    """Parse the answer to an ASK.

    Raises:
        NoResults: the body is not an answer to an ASK, or is cut.
    """
    return _read(body, media_type, _truth)


def _read(body: bytes, media_type: str, reader: Callable[[Mapping[str, Any]], R]) -> R:
    try:
        return reader(decoded_xml(body) if "xml" in media_type else _decoded_json(body))
    except ExpatError as error:
        raise (Unwritable if is_unwritable(error) else NoResults)("no XML") from error
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise NoResults("no SPARQL result") from error


def _decoded_json(body: bytes) -> Mapping[str, Any]:
    """The answer, with a term in the place of each cell.

    Terms are made while the text is read: the call for each cell lets other threads run, where reading 100,000 rows at
    once would hold them up for a second.
    """
    return cast("Mapping[str, Any]", json.loads(body, object_hook=_Terms().replace_cell))


def _rows(answer: Mapping[str, Any]) -> tuple[Mapping[str, Term], ...]:
    rows = tuple(cast("Iterable[Mapping[str, object]]", answer["results"]["bindings"]))
    for row in rows:
        for value in row.values():
            if not isinstance(value, Identifier):
                raise TypeError("a cell that is no term")
    return cast("tuple[Mapping[str, Term], ...]", rows)


class _Terms:
    """Makes the terms of one answer. Equal ones are made once: making a number costs 6 us."""

    def __init__(self) -> None:
        self._made: dict[tuple[str | None, ...], Term] = {}

    def replace_cell(self, part: dict[str, Any]) -> Term | dict[str, Any]:
        """The term, if this object of the answer is a cell. Others are rows, or contain rows or variables."""
        return self.term(part) if type(part.get("type")) is str and "value" in part else part

    def term(self, cell: Mapping[str, Any]) -> Term:
        """The term of a cell.

        Raises:
            KeyError, TypeError: it is malformed.
        """
        if cell["type"] == "triple":
            return _triple(cell["value"])
        key = (cell["value"], cell["type"], cell.get("xml:lang"), cell.get("datatype"))
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = _term(cell)
        return found


def _truth(answer: Mapping[str, Any]) -> bool:
    if "boolean" in answer:
        truth = answer["boolean"]
    elif answer["head"]["vars"] == [_ASK_VARIABLE]:
        truth = any(row[_ASK_VARIABLE] != _NO for row in _rows(answer))
    else:
        truth = None
    if not isinstance(truth, bool):
        raise TypeError(f"a truth of {truth!r}")
    return truth


def _term(cell: Mapping[str, Any]) -> Term:
    value = cell["value"]
    if not isinstance(value, str):
        raise TypeError(f"a value of {type(value).__name__}")
    match cell["type"]:
        case "uri" if not value.startswith(_BLANK_PREFIX):
            return URIRef(value)
        case "uri" | "bnode":
            return BNode(value)
        case "literal" | "typed-literal":
            return _literal(value, cell.get("xml:lang"), cell.get("datatype"))
        case other:
            raise TypeError(other)


def _triple(value: Mapping[str, Term]) -> Literal:
    """A triple term (RDF 1.2, RDF-star) as a text, because it is not a node."""
    parts = (value[part] for part in ("subject", "predicate", "object"))
    return Literal(f"<<( {' '.join(part.n3() for part in parts)} )>>")


def _literal(text: str, language: str | None, datatype: str | None) -> Literal:
    if language and _LANGUAGE.fullmatch(tag := language.replace("_", "-")):
        return Literal(text, lang=tag)
    if datatype == str(XSD.boolean):
        text = _BOOLEANS.get(text, text)
    return Literal(text, datatype=datatype, normalize=False)


XML_TYPE: Final = "application/sparql-results+xml"

_SPARQL = "http://www.w3.org/2005/sparql-results# "
_RESULTS, _RESULT, _BINDING = f"{_SPARQL}results", f"{_SPARQL}result", f"{_SPARQL}binding"
_VARIABLE, _BOOLEAN = f"{_SPARQL}variable", f"{_SPARQL}boolean"
_ATTRIBUTES = (("xml:lang", "http://www.w3.org/XML/1998/namespace lang"), ("datatype", "datatype"))
_TERMS = {f"{_SPARQL}{kind}": kind for kind in ("uri", "bnode", "literal")}
_CHARACTER_ERRORS = (expat.errors.XML_ERROR_INVALID_TOKEN, expat.errors.XML_ERROR_BAD_CHAR_REF)


def decoded_xml(body: bytes) -> dict[str, Any]:
    """Parse the answer to a SELECT or an ASK.

    Raises:
        ExpatError: it is not XML, or is cut.
        ValueError, KeyError: it is not such an answer.
    """
    answer = _Answer()
    # XML turns a carriage return into a line feed; as a character reference it is kept.
    answer.parser.Parse(body.replace(b"\r", b"&#13;"), True)
    return answer.result()


def is_unwritable(error: expat.ExpatError) -> bool:
    """Whether the error is a character that XML does not allow, such as a control character; JSON can carry it."""
    return expat.ErrorString(error.code) in _CHARACTER_ERRORS


class _Answer:
    """Builds an answer from the events of the XML parser."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._terms = _Terms()
        self._variables: list[str] = []
        self._rows: list[dict[str, Term]] | None = None
        self._truth = ""
        self._row: dict[str, Term] = {}
        self._variable = ""
        self._cell: dict[str, str] = {}
        self._text: list[str] = []

    def result(self) -> dict[str, Any]:
        if truth := self._truth.strip():
            return {"boolean": {"true": True, "false": False}[truth]}
        if self._rows is None:
            raise ValueError("neither rows nor a truth value")
        return {"head": {"vars": self._variables}, "results": {"bindings": self._rows}}

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name in _TERMS:
            self._cell = {"type": _TERMS[name]}
            if attributes:
                named = ((key, attributes.get(attribute)) for key, attribute in _ATTRIBUTES)
                self._cell |= {key: value for key, value in named if value}
            self._start_text()
        elif name == _BINDING:
            self._variable, self._cell = attributes["name"], {}
        elif name == _RESULT:
            self._row = {}
        elif name == _RESULTS:
            self._rows = []
        elif name == _VARIABLE:
            self._variables.append(attributes["name"])
        elif name == _BOOLEAN:
            self._start_text()

    def _end(self, name: str) -> None:
        if name in _TERMS:
            self._cell["value"] = self._end_text()
        elif name == _BINDING:
            self._row[self._variable] = self._terms.term(self._cell)
        elif name == _RESULT and self._rows is not None:
            self._rows.append(self._row)
        elif name == _BOOLEAN:
            self._truth = self._end_text()

    def _start_text(self) -> None:
        """Start to collect text. Text between other elements is only indentation."""
        self._text.clear()
        self.parser.CharacterDataHandler = self._text.append

    def _end_text(self) -> str:
        self.parser.CharacterDataHandler = None
        return "".join(self._text)

    def _refuse_doctype(self, *_: object) -> None:
        """Refuse a document type: its XML entities could expand without bound."""
        raise ValueError("a document type")
