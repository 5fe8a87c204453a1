"""The composition root: settings become graphs, limits and a ranker. No graph is opened before it is used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from kgnav_mcp.adapters import drivers_of, open_adapter, show_driver_logs
from kgnav_mcp.concurrency import Shared
from kgnav_mcp.config import DEMO_LOCATION, RELATION_LISTS, GraphSettings, Settings, user_cache_folder
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.errors import KgnavError, StoreTimeout, UnknownGraph
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.sampling import SampleWalk, sample_walk
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.rankers import make_ranker
from kgnav_mcp.render.table import RenderOptions
from kgnav_mcp.silence import one_call
from kgnav_mcp.trails import TrailLimits, Trails, open_trail_store

_CHARACTERS_PER_TOKEN = 4
"""Characters of a token in an answer's rows, on average at most."""
_OPENING_GRACE_S = 0.5
"""Seconds that opening may exceed the time-out: until then the store may say itself what was too slow."""


@dataclass(slots=True, eq=False)
class _OpenStore:
    """An open store, the number of calls on it, and the task that closes it."""

    adapter: GraphAdapter
    calls: int = 0
    closing: asyncio.Task[None] | None = None


class Graph:
    """A configured graph under its name. It opens at the first call; if that fails, the next call tries again."""

    def __init__(self, name: str, settings: GraphSettings, defaults: Settings) -> None:
        self.name = name
        self.settings = settings
        self._options = AdapterOptions(
            languages=tuple(settings.languages or defaults.languages),
            timeout=settings.timeout or defaults.timeout,
            contact=defaults.contact,
            cache=user_cache_folder(),
            extra=settings.options,
        )
        self._opening = Shared(self._open)
        self._opened: _OpenStore | None = None
        self._not_closed: set[_OpenStore] = set()
        self._sample: tuple[str, SampleWalk | None] | None = None

    @asynccontextmanager
    async def adapter(self) -> AsyncGenerator[GraphAdapter]:
        """The open graph for one call: it stays open until the block ends.

        Calls that come while it is being opened share the outcome. A graph that was replaced is opened anew.

        Raises:
            StoreError: it cannot be opened, or not in time.
            ConfigurationError: its kind of store is unknown here, or a package that it needs is missing.
        """
        opened = await self._current()
        opened.calls += 1
        try:
            with one_call():
                yield opened.adapter
        finally:
            opened.calls -= 1
            self._close_if_left(opened)

    async def _current(self) -> _OpenStore:
        """The open store for the next call."""
        if self._opened is not None and self._opened.adapter.stale:
            replaced, self._opened = self._opened, None
            self._close_if_left(replaced)
        while True:
            opened = self._opened or await self._opened_in_time()
            if opened.closing is None:  # else it was replaced again before this call came to it
                return opened

    async def _opened_in_time(self) -> _OpenStore:
        timeout = self._options.timeout
        try:
            async with asyncio.timeout(timeout + _OPENING_GRACE_S):
                return await self._opening.result()
        except TimeoutError as error:
            raise StoreTimeout(
                timeout, next_step="Ask again; if it stays so, see whether the store is well, or raise the time-out."
            ) from error

    async def _open(self) -> _OpenStore:
        place = await self._place()
        adapter = open_adapter(place, self._options)
        try:
            with drivers_of(place):
                await adapter.open()
        except BaseException:
            await adapter.close()  # a half-open store keeps no thread or connection
            raise
        self._opened = _OpenStore(adapter)
        self._not_closed.add(self._opened)
        return self._opened

    async def _place(self) -> str:
        if self.settings.location == DEMO_LOCATION:
            return str(await asyncio.to_thread(demo_graph_path))
        return self.settings.location

    async def sample(self) -> SampleWalk | None:
        """A walk of up to two steps on this graph, for examples; None where there is none, or the graph fails."""
        try:
            async with self.adapter() as adapter:
                if self._sample is None or self._sample[0] != adapter.revision:
                    self._sample = (adapter.revision, await sample_walk(adapter))
        except KgnavError:
            return None  # An example is a courtesy: what is wrong with the graph is said by the call itself.
        return self._sample[1]

    async def close(self) -> None:
        """Close the graph, also under calls that are on it."""
        await self._opening.end()
        self._opened = None
        await asyncio.gather(*map(self._close, self._not_closed))

    def _close_if_left(self, opened: _OpenStore) -> None:
        """Close a store that was replaced once no call is on it."""
        if opened is not self._opened and not opened.calls:
            self._close(opened)

    def _close(self, opened: _OpenStore) -> asyncio.Task[None]:
        if opened.closing is None:
            opened.closing = asyncio.create_task(opened.adapter.close())
            opened.closing.add_done_callback(lambda _: self._not_closed.discard(opened))
        return opened.closing


class App:
    """The configured graphs, with the limits, the ranker and the render options of their answers.

    Raises:
        ConfigurationError: what the chosen ranker needs is not configured or not installed.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        show_driver_logs(settings.log_level == "DEBUG")
        self.graphs: Mapping[str, Graph] = {
            name: Graph(name, graph, settings) for name, graph in settings.graphs.items()
        }
        shipped = RELATION_LISTS[settings.relation_lists]
        self.limits = Limits(
            hub_threshold=settings.hub_threshold,
            row_limit=settings.row_limit,
            characters=None if settings.paper_format else _CHARACTERS_PER_TOKEN * settings.budget,
            top_k=settings.top_k,
            examples=settings.examples,
            collapse_single=settings.paper_format,
            white_list=tuple(settings.white_list),
            black_list=tuple(settings.black_list),
            default_black_list=shipped.black_list,
            default_exceptions=shipped.exceptions,
        )
        self._users = 0
        self._closing = AsyncExitStack()
        self.ranker = make_ranker(settings, self._closing)
        self._trails: Trails | None = None
        self.render_options = RenderOptions(settings.budget, settings.literal_limit)

    @property
    def keeps_trails(self) -> bool:
        """Whether a trail has been asked for: before that nothing is kept between calls."""
        return self._trails is not None

    @property
    def trails(self) -> Trails:
        """The trails, which nothing keeps before one is used.

        Raises:
            ConfigurationError: the place where they are to be kept is none, or needs a package that is missing.
        """
        if self._trails is None:
            of = self.settings.trail
            limits = TrailLimits(lifetime=of.lifetime, trails=of.number)
            self._trails = Trails(open_trail_store(of.store, limits))
            self._closing.push_async_callback(self._trails.close)
        return self._trails

    def graph(self, name: str | None = None) -> Graph:
        """The graph of this name; without a name the first one.

        Raises:
            UnknownGraph: no graph is configured under that name.
        """
        if name is None:
            return next(iter(self.graphs.values()))
        if name not in self.graphs:
            raise UnknownGraph(name, list(self.graphs))
        return self.graphs[name]

    async def close(self) -> None:
        """Close the graphs, the ranker and the trails."""
        await asyncio.gather(self._closing.aclose(), *(graph.close() for graph in self.graphs.values()))

    async def __aenter__(self) -> Self:
        """In use until the last of those that have entered it leaves: several servers may share it."""
        self._users += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        if not self._users:
            await self.close()
