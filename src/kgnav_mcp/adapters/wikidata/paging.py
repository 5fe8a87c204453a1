"""Where a page ends: a place in the fixed order of rows, as the short text that the next page starts behind.

A position of neighbours is `<entity>|<row>|<property>`: the entity's place among those asked for, how many rows of the
property come before the next one there, and the property's bare id. Positions of other lists are a number of items.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgnav_mcp.errors import InvalidCursor

_FORM = re.compile(r"(\d{1,12})\|(\d{1,12})\|(P\d{1,15})", re.ASCII)
_NUMBER = re.compile(r"\d{1,12}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Position:
    """The place of the row that comes next."""

    entity: int
    property: str
    row: int

    def write(self) -> str:
        """The text a page gives."""
        return f"{self.entity}|{self.row}|{self.property}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Raises InvalidCursor when the text is no position of neighbours."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise invalid(text)
        return cls(int(match[1]), match[3], int(match[2]))


def items_before(after: str | None) -> int:
    """How many items of a list come before a page. Raises InvalidCursor."""
    if after is None:
        return 0
    if _NUMBER.fullmatch(after) is None:
        raise invalid(after)
    return int(after)


def invalid(position: str) -> InvalidCursor:
    """The error for a position that this call cannot have given."""
    return InvalidCursor(
        f"{position[:40]!r} is no position in this list", next_step="Make the call again without a cursor."
    )
