"""Tools as data, and their adaptation to the SDK: strict arguments in, one text or one structure out.

The SDK builds tools from functions. Here a tool is data, so that all tools can be listed, documented and compared.
This module and `arguments` change the SDK's behaviour in four ways: unknown arguments are refused instead of ignored,
errors are readable, a text is sent only once, and no answer exceeds its budget.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import count
from typing import Any, Generic, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError, create_model

from kgnav_mcp.app import App, Graph
from kgnav_mcp.concurrency import Progress
from kgnav_mcp.errors import KgnavError, UnknownTrail
from kgnav_mcp.model import Trail
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import Cursor, Paging
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.render.columns import Columns, answer_schema
from kgnav_mcp.render.problems import error_text, with_example
from kgnav_mcp.render.table import Answer, RenderOptions, Table, fit_to_budget
from kgnav_mcp.render.text import count_tokens, truncate_json, truncate_text
from kgnav_mcp.server.arguments import Arguments, Json, Metadata, compact_schema, validation_text
from kgnav_mcp.server.examples import Signature, working_call
from kgnav_mcp.server.trail_recorder import (
    TRAIL,
    ClientTrails,
    Recording,
    TrailUse,
    choose_trail,
    trails_of_client,
    verified_caller,
    with_note,
)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The context of one tool call: graph, arguments, limits and paging."""

    app: App
    graph: Graph
    adapter: GraphAdapter
    tool: str
    arguments: Mapping[str, object]
    """The arguments without the cursor. A cursor is valid only with the same arguments."""
    structured: bool = False
    """Whether the answer is sent as structured content; the token budget then counts that form."""
    progress: Progress | None = None
    """Reports the progress of a long call to the client, if it asked for that."""
    budget_parts: int = 1
    """The answer may take this fraction (1 / n) of the token budget."""
    refuse_absent: bool = False
    """Whether an absent relation in a list is an error, so that no example call has one."""
    recording: Recording | None = None
    """The trail on which the call is recorded, if any."""
    client: ClientTrails | None = None
    """The trails of the client; None if its requests have no session."""

    @property
    def limits(self) -> Limits:
        """The thresholds of the algorithms."""
        return self.app.limits

    @property
    def options(self) -> RenderOptions:
        """How the answer is rendered."""
        options = self.app.render_options
        budget = options.budget // self.budget_parts
        prefixes = self.adapter.generated_prefixes
        return replace(options, budget=budget, structured=self.structured, generated_prefixes=prefixes)

    @property
    def paging(self) -> Paging:
        """The reader and writer of this call's cursors."""
        return Paging.of(self.tool, self.graph.name, self.adapter.revision, self.arguments)

    async def trail(self) -> Trail:
        """The trail of the call, with all its steps.

        Raises:
            UnknownTrail: the trail has expired meanwhile, or its handle is blank.
        """
        if self.recording is None:
            raise UnknownTrail("", self.app.trails.lifetime)
        return await self.recording.read()

    async def current_trail(self) -> Trail | None:
        """The trail of the call, else the client's only one, else an empty one; None if the client may have several.

        Raises:
            UnknownTrail: the trail has expired meanwhile.
        """
        if self.recording is not None:
            return await self.recording.read()
        handles = await self.client.current(self.app, self.graph.name) if self.client is not None else None
        if handles is None or len(handles) > 1:
            return None
        if not handles:
            return Trail(self.graph.name, "", (), 0.0)
        return await self.app.trails.read(next(iter(handles)), verified_caller())

    def start(self, cursor: str | None) -> Cursor:
        """The start of the answer: the beginning, or the position of a cursor.

        Raises:
            InvalidCursor: the cursor belongs to another call.
        """
        return self.paging.read(cursor)

    def answer(self, table: Table, positions: Sequence[str] | None) -> Answer:
        """The table truncated to the budget, with a cursor after the last row shown if there are more.

        `positions` has the position of each row in the whole list; None if the list cannot be paged.
        """
        return fit_to_budget(
            table, self.options, self._cursors(table.offset, positions) if positions is not None else None
        )

    def _cursors(self, offset: int, positions: Sequence[str]) -> Callable[[int], str]:
        return lambda shown: self.paging.write(Cursor(positions[shown - 1], offset + shown))


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ToolSpec(Generic[ArgumentsT]):
    """A tool as data: its name and texts, its arguments, its function, and its side effects."""

    name: str
    title: str
    description: str
    arguments: type[ArgumentsT]
    run: Callable[[ToolCall, ArgumentsT], Awaitable[Answer]]
    tables: tuple[Columns, ...]
    """The columns of each table that may be its answer; empty if the columns depend on the call."""
    example: Mapping[str, object]
    """The arguments of a call on the demo graph whose answer has rows, without the handle of a trail.

    A tool that reads a trail is called on one with the other tools' examples.
    """
    read_only: bool = True
    """Whether a call changes nothing, in the graph or in the server."""
    idempotent: bool = True
    """Whether repeating a call changes nothing more."""
    trail: TrailUse = TrailUse.RECORDED
    """How it uses trails."""
    in_paper_format: bool = False
    """Whether it reads raw triples and sends whole answers, with its own size limit instead of the token budget."""

    @property
    def can_be_tried(self) -> bool:
        """Whether a call without a trail changes nothing, so that examples may run it."""
        return self.read_only or self.trail is TrailUse.IN_TURN

    @property
    def annotations(self) -> ToolAnnotations:
        """Hints for clients. No tool deletes anything or accesses anything but the served graphs."""
        return ToolAnnotations(
            title=self.title,
            read_only_hint=self.read_only,
            destructive_hint=False,
            idempotent_hint=self.idempotent,
            open_world_hint=False,
        )


