"""Edits JSON with or without comments and trailing commas, and keeps every character outside the edited values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Never

from kgnav_mcp.cli.config_files.file import KeyPath, SyntaxProblem

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+) | (?P<comment>//[^\n]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\x00-\x1f]|\\.)*") | (?P<mark>[{}\[\]:,]) | (?P<word>[-+.\w]+)""",
    re.VERBOSE | re.DOTALL,
)
_SAME_LINE_COMMENT = re.compile(r"[ \t]*(//[^\n]*|/\*[^\n]*?\*/)")


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


class _Node(NamedTuple):
    """A value with its place in the text. `members` are those of an object, in order."""

    value: Any
    start: int
    end: int
    members: Mapping[str, _Member] | None = None


class _Member(NamedTuple):
    """A key of an object with its value. The cuts are the places of the commas beside it, if there are any."""

    start: int
    node: _Node
    comma_before: int | None
    comma_after: int | None


class JsonText:
    """JSON with comments (JSONC), as VS Code and others read it."""

    name = "JSON"

    def parse(self, text: str) -> dict[str, Any]:
        """See `ConfigSyntax.parse`."""
        return _root(text).value if text.strip() else {}

    def with_value(self, text: str, path: KeyPath, value: object) -> str:
        """See `ConfigSyntax.with_value`."""
        if not text.strip():
            text = "{}\n"
        style = _Style.of(text)
        node = _root(text)
        for depth, key in enumerate(path):
            members = _members(node, text)
            if key not in members:
                for missing in reversed(path[depth + 1 :]):
                    value = {missing: value}
                return _insert(text, node, key, value, style)
            node = members[key].node
        return text[: node.start] + style.dump(value, _line_indent(text, node.start)) + text[node.end :]

    def without(self, text: str, path: KeyPath) -> str:
        """See `ConfigSyntax.without`."""
        node = _root(text)
        for key in path[:-1]:
            node = _members(node, text)[key].node
        member = _members(node, text)[path[-1]]
        end = member.node.end
        if member.comma_after is not None:
            end = member.comma_after + 1
        start, end = _whole_lines(text, member.start, end)
        result = text[:start] + text[end:]
        if member.comma_after is None and member.comma_before is not None:
            result = result[: member.comma_before] + result[member.comma_before + 1 :]
        return result


class StrictJsonText(JsonText):
    """JSON as its standard has it. A comment or a trailing comma is a mistake, because the client does not read it."""

    def parse(self, text: str) -> dict[str, Any]:
        """See `ConfigSyntax.parse`."""
        if text.strip():
            try:
                json.loads(text)
            except json.JSONDecodeError as error:
                raise SyntaxProblem(error.msg, error.lineno) from error
        return super().parse(text)


@dataclass(frozen=True, slots=True)
class _Style:
    """How a text is written: in one line or in many, and with which indentation."""

    one_line: bool
    indent: str

    @classmethod
    def of(cls, text: str) -> _Style:
        indented = re.search(r"\n([ \t]+)\S", text)
        return cls("\n" not in text.strip() and text.strip() != "{}", indented[1] if indented else "  ")

    def dump(self, value: object, indent: str) -> str:
        if self.one_line:
            return json.dumps(value, ensure_ascii=False)
        lines = json.dumps(value, ensure_ascii=False, indent=self.indent).splitlines()
        return f"\n{indent}".join(lines)


def _insert(text: str, node: _Node, key: str, value: object, style: _Style) -> str:
    """The text with a new last member of an object."""
    members = _members(node, text)
    name = f"{json.dumps(key, ensure_ascii=False)}: "
    last = list(members.values())[-1] if members else None
    in_line = last is not None and "\n" not in text[node.start : next(iter(members.values())).start]
    if style.one_line or in_line:
        member = name + json.dumps(value, ensure_ascii=False)
        if last is None:
            return text[: node.start + 1] + member + text[node.end - 1 :]
        if last.comma_after is not None:
            return f"{text[: last.comma_after + 1]} {member},{text[last.comma_after + 1 :]}"
        return f"{text[: last.node.end]}, {member}{text[last.node.end :]}"
    if last is None:
        outer = _line_indent(text, node.start)
        indent = outer + style.indent
        body = text[node.start + 1 : node.end - 1].rstrip()
        member = f"\n{indent}{name}{style.dump(value, indent)}\n{outer}"
        return text[: node.start + 1] + body + member + text[node.end - 1 :]
    indent = _line_indent(text, last.start)
    comma, after, trailing = (",", last.node.end, "")
    if last.comma_after is not None:
        comma, after, trailing = ("", last.comma_after + 1, ",")
    comment = _SAME_LINE_COMMENT.match(text, after)
    place = comment.end() if comment else after
    return (
        f"{text[:after]}{comma}{text[after:place]}\n{indent}{name}{style.dump(value, indent)}{trailing}{text[place:]}"
    )


