"""Interprets the location of a graph as typed by a user: a graph file, a store's URL, or sources to load first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from kgnav_mcp.adapters import FILE, installed_adapters, scheme_of
from kgnav_mcp.config import DEMO_LOCATION, Settings
from kgnav_mcp.errors import ConfigurationError, InvalidArgument

WIKIDATA = "wikidata+https://query.wikidata.org/sparql"
_WIKIDATA_HOSTS = ("query.wikidata.org", "query-scholarly.wikidata.org")


@dataclass(frozen=True, slots=True)
class Place:
    """A graph's location, with its user and password apart; or the sources to load if it is not a graph yet."""

    location: str = ""
    user: str = ""
    has_password: bool = False
    full_location: str = ""
    """The location as it was given. It may contain a password: it is never printed or written."""
    sources: tuple[Path, ...] = ()

    @property
    def kind(self) -> str:
        """The name of the adapter's kind: file, neo4j, ladybug, sparql, wikidata or freebase."""
        scheme = scheme_of(self.location).partition("+")[0]
        return "neo4j" if scheme == "bolt" else scheme

    @property
    def name(self) -> str:
        """A name for the graph, made from its file or host."""
        if self.kind == FILE:
            base = Path(self.location).stem
        elif _is_store_in_file(self.location):
            base = Path(urlsplit(self.location).path).stem
        else:
            parts = urlsplit(self.location)
            base = parts.path.strip("/") if self.kind == "neo4j" and parts.path.strip("/") else parts.hostname or ""
            base = "wikidata" if self.kind == "wikidata" and base in _WIKIDATA_HOSTS else base
        name = re.sub(r"[^A-Za-z0-9]+", "_", base).strip("_")
        return name if name[:1].isalpha() else f"graph_{name}".rstrip("_")


def place_of(text: str) -> Place:
    """The place that a text names. A folder means its only graph file, or else the sources in it.

    Raises:
        InvalidArgument: no such path, several graph files in the folder, or an empty folder.
        ConfigurationError: no adapter reads such a URL.
    """
    text = text.strip()
    if text == DEMO_LOCATION:
        return Place(DEMO_LOCATION, full_location=DEMO_LOCATION)
    if text.lower() == "wikidata":
        return Place(WIKIDATA, full_location=WIKIDATA)
    if _is_store_in_file(text):
        scheme, _, path = text.partition(":")
        location = f"{scheme}:{Path(path).expanduser().absolute()}"
        return Place(location, full_location=location)
    if "://" in text:
        return _store(text)
    path = Path(text).expanduser()
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise InvalidArgument(
            f"there is no file or folder {path}",
            next_step="Give a path, or a URL such as bolt://HOST:7687, https://HOST/sparql or wikidata.",
        )
    return _files([path])


def _is_store_in_file(text: str) -> bool:
    """Whether a text is the scheme of a store that is a file, with a path."""
    return scheme_of(text).endswith(f"+{FILE}")


def _store(text: str) -> Place:
    scheme, _, rest = text.partition("://")
    scheme = scheme.lower()
    parts = urlsplit(f"{scheme}://{rest}")
    if scheme in {"http", "https"}:
        if parts.hostname and parts.hostname.endswith("neo4j.io"):
            raise InvalidArgument(
                "this is the address of Neo4j's web console",
                next_step=f"Use the address for drivers: neo4j+s://{parts.hostname}",
            )
        scheme = f"{'wikidata' if parts.hostname in _WIKIDATA_HOSTS else 'sparql'}+{scheme}"
    if scheme not in installed_adapters().names:
        raise ConfigurationError(
            f"no adapter for locations of the kind {scheme!r}",
            next_step=f"Use a URL that starts with one of: {', '.join(sorted(installed_adapters().names - {FILE}))}.",
        )
    full = parts._replace(scheme=scheme)
    bare = urlunsplit(full._replace(netloc=parts.netloc.rpartition("@")[2]))
    return Place(bare, parts.username or "", bool(parts.password), urlunsplit(full))


def _folder(folder: Path) -> Place:
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    graphs = [path for path in files if path.suffix == ".kg"]
    if len(graphs) > 1:
        raise InvalidArgument(
            f"{folder} has {len(graphs)} graph files", next_step=f"Name one of them, such as {graphs[0]}."
        )
    if not files:
        raise InvalidArgument(f"the folder {folder} has no files", next_step="Name another.")
    return _files(graphs or files)


def _files(paths: list[Path]) -> Place:
    from kgnav_mcp.adapters.embedded.graphfile import is_graph_file  # noqa: PLC0415 - `--help` needs no adapter

    if len(paths) == 1 and is_graph_file(paths[0]):
        return Place(str(paths[0]), full_location=str(paths[0]))
    return Place(sources=tuple(paths))


def check_graph_files(settings: Settings) -> None:
    """Check that the graphs exist, those that are files.

    Raises:
        ConfigurationError: a graph file does not exist.
    """
    for graph in settings.graphs.values():
        path = Path(graph.location)
        if graph.location != DEMO_LOCATION and scheme_of(graph.location) == FILE and not path.exists():
            raise ConfigurationError(
                f"the graph file {path} does not exist",
                next_step=f"Make it from its sources: kgnav load SOURCES... -o {path.with_suffix('.kg')}",
            )