class GraphTool(Tool):
    """An SDK tool whose error answers are made by `explain`."""

    explain: Callable[[Json, KgnavError | ValidationError, Context[Any, Any]], Awaitable[CallToolResult]] = Field(
        exclude=True
    )

    async def run(self, arguments: Json, context: Context[Any, Any], convert_result: bool = False) -> object:
        """Run the tool. An error of this project, or an invalid argument, becomes the answer of `explain`."""
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            match error.__cause__:
                case KgnavError() as cause:
                    return await self.explain(arguments, cause, context)
                case ValidationError() as cause if not isinstance(error, UnexpectedToolError):
                    return await self.explain(arguments, cause, context)
                case _:
                    raise


def build_tool(spec: ToolSpec[Any], app: App, *, structured: bool, trails: ClientTrails | None = None) -> Tool:
    """The tool as the SDK serves it, for the graphs of this app, with answers as text or as structured content.

    With `trails`, calls can be recorded on a trail. They are those of the client where the server has only one.
    """
    arguments = _with_graph(spec.arguments, list(app.graphs), trails=trails is not None)
    if trails is not None and spec.trail is TrailUse.RECORDED and TRAIL not in arguments.model_fields:
        arguments = _with_trail(arguments)
    schema = _published_schema(arguments)
    signature = Signature(spec.name, schema, spec.arguments.ids)
    metadata = Metadata(arg_model=arguments, output_schema=answer_schema(spec.tables) if structured else None)

    unrecorded = partial(_answer, spec, app, structured=structured)

    async def call(*, context: Context[Any, Any], **values: object) -> CallToolResult:
        client = trails_of_client(context, trails) if trails is not None else None
        answer = partial(unrecorded, progress=_progress(context), client=client)
        note = await choose_trail(app, spec.arguments, values, client, begin=spec.trail is TrailUse.IN_TURN)
        recording = await Recording.begin(app, values)
        if recording is None:
            result = await answer(values)
        else:
            if client is not None and TRAIL in spec.arguments.model_fields:
                client.remember(recording.handle)
            result = await recording.answer_and_record(
                spec.name, spec.trail, values, partial(answer, recording=recording)
            )
        result = with_note(result, note) if note else result
        return _structured_result(result, app) if structured else _text_result(result, app, whole=spec.in_paper_format)

    async def explain(sent: Json, error: KgnavError | ValidationError, context: Context[Any, Any]) -> CallToolResult:
        client = trails_of_client(context, trails) if trails is not None else None
        text = error_text(error) if isinstance(error, KgnavError) else validation_text(spec.name, schema, error)

        async def retry(corrected: Json) -> Answer:
            values = metadata.validate_arguments(corrected)
            await choose_trail(app, spec.arguments, values, client, begin=False)
            recording = await Recording.begin(app, values)
            return await unrecorded(values, recording=recording, client=client, refuse_absent=True)

        example = await working_call(signature, arguments.normalized(sent), error, retry) if spec.can_be_tried else ""
        text = truncate_text(with_example(text, example), app.render_options.budget)
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)

    return GraphTool(
        fn=call,
        explain=explain,
        name=spec.name,
        title=spec.title,
        description=spec.description,
        parameters=schema,
        fn_metadata=metadata,
        is_async=True,
        context_kwarg="context",
        annotations=spec.annotations,
    )


