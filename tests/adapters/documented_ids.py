"""The forms of ids, as the table in docs/stores.md states them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

_DOCS = Path(__file__).parents[2] / "docs" / "stores.md"
_CODE = re.compile(r"`([^`]+)`")


class Forms(NamedTuple):
    """A line of the table."""

    store: str
    stored: str
    printed: str
    accepted: list[str]


def documented_ids() -> list[Forms]:
    """The lines of the table."""
    section = _DOCS.read_text(encoding="utf-8").partition("\n## Ids\n")[2].partition("\n## ")[0]
    cells = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| ")][2:]
    return [
        Forms(store.strip(), _CODE.findall(stored)[0], _CODE.findall(printed)[0], _CODE.findall(accepted))
        for store, stored, printed, accepted in cells
    ]
