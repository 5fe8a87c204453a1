"""Whether `find_node` ranks the right entity first for names as people write them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from urllib.parse import quote

from kgnav_bench import queries, report, variants
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.tables import parse

AT_LEAST = 0.99
"""Least accepted share of each variant that is ranked first."""

_SHOWN = 10


@dataclass(slots=True)
class Tally:
    """The results of one way to write names. `taken` counts variants that are exactly the name of another entity."""

    asked: int = 0
    first: int = 0
    shown: int = 0
    taken: int = 0
    seconds: list[float] = field(default_factory=list[float])
    missed: list[str] = field(default_factory=list[str])


def run(graph: Path, sample: int | None, seed: int, misses: int) -> str:
    """The report on `find_node` for each preferred name, its singular, its plural, and with one typo.

    Any entity with exactly the intended name counts as right. A variant equal to the name is skipped. `misses` is the
    number of failures to list.
    """
    chance = random.Random(seed)  # noqa: S311 - a choice of samples, not a secret
    names, known = _names(graph)
    if sample is not None and len(names) > sample:
        names = sorted(chance.sample(names, sample))
    ways: dict[str, Callable[[str], str]] = {
        "the name": lambda name: name,
        "its singular": variants.singular,
        "its plural": variants.plural,
        "one typo": lambda name: variants.typo(name, chance),
    }
    found: dict[str, Tally] = {}
    with BareClient(server_command(graph)) as client:
        for way, written in ways.items():
            found[way] = tally = Tally()
            for name in names:
                hint = written(name)
                if hint == name and way != "the name":
                    continue
                if hint.casefold() in known and hint.casefold() != name.casefold():
                    tally.taken += 1
                    continue
                _ask(client, name, hint, tally)
    return _report(graph.name, found, misses)


def _ask(client: BareClient, name: str, hint: str, tally: Tally) -> None:
    begin = perf_counter()
    answer = client.call("find_node", {"hint": hint, "limit": _SHOWN})
    tally.seconds.append(perf_counter() - begin)
    shown = [cell.strip() for cell in parse(answer).column("name")]
    tally.asked += 1
    tally.shown += name in shown
    if name in shown[:1]:
        tally.first += 1
    else:
        tally.missed.append(f"{hint!r} for {name!r}: {shown[:1]}")


def _names(graph: Path) -> tuple[list[str], set[str]]:
    """The names by which entities are shown, and all names and aliases, ignoring case."""
    uri = f"file:{quote(str(graph.absolute()))}?mode=ro&immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        shown = sorted({str(name).strip() for (name,) in connection.execute(queries.SHOWN_NAMES)})
        known = {str(name).casefold() for (name,) in connection.execute(queries.ALL_NAMES)}
    return [name for name in shown if _plain(name)], known


def _plain(name: str) -> bool:
    """Whether an answer prints the name unchanged, so that it can be parsed."""
    return name.isprintable() and any(letter.isalpha() for letter in name)


def _report(title: str, found: dict[str, Tally], misses: int) -> str:
    rows = [
        (
            way,
            f"{tally.asked:,}",
            report.share(tally.first, tally.asked),
            report.share(tally.shown, tally.asked),
            f"{tally.taken:,}",
            *report.timing(tally.seconds or [0.0]),
        )
        for way, tally in found.items()
    ]
    columns = ("written as", "asked", "first", f"in the first {_SHOWN}", "another's name", "median ms", "p95 ms")
    verdicts = [
        report.verdict(tally.first >= AT_LEAST * tally.asked, f"{way}: first in {AT_LEAST:.0%} at least")
        for way, tally in found.items()
    ]
    missed = [f"not first: {line}" for tally in found.values() for line in _first(tally.missed, misses)]
    return "\n".join((title, "", report.table(columns, rows), "", *verdicts, *missed))


def _first(lines: Iterable[str], most: int) -> list[str]:
    return list(lines)[:most]
