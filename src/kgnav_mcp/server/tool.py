"""A tool as one value, and how it is served: strict arguments in, one text or one structure out.

The SDK builds tools from functions; here a tool is data, so that the whole surface can be listed, documented and
compared. What the SDK does otherwise is set right here and in `arguments`: unknown arguments are refused instead of
ignored, an error is written for a reader, a text is sent once, and no answer is longer than its budget.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, TypeVar

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field, ValidationError, create_model

from kgnav_mcp.app import App
from kgnav_mcp.errors import KgnavError
from kgnav_mcp.navigation.plans.progress import Progress
from kgnav_mcp.render.budget import truncated, truncated_facts
from kgnav_mcp.render.columns import Columns, answer_schema
from kgnav_mcp.render.problems import error_text, with_example
from kgnav_mcp.render.table import Answer
from kgnav_mcp.render.tokens import count_tokens
from kgnav_mcp.server.arguments import Arguments, Json, Metadata, compact_schema, validation_text
from kgnav_mcp.server.call import ToolCall
from kgnav_mcp.server.examples import Signature, working_call
from kgnav_mcp.server.recording import TRAIL, Recording, TrailUse

ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ToolSpec(Generic[ArgumentsT]):
    """A tool as data: its name and words, its arguments, what it does, and what it leaves as it was."""

    name: str
    title: str
    description: str
    arguments: type[ArgumentsT]
    run: Callable[[ToolCall, ArgumentsT], Awaitable[Answer]]
    tables: tuple[Columns, ...]
    """The columns of each table that it may answer with; none where a call says its columns itself."""
    read_only: bool = True
    """Whether a call changes nothing, neither in the graph nor in the server."""
    idempotent: bool = True
    """Whether the same call again changes nothing more."""
    trail: TrailUse = TrailUse.RECORDED
    """What it has to do with trails."""

    @property
    def annotations(self) -> ToolAnnotations:
        """The hints for clients. No tool deletes anything, or reaches beyond the served graphs."""
        return ToolAnnotations(
            title=self.title,
            read_only_hint=self.read_only,
            destructive_hint=False,
            idempotent_hint=self.idempotent,
            open_world_hint=False,
        )


class GraphTool(Tool):
    """A tool of the SDK whose errors are written by `explain`."""

    explain: Callable[[Json, KgnavError | ValidationError], Awaitable[CallToolResult]] = Field(exclude=True)

    async def run(self, arguments: Json, context: Context[Any, Any], convert_result: bool = False) -> object:
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            match error.__cause__:
                case KgnavError() as cause:
                    return await self.explain(arguments, cause)
                case ValidationError() as cause if not isinstance(error, UnexpectedToolError):
                    return await self.explain(arguments, cause)
                case _:
                    raise


def build_tool(spec: ToolSpec[Any], app: App, *, structured: bool, trails: bool = False) -> Tool:
    """The tool as the SDK serves it, on the graphs of this app, with answers as text or as structured content.

    Where there are `trails`, any call can be recorded on one.
    """
    arguments = _with_graph(spec.arguments, list(app.graphs), trails=trails)
    if trails and spec.trail is TrailUse.RECORDED and TRAIL not in arguments.model_fields:
        arguments = _with_trail(arguments)
    schema = compact_schema(arguments.model_json_schema())
    signature = Signature(spec.name, schema, spec.arguments.ids)
    metadata = Metadata(arg_model=arguments, output_schema=answer_schema(spec.tables) if structured else None)

    async def answer(values: Json, progress: Progress | None = None, recording: Recording | None = None) -> Answer:
        if TRAIL not in spec.arguments.model_fields:
            values.pop(TRAIL, None)
        graph = app.graph(values.pop("graph", "") or None)
        given = spec.arguments.model_construct(None, **values)
        given.check_sizes()
        async with graph.adapter() as adapter:
            arguments = given.without_cursor()
            call = ToolCall(app, graph, adapter, spec.name, arguments, structured, progress, recording=recording)
            return await spec.run(call, given)

    async def call(*, context: Context[Any, Any], **values: object) -> CallToolResult:
        recording = await Recording.begin(app, values)
        if recording is None:
            found = await answer(values, _progress(context))
        else:
            found = await recording.of(spec, values, lambda given: answer(given, _progress(context), recording))
        return _structure(found, app) if structured else _text(found, app)

    async def explain(given: Json, error: KgnavError | ValidationError) -> CallToolResult:
        text = error_text(error) if isinstance(error, KgnavError) else validation_text(spec.name, schema, error)

        async def retry(mended: Json) -> Answer:
            return await answer(metadata.validate_arguments(mended))

        # Examples are tried out, which must change nothing.
        example = await working_call(signature, arguments.normalized(given), error, retry) if spec.read_only else ""
        text = truncated(with_example(text, example), app.render_options.budget)
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


def _progress(context: Context[Any, Any]) -> Progress:
    """Sends progress notifications. A client that gave no token for them gets none."""
    numbers = count(1)

    async def tell(message: str) -> None:
        await context.report_progress(next(numbers), message=message)

    return tell


def _with_graph(arguments: type[Arguments], graphs: list[str], *, trails: bool) -> type[Arguments]:
    """The arguments with a `graph` to choose, if there are several."""
    if len(graphs) < 2:
        return arguments
    usual = f"that of the trail, else {graphs[0]}," if trails else graphs[0]
    field = Field(
        default="" if trails else graphs[0],
        description=f"Which graph; {usual} when left out.",
        json_schema_extra={"enum": ["", *graphs] if trails else [*graphs]},
    )
    return create_model(arguments.__name__, __base__=arguments, graph=(str, field))


def _with_trail(arguments: type[Arguments]) -> type[Arguments]:
    """The arguments with a `trail` on which the call is recorded."""
    field = Field(default=None, description="Handle from start_trail: the call and what it shows are recorded.")
    return create_model(arguments.__name__, __base__=arguments, trail=(str | None, field))


def _text(answer: Answer, app: App) -> CallToolResult:
    """The text alone."""
    text = answer.text if app.settings.paper_format else truncated(answer.text, app.render_options.budget)
    return CallToolResult(content=[TextContent(type="text", text=text)])


def _structure(answer: Answer, app: App) -> CallToolResult:
    """Structured content, and of the text its first line."""
    budget = app.render_options.budget
    first_line = truncated(answer.first_line, budget // 4)
    facts = truncated_facts(answer.facts, budget - count_tokens(first_line))
    return CallToolResult(content=[TextContent(type="text", text=first_line)], structured_content=facts)
