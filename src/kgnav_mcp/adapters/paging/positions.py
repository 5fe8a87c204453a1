"""Positions: where a page ends in the fixed order of rows, as the short text that the next page starts from.

The text is `<entity>|<place>|<path>`: the entity's index in the request, the place of the next row within the path
(two numbers separated by a dot), and the ids of the path's relations (separated by a space; spaces in ids are encoded).
Where rows are read by key, `:<passed>:<text>` follows the place, or `:<passed>` among blank nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from kgnav_mcp.port.lists import invalid_cursor

_FORM = re.compile(r"(\d{1,13})\|(\d{1,19})\.(\d{1,19})((?::\d{1,13}(?::[^ |]*)?)?)\|([^ ]+(?: [^ ]+)?)", re.ASCII)


class Key(NamedTuple):
    """Where to go on in rows that a store sorts by text, since it has no other order that stays the same.

    Rows are read from the first one whose text is not less than `text`; the first `passed` of those were shown. Blank
    nodes have no text, and come after all others.
    """

    passed: int = 0
    text: str = ""
    blank: bool = False

    def write(self) -> str:
        """The key as a part of a position; empty for the first key."""
        if self == Key():
            return ""
        return f":{self.passed}" if self.blank else f":{self.passed}:{_encoded(self.text).replace('|', '%7C')}"

    @classmethod
    def parse(cls, text: str) -> Key:
        """The key in a part of a position."""
        if not text:
            return cls()
        passed, separator, encoded = text[1:].partition(":")
        return cls(int(passed), _decoded(encoded), blank=not separator)


class Place(NamedTuple):
    """The place of a row within one path at one entity: the index of its group, and its index within the group.

    In a one-hop path, a group has the rows of one triple: several if there are several statements about it, else one.
    In a two-hop path, a group has the rows behind one node next to the entity. Where rows are read by key, `key` is
    that of the group.
    """

    group: int = 0
    row: int = 0
    key: Key = Key()


_START = Place()


@dataclass(frozen=True, slots=True)
class Position:
    """The position of the next row: index of the entity, path, and place within the path."""

    entity: int
    path: tuple[str, ...]
    place: Place = _START

    def write(self) -> str:
        """The position as text, as pages give it out."""
        place = self.place
        return f"{self.entity}|{place.group}.{place.row}{place.key.write()}|{' '.join(map(_encoded, self.path))}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """The position that a page gave out as text.

        Raises:
            InvalidCursor: the text is not such a position.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise invalid_cursor(text)
        place = Place(int(match[2]), int(match[3]), Key.parse(match[4]))
        return cls(int(match[1]), tuple(map(_decoded, match[5].split(" "))), place)


def _encoded(name: str) -> str:
    return name.replace("%", "%25").replace(" ", "%20")


def _decoded(text: str) -> str:
    return text.replace("%7C", "|").replace("%20", " ").replace("%25", "%")
