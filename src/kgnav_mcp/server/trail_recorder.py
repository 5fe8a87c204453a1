"""Records calls on trails, with the triples that their answers showed, and finds the trail of a call."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.mcpserver import Context
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from kgnav_mcp.clipping import clipped, comma_list
from kgnav_mcp.errors import InvalidArgument, KgnavError, TrailFull, TrailStoreUnavailable, UnknownTrail
from kgnav_mcp.model import Trail, TrailStep
from kgnav_mcp.navigation.references import resolve_entities
from kgnav_mcp.navigation.shown_graph import entities_and_triples
from kgnav_mcp.render.table import Answer, RenderedAnswer
from kgnav_mcp.render.text import NAME_LIMIT, name_and_id
from kgnav_mcp.server.arguments import Arguments
from kgnav_mcp.trails import Trails

if TYPE_CHECKING:
    from kgnav_mcp.app import App


TRAIL: Final = "trail"
"""The name of the argument with a trail's handle, and of the toolset that provides trails."""
GRAPH: Final = "graph"
"""The name of the argument with the graph of a call."""


class TrailUse(Enum):
    """How a tool uses trails."""

    RECORDED = "its calls are recorded if they name a trail"
    IN_TURN = "as RECORDED, but calls on one trail run one after the other, because each depends on the recorded ones"
    READ = "it reads a trail and does not change it"
    NONE = "it has no argument for a trail"


@dataclass(frozen=True, slots=True)
class Recording:
    """The recording of one call on a trail. `beginning` is the trail without its steps."""

    trails: Trails
    handle: str
    owner: str | None
    beginning: Trail

    @classmethod
    async def begin(cls, app: App, values: dict[str, Any]) -> Recording | None:
        """The recording of a call with these arguments; None if they name no trail.

        A call that names no graph is directed to the trail's graph.

        Raises:
            UnknownTrail: the trail does not exist, or has expired.
            InvalidArgument: the trail belongs to another graph.
        """
        handle = values.get(TRAIL)
        if not isinstance(handle, str) or not handle.strip():
            return None
        owner = verified_caller()
        beginning = await app.trails.beginning(handle.strip(), owner)
        graph = values.get(GRAPH) or beginning.graph
        if graph != beginning.graph:
            raise InvalidArgument(
                f"this trail is on the graph {beginning.graph}, the call on {graph}",
                next_step=f"Leave `graph` out, or start another trail on {graph}.",
            )
        values[GRAPH] = graph
        return cls(app.trails, handle.strip(), owner, beginning)

    async def read(self) -> Trail:
        """The trail with all its steps.

        Raises:
            UnknownTrail: it has expired meanwhile.
        """
        return await self.trails.read(self.handle, self.owner)

    async def answer_and_record(
        self,
        tool: str,
        use: TrailUse,
        values: Mapping[str, Any],
        answer: Callable[[dict[str, Any]], Awaitable[Answer]],
    ) -> Answer:
        """Run a call of a tool by `answer` and record it. If it could not be recorded, a note in the answer says so.

        Raises:
            KgnavError: from `answer`. A failed call is recorded, too.
        """
        if use is TrailUse.IN_TURN:
            async with self.trails.turn(self.handle, self.owner):
                return await self._answer_and_record(tool, values, answer)
        if use is TrailUse.RECORDED:
            return await self._answer_and_record(tool, values, answer)
        return await answer(dict(values))

    async def _answer_and_record(
        self, tool: str, values: Mapping[str, Any], answer: Callable[[dict[str, Any]], Awaitable[Answer]]
    ) -> Answer:
        arguments = {name: value for name, value in values.items() if name not in (TRAIL, GRAPH) and value is not None}
        step = TrailStep(tool, arguments, time.time())
        try:
            result = await answer(dict(values))
        except KgnavError as error:
            await self._add(replace(step, summary=error.message, failed=True))
            raise
        entities, triples = entities_and_triples(result.shown, result.about)
        recorded = replace(
            step,
            summary=result.first_line,
            visited=tuple(entity.id for entity in result.about),
            entities=(*result.about, *(shown_entity for shown_entity in entities if shown_entity not in result.about)),
            triples=triples,
        )
        note = await self._add(recorded)
        return with_note(result, note) if note else result

    async def _add(self, step: TrailStep) -> str:
        """Add a step. Returns the reason if it could not be added, else an empty text."""
        try:
            await self.trails.add(self.handle, step, self.owner)
        except (TrailFull, TrailStoreUnavailable, UnknownTrail) as error:
            return f"Not recorded: {error.message}. {error.next_step}"
        return ""


