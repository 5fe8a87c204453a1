"""Rows filtered by their far ends: the default of `BasicVerbs.matching`, which reads and compares rows."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kgnav_mcp.concurrency import in_thread
from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.model import AnchoredPage, Count, Direction, Entity, Link, Node, Page, Stop
from kgnav_mcp.port.basic_verbs import BasicVerbs
from kgnav_mcp.port.lists import invalid_cursor
from kgnav_mcp.port.terms import FarEndFilter, FarEndKind

MAX_READ = 50_000
"""Maximum rows that one call reads; the rest of a longer list is not searched."""
_ROWS = 5_000
_SEPARATOR = "~"
_VALUES = "values"
_PATHS = "paths"
_SEARCHED_TOGETHER = 1_000
"""Rows in a page of a store's own search."""
_NO_TYPOS = "Too many rows to search for misspelt words: only exact spellings were searched."
_SHORTEST_MISSPELT = 5
"""Minimum letters of a word that may be misspelt."""
_MIN_SIMILARITY = 80
"""Minimum similarity, out of 100, of a word and its misspelling: one letter of five may differ."""
MISSPELT = "No name or value has exactly these words; similar ones are shown."
"""The note of a page whose rows match only with typos."""
MISSPELT_IN_PART = "No name or value that was read has exactly these words; similar ones are shown."
"""The same where the store did not return all rows, or there are too many to read."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class MatchRequest:
    """The arguments of `BasicVerbs.matching`."""

    ids: Sequence[str]
    direction: Direction | None
    relation_paths: Sequence[tuple[str, ...]] | None
    far: FarEndFilter
    limit: int
    after: str | None = None


RowSearch = Callable[[Direction, int, str | None], Awaitable[Page[Link]]]
"""A store's search for rows whose far ends are entities that may match. Arguments: direction, limit, own position.

Raises Unsupported or StoreTimeout if the rows are to be read and compared instead.
"""


async def matching(
    graph: BasicVerbs, request: MatchRequest, first: AnchoredPage[Link] | None = None
) -> AnchoredPage[Link]:
    """The rows at the entities whose far ends match the words; if there are none, those that match with typos.

    `first` is the first page of all rows, if the caller has read it already.
    """
    matches = _Matches(request)
    page = await matches.read(graph, request, first)
    return matches.page(page.anchors, page.stop, near=True)


async def read_or_search(
    graph: BasicVerbs, request: MatchRequest, search: RowSearch, *, hops: int = 2
) -> AnchoredPage[Link]:
    """The result of `matching` for a list of at most one page; a longer list is searched by the store.

    In a longer list, rows with literals come first, then rows of paths with more than `hops` hops, which the store's
    search does not cover; both are read and compared. Typos are not forgiven.
    """
    if request.after is not None and request.after.startswith(_SEPARATOR):
        return await _search_by_store(graph, request, search, hops)
    first = None
    if request.after is None:
        first = await graph.neighbours(
            request.ids,
            request.direction,
            relation_paths=request.relation_paths,
            far_end_kind=request.far.kind,
            limit=_ROWS,
            all_or_none=True,
        )
        if first.stop is Stop.LIMIT and not first.items:
            try:
                return await _search_by_store(graph, request, search, hops)
            except (StoreTimeout, Unsupported):
                first = None  # Rows are read and compared up to the limit; a note says so.
    return await matching(graph, request, first)


async def _search_by_store(
    graph: BasicVerbs, request: MatchRequest, search: RowSearch, hops: int
) -> AnchoredPage[Link]:
    """Rows found by the store's search. A position is `~<part>~<position within the part>`."""
    requests = _read_parts(request, hops)
    sides = (
        ()
        if request.far.kind is FarEndKind.LITERAL
        else (request.direction,)
        if request.direction
        else tuple(Direction)
    )
    parts = [*requests, *map(str, sides)]
    part, _, inner = request.after.removeprefix(_SEPARATOR).partition(_SEPARATOR) if request.after else ("", "", "")
    if request.after and part not in parts:
        raise invalid_cursor(request.after)
    matches, stops = _Matches(request), list[Stop]()
    for name in parts[parts.index(part) if request.after else 0 :]:
        if matches.enough:
            matches.mark_incomplete()
            break
        prefix, after = f"{_SEPARATOR}{name}{_SEPARATOR}", inner or None
        if name in requests:
            stops.append((await matches.read(graph, replace(requests[name], after=after), prefix=prefix)).stop)
        else:
            stops.append(await matches.search(graph, partial(search, Direction(name)), after, prefix))
        inner = ""
    if not matches.exact:
        matches.add_note(_NO_TYPOS)
    # A part that is read may be cut at `MAX_READ`. A note says so, and no cursor leads to the rest.
    return matches.page(await graph.describe(request.ids), Stop.first(stop for stop in stops if stop is not Stop.LIMIT))


