"""Guards: check a source before its parser reads it, to limit the length of texts and the depth of nesting."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from itertools import accumulate, islice
from typing import NoReturn, cast
from xml.parsers import expat
from xml.sax.saxutils import escape

from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader
from kgnav_mcp.errors import BadLine

LONGEST_TEXT = 16 * 1024 * 1024
"""Maximum length of a literal, comment or tag in bytes. This is the limit of pyoxigraph's Turtle parser."""

MAX_DEPTH = 1000
"""Maximum number of nested levels. An `rdf:List` of 500 items written in full has 1,000; nothing else comes near."""

MAX_PREFIXES = 10_000
"""Maximum number of declared prefixes that are kept from all sources of a load."""

_BLOCK = 1 << 18
"""Bytes checked at a time."""


class Tokens:
    """The tokens of a language within which brackets have no meaning, as pyoxigraph's lenient mode reads them.

    `inert` is a pattern for these tokens; `begin` has the bytes that such a token may start with.

    Possessive loops end with the alternative `(?!)`, which never matches: before Python 3.11.5 a loop continues where
    its last alternative failed, not where that began (python/cpython#100061).
    """

    def __init__(self, inert: bytes, begin: bytes) -> None:
        self._inert = re.compile(inert, re.DOTALL)
        self._or_quoted = re.compile(inert + b"|(<<)", re.DOTALL)
        self._complete = re.compile(b"(?:[^" + begin + b"]++|<<|" + inert + b"|(?!))*+", re.DOTALL)
        self.with_brackets = re.compile(inert + rb"|([\[({]|<<)|([\])}]|>>)", re.DOTALL)

    def end(self, text: bytes) -> int:
        """Returns the start of the last token if it is incomplete, else the length of the text."""
        match = self._complete.match(text)
        return match.end() if match else 0

    def depths(self, text: bytes) -> tuple[int, int, int]:
        """Returns the number of opening and closing brackets in a text of complete tokens, and its maximum depth."""
        if b"<<" in text:
            code = self._or_quoted.sub(lambda token: b"(" if token[1] else b" ", text)
        else:
            code = self._inert.sub(b" ", text)
        brackets = code.replace(b">>", b")").translate(None, _NO_BRACKETS)
        opened = sum(map(brackets.count, b"([{"))
        return opened, len(brackets) - opened, max(accumulate(map(_STEPS.__getitem__, brackets), initial=0))


def depth(line: bytes) -> int:
    """Returns the maximum depth in a line of N-Triples or N-Quads, where only quoted triples nest."""
    return TURTLE.depths(line)[2]


_STEPS = {ord("("): 1, ord("["): 1, ord("{"): 1, ord(")"): -1, ord("]"): -1, ord("}"): -1}
_NO_BRACKETS = bytes(set(range(256)).difference(_STEPS))

