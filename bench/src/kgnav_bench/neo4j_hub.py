"""Compares the server on a live Neo4j with its driver: at a node with a million relationships and nodes with fifty.

Compared calls alternate within one run. The driver runs one statement that returns the facts of the answer, in a read
transaction over an open connection.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, LiteralString

from neo4j import READ_ACCESS, Driver, GraphDatabase, Query, Session

from kgnav_bench import neo4j_queries as queries
from kgnav_bench import report
from kgnav_bench.client import BareClient, noop_command, server_command
from kgnav_bench.noop import TOOL
from kgnav_bench.runs import Run
from kgnav_bench.tables import parse

TYPES = ("FOLLOWS", "LIKES", "VISITED")
LEAVES = 40
DEGREE = 50
HUB = "hub"
SMALL_HUBS = 40
SMALL_DEGREE = 1_000
HUB_CALLS = 5
"""Calls at the hub in a round."""
WARM_UP = 15
"""Number of first rounds that are not counted: a Java server compiles its code while it is used."""

AT_MOST = 2.0
"""Maximum time of `search` on the hub relative to a leaf."""
CHARACTERS = 3_000
"""Maximum length in characters of an answer on the hub."""
ALLOWED_SECONDS, ALLOWED_SHARE = 0.0015, 0.10
_TIMEOUT = 60.0


def make(folder: Path, size: int) -> tuple[Path, Path]:
    """Write node and edge files: a hub with `size` relationships of three types, and smaller nodes for comparison.

    These are forty hubs with a thousand relationships, and forty leaves with fifty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nodes, edges = folder / "nodes.csv", folder / "edges.csv"
    with nodes.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("id:ID", ":LABEL", "name"))
        rows.writerow((HUB, "Place", "The Hub"))
        rows.writerows((_small(n), "Place", f"The Small Hub {n}") for n in range(SMALL_HUBS))
        rows.writerows((_leaf(n), "Place", f"Place Number {n}") for n in range(LEAVES))
        rows.writerows((f"fan{n}", "Fan", f"Fan Number {n}") for n in range(size))
    with edges.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow((":START_ID", ":TYPE", ":END_ID", "since:int"))
        rows.writerows((f"fan{n}", TYPES[n % 3], HUB, 1900 + n % 100) for n in range(size))
        rows.writerows(
            (f"fan{n}", TYPES[n % 3], _small(small), 1900 + n % 100)
            for small in range(SMALL_HUBS)
            for n in range(min(SMALL_DEGREE, size))
        )
        rows.writerows(
            (f"fan{leaf * DEGREE + n}", TYPES[n % 3], _leaf(leaf), 1900 + n)
            for leaf in range(LEAVES)
            for n in range(DEGREE)
        )
    return nodes, edges


def _small(number: int) -> str:
    return f"small{number:02}"


def _leaf(number: int) -> str:
    return f"leaf{number:02}"


@dataclass(frozen=True, slots=True)
class Case:
    """A tool call at a node, and the statement for the part of it that the store does."""

    name: str
    tool: str
    arguments: Callable[[str], Mapping[str, object]]
    statement: LiteralString
    parameters: Callable[[str], dict[str, object]]
    hub: bool = False


def _entity(place: str) -> str:
    return f"Place:id={place}"


def _id(place: str) -> dict[str, object]:
    return {"id": place}


def _misspelt(place: str) -> str:
    return f"Plase Number {int(place.removeprefix('leaf'))}"


CASES = (
    Case(
        "search",
        "search",
        lambda place: {"entity": _entity(place), "direction": "incoming"},
        queries.NEIGHBOURHOOD,
        _id,
    ),
    Case(
        "search, filtered",
        "search",
        lambda place: {"entity": _entity(place), "direction": "incoming", "properties_to_filter_for": ["LIKES"]},
        queries.OF_ONE_RELATION,
        _id,
    ),
    Case(
        "get_triples",
        "get_triples",
        lambda place: {"entity": _entity(place), "relations": ["LIKES"]},
        queries.OF_ONE_RELATION,
        _id,
    ),
    Case(
        "find_node, misspelt",
        "find_node",
        lambda place: {"hint": _misspelt(place)},
        queries.NAMED,
        lambda place: {"words": " ".join(f"{word}~" for word in _misspelt(place).split())},
    ),
    Case(
        "search, hub",
        "search",
        lambda place: {"entity": _entity(place), "direction": "incoming"},
        queries.RELATIONS,
        _id,
        hub=True,
    ),
)


@dataclass(slots=True)
class Times:
    """Seconds of each call of one case: by the driver, by the server, and of a no-op call."""

    direct: list[float] = field(default_factory=list[float])
    server: list[float] = field(default_factory=list[float])
    noop: list[float] = field(default_factory=list[float])

    def add(self, other: Times) -> None:
        """Append the seconds of another round."""
        self.direct += other.direct
        self.server += other.server
        self.noop += other.noop

    @property
    def added(self) -> float:
        return median(self.server) - median(self.direct)

    @property
    def within(self) -> bool:
        """Whether a call takes at most as long as the direct statement plus 10 % and 1.5 ms."""
        return self.added <= ALLOWED_SECONDS + ALLOWED_SHARE * median(self.direct)


