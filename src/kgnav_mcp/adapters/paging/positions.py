"""Where a page ends: a place in the fixed order of rows, as the short text that the next page starts behind.

The text is `<entity>|<place>|<path>`: the entity's place among those asked for, the place of the next row within the
path (numbers with dots between), and the ids of the path's relations (with a blank between; blanks in ids are encoded).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from kgnav_mcp.port.lists import invalid

_FORM = re.compile(r"(\d{1,13})\|(\d{1,19}(?:\.\d{1,19}){0,7})\|([^ ]+(?: [^ ]+)?)", re.ASCII)


class Place(NamedTuple):
    """A row's place within one path at one entity: the group that it is in, and how many rows of that come before it.

    A group of a one-hop path is what one triple makes: several rows where several statements are about it, else one.
    A group of a two-hop path is what lies behind one node next to the entity.
    """

    group: int = 0
    row: int = 0


@dataclass(frozen=True, slots=True)
class Position:
    """The place of the row that comes next."""

    entity: int
    path: tuple[str, ...]
    place: tuple[int, ...] = Place()

    def write(self) -> str:
        """The text a page gives."""
        return f"{self.entity}|{'.'.join(map(str, self.place))}|{' '.join(map(_encoded, self.path))}"

    @classmethod
    def parse(cls, text: str, *, numbers: int = 2) -> Position:
        """The position that a page gave as a text; its place has so many `numbers`.

        Raises:
            InvalidCursor: the text is no such position.
        """
        match = _FORM.fullmatch(text)
        place = tuple(map(int, match[2].split("."))) if match is not None else ()
        if match is None or len(place) != numbers:
            raise invalid(text)
        path = tuple(map(_decoded, match[3].split(" ")))
        return cls(int(match[1]), path, Place(*place) if numbers == len(Place()) else place)


def _encoded(name: str) -> str:
    return name.replace("%", "%25").replace(" ", "%20")


def _decoded(text: str) -> str:
    return text.replace("%20", " ").replace("%25", "%")