def _whole_lines(text: str, start: int, end: int) -> tuple[int, int]:
    """The place to cut: all of its lines if nothing else stands there, else the place and the blanks behind it."""
    line = text.rfind("\n", 0, start) + 1
    blank = re.compile(r"[ \t]*").match(text, end)
    after = blank.end() if blank else end
    if not text[line:start].strip() and text[after : after + 1] == "\n":
        return line, after + 1
    return start, after


def _line_indent(text: str, place: int) -> str:
    """The indentation of the line in which a place is."""
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _members(node: _Node, text: str) -> Mapping[str, _Member]:
    if node.members is None:
        raise SyntaxProblem("an object {...} is expected here", _line(text, node.start))
    return node.members


def _root(text: str) -> _Node:
    parser = _Parser(text)
    node = parser.value()
    if (rest := parser.peek()) is not None:
        parser.fail(f"{rest.text!r} after the end of the object")
    _members(node, text)
    return node


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


class _Parser:
    """Reads one value with the places of all that is in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = self._tokenize()
        self._next = 0

    def peek(self) -> _Token | None:
        return self._tokens[self._next] if self._next < len(self._tokens) else None

    def value(self) -> _Node:
        token = self._take("a value")
        if token.text == "{":
            return self._object(token)
        if token.text == "[":
            return self._array(token)
        if token.kind == "mark":
            self._next -= 1
            self.fail(f"{token.text!r} found where a value is expected")
        try:
            return _Node(json.loads(token.text), token.start, token.end)
        except json.JSONDecodeError:
            self._next -= 1
            self.fail(f"{token.text[:40]} is not a value")

    def fail(self, reason: str) -> Never:
        token = self.peek()
        raise SyntaxProblem(reason, _line(self._text, token.start if token else len(self._text)))

    def _object(self, opening: _Token) -> _Node:
        members: dict[str, _Member] = {}
        comma: int | None = None
        while not self._at("}"):
            if members and comma is None:
                self.fail("missing comma")
            key = self._take("a key")
            if key.kind != "string":
                self._next -= 1
                self.fail(f"{key.text!r} found where a key in double quotes is expected")
            name: str = json.loads(key.text)
            if name in members:
                self._next -= 1
                self.fail(f"duplicate key {key.text}")
            if not self._at(":"):
                self.fail("missing colon")
            self._next += 1
            before, node, comma = comma, self.value(), None
            if self._at(","):
                comma = self._take(",").start
            members[name] = _Member(key.start, node, before, comma)
        closing = self._take("}")
        values = {name: member.node.value for name, member in members.items()}
        return _Node(values, opening.start, closing.end, members)

    def _array(self, opening: _Token) -> _Node:
        values: list[Any] = []
        separated = True
        while not self._at("]"):
            if not separated:
                self.fail("missing comma")
            values.append(self.value().value)
            separated = self._at(",")
            self._next += separated
        return _Node(values, opening.start, self._take("]").end)

    def _at(self, mark: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "mark" and token.text == mark

    def _take(self, expected: str) -> _Token:
        token = self.peek()
        if token is None:
            self.fail(f"expected {expected}, found the end of the text")
        self._next += 1
        return token

    def _tokenize(self) -> list[_Token]:
        tokens: list[_Token] = []
        place = 0
        while place < len(self._text):
            match = _TOKEN.match(self._text, place)
            if match is None:
                raise SyntaxProblem(f"{self._text[place]!r} is unexpected", _line(self._text, place))
            if match.lastgroup not in {"space", "comment"}:
                tokens.append(_Token(str(match.lastgroup), match[0], match.start(), match.end()))
            place = match.end()
        return tokens
