"""Sources that are staged entry by entry: lines or rows, of which a wrong one is a bad line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from kgnav_mcp.adapters.embedded.loading.rejects import Rejects
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader, translated
from kgnav_mcp.adapters.embedded.loading.staging import Staging

E = TypeVar("E")


def stage_entries(
    source: Source,
    staging: Staging,
    rejects: Rejects,
    entries: Callable[[SourceReader], Iterable[tuple[int, E]]],
    stage: Callable[[int, E], None],
) -> None:
    """Hand every entry, with the number of its line, to `stage`, which raises ValueError where it is wrong.

    Raises:
        LoadError: the source cannot be read.
        BadLine: a line is wrong, and bad lines are not skipped.
    """
    with translated(source), source.open() as reader:
        for number, entry in entries(reader):
            try:
                stage(number, entry)
            except ValueError as error:
                rejects.add(source.name, number, str(error))
            if staging.full:
                staging.checkpoint(source.name, reader.position)
        staging.checkpoint(source.name, reader.position)
