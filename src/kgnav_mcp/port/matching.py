"""Whether the far end of a row fits a filter, and the rows whose far ends do: by reading rows and comparing them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Node, Page, Stop
from kgnav_mcp.port.lists import invalid
from kgnav_mcp.port.terms import FarEnds, TailKind

if TYPE_CHECKING:
    from kgnav_mcp.port.adapter import GraphAdapter

MOST_READ = 50_000
"""Rows that are read by one call: of longer lists only so many are searched."""
_ROWS = 5_000
_SEARCHED = "~"
_VALUES = "values"
_PATHS = "paths"
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


@dataclass(frozen=True, slots=True)
class MatchQuestion:
    """What `GraphAdapter.matching` is asked."""

    ids: Sequence[str]
    direction: Direction | None
    paths: Sequence[tuple[str, ...]] | None
    far: FarEnds
    limit: int
    after: str | None = None


RowSearch = Callable[[Direction, int, str | None], Awaitable[Page[Link]]]
"""At most so many of the rows in a direction whose far ends are entities that may fit, from a position of its own on.

Raises Unsupported, or StoreTimeout, where the rows are to be read instead.
"""


async def matching(
    graph: GraphAdapter, asked: MatchQuestion, first: AnchoredPage[Link] | None = None
) -> AnchoredPage[Link]:
    """Of the rows at the entities those whose far ends fit; where none has the words, those that nearly do.

    `first` is the first page of all rows, where that has been read.
    """
    found = _Found(asked)
    page = await found.read(graph, asked, first)
    return found.page(page.anchors, page.stop, near=True)


async def read_or_searched(
    graph: GraphAdapter, asked: MatchQuestion, search: RowSearch, *, hops: int = 2
) -> AnchoredPage[Link]:
    """As `matching` of a list that is no longer than one page; a longer one is left to the store to search.

    Of a longer one values come first, then the rows of paths with more `hops` than the store searches (it passes over
    them), and words are looked for as they are spelt.
    """
    if asked.after is not None and asked.after.startswith(_SEARCHED):
        return await _searched(graph, asked, search, hops)
    first = None
    if asked.after is None:
        first = await graph.neighbours(
            asked.ids, asked.direction, paths=asked.paths, far_ends=asked.far.kind, limit=_ROWS, all_or_none=True
        )
        if first.stop is Stop.LIMIT and not first.items:
            try:
                return await _searched(graph, asked, search, hops)
            except (StoreTimeout, Unsupported):
                first = None  # As many rows as can be read are compared, which is told.
    return await matching(graph, asked, first)


async def _searched(graph: GraphAdapter, asked: MatchQuestion, search: RowSearch, hops: int) -> AnchoredPage[Link]:
    """The rows that the store finds; a position is `~<part>~<position in it>`."""
    read = _read_parts(asked, hops)
    sides = () if asked.far.kind is TailKind.LITERAL else (asked.direction,) if asked.direction else tuple(Direction)
    parts = [*read, *map(str, sides)]
    part, _, behind = asked.after.removeprefix(_SEARCHED).partition(_SEARCHED) if asked.after else ("", "", "")
    if asked.after and part not in parts:
        raise invalid(asked.after)
    found, stops = _Found(asked), list[Stop]()
    for name in parts[parts.index(part) if asked.after else 0 :]:
        if found.enough:
            found.cut()
            break
        place, after = f"{_SEARCHED}{name}{_SEARCHED}", behind or None
        if name in read:
            stops.append((await found.read(graph, replace(read[name], after=after), place=place)).stop)
        else:
            stops.append(await found.search(graph, partial(search, Direction(name)), after, place))
        behind = ""
    if not found.exact:
        found.tell(_AS_SPELT)
    # What is left out of a part that is read is told, and no cursor leads there.
    return found.page(await graph.describe(asked.ids), Stop.first(stop for stop in stops if stop is not Stop.LIMIT))


def _read_parts(asked: MatchQuestion, hops: int) -> dict[str, MatchQuestion]:
    """What of a long list is read and compared all the same, part by part."""
    far, parts = asked.far, dict[str, MatchQuestion]()
    if asked.direction is not Direction.INCOMING and far.kind is not TailKind.ENTITY and far.label is None:
        parts[_VALUES] = replace(asked, direction=Direction.OUTGOING, far=replace(far, kind=TailKind.LITERAL))
    longer = [path for path in asked.paths or () if len(path) > hops]
    if longer and far.kind is not TailKind.LITERAL:
        parts[_PATHS] = replace(asked, paths=longer, far=replace(far, kind=TailKind.ENTITY))
    return parts


class Words:
    """The words that are asked for, and whether a name or a value has them."""

    def __init__(self, asked: str) -> None:
        self.text = asked
        self.asked = tuple(dict.fromkeys(_words(asked)))

    @property
    def spellings(self) -> Sequence[tuple[str, ...]]:
        """Each word, in small letters, without its accents and as it was given."""
        spelt = _WORD.findall(unicodedata.normalize("NFC", self.text.lower()).replace("_", " "))
        if len(spelt) != len(bare := _words(self.text)):
            return [(word,) for word in self.asked]
        return list(dict.fromkeys(tuple(dict.fromkeys(pair)) for pair in zip(bare, spelt, strict=True)))

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

    def __init__(self, asked: MatchQuestion) -> None:
        far = asked.far
        self._asked = asked
        self._label = None if far.label is None else far.label.casefold()
        self._words = None if far.words is None else Words(far.words)
        self._notes: dict[str, None] = {}
        self._whole = asked.after is None
        self._read = 0
        self.exact: list[tuple[Link, str]] = []
        self.near: list[tuple[Link, str]] = []

    async def read(
        self, graph: GraphAdapter, asked: MatchQuestion, page: AnchoredPage[Link] | None = None, place: str = ""
    ) -> AnchoredPage[Link]:
        """Read rows, as many as one call reads, until more fit than are wanted; the last page that was read."""
        read, after = 0, asked.after
        while True:
            if page is None:
                page = await graph.neighbours(
                    asked.ids, asked.direction, paths=asked.paths, far_ends=asked.far.kind, limit=_ROWS, after=after
                )
            await self._add(graph, page, place)
            self.tell(page.note)
            read += len(page.items)
            more = page.stop is Stop.LIMIT and bool(page.items)
            if not more or read >= MOST_READ or self.enough:
                if more:
                    self._read = read
                    self.cut()
                return page
            after, page = page.positions[-1], None

    async def search(
        self,
        graph: GraphAdapter,
        search: Callable[[int, str | None], Awaitable[Page[Link]]],
        after: str | None,
        place: str,
    ) -> Stop:
        """What the store finds, until more fit than are wanted; and why the store may not have found all."""
        while True:
            page = await search(_SEARCHED_TOGETHER, after)
            await self._add(graph, page, place)
            self.tell(page.note)
            if page.stop is not Stop.LIMIT:
                return page.stop
            if self.enough:
                self.cut()
                return Stop.COMPLETE
            after = page.positions[-1]

    def cut(self) -> None:
        """Leave out what has not been looked at."""
        self._whole = False

    @property
    def enough(self) -> bool:
        """Whether more fit than are wanted."""
        return len(self.exact) > self._asked.limit

    def tell(self, note: str) -> None:
        """Say something of the whole list."""
        self._notes[note] = None

    def page(self, anchors: Mapping[str, Entity], stop: Stop, *, near: bool = False) -> AnchoredPage[Link]:
        """The page that was asked for; `near`: of rows that nearly fit, where none fits."""
        rows, limit = self.exact or (self.near if near else []), self._asked.limit
        if rows and not self.exact:
            self.tell(MISSPELT)
        if self._read and len(rows) <= limit:
            self.tell(f"Only the first {self._read:,} rows were searched.")
        return AnchoredPage(
            tuple(link for link, _ in rows[:limit]),
            tuple(position for _, position in rows[:limit]),
            Count(len(rows)) if self._whole and stop is Stop.COMPLETE else Count.at_least(len(rows)),
            Stop.LIMIT if len(rows) > limit else stop,
            " ".join(filter(None, self._notes)),
            anchors,
        )

    async def _add(self, graph: GraphAdapter, page: Page[Link], place: str) -> None:
        """Add the rows of a page that fit, their positions behind a place."""
        types = await _types(graph, page.items) if self._label is not None else {}
        await in_thread(len(page.items), partial(self._compare, page, types, place))

    def _compare(self, page: Page[Link], types: Mapping[str, tuple[str, ...]], place: str) -> None:
        for link, position in zip(page.items, page.positions, strict=True):
            end = link.far_end
            if self._label is not None and not self._is_labelled(end, types):
                continue
            if self._words is None or self._words.fit(text_of(end)):
                self.exact.append((link, f"{place}{position}"))
            elif not self.exact and self._words.nearly_fit(text_of(end)):
                self.near.append((link, f"{place}{position}"))

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
