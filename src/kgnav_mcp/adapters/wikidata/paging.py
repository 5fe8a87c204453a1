"""Where a page of statements ends: a place in their fixed order, as the short text that the next page starts behind.

It is `<entity>|<row>|<property>`: the entity's place among those asked for, how many rows of the property come before
the next one there, and the property's bare id.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgnav_mcp.adapters.sparql.paging import invalid

_FORM = re.compile(r"(\d{1,12})\|(\d{1,12})\|(P\d{1,15})", re.ASCII)


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
        """Raises InvalidCursor when the text is no position of statements."""
        match = _FORM.fullmatch(text)
        if match is None:
            raise invalid(text)
        return cls(int(match[1]), match[3], int(match[2]))
