"""Makes text from a graph safe to print, writes example calls that can be copied, and keeps answers within a budget."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast
from urllib.parse import quote

from kgnav_mcp.clipping import ECHO, clipped, truncate_values
from kgnav_mcp.model import Cell, Entity, Literal, Node, Path, Qualifier, Relation, Triple

_LETTERS = string.ascii_letters.encode()
_DIGITS = string.digits.encode()


def _only(characters: bytes, replacement: bytes) -> bytes:
    """A translation table that maps each of these characters to `replacement`, and all others to a blank."""
    return bytes(replacement[0] if character in characters else ord(" ") for character in range(256))


_AS_LETTERS = _only(_LETTERS, b"a")
_AS_DIGITS = _only(_DIGITS, b"0")
_NO_TOKENS = _LETTERS + _DIGITS + b" \t\r"


def count_tokens(text: str) -> int:
    """An estimate of the tokens of a text.

    Counts one class of bytes at a time, in a sixth of the time of a regular expression: it runs over every answer.
    """
    characters = text.encode("ascii", "replace")
    words = characters.translate(_AS_LETTERS)
    numbers = characters.translate(_AS_DIGITS)
    return (
        len(words.split())
        + words.count(b"aaaaaa")
        + len(numbers.split())
        + numbers.count(b"000")
        + len(characters.translate(None, _NO_TOKENS))
    )


_CUT = "...\nTruncated: the whole text has {:,} characters, more than the token budget allows."
SHORTEST_CUT = 10
"""Minimum length of a truncated text, so that a word of a fixed list, such as a direction, stays whole."""
_TEXT_LIMITS = (1000, 300, 100, 30, SHORTEST_CUT)
_CUT_STEPS = (*zip(_TEXT_LIMITS, _TEXT_LIMITS, strict=True), (SHORTEST_CUT, 2), (SHORTEST_CUT, 1))
"""Pairs (characters per text, items per list) to cut structured content to, tried in order until it fits."""


def is_within_budget(text: str, budget: int) -> bool:
    """Whether a text has at most `budget` tokens."""
    return len(text) <= budget or count_tokens(text) <= budget  # no character is more than one token


def truncate_text(text: str, budget: int) -> str:
    """The text in at most `budget` tokens. A truncated text ends with a line that says so."""
    if is_within_budget(text, budget):
        return text
    ending = _CUT.format(len(text))
    available = budget - count_tokens(ending)
    low, high = 0, min(len(text), budget * _LONGEST_TOKEN)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count_tokens(text[:middle]) <= available else (low, middle)
    return text[:low] + ending


_LONGEST_TOKEN = 20
"""Upper bound of characters per token in a truncated text: blanks are not counted as tokens."""


def truncate_json(facts: dict[str, object], budget: int) -> dict[str, object]:
    """Structured content in at most `budget` tokens of JSON. Texts and lists are cut only as far as needed."""
    fitting = facts
    for limit, items in _CUT_STEPS:
        if count_tokens(json.dumps(fitting, ensure_ascii=False)) <= budget:
            return fitting
        fitting = {
            "completeness": facts["completeness"],
            "rows": [truncate_values(row, limit, items) for row in cast("list[object]", facts["rows"])],
            "notes": [
                f"Texts that end in ..., and lists of {items:,}, are truncated: the whole answer exceeds the token "
                f"budget.",
                *(truncate_values(note, limit, items) for note in cast("list[object]", facts["notes"])),
            ],
        }
    return fitting


UNNAMED = "(unnamed)"
"""Printed in place of a missing entity name, so that the entity is not taken for a literal."""

ID_LIMIT = 2_000
"""Maximum characters of a printed id. A longer one is shown by its beginning, which cannot be looked up."""

NAME_LIMIT = 100
"""Maximum characters of a name in running text and in lists."""

_ID_BEGINNING = 60

_END_LIMIT = 60
"""Maximum characters of an edge's tail or qualifiers, and of the relations of a path."""

