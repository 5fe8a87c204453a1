"""Edits YAML by the places that ruamel.yaml gives of keys and values, and keeps every character outside them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Protocol, cast

from kgnav_mcp.cli.config_files.file import KeyPath, SyntaxProblem

_PLAIN_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_INDENT = "  "


class _Mark(Protocol):
    """A place in the text."""

    index: int
    line: int
    column: int


class _Node(Protocol):
    """A node as ruamel.yaml composes it, which has no types of its own."""

    id: str
    start_mark: _Mark
    end_mark: _Mark
    flow_style: bool | None
    value: Any
    """The text of a scalar, the nodes of a sequence, or pairs of nodes of a mapping."""


class YamlText:
    """YAML, as Goose reads it. Values are written in JSON's notation, which is YAML, too."""

    name = "YAML"

    def parse(self, text: str) -> dict[str, Any]:
        """See `ConfigSyntax.parse`."""
        from ruamel.yaml import YAML  # noqa: PLC0415 - only `kgnav install` edits files
        from ruamel.yaml.error import MarkedYAMLError, YAMLError  # noqa: PLC0415 - as above

        try:
            value: object = cast("Any", YAML(typ="safe", pure=True)).load(text)
        except MarkedYAMLError as error:
            problem, mark = cast("tuple[str | None, _Mark | None]", (error.problem, error.problem_mark))  # pyright: ignore[reportUnknownMemberType]
            raise SyntaxProblem(problem or "not readable", mark.line + 1 if mark else 1) from error
        except YAMLError as error:
            raise SyntaxProblem(str(error).splitlines()[0], 1) from error
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise SyntaxProblem("keys with values are expected here", 1)
        return cast("dict[str, Any]", value)

    def with_value(self, text: str, path: KeyPath, value: object) -> str:
        """See `ConfigSyntax.with_value`."""
        node = _compose(text)
        if node is None:
            return text + ("\n" if text and not text.endswith("\n") else "") + _block(_nested(path, value), "")
        for depth, key in enumerate(path):
            if not _is_mapping(node) or not node.value:
                break
            item = _item(node, key)
            if item is None:
                return _insert(text, node, _nested(path[depth:], value))
            in_flow = bool(node.flow_style)
            name, node = item
            if depth == len(path) - 1 or not (_is_mapping(node) and node.value):
                rest = path[depth + 1 :]
                return _replace(text, name, node, _nested(rest, value) if rest else value, in_flow=in_flow)
        return text

    def without(self, text: str, path: KeyPath) -> str:
        """See `ConfigSyntax.without`."""
        parent = node = name = _compose(text)
        for key in path:
            item = _item(node, key) if node is not None else None
            if item is None:
                return text
            parent, (name, node) = node, item
        if parent is None or node is None or name is None:
            return text
        if parent.flow_style:
            return _without_in_flow(text, parent, name, node)
        start = text.rfind("\n", 0, name.start_mark.index) + 1
        if len(parent.value) == 1 and len(path) > 1:
            outer = text[:start].rstrip()
            return f"{outer} {{}}\n{text[_line_end(text, _end(node, text)) + 1 :]}"
        return text[:start] + text[_line_end(text, _end(node, text)) + 1 :]


def _compose(text: str) -> _Node | None:
    from ruamel.yaml import YAML  # noqa: PLC0415 - as above

    return cast("Any", YAML(typ="safe", pure=True)).compose(text)


def _is_mapping(node: _Node) -> bool:
    return node.id == "mapping"


def _item(node: _Node, key: str) -> tuple[_Node, _Node] | None:
    """The nodes of a key and its value."""
    return next(((name, value) for name, value in node.value if name.value == key), None)


def _nested(path: KeyPath, value: object) -> Mapping[str, object]:
    """The value in a table for each key of a path, which has one at least."""
    for key in reversed(path[1:]):
        value = {key: value}
    return {path[0]: value}


def _insert(text: str, node: _Node, members: Mapping[str, object]) -> str:
    """The text with new last members of a mapping."""
    if node.flow_style:
        place = node.end_mark.index - 1
        return f"{text[:place].rstrip()}, {json.dumps(members, ensure_ascii=False)[1:-1]}{text[place:]}"
    indent = " " * node.value[0][0].start_mark.column
    place = _line_end(text, _end(node, text))
    rest = text[place + 1 :]
    return f"{text[:place]}\n{_block(members, indent)}{rest}"


def _without_in_flow(text: str, parent: _Node, name: _Node, node: _Node) -> str:
    """The text without one member of a mapping in braces, and without a comma beside it."""
    names = [key.start_mark.index for key, _ in parent.value]
    place = names.index(name.start_mark.index)
    start, end = name.start_mark.index, _end(node, text)
    if place + 1 < len(names):
        end = names[place + 1]
    elif place:
        start = _end(parent.value[place - 1][1], text)
    return text[:start] + text[end:]


def _replace(text: str, name: _Node, node: _Node, value: object, *, in_flow: bool) -> str:
    colon = text.index(":", name.end_mark.index) + 1
    end = max(colon, _end(node, text)) if node.value else _empty_end(text, colon)
    if isinstance(value, Mapping) and not in_flow:
        indent = " " * name.start_mark.column + _INDENT
        members = cast("Mapping[str, object]", value)
        place = _line_end(text, end)
        return f"{text[:colon]}{text[end:place]}\n{_block(members, indent)}{text[place + 1 :]}"
    return f"{text[:colon]} {json.dumps(value, ensure_ascii=False)}{text[end:]}"


def _empty_end(text: str, colon: int) -> int:
    """The end of an empty value behind a colon: nothing, null, ~, {} or []."""
    empty = re.compile(r"[ \t]*(?:null|~|\{\s*\}|\[\s*\]|''|\"\")?").match(text, colon)
    return empty.end() if empty and empty[0].strip() else colon


def _block(members: Mapping[str, object], indent: str) -> str:
    lines: list[str] = []
    for key, value in members.items():
        name = key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
        if isinstance(value, Mapping) and value:
            lines.append(f"{indent}{name}:\n{_block(cast('Mapping[str, object]', value), indent + _INDENT)}")
        else:
            lines.append(f"{indent}{name}: {json.dumps(value, ensure_ascii=False)}\n")
    return "".join(lines)


def _end(node: _Node, text: str) -> int:
    """The end of a node's text, without the blanks and comments that the parser counts with a block."""
    if node.id == "scalar" or node.flow_style or not node.value:
        return len(text[: node.end_mark.index].rstrip())
    last = node.value[-1]
    return _end(last[1] if _is_mapping(node) else last, text)


def _line_end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end
