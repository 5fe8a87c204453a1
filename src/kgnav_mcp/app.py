"""The composition root: makes graphs, limits and a ranker from the settings. A graph is opened by its first call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from kgnav_mcp.adapters import drivers_of, open_adapter, show_driver_logs
from kgnav_mcp.concurrency import SharedTask
from kgnav_mcp.config import DEMO_LOCATION, RELATION_LISTS, GraphSettings, Settings, user_cache_folder
from kgnav_mcp.demo import demo_graph_path
from kgnav_mcp.errors import ConfigurationError, KgnavError, StoreTimeout, UnknownGraph
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.plan_queue import PlanQueue
from kgnav_mcp.navigation.sample_walks import SampleWalk, sample_walk
from kgnav_mcp.port import AdapterOptions, GraphAdapter
from kgnav_mcp.rankers import make_ranker, meaning_options
from kgnav_mcp.render.table import RenderOptions
from kgnav_mcp.store_limits import single_call
from kgnav_mcp.trails import TrailLimits, Trails, open_trail_store

_CHARACTERS_PER_TOKEN = 4
"""Upper bound of the average characters per token in an answer's rows."""
_OPENING_GRACE_S = 0.5
"""Seconds added to the time-out of opening, so that the store's own time-out error comes first."""


@dataclass(slots=True, eq=False)
class _OpenStore:
    """An open store, the number of running calls on it, and the task that closes it."""

    adapter: GraphAdapter
    calls: int = 0
    closing: asyncio.Task[None] | None = None


class Graph:
    """A configured graph. It is opened by the first call; if that fails, the next call tries again."""

    def __init__(self, name: str, settings: GraphSettings, defaults: Settings, *, raw_triples: bool = False) -> None:
        self.name = name
        self.settings = settings
        self._options = AdapterOptions(
            languages=tuple(settings.languages or defaults.languages),
            timeout=settings.timeout or defaults.timeout,
            contact=defaults.contact,
            cache=user_cache_folder(),
            raw_triples=raw_triples,
            meaning=meaning_options(defaults),
            extra=settings.options,
        )
        self.plan_queue = PlanQueue()
        self._opening = SharedTask(self._open)
        self._opened: _OpenStore | None = None
        self._unclosed: set[_OpenStore] = set()
        self._sample: tuple[str, SampleWalk | None] | None = None
        self._raw = (
            Graph(name, settings, defaults, raw_triples=True) if defaults.paper_format and not raw_triples else None
        )

    @property
    def languages(self) -> Sequence[str]:
        """The languages of names, in order of preference."""
        return self._options.languages

    @property
    def timeout(self) -> float:
        """Time limit in seconds for one query of the store, and for a whole plan."""
        return self._options.timeout

    @property
    def raw(self) -> Graph:
        """The graph with mediators as nodes, for the papers' formats. It has its own connection to the store."""
        return self._raw or self

    @asynccontextmanager
    async def adapter(self) -> AsyncGenerator[GraphAdapter]:
        """The open adapter for one call. It stays open until the block ends.

        Concurrent first calls share one opening and its outcome. A graph whose file was replaced is opened again.

        Raises:
            StoreError: the store cannot be opened, or not in time.
            ConfigurationError: the kind of store is unknown, or a package that it needs is missing.
        """
        opened = await self._current()
        opened.calls += 1
        try:
            with single_call():
                yield opened.adapter
        finally:
            opened.calls -= 1
            self._close_if_unused(opened)

    async def _current(self) -> _OpenStore:
        """The open store for the next call, opened if necessary."""
        if self._opened is not None and self._opened.adapter.stale:
            replaced, self._opened = self._opened, None
            self._close_if_unused(replaced)
        while True:
            opened = self._opened or await self._opened_in_time()
            if opened.closing is None:  # otherwise it was replaced again in the meantime
                return opened

    async def _opened_in_time(self) -> _OpenStore:
        timeout = self._options.timeout
        try:
            async with asyncio.timeout(timeout + _OPENING_GRACE_S):
                return await self._opening.result()
        except TimeoutError as error:
            raise StoreTimeout(
                timeout, next_step="Try again. If it fails again, run `kgnav doctor`, or raise --timeout."
            ) from error

    async def _open(self) -> _OpenStore:
        location = await self._location()
        # in a thread, since it imports the adapter: a tenth of a second in which no other call would be served
        adapter = await asyncio.to_thread(open_adapter, location, self._options)
        try:
            with drivers_of(location):
                await adapter.open()
        except BaseException:
            await adapter.close()  # a half-open store must not leak threads or connections
            raise
        self._opened = _OpenStore(adapter)
        self._unclosed.add(self._opened)
        return self._opened

    async def _location(self) -> str:
        if self.settings.location == DEMO_LOCATION:
            return str(await asyncio.to_thread(demo_graph_path))
        return self.settings.location

    async def sample(self) -> SampleWalk | None:
        """A walk of up to two steps on this graph, for examples; None if the graph has none or cannot be read."""
        try:
            async with self.adapter() as adapter:
                if self._sample is None or self._sample[0] != adapter.revision:
                    self._sample = (adapter.revision, await sample_walk(adapter))
        except KgnavError:
            return None  # Examples are optional: the call itself reports what is wrong with the graph.
        return self._sample[1]

    async def close(self) -> None:
        """Close the graph, even if calls are still running on it."""
        if self._raw is not None:
            await self._raw.close()
        await self._opening.end()
        self._opened = None
        await asyncio.gather(*map(self._close, self._unclosed))

    def _close_if_unused(self, opened: _OpenStore) -> None:
        """Close a replaced store once no call uses it."""
        if opened is not self._opened and not opened.calls:
            self._close(opened)

    def _close(self, opened: _OpenStore) -> asyncio.Task[None]:
        if opened.closing is None:
            opened.closing = asyncio.create_task(opened.adapter.close())
            opened.closing.add_done_callback(lambda _: self._unclosed.discard(opened))
        return opened.closing


