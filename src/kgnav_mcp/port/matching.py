"""Whether the far end of a row fits a filter, and the rows whose far ends do: by reading rows and comparing them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from rapidfuzz.fuzz import ratio

from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Node, Stop
from kgnav_mcp.port.terms import FarEnds

if TYPE_CHECKING:
    from kgnav_mcp.port.adapter import GraphAdapter

MOST_READ = 50_000
"""Rows that are read by one call: of longer lists only so many are searched."""
_ROWS = 5_000
_FORGIVING = 5
"""Letters of the shortest word that may be misspelt."""
_ALIKE = 80
"""How like each other, of 100, a word and its misspelling are: one letter of five is another."""
_WORD = re.compile(r"\w+")


async def matching(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    paths: Sequence[tuple[str, ...]] | None,
    far: FarEnds,
    limit: int,
    after: str | None,
) -> AnchoredPage[Link]:
    """Of the rows at the entities those whose far ends fit."""
    fits = _test(far)
    items: list[Link] = []
    positions: list[str] = []
    read, from_start = 0, after is None
    while True:
        page = await graph.neighbours(ids, direction, paths=paths, far_ends=far.kind, limit=_ROWS, after=after)
        types = await _types(graph, page.items) if far.label is not None else {}
        for link, position in zip(page.items, page.positions, strict=True):
            if fits(link.far_end, types):
                items.append(link)
                positions.append(position)
        read += len(page.items)
        more = page.stop is Stop.LIMIT and bool(page.items)
        if len(items) > limit:
            total = Count.at_least(len(items)) if more or not from_start else Count(len(items))
            return AnchoredPage(
                tuple(items[:limit]), tuple(positions[:limit]), total, Stop.LIMIT, page.note, page.anchors
            )
        if not more or read >= MOST_READ:
            whole = from_start and page.stop is Stop.COMPLETE
            total = Count(len(items)) if whole else Count.at_least(len(items))
            note = f"Only the first {read:,} rows were searched." if more else page.note
            return AnchoredPage(tuple(items), tuple(positions), total, page.stop, note, page.anchors)
        after = page.positions[-1]


def has_words(text: str, asked: str) -> bool:
    """Whether a text has all of these words: whole, as a beginning, or, if they are long, misspelt by a letter.

    Letter case and accents do not count.
    """
    there = _words(text)
    return all(any(_is_like(word, one) for one in there) for word in _asked_words(asked))


def _is_like(word: str, there: str) -> bool:
    return there.startswith(word) or (len(word) >= _FORGIVING and ratio(word, there, score_cutoff=_ALIKE) > 0)


def _words(text: str) -> list[str]:
    folded = text.casefold()
    if not folded.isascii():
        folded = "".join(one for one in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(one))
    return _WORD.findall(folded.replace("_", " "))


@lru_cache(maxsize=100)
def _asked_words(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_words(text)))


def _test(far: FarEnds) -> Callable[[Node, dict[str, tuple[str, ...]]], bool]:
    label = None if far.label is None else far.label.casefold()

    def fits(node: Node, types: dict[str, tuple[str, ...]]) -> bool:
        if isinstance(node, Entity):
            named = node.label if node.label is not None else node.id
            if label is not None and label not in map(str.casefold, node.types or types.get(node.id, ())):
                return False
            return far.words is None or has_words(named, far.words)
        return label is None and (far.words is None or has_words(node.text, far.words))

    return fits


async def _types(graph: GraphAdapter, links: Sequence[Link]) -> dict[str, tuple[str, ...]]:
    """The labels of the far ends that came without."""
    ends = (link.far_end for link in links)
    untyped = list(dict.fromkeys(end.id for end in ends if isinstance(end, Entity) and not end.types))
    return {entity.id: entity.types for entity in (await graph.describe(untyped)).values()} if untyped else {}
