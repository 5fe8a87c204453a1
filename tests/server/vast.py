"""A graph in which everything that can be long is: names, ids, descriptions, types, relations, qualifiers, literals."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from kgnav_mcp.adapters.embedded.loading import load

LONG, VAST = 100_000, 1_000_000
"""Characters."""

WORDS, LETTERS, CHARACTERS, BARS = "all work ", "x", "\u6f22", "|1"
"""Texts that are counted differently: few tokens for a character, fewer, one, and more once escaped."""

HUB_ROWS = 60


def text(shape: str, length: int) -> str:
    """So many characters of a shape."""
    return (shape * (length // len(shape) + 1))[:length]


def load_vast(folder: Path) -> Path:
    """The graph as a file. The ids `hub`, `sole` and `plain` can be written; most others cannot."""
    long_id, types = text("id-", LONG), ";".join((text("T", LONG), "Plain", *(f"Type{n}" for n in range(2_000))))
    nodes = [
        ("hub", "Plain", text(LETTERS, VAST), text(CHARACTERS, LONG), text(BARS, LONG), 1),
        ("sole", types, text(CHARACTERS, LONG), text(LETTERS, VAST), text(WORDS, LONG), 2),
        ("plain", "Plain", "plain", "", "short", 3),
        (long_id, "Plain", text(BARS, LONG), text(WORDS, LONG), "x", 4),
        *((f"n{n}", "Plain", text(CHARACTERS, 3_000) + str(n), "", "", n) for n in range(HUB_ROWS)),
    ]
    relations = ["knows", text("r", LONG), "likes " + text(CHARACTERS, LONG)]
    edges = [("hub", relation, end, text(WORDS, LONG), "") for relation in relations for end in ("plain", long_id)]
    edges += [(f"n{n}", relations[n % 3], "hub", "", text(BARS, 1_000)) for n in range(HUB_ROWS)]
    edges += [("sole", "sees", f"n{n}", "", "") for n in range(HUB_ROWS)]
    edges += [("plain", relation, long_id, text(CHARACTERS, LONG), "") for relation in relations]
    _write(folder / "nodes.csv", (":ID", ":LABEL", "name", "description", "note", "number:int"), nodes)
    _write(folder / "edges.csv", (":START_ID", ":TYPE", ":END_ID", "how", text("q", LONG)), edges)
    load([folder / "nodes.csv", folder / "edges.csv"], folder / "vast.kg")
    return folder / "vast.kg"


def _write(path: Path, header: tuple[str, ...], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([header, *rows])