_HARMFUL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible: soft hyphen, joiners, fillers
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"  # zero width, bidi, specials
    "\U000e0000-\U000e0fff\ud800-\udfff]"  # tags and variation selectors, lone surrogates
)
_BREAKS = re.compile("[\t\n\r\u2028\u2029]+")
_ALTERED = re.compile(f"{_HARMFUL.pattern}|{_BREAKS.pattern}|^ +| +$|[|\\\\]")
_ENCODED = re.compile(f"{_ALTERED.pattern}|%")
_SPECIAL = re.compile(r"[|\\]")
_PLAIN = re.compile(r"(?! )[ -\[\]-{}~]*(?<! )").fullmatch
"""Matches visible ASCII without pipes, backslashes or blanks around it: a fast test that nearly every id passes."""


def clean(text: str) -> str:
    """The text without control, bidi, zero-width and other invisible characters, on one line."""
    return text if text.isascii() and text.isprintable() else _BREAKS.sub(" ", _HARMFUL.sub("", text))


def visible(text: str) -> str:
    """The text without control, bidi, zero-width and other invisible characters, with its line breaks and tabs."""
    return text if text.isascii() and text.isprintable() else _HARMFUL.sub("", text)


def printable_id(text: str) -> str:
    """An id that can be copied: characters that a table would change, or that are invisible, are percent-encoded.

    Both forms of an id can be looked up. Of an id over ID_LIMIT only the beginning is printed.
    """
    if not is_printable(text):
        return f"{clean(text[:_ID_BEGINNING])}... (an id of {len(text):,} characters, too long to be shown)"
    if _PLAIN(text) or not _ALTERED.search(text):
        return text
    return _ENCODED.sub(lambda found: quote(found.group().encode("utf-8", "surrogatepass"), safe=""), text)


def is_printable(identifier: str) -> bool:
    """Whether an id is short enough to be printed."""
    return len(identifier) <= ID_LIMIT


def table_cell(text: str) -> str:
    """Cleaned text as a cell of a markdown table, with pipes and backslashes escaped."""
    cleaned = clean(text)
    return _SPECIAL.sub(r"\\\g<0>", cleaned) if "|" in cleaned or "\\" in cleaned else cleaned


def table_body(rows: Sequence[Sequence[str]]) -> str:
    """Rows of a markdown table, one a line."""
    plain = "\n".join(map("|".join, rows))
    bars, breaks = sum(map(len, rows)) - len(rows), len(rows) - 1
    if (
        plain.count("|") == bars
        and plain.count("\n") == breaks
        and "\\" not in plain
        and plain.isascii()
        and plain.replace("\n", "").isprintable()
    ):
        return plain  # fast path for nearly every table: no cell needs escaping
    return "\n".join("|".join(map(table_cell, row)) for row in rows)