TURTLE = Tokens(
    rb'"""(?:[^"\\]++|\\.|"(?!"")|(?!))*+"""|\'\'\'(?:[^\'\\]++|\\.|\'(?!\'\')|(?!))*+\'\'\''
    rb'|"(?:[^"\\]++|\\.)++"|""(?=[^"])|\'(?:[^\'\\]++|\\.)++\'|\'\'(?=[^\'])'
    rb"|<(?!<)[^>\\]*+(?:\\.[^>\\]*+)*+>|#[^\n\r]*+[\n\r]|\\.",
    rb"\"'<#\\",
)
JSON = Tokens(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', b'"')


class Guard(ABC):
    """The bytes of a source, checked, as a stream for its parser.

    `line` is the line where the part being checked starts.
    """

    longest = LONGEST_TEXT

    def __init__(self, source: Source, reader: SourceReader) -> None:
        self.prefixes: dict[str, str] = {}
        """Declared prefixes, for formats whose parser does not report them."""
        self.line = 1
        self._source = source
        self._reader = reader
        self._checked: bytes = b""
        self._offset = 0

    def read(self, size: int) -> bytes:
        """Returns the next bytes, at most `size`; empty at the end.

        Raises:
            BadLine: something is too long or too deep.
            OSError, EOFError, zlib.error: the source cannot be read.
        """
        if self._offset == len(self._checked):
            self._checked, self._offset = self.block(), 0
        part = self._checked[self._offset : self._offset + size]
        self._offset += len(part)
        return part

    @abstractmethod
    def block(self) -> bytes:
        """Returns the next checked bytes; empty at the end."""

    def _next(self, size: int = _BLOCK) -> bytes:
        return self._reader.stream.read(size)

    def too_long(self) -> NoReturn:
        """Raises the error for a text that is longer than the limit."""
        self.refuse(
            f"a text here is longer than {self.longest // 2**20} MB",
            next_step="Shorten or omit it. In N-Triples, a line may have 64 MB.",
        )

    def too_deep(self, deepest: int) -> NoReturn:
        """Raises the error for too deep nesting."""
        self.refuse(
            f"more than {deepest:,} levels are nested within each other here",
            next_step="Convert the file to N-Triples, which nests nothing.",
        )

    def refuse(self, reason: str, *, next_step: str) -> NoReturn:
        """Raises an error at the current line."""
        raise BadLine(self._source.name, self.line, reason, next_step=next_step)


class BracketGuard(Guard):
    """Checks the nesting of brackets outside of strings, IRIs and comments.

    The default syntax is that of Turtle, TriG and N3.
    """

    tokens = TURTLE
    deepest = MAX_DEPTH

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._depth = 0
        self._rest = b""

    def block(self) -> bytes:
        rest_length = len(self._rest)
        # An incomplete token is checked again when there is twice as much of it, or too much.
        text = self._rest + self._next(min(max(_BLOCK, rest_length), self.longest + 1 - rest_length))
        if len(text) == rest_length:
            return b""
        complete = text[: self.tokens.end(text)]
        opened, closed, deepest = self.tokens.depths(complete)
        if self._depth + deepest > self.deepest:
            self._refuse_too_deep(complete)
        self.look_at(complete)
        self._depth += opened - closed
        self.line += complete.count(b"\n")
        self._rest = text[len(complete) :]
        if len(self._rest) > self.longest:
            self.too_long()
        return text[rest_length:]

    def look_at(self, text: bytes) -> None:
        """Checks more than the brackets in a text of complete tokens. For subclasses."""

    def _refuse_too_deep(self, text: bytes) -> None:
        """Raises the error for the first bracket that is too deep, at its line."""
        depth = self._depth
        for token in self.tokens.with_brackets.finditer(text):
            opens, closes = token.groups()
            depth += (opens is not None) - (closes is not None)
            if depth > self.deepest:
                self.line += text.count(b"\n", 0, token.start())
                self.too_deep(self.deepest)


MAX_CONTEXTS = 100
"""Maximum number of JSON-LD contexts that are searched for prefixes.

If every item of a list has one, they are all alike.
"""
_CONTEXT = re.compile(rb'"@context"\s*:\s*(?=[{\[])')
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*[/#]")


class JsonLdGuard(BracketGuard):
    """The checked bytes of a JSON-LD source, with prefixes. The parser reports only contexts still open at the end."""

    tokens = JSON
    longest = LONGEST_TEXT // 2  # the limit of its parser
    deepest = 200  # every level may copy a context, however large

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self._contexts_left = MAX_CONTEXTS

    def look_at(self, text: bytes) -> None:
        for place in islice(_CONTEXT.finditer(text), self._contexts_left):
            self._contexts_left -= 1
            with suppress(ValueError):  # incomplete, or invalid JSON, for which the parser has a better message
                self._add_prefixes(json.JSONDecoder().raw_decode(text[place.end() :].decode(errors="replace"))[0])

    def _add_prefixes(self, context: object) -> None:
        """Takes the terms of a context that are prefixes. The first definition of a prefix counts."""
        for part in cast("list[object]", context) if isinstance(context, list) else (context,):
            terms = cast("dict[str, object]", part) if isinstance(part, dict) else {}
            for term, iri in terms.items():
                if isinstance(iri, str) and _NAMESPACE.fullmatch(iri) and not term.startswith("@"):
                    self.prefixes.setdefault(term, iri)


MAX_ENTITIES = 1000

LONGEST_ENTITY = 1024
"""Maximum length of an XML entity's value in characters. Ontologies use entities to abbreviate namespaces."""

MAX_ATTRIBUTES = 1000
"""Maximum number of attributes of one element. Parsers compare each with every other."""

NAMESPACE_ENDS = ("/", "#", "_", ":", "=")
"""Characters that a namespace ends with. Oxigraph also declares parts of ids as prefixes; these are ignored."""

_REFERENCE = re.compile(r"&(?:#(\d+)|#x([0-9a-fA-F]+)|([^&;\s]+));")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_ADVICE = "Write what it stands for into the file, or convert it to N-Triples first."


class XmlGuard(Guard):
    """The checked bytes of an XML source. Subclasses that parse it override `opened`, `closed` and `text`."""

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        # Without namespace processing: Oxigraph writes and reads names like `p:`, which namespaces do not allow.
        self._parser = parser = expat.ParserCreate()
        parser.StartDoctypeDeclHandler = self._doctype_begins
        parser.EndDoctypeDeclHandler = self._doctype_ends
        parser.EntityDeclHandler = self._declare_entity
        parser.SkippedEntityHandler = self._refuse_undeclared
        parser.StartElementHandler = self.opened
        parser.EndElementHandler = self.closed
        self._entities: dict[str, tuple[int, str]] = {}
        self._subset: tuple[int, int] | None = None
        """Start and end, in bytes, of the declarations within the DOCTYPE, if it has any."""
        self._root_seen = False
        self._depth = 0
        self._literal_depth = 0
        """The depth of the current element whose content is an XML literal, which counts as one text; 0 if none."""
        self._bytes = 0
        """Bytes checked since the last element started; `_length` counts the characters of its text."""
        self._length = 0

    def block(self) -> bytes:
        root_seen = self._root_seen
        text = self._parse_block()
        while text and not self._root_seen:
            text += self._parse_block()
        if not root_seen and self._subset is not None:
            begin, end = self._subset
            text = text[:begin] + self._declarations() + text[end:]
        if not text:
            for name, (_, value) in self._entities.items():  # last, so that declared prefixes take precedence
                self._add_prefix(name, value)
        return text

    def _parse_block(self) -> bytes:
        block = self._next()
        self._bytes += len(block)
        try:
            self._parser.Parse(block, not block)
        except expat.ExpatError as error:
            self.line = error.lineno
            self.refuse(f"this is not well-formed XML: {expat.ErrorString(error.code)}", next_step="Correct the line.")
        except (LookupError, ValueError) as error:  # the declared encoding is unknown to Python
            self.refuse(f"this XML cannot be read: {error}", next_step="Write it in UTF-8.")
        if self._bytes > LONGEST_TEXT + len(block):
            self.too_long()
        if not self._bytes:
            self._set_line()  # if a text that starts here is too long, the error names this line
        return block

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002 - subclasses read it
        """Called at the start of an element."""
        self._root_seen = True
        self._depth = depth = self._depth + 1
        if depth > MAX_DEPTH:
            self._set_line()
            self.too_deep(MAX_DEPTH)
        if self._literal_depth:
            if depth > self._literal_depth:
                return
            self._literal_depth = 0
        self._bytes = self._length = 0
        if attributes:
            self._check_attributes(attributes)

    def closed(self, name: str) -> None:  # noqa: ARG002 - subclasses read it
        """Called at the end of an element."""
        self._depth -= 1

    def text(self, text: str) -> None:
        """Called with a part of an element's text, only if entities may make it long or a subclass needs it."""
        self._length += len(text)
        if self._length > LONGEST_TEXT:
            self._set_line()
            self.too_long()

    def _check_attributes(self, attributes: Mapping[str, str]) -> None:
        if len(attributes) > MAX_ATTRIBUTES:
            self._set_line()
            self.refuse(
                f"an element has more than {MAX_ATTRIBUTES:,} attributes", next_step="Check how the file was made."
            )
        names = "".join(attributes)
        if "xmlns" in names or "parseType" in names:
            self._read_namespaces(attributes)
        if self._entities and sum(map(len, attributes.values())) > LONGEST_TEXT:
            self._set_line()
            self.too_long()

    def _read_namespaces(self, attributes: Mapping[str, str]) -> None:
        for name, value in attributes.items():
            before, _, local = name.rpartition(":")
            if name == "xmlns" or before == "xmlns":
                self._add_prefix(local if before else "", value)
            elif local == "parseType" and value not in ("Resource", "Collection"):
                self._literal_depth = self._depth

    def _set_line(self) -> None:
        self.line = self._parser.CurrentLineNumber

    def _add_prefix(self, prefix: str, namespace: str) -> None:
        """Adds a prefix, unless it is already there or its namespace cannot begin an id."""
        if namespace.endswith(NAMESPACE_ENDS) and len(self.prefixes) < MAX_PREFIXES:
            self.prefixes.setdefault(prefix, namespace)

    def _doctype_begins(self, _name: str, system: str | None, public: str | None, subset: int) -> None:
        self._set_line()
        if "<" in f"{system}{public}":
            self.refuse("the DOCTYPE names a file by markup", next_step="Remove the DOCTYPE.")
        if subset:
            self._subset = (self._parser.CurrentByteIndex, 0)

    def _doctype_ends(self) -> None:
        if self._subset is not None:
            self._subset = (self._subset[0], self._parser.CurrentByteIndex)
        for name, (line, value) in self._entities.items():
            self.line = line
            self._entities[name] = line, self._expand(name, value, (name,))
        if self._entities:
            self._parser.CharacterDataHandler = self.text

    def _declare_entity(self, name: str, is_parameter: int, value: str | None, *_: object) -> None:
        self._set_line()
        if value is None:
            outside = "refers to another file, and only the sources are read"
            self.refuse(f"the entity {name} {outside}", next_step=_ADVICE)
        if is_parameter:
            self.refuse(f"the entity {name} is for the DOCTYPE itself, which is not read", next_step=_ADVICE)
        if len(self._entities) == MAX_ENTITIES:
            self.refuse(f"more than {MAX_ENTITIES:,} entities are declared", next_step=_ADVICE)
        if "<" in value:
            self.refuse(f"the entity {name} stands for markup", next_step=_ADVICE)
        if name not in _PREDEFINED:
            self._entities[name] = self.line, self._check_length(name, value)

    def _refuse_undeclared(self, name: str, _is_parameter: int) -> None:
        self._set_line()
        self.refuse(f"the entity {name} is not declared in this file", next_step=_ADVICE)

    def _expand(self, name: str, value: str, within: tuple[str, ...]) -> str:
        """Returns an entity's value with the entities in it replaced."""

        def replacement(reference: re.Match[str]) -> str:
            decimal, hexadecimal, other = reference.groups()
            if other is None:
                return chr(int(decimal) if decimal else int(hexadecimal, 16))
            if other in _PREDEFINED:
                return _PREDEFINED[other]
            if other in within or other not in self._entities:
                self.refuse(f"the entity {name} needs {other}, which has no value of its own", next_step=_ADVICE)
            line, inner = self._entities[other]
            expanded = self._expand(other, inner, (*within, other))
            self._entities[other] = line, expanded
            return expanded

        return self._check_length(name, _REFERENCE.sub(replacement, value))

    def _check_length(self, name: str, value: str) -> str:
        if len(value) > LONGEST_ENTITY:
            self.refuse(f"the entity {name} stands for more than {LONGEST_ENTITY:,} characters", next_step=_ADVICE)
        return value

    def _declarations(self) -> bytes:
        """Returns the declarations within the DOCTYPE in the only form that pyoxigraph reads."""
        quotes = {'"': "&quot;"}
        written = (f'<!ENTITY {name} "{escape(value, quotes)}">' for name, (_, value) in self._entities.items())
        return f"[{''.join(written)}]".encode()