class App:
    """The configured graphs, with limits, ranker and render options.

    Raises:
        ConfigurationError: the chosen ranker lacks a setting or a package, or two settings exclude each other.
    """

    def __init__(self, settings: Settings) -> None:
        if settings.paper_format and settings.structured:
            raise ConfigurationError(
                "--structured and --paper-format cannot be combined: the papers define no structured answers",
                next_step="Leave one of them out. Over HTTP, /mcp/structured always answers with structured content.",
            )
        self.settings = settings
        show_driver_logs(settings.log_level == "DEBUG")
        self.graphs: Mapping[str, Graph] = {
            name: Graph(name, graph, settings) for name, graph in settings.graphs.items()
        }
        shipped = RELATION_LISTS[settings.relation_lists]
        self.limits = Limits(
            hub_threshold=settings.hub_threshold,
            row_limit=settings.row_limit,
            characters=_CHARACTERS_PER_TOKEN * settings.budget,
            top_k=settings.top_k,
            examples=settings.examples,
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
    def trails(self) -> Trails:
        """The trails. Their store is opened at the first use.

        Raises:
            ConfigurationError: the configured trail store is invalid, or needs a package that is missing.
        """
        if self._trails is None:
            trail_settings = self.settings.trail
            limits = TrailLimits(lifetime=trail_settings.lifetime, trails=trail_settings.number)
            self._trails = Trails(open_trail_store(trail_settings.store, limits))
            self._closing.push_async_callback(self._trails.close)
        return self._trails

    def graph(self, name: str | None = None) -> Graph:
        """The graph with this name; without a name, the first one.

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
        """Count one more server that uses the app. The last one to exit closes it."""
        self._users += 1
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._users -= 1
        if not self._users:
            await self.close()
