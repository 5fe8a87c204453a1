"""A cursor goes on where its own call stopped, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgnav_mcp.errors import InvalidCursor
from kgnav_mcp.navigation.pages import Cursor, Paging

CALL = Paging.of("search", "films", "r1", {"entity": "Drama", "direction": "incoming"})


@pytest.mark.parametrize("cursor", [Cursor(), Cursor("e.1.2.0", 1000), Cursor("any: text | of ~ a store\u2713", 3)])
def test_a_cursor_comes_back_as_it_was_written(cursor: Cursor) -> None:
    assert CALL.read(CALL.write(cursor)) == cursor


@pytest.mark.parametrize(
    "other",
    [
        Paging.of("get_triples", "films", "r1", {"entity": "Drama", "direction": "incoming"}),
        Paging.of("search", "books", "r1", {"entity": "Drama", "direction": "incoming"}),
        Paging.of("search", "films", "r2", {"entity": "Drama", "direction": "incoming"}),
        Paging.of("search", "films", "r1", {"entity": "Comedy", "direction": "incoming"}),
    ],
)
def test_a_cursor_of_another_call_graph_or_version_is_refused(other: Paging) -> None:
    with pytest.raises(InvalidCursor, match="does not belong"):
        other.read(CALL.write(Cursor("e.1", 5)))


ALTERED: dict[str, Callable[[str], str]] = {
    "cut to its tag": lambda cursor: cursor[:8],
    "cut by a letter": lambda cursor: cursor[:-1],
    "with a letter before": lambda cursor: f"x{cursor}",
    "with a letter behind": lambda cursor: f"{cursor}A",
    "no cursor at all": lambda _: "!!!",
}


@pytest.mark.parametrize("how", ALTERED)
def test_a_cut_or_altered_cursor_is_refused(how: str) -> None:
    with pytest.raises(InvalidCursor, match="not copied completely"):
        CALL.read(ALTERED[how](CALL.write(Cursor("e.1", 5))))


@pytest.mark.parametrize("nothing", [None, ""])
def test_without_a_cursor_a_list_starts_at_its_beginning(nothing: str | None) -> None:
    assert CALL.read(nothing) == Cursor()