def _read_parts(request: MatchRequest, hops: int) -> dict[str, MatchRequest]:
    """The parts of a long list that are read and compared, because the store's search does not cover them."""
    far, parts = request.far, dict[str, MatchRequest]()
    if request.direction is not Direction.INCOMING and far.kind is not FarEndKind.ENTITY and far.label is None:
        parts[_VALUES] = replace(request, direction=Direction.OUTGOING, far=replace(far, kind=FarEndKind.LITERAL))
    longer = [path for path in request.relation_paths or () if len(path) > hops]
    if longer and far.kind is not FarEndKind.LITERAL:
        parts[_PATHS] = replace(request, relation_paths=longer, far=replace(far, kind=FarEndKind.ENTITY))
    return parts


class Words:
    """Words to search in names and values."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.distinct = tuple(dict.fromkeys(_words(text)))

    @property
    def spellings(self) -> Sequence[tuple[str, ...]]:
        """The spellings of each word in lower case: without accents, and as given."""
        as_given = _WORD.findall(unicodedata.normalize("NFC", self.text.lower()).replace("_", " "))
        if len(as_given) != len(without_accents := _words(self.text)):
            return [(word,) for word in self.distinct]
        return list(dict.fromkeys(tuple(dict.fromkeys(pair)) for pair in zip(without_accents, as_given, strict=True)))

    def match(self, text: str) -> bool:
        """Whether each word is a word of the text, or the beginning of one."""
        text_words = _words(text)
        return all(any(map(partial(_begins, word), text_words)) for word in self.distinct)

    def match_with_typos(self, text: str) -> bool:
        """As `match`, but with typos."""
        text_words = _words(text)
        return all(any(map(partial(_is_near, word), text_words)) for word in self.distinct)


class _Matches:
    """Collects matching rows with their positions: exact matches, and matches with typos."""

    def __init__(self, request: MatchRequest) -> None:
        far = request.far
        self._request = request
        self._labels = None if far.label is None else {one.casefold() for one in far.shown_labels or (far.label,)}
        self._words = None if far.words is None else Words(far.words)
        self._notes: dict[str, None] = {}
        self._complete = request.after is None
        self._read = 0
        self.exact: list[tuple[Link, str]] = []
        self.near: list[tuple[Link, str]] = []

    async def read(
        self, graph: BasicVerbs, request: MatchRequest, page: AnchoredPage[Link] | None = None, prefix: str = ""
    ) -> AnchoredPage[Link]:
        """Read at most `MAX_READ` rows, until more than `limit` match. Returns the last page that was read."""
        rows_read, after = 0, request.after
        while True:
            if page is None:
                page = await graph.neighbours(
                    request.ids,
                    request.direction,
                    relation_paths=request.relation_paths,
                    far_end_kind=request.far.kind,
                    limit=_ROWS,
                    after=after,
                )
            await self._add(graph, page, prefix)
            self.add_note(page.note)
            rows_read += len(page.items)
            more = page.stop is Stop.LIMIT and bool(page.items)
            if not more or rows_read >= MAX_READ or self.enough:
                if more:
                    self._read = rows_read
                    self.mark_incomplete()
                return page
            after, page = page.positions[-1], None

    async def search(
        self,
        graph: BasicVerbs,
        search: Callable[[int, str | None], Awaitable[Page[Link]]],
        after: str | None,
        prefix: str,
    ) -> Stop:
        """Collect rows from the store's search until more than `limit` match.

        Returns why the store may not have found all rows.
        """
        while True:
            page = await search(_SEARCHED_TOGETHER, after)
            await self._add(graph, page, prefix)
            self.add_note(page.note)
            if page.stop is not Stop.LIMIT:
                return page.stop
            if self.enough:
                self.mark_incomplete()
                return Stop.COMPLETE
            after = page.positions[-1]

    def mark_incomplete(self) -> None:
        """Note that not all rows were examined, so that the total becomes a lower bound."""
        self._complete = False

    @property
    def enough(self) -> bool:
        """Whether more rows than `limit` match."""
        return len(self.exact) > self._request.limit

    def add_note(self, note: str) -> None:
        """Add a note about the whole list."""
        self._notes[note] = None

    def page(self, anchors: Mapping[str, Entity], stop: Stop, *, near: bool = False) -> AnchoredPage[Link]:
        """The requested page. `near`: of matches with typos, if there is no exact one."""
        rows, limit = self.exact or (self.near if near else []), self._request.limit
        if rows and not self.exact:
            self.add_note(MISSPELT if stop is Stop.COMPLETE and not self._read else MISSPELT_IN_PART)
        if self._read and len(rows) <= limit:
            self.add_note(f"Only the first {self._read:,} rows were searched.")
        return AnchoredPage(
            tuple(link for link, _ in rows[:limit]),
            tuple(position for _, position in rows[:limit]),
            Count(len(rows)) if self._complete and stop is Stop.COMPLETE else Count.at_least(len(rows)),
            Stop.LIMIT if len(rows) > limit else stop,
            " ".join(filter(None, self._notes)),
            anchors,
        )

    async def _add(self, graph: BasicVerbs, page: Page[Link], prefix: str) -> None:
        """Add the matching rows of a page; their positions get a prefix."""
        types = await _types(graph, page.items) if self._labels is not None else {}
        await in_thread(len(page.items), partial(self._compare, page, types, prefix))

    def _compare(self, page: Page[Link], types: Mapping[str, tuple[str, ...]], prefix: str) -> None:
        for link, position in zip(page.items, page.positions, strict=True):
            end = link.far_end
            if self._labels is not None and not self._is_labelled(end, types, self._labels):
                continue
            if self._words is None or self._words.match(node_text(end)):
                self.exact.append((link, f"{prefix}{position}"))
            elif not self.exact and self._words.match_with_typos(node_text(end)):
                self.near.append((link, f"{prefix}{position}"))

    @staticmethod
    def _is_labelled(end: Node, types: Mapping[str, tuple[str, ...]], labels: Collection[str]) -> bool:
        if not isinstance(end, Entity):
            return False
        return any(type_.casefold() in labels for type_ in end.types or types.get(end.id, ()))


def _begins(word: str, candidate: str) -> bool:
    return candidate.startswith(word)


def _is_near(word: str, candidate: str) -> bool:
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415 - opening a graph needs no such package

    return candidate.startswith(word) or (
        len(word) >= _SHORTEST_MISSPELT and ratio(word, candidate, score_cutoff=_MIN_SIMILARITY) > 0
    )


def node_text(node: Node) -> str:
    """The text of a far end in which words are searched: its name, else its id; the text of a literal."""
    if isinstance(node, Entity):
        return node.label if node.label is not None else node.id
    return node.text


def _words(text: str) -> list[str]:
    folded = text.casefold()
    if not folded.isascii():
        folded = "".join(
            character for character in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(character)
        )
    return _WORD.findall(folded.replace("_", " "))


async def _types(graph: BasicVerbs, links: Sequence[Link]) -> dict[str, tuple[str, ...]]:
    """The labels of far ends for which the rows have none."""
    ends = (link.far_end for link in links)
    untyped = list(dict.fromkeys(end.id for end in ends if isinstance(end, Entity) and not end.types))
    return {entity.id: entity.types for entity in (await graph.describe(untyped)).values()} if untyped else {}
