"""`kgnav doctor`: checks this installation and whether its graphs answer."""

from __future__ import annotations

import asyncio
import platform
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

import click

from kgnav_mcp import __version__
from kgnav_mcp.cli.boundary import FAILED, Command
from kgnav_mcp.cli.installation import extra_command
from kgnav_mcp.cli.options import with_settings
from kgnav_mcp.config import Settings, find_config_file
from kgnav_mcp.errors import KgnavError
from kgnav_mcp.model import Certainty, Count

if TYPE_CHECKING:
    from kgnav_mcp.app import Graph


_DRIVERS = ("SPARQLWrapper", "neo4j")


@click.command(
    cls=Command,
    short_help="Check this installation and its graphs.",
    epilog="""\b
Examples:
  kgnav doctor                       the graphs of kgnav.toml, else the demo graph
  kgnav doctor --graph films.kg

Exit code: 0 if every graph answers, 1 if one does not, 2 if the configuration is wrong.""",
)
@with_settings()
@click.pass_context
def doctor(context: click.Context, *, settings: Settings) -> None:
    """Check this installation and its graphs: do they answer, how large are they, what would make them better."""
    click.echo(f"kgnav-mcp {__version__}, Python {platform.python_version()}, mcp {version('mcp')}, {_sqlite()}")
    click.echo(f"drivers: {', '.join(f'{name} {_version(name)}' for name in _DRIVERS)}")
    click.echo(f"extras: {', '.join(_extras())}")
    click.echo(f"configuration file: {find_config_file(context.params['config_file']) or 'none'}")
    if not asyncio.run(_check(settings)):
        context.exit(FAILED)


def _sqlite() -> str:
    with closing(sqlite3.connect(":memory:")) as connection:
        (has_text_search,) = connection.execute("SELECT sqlite_compileoption_used('ENABLE_FTS5')").fetchone()
    return f"SQLite {sqlite3.sqlite_version} {'with' if has_text_search else 'WITHOUT'} FTS5"


def _extras() -> Iterator[str]:
    """The declared extras, each with the versions of its packages or the command that installs it."""
    packages: dict[str, list[str]] = defaultdict(list)
    for requirement in requires("kgnav-mcp") or ():
        match = re.match(r"([\w.-]+).*extra == ['\"](\w+)['\"]", requirement)
        if match is not None and match[2] != "all":
            packages[match[2]].append(match[1])
    for extra, names in packages.items():
        try:
            yield f"{extra} ({', '.join(f'{name} {version(name)}' for name in names)})"
        except PackageNotFoundError:
            yield f"{extra} (not installed: {extra_command(extra)})"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "IS MISSING"


async def _check(settings: Settings) -> bool:
    from kgnav_mcp.app import App  # noqa: PLC0415 - brings the adapters' floor

    async with App(settings) as app:
        return all([await _check_graph(graph, settings) for graph in app.graphs.values()])


async def _check_graph(graph: Graph, settings: Settings) -> bool:
    title = f"graph {graph.name} ({settings.graphs[graph.name].shown_location})"
    try:
        async with graph.adapter() as adapter:
            health = await adapter.health()
    except KgnavError as error:
        _report(title, False, [error.message], [error.next_step])
        return False
    size = f"{count_text(health.entities)} entities, {count_text(health.triples)} triples"
    _report(title, health.reachable, [health.store, size], health.advice)
    return health.reachable


def _report(title: str, reachable: bool, facts: list[str], advice: Iterable[str]) -> None:
    click.echo(f"{title}: {'ok' if reachable else 'DOES NOT ANSWER'}: {', '.join(fact for fact in facts if fact)}")
    for step in advice:
        if step:
            click.echo(f"  {step}")


def count_text(count: Count) -> str:
    """A count in words: exact, at least so many, or unknown."""
    prefix = {Certainty.EXACT: "", Certainty.AT_LEAST: "at least "}
    return (
        "an unknown number of" if count.certainty is Certainty.UNKNOWN else f"{prefix[count.certainty]}{count.value:,}"
    )