@dataclass(frozen=True, slots=True)
class Hub:
    """The server's answer on the hub, and the hub's degree according to the driver."""

    answer: str
    degree: int


def run(record: Run, url: str, rounds: int) -> str:
    """Measure a store loaded with `make`'s files. A round is one call of each side at each leaf. Returns the report."""
    measured = {case.name: Times() for case in CASES}
    for case in CASES:
        items = {str(n): case for n in range(1, rounds * (HUB_CALLS if case.hub else 1) + 1)}
        for times in record.measured(case.name, Times, items, partial(_warm, url, case)):
            measured[case.name].add(times)
    with record.items("hub", Hub, 1) as items:
        hub = items.value("answer", lambda: _hub(url))
    return _report(url, measured, hub.answer, hub.degree, rounds)


def _hub(url: str) -> Hub:
    with _sides(url) as sides:
        answer = sides.server.call("search", {"entity": _entity(HUB), "direction": "incoming"})
        degree = sides.ask(queries.RELATIONS, _id(HUB))[0]
    return Hub(answer, sum(int(degree[place]) for place in (1, 3, 5)))


@contextmanager
def _warm(url: str, case: Case) -> Generator[Sequence[Callable[[Case], Times]]]:
    """A function that measures a round of a case, after rounds that are not counted."""
    with _sides(url) as sides:
        for _ in range(WARM_UP):
            sides.measure(case)
        yield [sides.measure]


@contextmanager
def _sides(url: str) -> Generator[_Sides]:
    with ExitStack() as open_:
        driver: Driver = GraphDatabase.driver(url)  # pyright: ignore[reportUnknownMemberType] - its own keywords
        open_.enter_context(driver)
        server = open_.enter_context(BareClient(server_command(url)))
        yield _Sides(driver, server, open_.enter_context(BareClient(noop_command())))


@dataclass(frozen=True, slots=True)
class _Sides:
    """The sides that are measured in turn: the driver, the server, and a bare server."""

    driver: Driver
    server: BareClient
    noop: BareClient

    def measure(self, case: Case) -> Times:
        """One round of a case: at each leaf, or one call at the hub.

        Before each call at the hub, each side visits forty other hubs, so that nothing is cached. Its code and the
        processor's caches are then as warm as at the leaves.
        """
        places = [*(_small(n) for n in range(SMALL_HUBS)), HUB] if case.hub else [_leaf(n) for n in range(LEAVES)]
        direct = [_timed(lambda: self.ask(case.statement, case.parameters(at))) for at in places]  # noqa: B023 - at once
        server = [_timed(lambda: self.server.call(case.tool, case.arguments(at))) for at in places]  # noqa: B023
        noop = [_timed(lambda: self.noop.call(TOOL, {"text": "a"})) for _ in places]
        return Times(direct[-1:], server[-1:], noop[-1:]) if case.hub else Times(direct, server, noop)

    def ask(self, statement: LiteralString, parameters: dict[str, object]) -> list[list[Any]]:
        """Run a statement by the bare driver and return its rows."""
        session: Session = self.driver.session(  # pyright: ignore[reportUnknownMemberType] - its own keywords
            database="neo4j", default_access_mode=READ_ACCESS
        )
        with session:
            return [record.values() for record in session.run(Query(statement, timeout=_TIMEOUT), parameters)]


def _timed(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def _report(url: str, measured: Mapping[str, Times], answer: str, degree: int, rounds: int) -> str:
    table = report.table(
        ("call", "bare driver, median", "p95", "server, median", "p95", "idle server", "added"),
        [
            (
                name,
                *report.timing(times.direct),
                *report.timing(times.server),
                report.milliseconds(median(times.noop)),
                report.milliseconds(times.added),
            )
            for name, times in measured.items()
        ],
    )
    ratio = median(measured["search, hub"].server) / median(measured["search"].server)
    total = sum(int(rows.replace(",", "")) for rows in parse(answer).column("rows"))
    allowed = f"allowed {ALLOWED_SECONDS * 1000:g} ms + {ALLOWED_SHARE:.0%}"
    verdicts = [
        report.verdict(times.within, f"{name} adds {report.milliseconds(times.added)} ms ({allowed} of the bare one)")
        for name, times in measured.items()
    ]
    verdicts += [
        report.verdict(ratio <= AT_MOST, f"the hub takes {ratio:.2f} times as long as a leaf (at most {AT_MOST:g})"),
        report.verdict(total == degree, f"its answer counts {total:,} rows of {degree:,}"),
        report.verdict(len(answer) < CHARACTERS, f"its answer has {len(answer):,} characters (under {CHARACTERS:,})"),
    ]
    title = f"{url}: a hub of {degree:,}, {LEAVES} leaves of {DEGREE}, {rounds * LEAVES} calls each"
    title += f" and {rounds * HUB_CALLS} at the hub, ms"
    return "\n".join((title, "", table, "", *verdicts))
