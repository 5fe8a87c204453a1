"""Records calls on trails: the arguments of each call, and what its answer showed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.auth.middleware.auth_context import get_access_token

from kgnav_mcp.errors import InvalidArgument, KgnavError, TrailFull, TrailStoreUnavailable, UnknownTrail
from kgnav_mcp.model import Trail, TrailStep
from kgnav_mcp.navigation.trail_entries import entities_and_triples
from kgnav_mcp.render.table import Answer, RenderedAnswer
from kgnav_mcp.trails import Trails

if TYPE_CHECKING:
    from kgnav_mcp.app import App
    from kgnav_mcp.server.tool import ToolSpec

TRAIL: Final = "trail"
"""The name of the argument with a trail's handle, and of the toolset that provides trails."""
GRAPH: Final = "graph"
"""The name of the argument with the graph of a call."""


class TrailUse(Enum):
    """How a tool uses trails."""

    RECORDED = "its calls are recorded where they name a trail"
    IN_TURN = "the same, one call on a trail after the other, because each depends on those recorded before it"
    READ = "it reads a trail, and leaves it as it is"
    NONE = "it takes none"


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
        self, spec: ToolSpec[Any], values: Mapping[str, Any], answer: Callable[[dict[str, Any]], Awaitable[Answer]]
    ) -> Answer:
        """Run a call by `answer` and record it. If it could not be recorded, a note in the answer says so.

        Raises:
            KgnavError: from `answer`. A failed call is recorded, too.
        """
        if spec.trail is TrailUse.IN_TURN:
            async with self.trails.turn(self.handle, self.owner):
                return await self._answer_and_record(spec, values, answer)
        if spec.trail is TrailUse.RECORDED:
            return await self._answer_and_record(spec, values, answer)
        return await answer(dict(values))

    async def _answer_and_record(
        self, spec: ToolSpec[Any], values: Mapping[str, Any], answer: Callable[[dict[str, Any]], Awaitable[Answer]]
    ) -> Answer:
        arguments = {name: value for name, value in values.items() if name not in (TRAIL, GRAPH) and value is not None}
        step = TrailStep(spec.name, arguments, time.time())
        try:
            found = await answer(dict(values))
        except KgnavError as error:
            await self._add(replace(step, summary=error.message, failed=True))
            raise
        entities, triples = entities_and_triples(found.shown, found.about)
        recorded = replace(
            step,
            summary=found.first_line,
            visited=tuple(entity.id for entity in found.about),
            entities=(*found.about, *(shown_entity for shown_entity in entities if shown_entity not in found.about)),
            triples=triples,
        )
        note = await self._add(recorded)
        return with_note(found, note) if note else found

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
