"""Measures whether `find_node` ranks the right entity first for names as people write them."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from urllib.parse import quote

from kgnav_bench import queries, report, variants
from kgnav_bench.client import BareClient, server_command
from kgnav_bench.replay import Caller
from kgnav_bench.runs import Run
from kgnav_bench.tables import parse

AT_LEAST = 0.99
"""Minimum share of names that are ranked first, for each kind of variant."""

_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Asked:
    """One spelling of a name, the names found for it, best first, and the duration of the call in seconds."""

    name: str
    hint: str
    shown: list[str]
    seconds: float


@dataclass(slots=True)
class Tally:
    """The results of one kind of variant. `taken` counts variants that are exactly the name of another entity."""

    asked: list[Asked]
    taken: int

    @property
    def first(self) -> int:
        return sum(each.shown[:1] == [each.name] for each in self.asked)

    @property
    def shown(self) -> int:
        return sum(each.name in each.shown for each in self.asked)

    @property
    def missed(self) -> list[str]:
        return [
            f"{each.hint!r} for {each.name!r}: {each.shown[:1]}" for each in self.asked if each.shown[:1] != [each.name]
        ]


def run(record: Run, graph: Path, sample: int | None, seed: int, misses: int) -> str:
    """Call `find_node` for each preferred name, its singular, its plural, and with one typo. Returns the report.

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
    for way, written in ways.items():
        hints = {name: written(name) for name in names}
        changed = {name: hint for name, hint in hints.items() if hint != name or way == "the name"}
        asked = {
            name: (name, hint)
            for name, hint in changed.items()
            if hint.casefold() not in known or hint.casefold() == name.casefold()
        }
        found[way] = Tally(record.measured(way, Asked, asked, partial(_asking, graph)), len(changed) - len(asked))
    return _report(graph.name, found, misses)


@contextmanager
def _asking(graph: Path) -> Generator[Sequence[Callable[[tuple[str, str]], Asked]]]:
    """A function that asks for a name as it is written."""
    with BareClient(server_command(graph)) as client:
        yield [lambda both: _ask(client, *both)]


def _ask(client: Caller, name: str, hint: str) -> Asked:
    begin = perf_counter()
    answer = client.call("find_node", {"hint": hint, "limit": _SHOWN})
    seconds = perf_counter() - begin
    return Asked(name, hint, [cell.strip() for cell in parse(answer).column("name")], seconds)


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
            f"{len(tally.asked):,}",
            report.share(tally.first, len(tally.asked)),
            report.share(tally.shown, len(tally.asked)),
            f"{tally.taken:,}",
            *report.timing([each.seconds for each in tally.asked] or [0.0]),
        )
        for way, tally in found.items()
    ]
    columns = ("written as", "asked", "first", f"in the first {_SHOWN}", "another's name", "median ms", "p95 ms")
    verdicts = [
        report.verdict(tally.first >= AT_LEAST * len(tally.asked), f"{way}: first in {AT_LEAST:.0%} at least")
        for way, tally in found.items()
    ]
    missed = [f"not first: {line}" for tally in found.values() for line in _first(tally.missed, misses)]
    return "\n".join((title, "", report.table(columns, rows), "", *verdicts, *missed))


def _first(lines: Iterable[str], most: int) -> list[str]:
    return list(lines)[:most]
