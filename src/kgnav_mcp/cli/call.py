"""`kgnav call`: one tool call, answered as a model sees it, or a whole answer written as CSV or JSON."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click

from kgnav_mcp.cli.boundary import FAILED, INCOMPLETE, SUCCEEDED, Command
from kgnav_mcp.cli.options import with_settings
from kgnav_mcp.config import Settings
from kgnav_mcp.errors import InvalidArgument
from kgnav_mcp.model import Stop
from kgnav_mcp.render.columns import UNLIMITED

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool


_BUDGET = 1_000_000_000
"""Tokens of one page: its rows are limited by `row_limit` alone."""
_IN_MEMORY = 16 * 2**20
"""Bytes of rows that are kept in memory; more go to a file."""
_STDOUT = Path("-")
_REASONS = {
    Stop.LIMIT: "the tool's limit; if it has the argument limit, raise it",
    Stop.BUDGET: "this tool answers with an overview of limited size",
    Stop.ROW_CAP: "the store returns no more",
    Stop.TIME_OUT: "the store ran out of time; raise it with --timeout SECONDS",
    Stop.UNORDERED: "the store could not sort the list, so its next page cannot be read",
}

Row = Mapping[str, Any]
PageReader = Callable[[Mapping[str, str]], "Awaitable[CallToolResult]"]
"""Makes the call, with the argument `cursor` after the first page."""


def whole_answers(settings: Settings) -> Settings:
    """The settings for structured answers without limits on rows and values."""
    return settings.model_copy(update={"structured": True, "budget": _BUDGET, "literal_limit": UNLIMITED})


@dataclass(frozen=True, slots=True)
class Destination:
    """The file for the rows, and its format."""

    path: Path
    is_csv: bool

    @property
    def is_stdout(self) -> bool:
        """Whether rows go to stdout."""
        return self.path == _STDOUT

    def check(self) -> None:
        """Check that the file can be written, before a long call.

        Raises:
            InvalidArgument: its folder does not exist, or is not writable.
        """
        folder = self.path.resolve().parent
        if self.is_stdout or (folder.is_dir() and os.access(folder, os.W_OK)):
            return
        problem = "is not writable" if folder.is_dir() else "does not exist"
        advice = "Name a file in another folder." if folder.is_dir() else f"Create it first: mkdir -p {folder}"
        raise InvalidArgument(f"{self.path} cannot be written: the folder {folder} {problem}", next_step=advice)

    @contextmanager
    def open(self) -> Generator[IO[str]]:
        """The open file. A regular file is replaced when the block ends without an error."""
        target = self.path.resolve()
        if self.is_stdout:
            yield sys.stdout
        elif target.exists() and not target.is_file():  # a pipe or a device
            with target.open("w", encoding="utf-8", newline="") as file:
                yield file
        else:
            part = target.with_name(f"{target.name}.{os.getpid()}.part")
            try:
                with part.open("x", encoding="utf-8", newline="") as file:
                    yield file
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)


@dataclass(slots=True)
class Export:
    """The rows of an answer, and how complete they are."""

    path: Path
    rows: int = 0
    completeness: Mapping[str, Any] = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])
    error: str = ""
    """The text of an error answer to one of the pages; then nothing is written."""

    @property
    def is_complete(self) -> bool:
        """Whether all rows of the list were read."""
        return self.completeness["stop"] == Stop.COMPLETE

    @property
    def summary(self) -> str:
        """A line about the written file, for a person."""
        name = "stdout" if self.path == _STDOUT else str(self.path)
        if self.error:
            return f"{self.error}\n{name} was not written." if self.rows else self.error
        total, certainty = self.completeness["total"], self.completeness["certainty"]
        count = f"{self.rows:,} {'row' if self.rows == 1 else 'rows'}"
        if self.is_complete:
            return f"{name}: {count}, complete"
        of_total = f" of {'at least ' if certainty != 'exact' else ''}{total:,}" if total is not None else ""
        return f"{name}: {count}{of_total}, incomplete: {_REASONS[Stop(self.completeness['stop'])]}"

    def add(self, facts: Mapping[str, Any]) -> None:
        """Count the rows of a page, and take over its completeness and notes."""
        self.rows += len(facts["rows"])
        self.completeness = facts["completeness"]
        self.notes += [note for note in facts["notes"] if note not in self.notes]


def row_spool() -> IO[str]:
    """A temporary file for rows, as JSON Lines."""
    return tempfile.SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="utf-8", newline="\n")


async def read_pages(read_page: PageReader, path: Path, spool: IO[str]) -> Export:
    """Read all pages of a call into `spool`. An error answer ends the reading."""
    export = Export(path)
    cursor: str | None = None
    while not export.error:
        result = await read_page({"cursor": cursor} if cursor else {})
        if result.is_error or result.structured_content is None:
            export.error = "\n".join(block.text for block in result.content if block.type == "text")
            break
        export.add(result.structured_content)
        try:
            spool.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in result.structured_content["rows"])
        except OSError as error:
            export.error = f"The temporary file for the rows cannot be written: {error.strerror}."
        cursor = export.completeness["cursor"]
        if cursor is None:
            break
        _show_progress(export)
    _end_progress()
    return export


def write_rows(
    spool: IO[str], export: Export, tool: Tool, arguments: Mapping[str, object], destination: Destination
) -> None:
    """Write the rows that were read.

    Raises:
        InvalidArgument: the file cannot be written.
    """
    if destination.is_csv:
        for note in export.notes:
            click.echo(note, err=True)
    try:
        with destination.open() as file:
            if destination.is_csv:
                _write_csv(spool, file, _declared_columns(tool))
            else:
                _write_json(spool, file, export, {"tool": tool.name, "arguments": arguments})
    except BrokenPipeError:
        raise
    except OSError as error:
        advice = "Check free space and permissions, or name another file."
        raise InvalidArgument(f"{destination.path} cannot be written: {error.strerror}", next_step=advice) from error


def _write_json(spool: IO[str], file: IO[str], export: Export, call: Mapping[str, object]) -> None:
    completeness = {name: export.completeness[name] for name in ("total", "certainty", "stop")}
    head = {**call, "complete": export.is_complete, "count": export.rows, **completeness, "notes": export.notes}
    file.write(json.dumps(head, ensure_ascii=False, indent=1).removesuffix("\n}") + ',\n "rows": [')
    for number, line in enumerate(_lines(spool)):
        file.write((",\n  " if number else "\n  ") + line.rstrip("\n"))
    file.write("\n ]\n}\n" if export.rows else "]\n}\n")


def _write_csv(spool: IO[str], file: IO[str], declared: Iterable[str]) -> None:
    """One column for each value, and further ones for labels and languages if a row has them."""
    columns: dict[str, dict[str, None]] = {}
    for line in _lines(spool):
        for name, value in json.loads(line).items():
            columns.setdefault(name, {}).update(dict.fromkeys(_extra(value)))
    if not columns:
        columns = {name: {} for name in declared}
    headings = _headings(columns)
    writer = csv.writer(file, lineterminator="\n")
    if headings:
        writer.writerow(headings.values())
    for line in _lines(spool):
        row = json.loads(line)
        writer.writerow([_cell(row.get(name), part) for name, part in headings])


_EXTRA_COLUMNS = {"label": "Label", "language": "Language"}
"""Parts of a value that have a column of their own, and the suffix of its heading."""


def _extra(value: object) -> Iterator[str]:
    """The parts of a value that have a column of their own."""
    if _is_named(value):
        yield from (part for part in _EXTRA_COLUMNS if part in cast("Row", value))


def _is_named(value: object) -> bool:
    """Whether a value is an entity, a relation, or a text with a language (not an edge or path)."""
    return isinstance(value, dict) and ("id" in value or "text" in value)


def _headings(columns: Mapping[str, Iterable[str]]) -> Mapping[tuple[str, str], str]:
    """The headings by column and part, all different: a plan may name two columns `film` and `filmLabel`."""
    headings: dict[tuple[str, str], str] = {}
    for name, parts in columns.items():
        headings[name, ""] = name
        for part in parts:
            heading = name + _EXTRA_COLUMNS[part]
            while heading in columns or heading in headings.values():
                heading += "_"
            headings[name, part] = heading
    return headings


def _cell(value: object, part: str) -> object:
    """A value as text in CSV: the id of an entity or relation; JSON for lists, edges and paths."""
    if part:
        return cast("Row", value).get(part, "") if _is_named(value) else ""
    if _is_named(value):
        named = cast("Row", value)
        return named["id"] if "id" in named else named["text"]
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict | bool) else value


def _lines(spool: IO[str]) -> Iterator[str]:
    spool.seek(0)
    yield from spool


def _declared_columns(tool: Tool) -> Iterable[str]:
    """The columns that every answer of a tool has, for the headings of a table without rows."""
    items = (tool.output_schema or {}).get("properties", {}).get("rows", {}).get("items", {})
    return items.get("required", ())


def _show_progress(export: Export) -> None:
    if sys.stderr.isatty():
        total = export.completeness["total"]
        click.echo(f"\r{export.rows:,} rows{f' of {total:,}' if total else ''}\x1b[K", nl=False, err=True)


def _end_progress() -> None:
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)


_DESTINATION = click.Path(path_type=Path, dir_okay=False, allow_dash=True)


@click.command(
    cls=Command,
    short_help="Make one tool call and print its answer.",
    epilog="""\b