def verified_caller() -> str | None:
    """The caller as verified by the transport; None if it was not."""
    token = get_access_token()
    return None if token is None else f"{token.client_id}\n{token.subject or ''}"


def with_note(answer: Answer, note: str) -> RenderedAnswer:
    """The answer with one more note."""
    notes = cast("list[str]", answer.facts["notes"])
    facts = {**answer.facts, "notes": [*notes, note]}
    return RenderedAnswer(f"{answer.text}\n{note}", facts, answer.shown, answer.about)


MAX_TRAILS = 10
"""Maximum trails remembered for one client: the most recently used ones."""

_NAMES = 240
"""Maximum characters of the list of trails in an error."""


class ClientTrails:
    """The trails that a client has started or named, the most recently used one last."""

    def __init__(self) -> None:
        self._handles: dict[str, None] = {}
        self._choosing = asyncio.Lock()

    @property
    def number(self) -> int:
        """The number of trails that are remembered."""
        return len(self._handles)

    def remember(self, handle: str) -> None:
        """Note that the client uses this trail."""
        self._handles.pop(handle, None)
        self._handles[handle] = None
        while len(self._handles) > MAX_TRAILS:
            del self._handles[next(iter(self._handles))]

    async def current(self, app: App, graph: str) -> dict[str, Trail]:
        """The trails that have not expired, without their steps; those on one graph only, if it is not empty."""
        trails: dict[str, Trail] = {}
        for handle in [*self._handles]:
            try:
                trail = await app.trails.beginning(handle, verified_caller())
            except UnknownTrail:
                self._handles.pop(handle, None)
            else:
                if graph in ("", trail.graph):
                    trails[handle] = trail
        return trails

    async def choose(self, app: App, arguments: type[Arguments], values: dict[str, Any], *, begin: bool) -> str:
        """Set the argument `trail` to the only trail of the client. With `begin` and no trail, one is started.

        Returns a note for the answer if one was started.

        Raises:
            InvalidArgument: there are several trails, or none.
        """
        async with self._choosing:  # concurrent first calls share one trail
            trails = await self.current(app, values.get(GRAPH) or "")
            if len(trails) > 1:
                names = [f"{handle} ({clipped(trails[handle].question, NAME_LIMIT)})" for handle in reversed(trails)]
                raise InvalidArgument(
                    f"the argument `trail` is required, because you use {len(trails)} trails",
                    next_step=f"Pass one of them: {comma_list(names, _NAMES)}.",
                )
            if trails:
                (values[TRAIL],) = trails
                return ""
            if not begin:
                raise InvalidArgument(
                    "there is no trail yet: no cell has been entered",
                    next_step="Enter a cell with get_possible_next_cells(node_id), or pass `trail`.",
                )
            values[TRAIL] = handle = await self._begin(app, arguments, values)
        return f"Trail: {handle} was started. Calls without `trail` use it."

    async def _begin(self, app: App, arguments: type[Arguments], values: dict[str, Any]) -> str:
        graph = app.graph(values.get(GRAPH) or None)
        async with graph.adapter() as adapter:
            topics = await resolve_entities(adapter, [values[name] for name in arguments.ids])
        trail = Trail(graph.name, f"Walk from {name_and_id(topics[0])}", topics, time.time())
        handle = await app.trails.start(trail, verified_caller())
        self.remember(handle)
        return handle


session_trails = ContextVar[ClientTrails | None]("session_trails", default=None)
"""The trails of the HTTP session to which the request belongs; None without a session."""


def trails_of_client(context: Context[Any, Any], only_client: ClientTrails) -> ClientTrails | None:
    """The trails of the client that made this call; None if its calls have no session.

    `only_client` are those of the only client of a server that is not on HTTP.
    """
    if context.request_context.request is None:
        return only_client
    return None if context.protocol_version in MODERN_PROTOCOL_VERSIONS else session_trails.get()


async def choose_trail(
    app: App, arguments: type[Arguments], values: dict[str, Any], client: ClientTrails | None, *, begin: bool
) -> str:
    """Set the argument `trail` of a tool where it may be left out and is. Returns a note for the answer, or "".

    Raises:
        InvalidArgument: the client has no session, or it is not clear which of its trails is meant.
    """
    field = arguments.model_fields.get(TRAIL)
    if field is None or field.is_required() or (values.get(TRAIL) or "").strip():
        return ""
    if client is None:
        raise InvalidArgument(
            "the argument `trail` is required here: your requests have no session",
            next_step="start_trail(question, topic_entities) gives a handle: pass it as `trail` to each call.",
        )
    return await client.choose(app, arguments, values, begin=begin)
