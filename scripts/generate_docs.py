"""Write the generated parts of the documentation: tables within pages, pictures and the schema.

    python -m scripts.generate_docs            rewrite them
    python -m scripts.generate_docs --check    fail if they are not what they would be rewritten to

In a page of PARTS everything between `<!-- NAME:begin -->` and `<!-- NAME:end -->` is generated. Those of FILES are
generated as a whole.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mcp import Client
from scripts.docs_pictures import maze_picture, walk_picture

from kgnav_mcp.adapters.embedded.loading.formats import FORMATS, LOADED
from kgnav_mcp.app import App
from kgnav_mcp.config import TOOLSETS, Settings, describe_settings
from kgnav_mcp.server import build_server
from kgnav_mcp.server.toolsets import load_toolsets
from kgnav_mcp.server.trail_recorder import TRAIL
from kgnav_mcp.trails import trail_schema
from kgnav_mcp.values.aggregates import AGGREGATES
from kgnav_mcp.values.functions import FUNCTIONS, FunctionEntry

if TYPE_CHECKING:
    from mcp_types import Tool

ROOT = Path(__file__).resolve().parent.parent


def tools_table() -> str:
    """The tools of all toolsets, as `tools/list` returns them."""
    rows = [
        (f"`{tool.name}({_parameters(tool)})`", " ".join(filter(None, (_first_sentence(tool), _off_by_default(tool)))))
        for tool in asyncio.run(_tools(tuple(TOOLSETS)))
    ]
    return _table(("tool", "what it answers"), rows)


async def _tools(toolsets: tuple[str, ...], *, structured: bool = False) -> list[Tool]:
    async with Client(build_server(App(Settings(toolsets=toolsets, structured=structured)))) as client:
        return (await client.list_tools()).tools


def toolsets_table() -> str:
    """The toolsets with their tools."""
    rows = [
        (
            f"`{name}`" if TOOLSETS[name].default else f"`{name}` (off)",
            toolset.title,
            ", ".join(f"`{tool.name}`" for tool in toolset.tools),
        )
        for name, toolset in load_toolsets().items()
    ]
    return _table(("`--toolsets`", "what it is", "tools"), rows)


def columns_table() -> str:
    """The columns of each tool's rows in JSON with their types: a line for each table that it may answer with."""
    rows: list[tuple[str, ...]] = []
    for tool in asyncio.run(_tools(tuple(TOOLSETS), structured=True)):
        schema = cast("dict[str, Any]", tool.output_schema)["properties"]["rows"]["items"]
        for row in schema.get("anyOf", [schema]):
            shown = ", ".join(f"`{name}` {kind}" for name, kind in _column_types(row).items())
            rows.append((f"`{tool.name}`", shown or "those of the plan"))
    return _table(("tool", "columns"), rows)


def _column_types(row: Mapping[str, Any]) -> dict[str, str]:
    """The columns of a row and their types in short; `?` ends those that may be left out."""
    required = row.get("required", ())
    properties: dict[str, Mapping[str, Any]] = row.get("properties", {})
    return {name if name in required else f"{name}?": _type(schema) for name, schema in properties.items()}


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).removeprefix("#/$defs/")
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("type") == "object":
        return f"{{{', '.join(f'{name}: {kind}' for name, kind in _column_types(schema).items())}}}"
    if "enum" in schema:
        return " or ".join(f"'{value}'" for value in schema["enum"])
    return str(schema.get("type") or schema["const"])


def _required(tool: Tool) -> list[str]:
    return cast("list[str]", tool.input_schema.get("required", []))


def _parameters(tool: Tool) -> str:
    required = _required(tool)
    properties = cast("dict[str, Any]", tool.input_schema.get("properties", {}))
    return ", ".join(
        name if name in required else f"{name}?" for name in properties if name in required or name != TRAIL
    )


def _first_sentence(tool: Tool) -> str:
    text = " ".join((tool.description or "").split())
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]


def _off_by_default(tool: Tool) -> str:
    """How to enable a tool that is off by default; empty for other tools."""
    for name, toolset in load_toolsets().items():
        if tool.name in {spec.name for spec in toolset.tools} and not TOOLSETS[name].default:
            return f"{toolset.title}; off by default: `--toolsets` has to name `{name}`."
    return ""


