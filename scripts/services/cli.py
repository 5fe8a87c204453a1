"""`scripts/service STORE COMMAND`: starts, stops and fills a store, and prints its URL."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from .blazegraph import Blazegraph
from .failure import ServiceError
from .fuseki import Fuseki
from .instance import claim, default_home
from .neo4j import Neo4j
from .oxigraph import Oxigraph
from .rdf4j import Rdf4j
from .redis import Redis
from .service import GraphStore, Service
from .virtuoso import Virtuoso

STORES: Mapping[str, type[Service]] = {
    "blazegraph": Blazegraph,
    "fuseki": Fuseki,
    "neo4j": Neo4j,
    "oxigraph": Oxigraph,
    "rdf4j": Rdf4j,
    "redis": Redis,
    "virtuoso": Virtuoso,
}
"""All stores by name."""

STOPPED = 3
"""Exit code of `status` for a store that does not run, as in service managers."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. The exit code is 1 for a failure, with the reason on stderr."""
    given = _parser().parse_args(arguments)
    try:
        given.home = given.home.resolve() if given.home else default_home(given.store)
        store = STORES[given.store](given.home)
        store.chosen = given.flags or ()
        return _run(store, given)
    except (ServiceError, OSError) as error:
        sys.stderr.write(f"{given.store}: {error}\n")
        return 1


def _run(store: Service, given: argparse.Namespace) -> int:
    if given.command == "start":
        is_empty = claim(given.home, given.store, store.data)
        state = "it runs already" if store.pid() else "empty" if is_empty else "not empty: it was used before"
        sys.stderr.write(f"home {given.home}, {state}\n")
        _say(store.start())
    elif given.command == "stop":
        _say("stopped" if store.stop() else "was not running")
    elif given.command == "status":
        pid = store.pid()
        _say(f"running at {store.url}, process {pid}" if pid else "stopped")
        return 0 if pid else STOPPED
    elif given.command == "url":
        _say(store.url)
    elif isinstance(store, GraphStore):
        if given.command == "load":
            store.load(given.files, given.graph_iri)
        else:
            store.clear(given.graph_iri)
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def _parser() -> argparse.ArgumentParser:
    home = argparse.ArgumentParser(add_help=False)
    home.add_argument("--home", type=Path, help="folder of the instance, instead of this checkout's usual one")
    parser = argparse.ArgumentParser(prog="service", description="Real stores on loopback, without Docker.")
    stores = parser.add_subparsers(dest="store", required=True, metavar="STORE")
    for name, store in STORES.items():
        words = (store.__doc__ or "").partition("\n")[0]
        commands = stores.add_parser(name, help=words, description=words)
        commands = commands.add_subparsers(dest="command", required=True, metavar="COMMAND")
        parsers = {
            "start": commands.add_parser(
                "start", parents=[home], help="install it where it is missing, start it, print its home and address"
            )
        }
        commands.add_parser("stop", parents=[home], help="end it and wait until it has ended")
        commands.add_parser("status", parents=[home], help=f"say whether it runs; exit code {STOPPED} where not")
        commands.add_parser("url", parents=[home], help="print its address, whether it runs or not")
        if issubclass(store, GraphStore):
            graph = argparse.ArgumentParser(add_help=False)
            usual = store.graph or "the default graph"
            graph.add_argument("--graph-iri", default=store.graph, metavar="IRI", help=f"the graph meant ({usual})")
            load = parsers["load"] = commands.add_parser("load", parents=[home, graph], help="load files while it runs")
            load.add_argument("files", nargs="+", type=Path, metavar="FILE", help=f"one of {', '.join(store.formats)}")
            commands.add_parser("clear", parents=[home, graph], help="empty one graph")
        for command, flags in store.flags.items():
            for flag, meaning in flags.items():
                parsers[command].add_argument(
                    f"--{flag}", dest="flags", action="append_const", const=flag, help=meaning
                )
    parser.set_defaults(flags=None)
    return parser