def quoted(text: str) -> str:
    """Cleaned text as a quoted argument of an example call."""
    escaped = clean(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def literal_text(value: Literal, limit: int) -> str:
    """A literal's text, clipped at `limit` characters, with its language if it has one."""
    text = clipped(value.text, limit)
    return f"{text} @{clipped(value.language, NAME_LIMIT)}" if value.language else text


def value_and_label(node: Node, limit: int) -> tuple[str, str]:
    """SoG's two columns, clipped at `limit` characters: id and name of an entity; text and nothing for a literal."""
    if isinstance(node, Literal):
        return literal_text(node, limit), ""
    return printable_id(node.id), clipped(node.label, limit) if node.label is not None else UNNAMED


def id_and_label(relation: Relation, limit: int) -> tuple[str, str]:
    """A relation as two columns: its id, and its label clipped at `limit` characters."""
    return printable_id(relation.id), clipped(relation.label, limit)


def name_and_id(item: Entity | Relation) -> str:
    """`Ada (ex:ada)`, or the id alone if there is no other name."""
    shown = printable_id(item.id)
    return shown if item.label in (None, item.id) else f"{clipped(item.label, NAME_LIMIT)} ({shown})"


def node_text(node: Node, limit: int) -> str:
    """A node as one text: a literal's text, or an entity's name and id."""
    return literal_text(node, limit) if isinstance(node, Literal) else name_and_id(node)


def qualifiers_text(items: tuple[Qualifier, ...], limit: int) -> str:
    """Qualifiers as one text: `from: 1886; to: 1888`."""
    return "; ".join(f"{clipped(item.relation.label, NAME_LIMIT)}: {node_text(item.value, limit)}" for item in items)


def cell_text(cell: Cell, limit: int) -> str:
    """Any value as one text; empty for null."""
    match cell:
        case None:
            text = ""
        case bool():
            text = "true" if cell else "false"
        case Entity():
            text = name_and_id(cell)
        case Triple():
            text = edge_text(cell)
        case Path():
            text = _path_text(cell)
        case tuple():
            text = _list_text(cell, limit)
        case _:
            text = clipped(str(cell), limit)
    return text


def _list_text(cells: tuple[Cell, ...], limit: int) -> str:
    """A list as one text. Only as many members are printed as characters are shown."""
    text = f"[{', '.join(cell_text(cell, limit) for cell in cells[: limit + 1])}]"
    return clipped(text, limit) if len(cells) <= limit else f"{text[:limit]}... ({len(cells):,} members)"


def _path_text(path: Path) -> str:
    """`ada (ex:ada) -[knows]-> bob (ex:bob)`: each arrow points as the edge is stored."""
    texts = [name_and_id(path.nodes[0])]
    for (start, end), edge in zip(pairwise(path.nodes), path.edges, strict=True):
        label = clipped(edge.relation.id, _END_LIMIT)
        texts += [f"-[{label}]->" if edge.head.id == start.id else f"<-[{label}]-", name_and_id(end)]
    return " ".join(texts)


def edge_text(triple: Triple) -> str:
    """`[ada (ex:ada), knows, bob (ex:bob)] (since: 1999)`."""
    parts = name_and_id(triple.head), printable_id(triple.relation.id), node_text(triple.tail, _END_LIMIT)
    return f"[{', '.join(parts)}]{_qualified(triple.qualifiers)}"


def _qualified(qualifiers: tuple[Qualifier, ...]) -> str:
    return f" ({qualifiers_text(qualifiers, _END_LIMIT)})" if qualifiers else ""


def call_text(tool: str, arguments: Mapping[str, object]) -> str:
    """A call such as `search(entity="ada", direction="outgoing")`; empty if an argument is too long.

    An entity or a relation is written as its id.
    """
    if any(_too_long(value) for value in arguments.values()):
        return ""
    written = {name: _argument_text(value) for name, value in arguments.items()}
    return f"{tool}({', '.join(f'{name}={text}' for name, text in written.items())})"


def next_call(tool: str, arguments: Mapping[str, object]) -> str:
    """`Next: ` and the call; empty if an argument is too long."""
    call = call_text(tool, arguments)
    return f"Next: {call}" if call else ""


def next_call_for(tool: str, entities: Sequence[Entity], arguments: Mapping[str, object]) -> str:
    """`next_call` for a tool that takes one entity or a list. A list is written as "the same entities"."""
    if len(entities) == 1:
        return next_call(tool, {"entity": entities[0], **arguments})
    if any(map(_too_long, arguments.values())):
        return ""
    others = ", ".join(f"{name}={_argument_text(value)}" for name, value in arguments.items())
    return f"Next: {tool} with the same entities, {others}"


def _too_long(value: object) -> bool:
    match value:
        case Entity(id=text) | Relation(id=text):
            return not is_printable(text)
        case str():
            return len(value) > ECHO
        case list() | tuple():
            return any(map(_too_long, cast("Sequence[object]", value)))
        case dict():
            return any(map(_too_long, cast("Mapping[str, object]", value).values()))
        case _:
            return False


def _argument_text(value: object) -> str:
    match value:
        case Entity(id=text) | Relation(id=text):
            return quoted(printable_id(text))
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case list() | tuple():
            return f"[{', '.join(map(_argument_text, cast('Sequence[Any]', value)))}]"
        case dict():
            parts = cast("Mapping[str, object]", value).items()
            return f"{{{', '.join(f'{quoted(name)}: {_argument_text(part)}' for name, part in parts)}}}"
        case _:
            return str(value)
