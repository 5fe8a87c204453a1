"""A tool as one value, and its way onto the wire: strict arguments in, one text or one structure out.

The SDK builds tools from functions; here a tool is data, so that the whole surface can be listed, documented and
compared. What the SDK does otherwise is set right in this module alone: unknown arguments are refused instead of
ignored, a validation error is written for a reader, a text is sent once, and the schemas carry no more than they need.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ConfigDict, Field, ValidationError, create_model
from rapidfuzz import process

from kgnav_mcp.app import App, Graph
from kgnav_mcp.errors import InvalidRequest, KgnavError, UnknownGraph
from kgnav_mcp.navigation.sampling import SampleWalk
from kgnav_mcp.render.problems import problem
from kgnav_mcp.render.sheet import Answer
from kgnav_mcp.server.call import Call

Json = dict[str, Any]


class Arguments(ArgModelBase):
    """The arguments of a tool. What is not named here is refused, not ignored."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, frozen=True)

    def bound(self) -> Mapping[str, object]:
        """What a cursor is bound to: every argument that was given, but the cursor."""
        given = self.model_dump_one_level()
        return {name: value for name, value in given.items() if name != "cursor" and value not in (None, [])}


ArgumentsT = TypeVar("ArgumentsT", bound=Arguments)


@dataclass(frozen=True, slots=True)
class ToolSpec(Generic[ArgumentsT]):
    """A tool: its name, the toolset (paper) it belongs to, its words, its arguments, and what it does.

    `example` writes a call of it that works on a given graph.
    """

    name: str
    title: str
    toolset: str
    description: str
    arguments: type[ArgumentsT]
    run: Callable[[Call, ArgumentsT], Awaitable[Answer]]
    example: Callable[[SampleWalk], str]


class GraphTool(Tool):
    """An SDK tool whose argument errors are written for a reader."""

    async def run(self, arguments: Json, context: Context[Any, Any], convert_result: bool = False) -> object:
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            return _failed(readable(self.name, self.parameters, error.__cause__))


def bind(spec: ToolSpec[Any], app: App) -> Tool:
    """The tool as the SDK serves it, for the graphs of this app."""
    arguments = _with_graph(spec.arguments, list(app.graphs))

    async def answer(graph: str | None = None, **values: object) -> CallToolResult:
        given = spec.arguments.model_construct(None, **values)
        try:
            found = await spec.run(await _call(spec.name, app.graph(graph), given), given)
        except KgnavError as error:
            return _failed(problem(error, await _example(error, app, graph)))
        return _succeeded(found, structured=app.settings.structured)

    async def _call(tool: str, graph: Graph, given: Arguments) -> Call:
        return Call(app, graph, await graph.adapter(), tool, given.bound())

    async def _example(error: KgnavError, app: App, graph: str | None) -> str:
        """A call that works, where another call would help and the graph can give one."""
        if not isinstance(error, InvalidRequest) or isinstance(error, UnknownGraph):
            return ""
        sample = await app.graph(graph).sample()
        return spec.example(sample) if sample else ""

    return GraphTool(
        fn=answer,
        name=spec.name,
        title=spec.title,
        description=spec.description,
        parameters=slim(arguments.model_json_schema()),
        fn_metadata=FuncMetadata(arg_model=arguments, output_schema=OUTPUT_SCHEMA if app.settings.structured else None),
        is_async=True,
        context_kwarg=None,
        annotations=ToolAnnotations(
            title=spec.title, read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _with_graph(arguments: type[Arguments], graphs: list[str]) -> type[Arguments]:
    """The arguments with a `graph` to choose, where there is a choice."""
    if len(graphs) < 2:
        return arguments
    field = Field(
        default=graphs[0], description=f"Which graph; {graphs[0]} when left out.", json_schema_extra={"enum": [*graphs]}
    )
    return create_model(arguments.__name__, __base__=arguments, graph=(str, field))


def _succeeded(answer: Answer, *, structured: bool) -> CallToolResult:
    """The text alone, or the facts with no more text than the line that says how complete they are."""
    if not structured:
        return CallToolResult(content=[TextContent(type="text", text=answer.text)])
    first_line = answer.text.partition("\n")[0]
    return CallToolResult(content=[TextContent(type="text", text=first_line)], structured_content=answer.facts)


def _failed(text: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


def readable(tool: str, schema: Json, error: ValidationError) -> str:
    """Pydantic's findings as sentences: which argument, what is wrong with it, what it may be."""
    known: dict[str, Json] = schema.get("properties", {})
    lines: list[str] = []
    for finding in error.errors(include_url=False, include_context=False):
        name = str(finding["loc"][0]) if finding["loc"] else ""
        if finding["type"] == "extra_forbidden":
            nearest = process.extractOne(name, list(known), score_cutoff=60)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            lines.append(f"Invalid call: {tool} has no argument {name!r}.{hint}")
        elif finding["type"] == "missing":
            lines.append(f"Invalid call: {tool} needs the argument {name!r}. {known[name].get('description', '')}")
        else:
            lines.append(
                f"Invalid call: {name!r} is not valid: {finding['msg']}. {_expected(known.get(name, {}))}".strip()
            )
    required = ", ".join(schema.get("required", []))
    optional = ", ".join(name for name in known if name not in schema.get("required", []))
    lines.append(
        f"Next: call {tool} with {required or 'no argument'}" + (f"; optional: {optional}." if optional else ".")
    )
    return "\n".join(dict.fromkeys(lines))


def _expected(schema: Json) -> str:
    """What an argument means, where the finding does not already list what it may be."""
    return "" if "enum" in schema else str(schema.get("description", ""))


def slim(schema: Json) -> Json:
    """A JSON schema without what a model does not need: titles, and `null` as an alternative to leaving it out."""
    kept: Json = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {name: slim(_without_null(part)) for name, part in cast("dict[str, Json]", value).items()}
        elif key == "items":
            kept[key] = slim(cast("Json", value))
        elif key not in ("title", "default") or (key == "default" and value not in (None, [])):
            kept[key] = value
    kept.pop("description", None) if schema.get("type") == "object" else None
    return kept


def _without_null(schema: Json) -> Json:
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    if len(options) != 1:
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **options[0]}


OUTPUT_SCHEMA: Json = {
    "type": "object",
    "properties": {
        "completeness": {"type": "object"},
        "rows": {"type": "array", "items": {"type": "object"}},
        "notes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["completeness", "rows", "notes"],
}
"""What `--structured` answers look like: the completeness line's facts, rows keyed by column, and the notes."""