def skill_tools_table() -> str:
    """The tools that are on by default, for a model that chooses one, with the arguments that it must give."""
    rows = [
        (f"`{tool.name}({', '.join(_required(tool))})`", _first_sentence(tool))
        for tool in asyncio.run(_tools(Settings().toolsets))
    ]
    return _table(("call", "what it answers"), rows)


def settings_table() -> str:
    """Every setting with its key, variable, flag and default."""
    rows = [("`--graph`", "`KGNAV_GRAPH`", "`[graphs.NAME]`", "demo", "graphs to serve")]
    rows += [
        (f"`{facts.flag}`" if facts.flag else "none", f"`{facts.env}`", f"`{facts.key}`", facts.default, facts.meaning)
        for facts in describe_settings()
    ]
    return _table(("flag", "variable", "key in kgnav.toml", "default", "meaning"), rows)


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def formats_table() -> str:
    """The formats that `kgnav load` reads, and those that it recognises and refuses."""
    rows = [
        (form.title, f"`{form.name}`", " ".join(f"`{suffix}`" for suffix in form.suffixes), form.extra)
        for form in LOADED
    ]
    refused = dict.fromkeys(form.title for form in FORMATS if form.refuse)
    loaded = _table(("format", "`--format`", "suffixes", "extra"), rows)
    return f"{loaded}\n\nRecognised and refused with the way to convert them: {', '.join(refused)}."


def functions_table() -> str:
    """The functions of plans, then the aggregates."""
    rows = [
        (f"`{function}({_arguments(entry)})`", entry.meaning + _other_names(entry.names))
        for function, entry in FUNCTIONS.items()
    ]
    rows += [
        (f"`{function}(x{', share' if entry.takes_share else ''})`", entry.meaning + _other_names(entry.names))
        for function, entry in AGGREGATES.items()
    ]
    return _table(("function", "what it gives"), rows)


def _arguments(entry: FunctionEntry) -> str:
    written = [kind.value for kind in entry.takes]
    required = len(written) - entry.optional
    shown = [*written[:required], *(f"{each}?" for each in written[required:])]
    return ", ".join((*shown, "...") if entry.repeated else shown)


def _other_names(names: Sequence[str]) -> str:
    return f" Also {', '.join(f'`{name}`' for name in names)}." if names else ""


PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "docs/tools.md": {"tools": tools_table, "toolsets": toolsets_table, "columns": columns_table},
    "docs/settings.md": {"settings": settings_table},
    "docs/formats.md": {"formats": formats_table},
    "docs/plans.md": {"functions": functions_table},
    "src/kgnav_mcp/cli/SKILL.md": {"skill_tools": skill_tools_table},
}
"""The generated parts of each page by their names."""

FILES: Mapping[str, Callable[[], str]] = {
    "docs/trail.schema.json": lambda: json.dumps(trail_schema(), indent=2) + "\n",
    "docs/pictures/walk.svg": lambda: asyncio.run(walk_picture()),
    "docs/pictures/maze.svg": lambda: asyncio.run(maze_picture()),
}


def rewritten(page: str) -> str:
    """The text of a page with all generated parts up to date.

    Raises:
        ValueError: a part has no pair of markers, or more than one.
    """
    text = (ROOT / page).read_text(encoding="utf-8")
    for name, generate in PARTS[page].items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise ValueError(f"{page} must have {begin} and {end} once each, in this order")
        before, after = text.split(begin, maxsplit=1)[0], text.split(end)[1]
        text = f"{before}{begin}\n{generate()}\n{end}{after}"
    return text


def main(arguments: list[str]) -> int:
    """Rewrite the generated parts, or with `--check` only compare them."""
    try:
        wanted = {ROOT / page: rewritten(page) for page in PARTS}
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    wanted |= {ROOT / name: generate() for name, generate in FILES.items()}
    changed = {file: text for file, text in wanted.items() if _text(file) != text}
    if "--check" not in arguments:
        for file, text in changed.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    elif changed:
        names = ", ".join(str(file.relative_to(ROOT)) for file in changed)
        sys.stderr.write(f"Not what the code says: {names}. Run: make docs\n")
        return 1
    return 0


def _text(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.is_file() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