@lru_cache(maxsize=256)
def _published_schema(arguments: type[Arguments]) -> Json:
    """The schema of a tool's arguments, derived once for all servers of a process."""
    return compact_schema(arguments.model_json_schema())


async def run_tool(spec: ToolSpec[Any], app: App, graph: str, arguments: Json) -> Answer:
    """The text answer of a tool to a call on this graph. The call is recorded on the trail that it names.

    Raises:
        KgnavError: the call fails.
    """
    tool_arguments = {name: value for name, value in arguments.items() if name in spec.arguments.model_fields}
    values = spec.arguments.model_validate(tool_arguments).model_dump_one_level()
    values |= {"graph": graph, **({TRAIL: arguments[TRAIL]} if TRAIL in arguments else {})}
    answer = partial(_answer, spec, app, structured=False)
    recording = await Recording.begin(app, values)
    if recording is None:
        return await answer(values)
    return await recording.answer_and_record(
        spec.name, spec.trail, values, lambda recorded: answer(recorded, recording=recording)
    )


async def _answer(
    spec: ToolSpec[Any],
    app: App,
    values: Json,
    *,
    structured: bool,
    progress: Progress | None = None,
    recording: Recording | None = None,
    client: ClientTrails | None = None,
    refuse_absent: bool = False,
) -> Answer:
    """The answer of a tool to a call with valid arguments."""
    if TRAIL not in spec.arguments.model_fields:
        values.pop(TRAIL, None)
    graph = app.graph(values.pop("graph", "") or None)
    arguments = spec.arguments.model_construct(None, **values)
    arguments.check_sizes()
    async with (graph.raw if spec.in_paper_format else graph).adapter() as adapter:
        without_cursor = arguments.without_cursor()
        call = ToolCall(
            app,
            graph,
            adapter,
            spec.name,
            without_cursor,
            structured,
            progress,
            refuse_absent=refuse_absent,
            recording=recording,
            client=client,
        )
        return await spec.run(call, arguments)


def _progress(context: Context[Any, Any]) -> Progress:
    """A function that sends progress notifications. A client that gave no progress token gets none."""
    numbers = count(1)

    async def report(message: str) -> None:
        await context.report_progress(next(numbers), message=message)

    return report


def _with_graph(arguments: type[Arguments], graphs: list[str], *, trails: bool) -> type[Arguments]:
    """The arguments with an argument `graph`, if there are several graphs."""
    if len(graphs) < 2:
        return arguments
    default_graph = f"that of the trail, else {graphs[0]}" if trails else graphs[0]
    field = Field(
        default="" if trails else graphs[0],
        description=f"Name of the graph. Default: {default_graph}.",
        json_schema_extra={"enum": ["", *graphs] if trails else [*graphs]},
    )
    return create_model(arguments.__name__, __base__=arguments, graph=(str, field))


def _with_trail(arguments: type[Arguments]) -> type[Arguments]:
    """The arguments with an argument `trail`, on which the call is recorded."""
    field = Field(default=None, description="Handle from start_trail: the call and its answer are recorded.")
    return create_model(arguments.__name__, __base__=arguments, trail=(str | None, field))


def _text_result(answer: Answer, app: App, *, whole: bool) -> CallToolResult:
    """A result with the text only, `whole` or truncated to the budget."""
    text = answer.text if whole else truncate_text(answer.text, app.render_options.budget)
    return CallToolResult(content=[TextContent(type="text", text=text)])


def _structured_result(answer: Answer, app: App) -> CallToolResult:
    """A result with structured content and the first line of the text."""
    budget = app.render_options.budget
    first_line = truncate_text(answer.first_line, budget // 4)
    facts = truncate_json(answer.facts, budget - count_tokens(first_line))
    return CallToolResult(content=[TextContent(type="text", text=first_line)], structured_content=facts)
