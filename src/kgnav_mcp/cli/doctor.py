"""`kgnav doctor`: checks this installation and whether its graphs answer."""

from __future__ import annotations

import asyncio
import platform
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kgnav_mcp import __version__
from kgnav_mcp.cli.boundary import FAILED, Command
from kgnav_mcp.cli.clients import extra_command
from kgnav_mcp.cli.options import JSON_FLAG, print_json, with_settings
from kgnav_mcp.config import Settings, find_config_file
from kgnav_mcp.errors import KgnavError
from kgnav_mcp.model import Health
from kgnav_mcp.render.columns import count_json

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
@JSON_FLAG
@with_settings()
@click.pass_context
def doctor(context: click.Context, *, as_json: bool, settings: Settings) -> None:
    """Check this installation and its graphs: whether they answer, their size, and how to improve them."""
    config_file = find_config_file(context.params["config_file"])
    if not as_json:
        _print_installation(config_file)
    graphs = asyncio.run(_check(settings, None if as_json else _print_graph))
    if as_json:
        print_json(_report_json(config_file, graphs))
    if not all(graph.ok for graph in graphs):
        context.exit(FAILED)


def _print_installation(config_file: Path | None) -> None:
    click.echo(f"kgnav-mcp {__version__}, Python {platform.python_version()}, mcp {version('mcp')}, {_sqlite()}")
    click.echo(f"drivers: {', '.join(f'{name} {_version(name)}' for name in _DRIVERS)}")
    click.echo(f"extras: {', '.join(_extras())}")
    click.echo(f"configuration file: {config_file or 'none'}")


def _report_json(config_file: Path | None, graphs: Sequence[CheckedGraph]) -> dict[str, object]:
    return {
        "version": __version__,
        "python": platform.python_version(),
        "mcp": version("mcp"),
        "sqlite": _sqlite(),
        "drivers": {name: _version(name) for name in _DRIVERS},
        "extras": [*_extras()],
        "configurationFile": None if config_file is None else str(config_file),
        "graphs": [graph.as_json for graph in graphs],
    }


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


@dataclass(frozen=True, slots=True)
class CheckedGraph:
    """The result of checking one graph. Without `health` the store could not be opened; `error` says why."""

    name: str
    location: str
    health: Health | None = None
    error: KgnavError | None = None

    @property
    def ok(self) -> bool:
        """Whether the graph answers."""
        return self.health is not None and self.health.reachable

    @property
    def as_json(self) -> dict[str, object]:
        """The result as JSON."""
        facts: dict[str, object] = {"name": self.name, "location": self.location, "ok": self.ok}
        if self.error:
            return facts | {"error": self.error.message, "nextStep": self.error.next_step}
        if self.health:
            sizes = {"entities": self.health.entities, "triples": self.health.triples}
            facts |= {"store": self.health.store, "advice": [*self.health.advice]}
            for name, count in sizes.items():
                facts |= {name: count_json(count), f"{name}Certainty": str(count.certainty)}
        return facts


async def _check(settings: Settings, listener: Callable[[CheckedGraph], None] | None) -> Sequence[CheckedGraph]:
    from kgnav_mcp.app import App  # noqa: PLC0415 - brings the adapters' floor

    checked: list[CheckedGraph] = []
    async with App(settings) as app:
        for graph in app.graphs.values():
            checked.append(await _check_graph(graph, settings))
            if listener:
                listener(checked[-1])
    return checked


async def _check_graph(graph: Graph, settings: Settings) -> CheckedGraph:
    location = settings.graphs[graph.name].shown_location
    try:
        async with graph.adapter() as adapter:
            return CheckedGraph(graph.name, location, await adapter.health())
    except KgnavError as error:
        return CheckedGraph(graph.name, location, error=error)


def _print_graph(graph: CheckedGraph) -> None:
    facts, advice = [""], ()
    if graph.error:
        facts, advice = [graph.error.message], (graph.error.next_step,)
    elif graph.health:
        size = f"{graph.health.entities.words} entities, {graph.health.triples.words} triples"
        facts, advice = [graph.health.store, size], graph.health.advice
    state = "ok" if graph.ok else "DOES NOT ANSWER"
    click.echo(f"graph {graph.name} ({graph.location}): {state}: {', '.join(fact for fact in facts if fact)}")
    for step in advice:
        if step:
            click.echo(f"  {step}")
