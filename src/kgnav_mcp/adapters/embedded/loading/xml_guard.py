"""Checks XML sources with expat before pyoxigraph reads them. Expat also provides prefixes and line numbers.

pyoxigraph expands entities without limit, understands only some forms of their declarations, and reports neither
prefixes nor lines of RDF/XML. The DOCTYPE is therefore rewritten from what expat read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.parsers import expat
from xml.sax.saxutils import escape

from kgnav_mcp.adapters.embedded.loading.guard import DEEPEST, LONGEST_TEXT, MOST_PREFIXES, Guard
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

MOST_ENTITIES = 1000

LONGEST_ENTITY = 1024
"""Characters of an entity's value, at most. Ontologies use entities to abbreviate namespaces."""

MOST_ATTRIBUTES = 1000
"""Attributes of one element, at most. Parsers compare each with every other."""

NAMESPACE_ENDS = ("/", "#", "_", ":", "=")
"""How a namespace ends. Oxigraph also declares parts of ids as prefixes, which are no namespaces."""

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
            self.refuse(f"this is no well-formed XML: {expat.ErrorString(error.code)}", next_step="Mend the line.")
        except (LookupError, ValueError) as error:  # the declared encoding is unknown to Python
            self.refuse(f"this is no readable XML: {error}", next_step="Write it in UTF-8.")
        if self._bytes > LONGEST_TEXT + len(block):
            self.too_long()
        if not self._bytes:
            self._set_line()  # if a text that starts here is too long, the error names this line
        return block

    def opened(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002 - subclasses read it
        """Called at the start of an element."""
        self._root_seen = True
        self._depth = depth = self._depth + 1
        if depth > DEEPEST:
            self._set_line()
            self.too_deep(DEEPEST)
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
        if len(attributes) > MOST_ATTRIBUTES:
            self._set_line()
            self.refuse(
                f"an element has more than {MOST_ATTRIBUTES:,} attributes", next_step="Check how the file was made."
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
        if namespace.endswith(NAMESPACE_ENDS) and len(self.prefixes) < MOST_PREFIXES:
            self.prefixes.setdefault(prefix, namespace)

    def _doctype_begins(self, _name: str, system: str | None, public: str | None, subset: int) -> None:
        self._set_line()
        if "<" in f"{system}{public}":
            self.refuse("the DOCTYPE names a file by markup", next_step="Leave the DOCTYPE out.")
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
            outside = "stands for what is in another file, and loading reads nothing but the sources"
            self.refuse(f"the entity {name} {outside}", next_step=_ADVICE)
        if is_parameter:
            self.refuse(f"the entity {name} is for the DOCTYPE itself, which is not read", next_step=_ADVICE)
        if len(self._entities) == MOST_ENTITIES:
            self.refuse(f"more than {MOST_ENTITIES:,} entities are declared", next_step=_ADVICE)
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
            found = self._expand(other, inner, (*within, other))
            self._entities[other] = line, found
            return found

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
