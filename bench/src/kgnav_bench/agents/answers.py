"""Parses the final answers in a model's output, and the calls that it writes as text. Nothing is guessed."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from kgnav_bench.agents.arms import Protocol
from kgnav_bench.records import AnswerKind

_LINE = re.compile(r"^[ \t>*_#`-]*final answer[ \t*_`]*:[ \t*_`]*", re.IGNORECASE | re.MULTILINE)
_REST_OF_LINE = re.compile(r"[ \t*_`.]*(?:\r?\n|\Z)")
"""What may stand behind the list on its line: marks of markdown and a full stop."""
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_ANSWER_TAG = re.compile(r"<answer>(.*?)(?:</answer>|\Z)", re.DOTALL)
_QUERY_TAG = re.compile(r"<kg-query>(.*?)(?:</kg-query>|\Z)", re.DOTALL)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_BOOLEANS = {"true": "True", "false": "False"}

STOPS: Mapping[Protocol, Sequence[str]] = {Protocol.NATIVE: (), Protocol.TAGS: ("</kg-query>", "</answer>")}
"""Texts at which the model's output is stopped, by protocol."""


def required_form(kind: AnswerKind, protocol: Protocol) -> str:
    """The sentence that tells the model the form of the final answer."""
    written = {
        AnswerKind.ENTITIES: 'with all answers as a JSON list of texts: `["first", "second"]`, `[]` if there is none',
        AnswerKind.BOOLEAN: 'with `["True"]` or `["False"]`, or `["None"]` if it cannot be told',
        AnswerKind.TEXT: 'with the answer as a JSON list of one text: `["text"]`, `[]` if there is none',
    }[kind]
    if protocol is Protocol.TAGS:
        return f"End with <answer>...</answer>, {written}."
    return f"End with one line `Final answer: [...]`, {written}."


def final_answers(text: str, kind: AnswerKind, protocol: Protocol) -> tuple[str, ...] | None:
    """The answers in a final output; empty if the model says that there is none; None if they cannot be parsed.

    Of several final answers the last one counts. `<think>...</think>` is ignored and, with tags, everything from the
    first query on. Numbers stay as written, and duplicates are dropped. A list that contains null, a list, an object or
    an empty text cannot be parsed.
    """
    text = _THOUGHT.sub("", text)
    if protocol is Protocol.TAGS:
        found = _ANSWER_TAG.findall(text.partition("<kg-query>")[0])
        values = _json_list(str(found[-1]).strip(), whole=True) if found else None
    else:
        lines = list(_LINE.finditer(text))
        values = _json_list(text[lines[-1].end() :].lstrip(), whole=False) if lines else None
    if values is None:
        return None
    if kind is AnswerKind.BOOLEAN:
        return _boolean(values)
    return None if kind is AnswerKind.TEXT and len(values) > 1 else values


def _boolean(values: Sequence[str]) -> tuple[str, ...] | None:
    """True or False; empty for None, as ARK-V1 abstains."""
    word = values[0].lower() if len(values) == 1 else "none" if not values else ""
    return () if word == "none" else (_BOOLEANS[word],) if word in _BOOLEANS else None


def _json_list(text: str, *, whole: bool) -> tuple[str, ...] | None:
    """The texts of the JSON list that a text begins with. `whole`: nothing may follow it, otherwise not on its line."""
    if not text.startswith("["):
        return None
    try:
        parsed, end = json.JSONDecoder(parse_float=str, parse_int=str).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if text[end:].strip() if whole else not _REST_OF_LINE.match(text, end):
        return None
    values = cast("list[object]", parsed)
    if values == [None]:
        return ()
    if not all(isinstance(value, bool) or (isinstance(value, str) and value.strip()) for value in values):
        return None
    return tuple(dict.fromkeys(str(value) for value in values))


def block(text: str) -> str:
    """The last fenced block of a text. Without one, the whole text without `<think>...</think>`."""
    text = _THOUGHT.sub("", text)
    found = _FENCED.findall(text)
    return str(found[-1] if found else text).strip()


@dataclass(frozen=True, slots=True)
class TextCall:
    """A call that a model wrote as text."""

    written: str
    """The text between the tags."""
    tool: str = ""
    """The name of the tool; empty if the call cannot be parsed."""
    positional: Sequence[Any] = ()
    """Arguments without names, in the order in which they were written."""
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Arguments that were written as `name=value`."""


def text_call(text: str) -> TextCall | None:
    """The first call in a text; None if there is none before the final answer.

    Text after the call is ignored: the model wrote it before it saw the tool's answer.
    """
    visible = _THOUGHT.sub("", text)
    found = _QUERY_TAG.search(visible)
    if found is None or "<answer>" in visible[: found.start()]:
        return None
    written = found[1].strip()
    # Quotation marks of a typesetter are mended only if the call cannot be read as it stands: names may have them.
    return _parsed(written, written) or _parsed(written, written.translate(_QUOTES)) or TextCall(written)


_QUOTES = str.maketrans("\u201c\u201d\u2018\u2019", "\"\"''")


def _parsed(written: str, code: str) -> TextCall | None:
    try:
        node = ast.parse(code, mode="eval").body
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            return None
        named = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg is not None}
        if len(named) < len(node.keywords):
            return None
        positional = [ast.literal_eval(each) for each in node.args]
        # Python has values that JSON has not, such as sets: those are refused here.
        positional, named = json.loads(json.dumps([positional, named], allow_nan=False))
        return TextCall(written, node.func.id, positional, named)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def until_first_call(text: str) -> str:
    """A text up to its first call, with the closing tag."""
    end = max((thought.end() for thought in _THOUGHT.finditer(text)), default=0)
    found = _QUERY_TAG.search(text, end) or _QUERY_TAG.search(text)
    return text if found is None else f"{text[: found.start()]}<kg-query>{found[1]}</kg-query>"