Examples:
  kgnav call describe_graph
  kgnav call find_node hint="van gogh"
  kgnav call search entity=vincent_van_gogh direction=outgoing
  kgnav call search entity=the_netherlands direction=outgoing properties_to_filter_for=capital
  kgnav call get_triples entity=zundert 'relations=["located_in", "born_in"]'
  kgnav call run_plan plan='MATCH (p)-[:located_in]->(q) RETURN p, q' --csv located.csv

Exit code: 0 for an answer, 1 for an error answer, 2 for a wrong command line, 3 if --csv or --json
wrote an incomplete list.""",
)
@click.argument("tool")
@click.argument("arguments", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--csv", "csv_path", type=_DESTINATION, help="Write the rows of all pages as CSV; - is stdout.")
@click.option("--json", "json_path", type=_DESTINATION, help="Write the rows of all pages as JSON; - is stdout.")
@with_settings()
@click.pass_context
def call(
    context: click.Context,
    *,
    tool: str,
    arguments: tuple[str, ...],
    csv_path: Path | None,
    json_path: Path | None,
    settings: Settings,
) -> None:
    """Call TOOL once and print the answer that a model would get.

    VALUE is converted to the type of the argument. Give a list as JSON, or repeat NAME=VALUE for each element. With
    --structured the answer is printed as JSON.
    """
    if csv_path and json_path:
        raise click.UsageError("--csv and --json cannot be combined: make one call for each.")
    if path := csv_path or json_path:
        destination = Destination(path, is_csv=csv_path is not None)
        context.exit(_export(tool, _pairs(arguments), destination, settings))
    result = asyncio.run(_call(tool, _pairs(arguments), settings))
    click.echo(_text(result))
    if result.is_error:
        context.exit(FAILED)


def _export(tool: str, pairs: list[tuple[str, str]], destination: Destination, settings: Settings) -> int:
    """Write the whole answer of a call and print what was written. Returns the exit code."""
    destination.check()
    with row_spool() as spool:
        export, definition = asyncio.run(_read_pages(tool, pairs, destination, spool, whole_answers(settings)))
        if not export.error:
            write_rows(spool, export, definition, _arguments(pairs), destination)
    click.echo(export.summary, err=destination.is_stdout or bool(export.error))
    if export.error:
        return FAILED
    return SUCCEEDED if export.is_complete else INCOMPLETE


def _pairs(arguments: Sequence[str]) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if not equals or not name:
            raise click.UsageError(f"{argument!r} is not NAME=VALUE.")
        pairs.append((name, value))
    return pairs


async def _call(name: str, pairs: list[tuple[str, str]], settings: Settings) -> CallToolResult:
    result: CallToolResult | None = None
    async with _tool_client(name, settings) as (client, fault, _):
        if not fault:
            result = await client.call_tool(name, _arguments(pairs))
    # Raised outside the client, whose task group would wrap it.
    if result is None:
        raise click.UsageError(fault)
    return result


async def _read_pages(
    name: str, pairs: list[tuple[str, str]], destination: Destination, spool: IO[str], settings: Settings
) -> tuple[Export, Tool]:
    export: tuple[Export, Tool] | None = None
    async with _tool_client(name, settings) as (client, fault, tool):
        if tool:

            async def read_page(cursor: Mapping[str, str]) -> CallToolResult:
                return await client.call_tool(name, {**_arguments(pairs), **cursor})

            export = await read_pages(read_page, destination.path, spool), tool
    if export is None:
        raise click.UsageError(fault)  # outside the client, as above
    return export


@asynccontextmanager
async def _tool_client(name: str, settings: Settings) -> AsyncGenerator[tuple[Client, str, Tool | None]]:
    """A client of a server in this process, the tool of this name if there is one, else why not."""
    from mcp import Client  # noqa: PLC0415 - `--help` needs no protocol

    from kgnav_mcp.app import App  # noqa: PLC0415
    from kgnav_mcp.server import build_server  # noqa: PLC0415

    async with Client(build_server(App(settings))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        yield client, "" if name in tools else _unknown_tool(name, tools, settings), tools.get(name)


def _unknown_tool(name: str, tools: Mapping[str, Tool], settings: Settings) -> str:
    from kgnav_mcp.server.toolsets import load_toolsets  # noqa: PLC0415 - `--help` needs no tools

    if off := [
        toolset_name
        for toolset_name, toolset in load_toolsets().items()
        if name in {tool.name for tool in toolset.tools}
    ]:
        toolsets = ",".join((*settings.toolsets, *off))
        return f"the tool {name!r} is in the toolset {off[0]!r}, which is not enabled. Add --toolsets {toolsets}"
    near = get_close_matches(name, list(tools), n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"The tools are: {', '.join(tools)}."
    return f"unknown tool {name!r}. {hint}"


def _arguments(pairs: list[tuple[str, str]]) -> dict[str, str | list[str]]:
    """Arguments by name, as text, or a list of texts if a name is repeated. The server converts them."""
    texts: dict[str, list[str]] = {}
    for name, text in pairs:
        texts.setdefault(name, []).append(text)
    return {name: values[0] if len(values) == 1 else values for name, values in texts.items()}


def _text(result: CallToolResult) -> str:
    if result.structured_content is not None:
        return json.dumps(result.structured_content, ensure_ascii=False, indent=2)
    return "\n".join(block.text for block in result.content if block.type == "text")
