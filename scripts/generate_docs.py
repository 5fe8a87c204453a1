"""Write the parts of README.md that are facts of the code: the table of tools and the table of settings.

    python scripts/generate_docs.py            rewrite them
    python scripts/generate_docs.py --check    fail if they are not what they would be rewritten to

A part stands between `<!-- NAME:begin -->` and `<!-- NAME:end -->`, and everything between is generated.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mcp import Client

from kgnav_mcp.app import App
from kgnav_mcp.config import TOOLSETS, Settings, describe_settings
from kgnav_mcp.server import build_server
from kgnav_mcp.server.recording import TRAIL
from kgnav_mcp.server.toolsets import load_toolsets

if TYPE_CHECKING:
    from mcp_types import Tool

README = Path(__file__).resolve().parent.parent / "README.md"


def tools_table() -> str:
    """The tools of every toolset, as tools/list gives them where all are on."""

    async def listed() -> list[Tool]:
        async with Client(build_server(App(Settings(toolsets=tuple(TOOLSETS))))) as client:
            return (await client.list_tools()).tools

    rows = [
        (f"`{tool.name}({_parameters(tool)})`", " ".join(filter(None, (_first_sentence(tool), _off_by_default(tool)))))
        for tool in asyncio.run(listed())
    ]
    return _table(("tool", "what it answers"), rows)


def _parameters(tool: Tool) -> str:
    required = cast("list[str]", tool.input_schema.get("required", []))
    properties = cast("dict[str, Any]", tool.input_schema.get("properties", {}))
    return ", ".join(
        name if name in required else f"{name}?" for name in properties if name in required or name != TRAIL
    )


def _first_sentence(tool: Tool) -> str:
    text = " ".join((tool.description or "").split())
    return re.split(r"(?<=[.!?])\s", text, maxsplit=1)[0]


def _off_by_default(tool: Tool) -> str:
    """How to switch a tool on, where it is off by default."""
    for toolset in load_toolsets():
        if tool.name in {spec.name for spec in toolset.tools} and not TOOLSETS[toolset.name].default:
            return f"{toolset.title}; off by default: `--toolsets` has to name `{toolset.name}`."
    return ""


def settings_table() -> str:
    """Every setting in its four forms."""
    rows = [("`--graph`", "`KGNAV_GRAPH`", "`[graphs.NAME]`", "demo", "graphs to serve")]
    rows += [
        (f"`{facts.flag}`" if facts.flag else "none", f"`{facts.env}`", f"`{facts.key}`", facts.default, facts.meaning)
        for facts in describe_settings()
    ]
    return _table(("flag", "variable", "key in kgnav.toml", "default", "meaning"), rows)


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


PARTS: Mapping[str, Callable[[], str]] = {"tools": tools_table, "settings": settings_table}


def rewritten(text: str) -> str:
    """The text with every generated part as it should be.

    Raises:
        ValueError: a part has no markers, or more than one pair.
    """
    for name, generate in PARTS.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
            raise ValueError(f"README.md must have {begin} and {end} once each, in this order")
        before, after = text.split(begin, maxsplit=1)[0], text.split(end)[1]
        text = f"{before}{begin}\n{generate()}\n{end}{after}"
    return text


def main(arguments: list[str]) -> int:
    """Rewrite README.md, or with `--check` only compare it."""
    text = README.read_text(encoding="utf-8")
    try:
        wanted = rewritten(text)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if "--check" not in arguments:
        README.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        sys.stderr.write("README.md does not say what the code says. Run: make docs\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
