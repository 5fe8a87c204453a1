"""Whether the far end of a row fits a filter, and the rows whose far ends do: by reading rows and comparing them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Node, Stop
from kgnav_mcp.port.lists import invalid, items_before
from kgnav_mcp.port.terms import FarEnds, TailKind

if TYPE_CHECKING:
    from kgnav_mcp.port.adapter import GraphAdapter

MOST_READ = 50_000
"""Rows that are read by one call: of longer lists only so many are searched."""
_ROWS = 5_000
_SEARCHED = "~"
_VALUES = "values"
_SEARCHED_TOGETHER = 1_000
"""Rows that a store finds at once."""
_AS_SPELT = "These are too many rows to read: words were looked for as they are spelt."
_FORGIVING = 5
"""Letters of the shortest word that may be misspelt."""
_ALIKE = 80
"""How like each other, of 100, a word and its misspelling are: one letter of five is another."""
MISSPELT = "No name or value has just these words: those that are like them are shown."
"""The note of rows that were found by misspelt words."""
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
    first: AnchoredPage[Link] | None = None,
) -> AnchoredPage[Link]:
    """Of the rows at the entities those whose far ends fit; where none has the words, those that nearly do.

    `first` is the first page of all rows, where that has been read.
    """
    found = _Found(far)
    read, start = 0, after
    while True:
        page = first or await graph.neighbours(ids, direction, paths=paths, far_ends=far.kind, limit=_ROWS, after=start)
        first = None
        types = await _types(graph, page.items) if far.label is not None else {}
        await in_thread(len(page.items), partial(found.add, page, types))
        read += len(page.items)
        more = page.stop is Stop.LIMIT and bool(page.items)
        if not more or read >= MOST_READ or len(found.exact) > limit:
            break
        start = page.positions[-1]
    rows = found.exact or found.near
    searched = not more and page.stop is Stop.COMPLETE
    notes = (
        page.note,
        MISSPELT if found.near and not found.exact else "",
        f"Only the first {read:,} rows were searched." if more and len(rows) <= limit else "",
    )
    note = " ".join(filter(None, notes))
    return _page(rows, limit, page.stop, note, page.anchors, whole=searched and after is None)


def _page(
    rows: Sequence[tuple[Link, str]], limit: int, stop: Stop, note: str, anchors: Mapping[str, Entity], *, whole: bool
) -> AnchoredPage[Link]:
    return AnchoredPage(
        tuple(link for link, _ in rows[:limit]),
        tuple(place for _, place in rows[:limit]),
        Count(len(rows)) if whole else Count.at_least(len(rows)),
        Stop.LIMIT if len(rows) > limit else stop,
        note,
        anchors,
    )


RowSearch = Callable[[Direction, int, int], Awaitable[Sequence[Link]]]
"""The rows in a direction whose far ends are entities that may fit: behind so many of them, at most so many."""


async def read_or_searched(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    paths: Sequence[tuple[str, ...]] | None,
    far: FarEnds,
    limit: int,
    after: str | None,
    search: RowSearch,
) -> AnchoredPage[Link]:
    """As `matching` of a list that is no longer than one page; a longer one is left to the store to search.

    Of a longer one values come first, and words are looked for as they are spelt, accents aside.
    """
    searched = partial(_searched, graph, ids, direction, paths=paths, far=far, limit=limit, search=search)
    if after is not None and after.startswith(_SEARCHED):
        return await searched(after=after)
    first = None
    if after is None:
        first = await graph.neighbours(ids, direction, paths=paths, far_ends=far.kind, limit=_ROWS, all_or_none=True)
        if first.stop is Stop.LIMIT and not first.items:
            return await searched(after=None)
    return await matching(graph, ids, direction, paths=paths, far=far, limit=limit, after=after, first=first)


async def _searched(
    graph: GraphAdapter,
    ids: Sequence[str],
    direction: Direction | None,
    *,
    paths: Sequence[tuple[str, ...]] | None,
    far: FarEnds,
    limit: int,
    after: str | None,
    search: RowSearch,
) -> AnchoredPage[Link]:
    """The rows that the store finds; a position is `~<part>~<position in it>`, and values are a part of their own."""
    sides = () if far.kind is TailKind.LITERAL else (direction,) if direction else tuple(Direction)
    values = direction is not Direction.INCOMING and far.kind is not TailKind.ENTITY and far.label is None
    parts = [*([_VALUES] if values else []), *map(str, sides)]
    part, _, behind = after.removeprefix(_SEARCHED).partition(_SEARCHED) if after else ("", "", "")
    if after and part not in parts:
        raise invalid(after)
    found = _Found(far)
    for name in parts[parts.index(part) if after else 0 :]:
        if name == _VALUES:
            of_values = replace(far, kind=TailKind.LITERAL)
            out = Direction.OUTGOING
            page = await matching(graph, ids, out, paths=paths, far=of_values, limit=limit + 1, after=behind or None)
            found.add(replace(page, positions=tuple(f"~{name}~{place}" for place in page.positions)), {})
        else:
            await _search(graph, search, Direction(name), found, skip=items_before(behind or None), limit=limit)
        behind = ""
        if len(found.exact) > limit:
            break
    note = "" if found.exact else _AS_SPELT
    return _page(found.exact, limit, Stop.COMPLETE, note, await graph.describe(ids), whole=after is None)


async def _search(
    graph: GraphAdapter, search: RowSearch, side: Direction, found: _Found, *, skip: int, limit: int
) -> None:
    """Add what the store finds in one direction, until there are more than `limit` in all."""
    links: Sequence[Link] = ()
    while len(found.exact) <= limit and (not links or len(links) == _SEARCHED_TOGETHER):
        links = await search(side, skip, _SEARCHED_TOGETHER)
        if not links:
            return
        positions = tuple(f"~{side}~{skip + place}" for place in range(1, len(links) + 1))
        found.add(AnchoredPage(tuple(links), positions, Count(0)), await _types(graph, links))
        skip += len(links)


class Words:
    """The words that are asked for, and whether a name or a value has them."""

    def __init__(self, asked: str) -> None:
        self.text = asked
        self.asked = tuple(dict.fromkeys(_words(asked)))

    def fit(self, text: str) -> bool:
        """Whether each of them is a word of a text, or the beginning of one."""
        there = _words(text)
        return all(any(map(partial(_begins, word), there)) for word in self.asked)

    def nearly_fit(self, text: str) -> bool:
        """The same but for typos."""
        there = _words(text)
        return all(any(map(partial(_is_near, word), there)) for word in self.asked)


class _Found:
    """The rows that fit, with their positions: those that have the words, and those that have them but for a typo."""

    def __init__(self, far: FarEnds) -> None:
        self._label = None if far.label is None else far.label.casefold()
        self._words = None if far.words is None else Words(far.words)
        self.exact: list[tuple[Link, str]] = []
        self.near: list[tuple[Link, str]] = []

    def add(self, page: AnchoredPage[Link], types: Mapping[str, tuple[str, ...]]) -> None:
        """Add the rows of a page that fit; `types` are the labels of far ends that came without."""
        for link, position in zip(page.items, page.positions, strict=True):
            end = link.far_end
            if self._label is not None and not self._is_labelled(end, types):
                continue
            if self._words is None or self._words.fit(text_of(end)):
                self.exact.append((link, position))
            elif not self.exact and self._words.nearly_fit(text_of(end)):
                self.near.append((link, position))

    def _is_labelled(self, end: Node, types: Mapping[str, tuple[str, ...]]) -> bool:
        if not isinstance(end, Entity):
            return False
        return any(one.casefold() == self._label for one in end.types or types.get(end.id, ()))


def _begins(word: str, there: str) -> bool:
    return there.startswith(word)


def _is_near(word: str, there: str) -> bool:
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415 - opening a graph needs no such package

    return there.startswith(word) or (len(word) >= _FORGIVING and ratio(word, there, score_cutoff=_ALIKE) > 0)


def text_of(node: Node) -> str:
    """What of a far end words are looked for in: its name, its id where it has none, or the text of a value."""
    if isinstance(node, Entity):
        return node.label if node.label is not None else node.id
    return node.text


def _words(text: str) -> list[str]:
    folded = text.casefold()
    if not folded.isascii():
        folded = "".join(one for one in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(one))
    return _WORD.findall(folded.replace("_", " "))


async def _types(graph: GraphAdapter, links: Sequence[Link]) -> dict[str, tuple[str, ...]]:
    """The labels of the far ends that came without."""
    ends = (link.far_end for link in links)
    untyped = list(dict.fromkeys(end.id for end in ends if isinstance(end, Entity) and not end.types))
    return {entity.id: entity.types for entity in (await graph.describe(untyped)).values()} if untyped else {}
