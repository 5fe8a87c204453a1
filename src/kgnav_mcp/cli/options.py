"""Options shared by commands: the graphs, the configuration file, and a flag for every setting.

The flags are generated from the settings, so that a new setting has its flag and help text at once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from kgnav_mcp.cli.completion import complete_graph
from kgnav_mcp.config import SettingFacts, describe_settings, load_settings

Result = TypeVar("Result")
Decorator = Callable[[Callable[..., Result]], Callable[..., Result]]

_METAVARS = {int: "N", float: "NUMBER", tuple: "A,B,...", str: "TEXT"}


JSON_FLAG = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")


def print_json(result: Mapping[str, object]) -> None:
    """Print a result for a program."""
    click.echo(json.dumps(result, ensure_ascii=False, indent=2))


def with_settings(*, http: bool = False) -> Decorator[Any]:
    """Add an option for each setting to a command. The command receives all settings as its argument `settings`.

    Args:
        http: whether to add the options of the HTTP server, too.
    """
    settings = [facts for facts in describe_settings() if facts.flag and (http or facts.path[0] != "http")]

    def decorate(command: Callable[..., Result]) -> Callable[..., Result]:
        @wraps(command)
        def configured(
            *, graph: tuple[str, ...], config_file: Path | None, http_address: str | None = None, **values: object
        ) -> Result:
            flags: dict[str, Any] = {}
            for facts in settings:
                if (value := values.pop(_parameter(facts), None)) is not None:
                    _set_nested(flags, facts.path, value)
            if http_address:
                flags["http"] = {**_address(http_address), **flags.get("http", {})}
            return command(settings=load_settings(flags, graphs=graph, config_file=config_file), **values)

        with_flags: Callable[..., Result] = configured
        for facts in reversed(settings):
            with_flags = _option(facts)(with_flags)
        with_flags = _CONFIG(with_flags)
        return _GRAPH(with_flags)

    return decorate


_GRAPH = click.option(
    "--graph",
    "-g",
    multiple=True,
    metavar="[NAME=]LOCATION",
    shell_complete=complete_graph,
    help="A graph to serve: a path, the URL of a store, demo, or a name from kgnav.toml. Repeat it for several. "
    "[default: those of kgnav.toml, else demo; env: KGNAV_GRAPH]",
)
_CONFIG = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The configuration file. [default: ./kgnav.toml, else kgnav/kgnav.toml in the user's configuration folder; "
    "env: KGNAV_CONFIG]",
)


def _parameter(facts: SettingFacts) -> str:
    return "__".join(facts.path)


def _option(facts: SettingFacts) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    meaning = facts.meaning[0].upper() + facts.meaning[1:] if facts.meaning[1:2] != ":" else facts.meaning
    text = f"{meaning}. [default: {facts.default}; env: {facts.env}]"
    if facts.kind is bool:
        return click.option(f"{facts.flag}/--no-{facts.flag[2:]}", _parameter(facts), default=None, help=text)
    metavar = "SECONDS" if facts.kind is float and "seconds" in facts.meaning else _METAVARS[facts.kind]
    return click.option(facts.flag, _parameter(facts), metavar=metavar, help=text)


def _set_nested(flags: dict[str, Any], path: tuple[str, ...], value: object) -> None:
    for part in path[:-1]:
        flags = flags.setdefault(part, {})
    flags[path[-1]] = value


def _address(text: str) -> Mapping[str, str]:
    """The parts of `HOST:PORT`, `HOST` or `:PORT`. A host with colons (IPv6) must be in brackets."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, ""
    parts = {"host": host.removeprefix("[").removesuffix("]"), "port": port}
    return {name: part for name, part in parts.items() if part}
