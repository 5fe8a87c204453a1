"""Finds entities of a graph file by the meaning of a hint (GraphRunner 3.1.1), with the semantic index beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgnav_mcp.adapters.embedded import entities, queries
from kgnav_mcp.adapters.embedded.rows import Builder
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.model import Candidate, Count, Page, Stop
from kgnav_mcp.port.lists import batches
from kgnav_mcp.port.terms import Embedder, MeaningOptions

if TYPE_CHECKING:
    from kgnav_mcp.adapters.embedded.meanings import MeaningIndex

Run = Callable[[Callable[[Builder], Any]], Awaitable[Any]]
NO_CANDIDATES: Page[Candidate] = Page((), (), Count(0))
SUFFIX = ".meanings"
"""The suffix that is added to the name of a graph file for that of its index."""

_BATCH = 256
"""Entities that are embedded between two messages of progress."""
_FILTERED = 1_000
"""Nodes that are tested for a label at once."""


class SimilarEntities:
    """The index of one open graph file: opened or, if the options allow it, built when it is first needed."""

    def __init__(self, path: str, options: MeaningOptions, run: Run) -> None:
        """`run` runs a job on the graph file."""
        self._path = Path(f"{path}{SUFFIX}")
        self._options, self._run = options, run
        self._embed: Embedder | None = None
        self._index: MeaningIndex | None = None
        self._building: asyncio.Task[MeaningIndex] | None = None
        self.progress = "loading the sentence model"
        """The progress of a long search, which waits for the model or for the index to be built."""

    async def find(self, revision: str, hint: str, label: str | None, limit: int) -> Page[Candidate]:
        """The entities whose meaning is similar to the hint's, most similar first.

        Without an index, the note says why there is none.

        Raises:
            UnknownName: the graph has no such label.
        """
        if self._index is None and not self._options.build and not self._path.exists():
            return NO_CANDIDATES
        try:
            embed = self._embed = self._embed or await asyncio.to_thread(self._options.load)
        except ConfigurationError:
            return NO_CANDIDATES  # the extra is not installed: the index is of no use
        from kgnav_mcp.adapters.embedded.meanings import UnusableIndexError  # noqa: PLC0415 - needs the extra

        try:
            index = self._index = self._index or await self._opened(revision, embed)
        except UnusableIndexError as error:
            note = f"Not searched by meaning: {self._path.name} {error}. kgnav load --semantic rebuilds it."
            return Page((), (), Count(0), note=note)
        except OSError as error:
            return Page((), (), Count(0), note=f"Not searched by meaning: {self._path.name}: {error.strerror}.")
        threshold = self._options.threshold
        similar = await asyncio.to_thread(lambda: index.similar(embed(hint), threshold))
        return await self._run(partial(_candidates, similar=similar, label=label, limit=limit))

    async def build(self, revision: str, *, threads: int = 1) -> int:
        """Build the index again, and return the number of its entities.

        Raises:
            MissingDriver, ConfigurationError: the model is not installed.
            OSError: the index cannot be written.
        """
        embed = self._embed = self._embed or await asyncio.to_thread(self._options.load)
        self._index = await self._built(revision, embed, threads)
        return len(self._index.numbers)

    async def close(self) -> None:
        """Stop building."""
        if self._building is not None:
            self._building.cancel()
            await asyncio.wait([self._building])

    async def _opened(self, revision: str, embed: Embedder) -> MeaningIndex:
        """The index of this load of the graph file and of this model.

        A build continues if its first caller stops waiting: later callers use the index.
        """
        from kgnav_mcp.adapters.embedded.meanings import MeaningIndex, Origin, UnusableIndexError  # noqa: PLC0415

        try:
            return MeaningIndex.open(self._path, Origin(revision, embed.model))
        except UnusableIndexError:
            if not self._options.build:
                raise
        if self._building is None or self._building.done():
            self._building = asyncio.create_task(self._built(revision, embed, 1))
        await asyncio.wait([self._building])
        return self._building.result()

    async def _built(self, revision: str, embed: Embedder, threads: int) -> MeaningIndex:
        from kgnav_mcp.adapters.embedded.meanings import IndexWriter, MeaningIndex, Origin  # noqa: PLC0415

        origin, last, done = Origin(revision, embed.model), 0, 0
        total: int = await self._run(_number_of_texts)
        with ThreadPoolExecutor(threads, "kgnav-meanings") as pool, IndexWriter(self._path, origin) as writer:
            while rows := await self._run(partial(_texts, after=last)):
                last = rows[-1][0]
                texts = [(number, text) for number, text in rows if text]
                work = [asyncio.wrap_future(pool.submit(embed, text)) for _, text in texts]
                writer.add([number for number, _ in texts], await asyncio.gather(*work))
                done += len(rows)
                self.progress = f"index of meanings: {done:,} of {total:,} entities"
        return MeaningIndex.open(self._path, origin)


def _number_of_texts(builder: Builder) -> int:
    ((number,),) = builder.session.all(queries.entities.NUMBER_OF_TEXTS)
    return number


def _texts(builder: Builder, after: int) -> list[tuple[int, str]]:
    """The next nodes that are not mediators, each with its name and description; an empty text without a name."""
    rows = builder.session.all(queries.entities.TEXTS_AFTER, after, _BATCH)
    return [(number, _text(builder.label(key, label, 0), description)) for number, key, label, description in rows]


def _text(name: str | None, description: str | None) -> str:
    return ". ".join(filter(None, (name, description)))


def _candidates(
    builder: Builder, similar: Sequence[tuple[int, float]], label: str | None, limit: int
) -> Page[Candidate]:
    """The first of the found nodes as candidates, of those with the label."""
    if label is not None:
        entry = builder.catalogue.labels(builder.session).one("label", label)
        with_label: set[int] = set()
        for batch in batches(similar, _FILTERED):
            numbers = json.dumps([number for number, _ in batch])
            with_label.update(row[0] for row in builder.session.all(queries.entities.WITH_LABEL, numbers, entry.id))
        similar = [node for node in similar if node[0] in with_label]
    shown = [number for number, _ in similar[:limit]]
    described, degrees = entities.described_by_number(builder, shown), entities.degrees(builder, shown)
    items = tuple(
        Candidate(
            described[number],
            _text(described[number].label, described[number].description),
            0.0,
            Count(degrees[number]),
            similarity=similarity,
        )
        for number, similarity in similar[:limit]
        if number in described
    )
    positions = tuple(candidate.entity.id for candidate in items)
    return Page(items, positions, Count(len(similar)), Stop.LIMIT if len(similar) > limit else Stop.COMPLETE)
