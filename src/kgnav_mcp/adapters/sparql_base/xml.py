"""Parses SPARQL results in XML into the structure of those in JSON.

Virtuoso writes XML four to six times as fast as JSON: 1,000 rows in 9 ms instead of 45. SPARQLWrapper's own XML reader
builds a document tree, which takes longer than that saves.
"""

from __future__ import annotations

from typing import Any, Final
from xml.parsers import expat

TYPE: Final = "application/sparql-results+xml"

_SPARQL = "http://www.w3.org/2005/sparql-results# "
_RESULTS, _RESULT, _BINDING = f"{_SPARQL}results", f"{_SPARQL}result", f"{_SPARQL}binding"
_VARIABLE, _BOOLEAN = f"{_SPARQL}variable", f"{_SPARQL}boolean"
_ATTRIBUTES = (("xml:lang", "http://www.w3.org/XML/1998/namespace lang"), ("datatype", "datatype"))
_TERMS = {f"{_SPARQL}{kind}": kind for kind in ("uri", "bnode", "literal")}
_CHARACTER_ERRORS = (expat.errors.XML_ERROR_INVALID_TOKEN, expat.errors.XML_ERROR_BAD_CHAR_REF)


def decoded(body: bytes) -> dict[str, Any]:
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
        self._variables: list[str] = []
        self._rows: list[dict[str, dict[str, str]]] | None = None
        self._truth = ""
        self._row: dict[str, dict[str, str]] = {}
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
            self._row[self._variable] = self._cell
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
