"""Positions: where a page ends in the fixed order of rows, as the short text that the next page starts from.

The text is `<entity>|<place>|<path>`: the entity's index in the request, the place of the next row within the path
(numbers separated by dots), and the ids of the path's relations (separated by a space; spaces in ids are encoded).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from kgnav_mcp.port.lists import invalid_cursor

_FORM = re.compile(r"(\d{1,13})\|(\d{1,19}(?:\.\d{1,19}){0,7})\|([^ ]+(?: [^ ]+)?)", re.ASCII)


class Place(NamedTuple):
    """The place of a row within one path at one entity: the index of its group, and its index within the group.

    In a one-hop path, a group has the rows of one triple: several if there are several statements about it, else one.
    In a two-hop path, a group has the rows behind one node next to the entity.
    """

    group: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """The position of the next row: index of the entity, path, and place within the path."""

    entity: int
    path: tuple[str, ...]
    place: tuple[int, ...] = Place()

    def write(self) -> str:
        """The position as text, as pages give it out."""
        return f"{self.entity}|{'.'.join(map(str, self.place))}|{' '.join(map(_encoded, self.path))}"

    @classmethod
    def parse(cls, text: str, *, numbers: int = 2) -> Position:
        """The position that a page gave out as text. Its place must have this many `numbers`.

        Raises:
            InvalidCursor: the text is not such a position.
        """
        match = _FORM.fullmatch(text)
        place = tuple(map(int, match[2].split("."))) if match is not None else ()
        if match is None or len(place) != numbers:
            raise invalid_cursor(text)
        path = tuple(map(_decoded, match[3].split(" ")))
        return cls(int(match[1]), path, Place(*place) if numbers == len(Place()) else place)


def _encoded(name: str) -> str:
    return name.replace("%", "%25").replace(" ", "%20")


def _decoded(text: str) -> str:
    return text.replace("%20", " ").replace("%25", "%")
