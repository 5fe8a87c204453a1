"""The command line of the audit."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from . import report
from .audit import ask, generate
from .client import over_http, over_stdio
from .outcome import Outcome
from .sources import SOURCES, Place
from .stores import STORES, running, stores_of

_ROOT = Path(__file__).parents[2]
_DATA = Path(os.environ.get("KGNAV_DATA") or _ROOT.parent / "shared" / "data")
_OVER_HTTP = 10
"""Questions asked once more over HTTP."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the audit. The exit code is 1 if an answer is wrong, or too many questions are refused or not judged."""
    given = _parser().parse_args(arguments)
    folder = given.home.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    place = Place(folder, given.data, given.seed, given.small)
    sources = {name: SOURCES[name](place) for name in given.graphs}
    questions = {
        name: generate(source.graph, source.mix, given.questions, given.seed) for name, source in sources.items()
    }
    questions = {name: [each for each in some if given.kind in each.kind] for name, some in questions.items()}
    outcomes: dict[tuple[str, str], Sequence[Outcome]] = {}
    for store in given.stores:
        held = [name for name, source in sources.items() if store in stores_of(source)]
        if not held:
            continue
        with running(store, folder / "services") as fill:
            for name in held:
                began = time.monotonic()
                location = fill(sources[name], given.kgnav)
                environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
                serve = over_stdio(given.kgnav, location, environment)
                outcomes[name, store] = asyncio.run(ask(serve, sources[name].graph, questions[name]))
                if store == given.stores[0]:
                    again = over_http(given.kgnav, location, environment)
                    some = questions[name][:: max(1, given.questions // _OVER_HTTP)]
                    outcomes[name, f"{store} (HTTP)"] = asyncio.run(ask(again, sources[name].graph, some))
                own = {key: found for key, found in outcomes.items() if key[0] == name and key[1].startswith(store)}
                _print(report.details(own))
                _print(report.rows(own))
                sys.stderr.write(f"{name} on {store}: {time.monotonic() - began:.0f} s\n")
    _print(["", *report.kinds(outcomes), "", *report.table(outcomes)])
    return int(report.failed(outcomes))


def _print(lines: Iterable[str]) -> None:
    """Print lines at once, so that a run that is stopped has shown what it found."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="audit", description="Compares every store's answers with plain Python over the raw files."
    )
    add = parser.add_argument
    add("--graphs", nargs="+", choices=list(SOURCES), default=list(SOURCES), help="graphs to ask about (all)")
    add("--stores", nargs="+", choices=STORES, default=list(STORES), help="stores to ask (all)")
    add("--questions", type=int, default=200, help="questions for each graph (200)")
    add("--kind", default="", help="ask only questions of kinds with this in their names, such as find_node")
    add("--seed", type=int, default=1, help="of the graphs and the questions (1)")
    add("--small", action="store_true", help="make small graphs, for a quick run")
    add("--home", type=Path, default=_ROOT / ".cache" / "audit", help="folder of the files and the stores")
    add("--data", type=Path, default=_DATA, help="folder of the test data (KGNAV_DATA, or beside the checkout)")
    default = Path(sys.executable).with_name("kgnav")
    add("--kgnav", type=Path, default=default, help="the command to audit, of this or another installation")
    return parser
