"""Makes the entry of this server from the graphs that it has to serve: absolute paths, no secrets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from kgnav_mcp.adapters import FILE, scheme_of
from kgnav_mcp.cli.clients import ServerEntry
from kgnav_mcp.cli.clients.entry import lasting_command
from kgnav_mcp.config import (
    DEMO_LOCATION,
    Settings,
    configured_graph_names,
    find_config_file,
    graphs_from_environment,
    load_settings,
)
from kgnav_mcp.errors import ConfigurationError, InvalidArgument

GRAPH_VARIABLE = "KGNAV_GRAPH"
"""The variable that holds the graphs where their locations have passwords."""


def remote_entry(url: str) -> ServerEntry:
    """The entry of a server that runs elsewhere.

    Raises:
        InvalidArgument: the URL is not one of http or https, or it contains a password.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidArgument(f"{url!r} is not the address of a server", next_step="Write it as http://HOST:8365/mcp.")
    if parts.password or parts.username:
        raise InvalidArgument(
            "the address contains a user or password, which is never written into a client's file",
            next_step="Leave it out, and give the client its credentials as its documentation says.",
        )
    if parts.path in {"", "/"}:
        raise InvalidArgument(
            f"{url} has no path; `kgnav serve --http` answers at /mcp",
            next_step=f"Write: --http {url.rstrip('/')}/mcp",
        )
    return ServerEntry(url=url)


def local_entry(graphs: Sequence[str], config_file: Path | None) -> ServerEntry:
    """The entry that starts this installation with graphs.

    Args:
        graphs: values of `--graph`: a name of the configuration file, a location, or NAME=LOCATION.
        config_file: the configuration file of the server; None for the one that is found from here.

    Raises:
        ConfigurationError: a graph is unknown or its file does not exist, or the configuration is wrong.
    """
    found = find_config_file(config_file)
    graphs = graphs or graphs_from_environment()
    settings = load_settings(graphs=graphs, config_file=config_file)
    _check_files(settings)
    configured = configured_graph_names(config_file)
    command, *arguments = lasting_command()
    if found:
        arguments += ["--config", str(found.absolute())]
    locations = {name: _absolute(graph.location) for name, graph in settings.graphs.items()}
    secret = False
    chosen: list[str] = []
    for text, (name, location) in zip(graphs, locations.items(), strict=True) if graphs else ():
        if text in configured:
            chosen += ["--graph", name]
        else:
            secret = secret or _has_password(location)
            chosen += ["--graph", location if name == location == DEMO_LOCATION else f"{name}={location}"]
    if secret:  # a variable holds all graphs, so that the entry must not name others
        return ServerEntry(command, tuple(arguments), variables=(GRAPH_VARIABLE,))
    return ServerEntry(command, (*arguments, *chosen))


def _has_password(location: str) -> bool:
    return "://" in location and bool(urlsplit(location).password)


def _absolute(location: str) -> str:
    is_path = location != DEMO_LOCATION and scheme_of(location) == FILE and "://" not in location
    return str(Path(location).expanduser().absolute()) if is_path else location


def _check_files(settings: Settings) -> None:
    for graph in settings.graphs.values():
        path = Path(graph.location)
        if graph.location != DEMO_LOCATION and scheme_of(graph.location) == FILE and not path.exists():
            raise ConfigurationError(
                f"the graph file {path} does not exist",
                next_step=f"Make it from its sources: kgnav load SOURCES... -o {path.with_suffix('.kg')}",
            )
