"""What every test may ask for by name, and what must be so before any of them runs."""

import gc
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Protocol, cast

import pytest

from tests.groups import arrange, is_extended
from tests.neo4j_service import neo4j, neo4j_with_apoc, own_neo4j
from tests.sampling import extend_unsampled
from tests.services import (
    blazegraph,
    fuseki,
    own_blazegraph,
    own_oxigraph,
    own_virtuoso,
    oxigraph,
    rdf4j,
    redis_url,
    virtuoso,
)

__all__ = [
    "blazegraph",
    "fuseki",
    "neo4j",
    "neo4j_with_apoc",
    "own_blazegraph",
    "own_neo4j",
    "own_oxigraph",
    "own_virtuoso",
    "oxigraph",
    "rdf4j",
    "redis_url",
    "virtuoso",
]

pytest.register_assert_rewrite("tests.contract.suite", "tests.contract.faults")  # they say what they compare, too

# A shell starts what it puts in the background with Ctrl-C ignored, and so would be every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_UNHURRIED = {"kgnav_mcp.server.examples._SECONDS": 20.0, "kgnav_mcp.navigation.subclasses._SECONDS": 20.0}
"""Times after which an answer goes without an extra: a busy machine is no slow store."""

gc.disable()  # what is collected stays: a quarter of the time would go into finding that out, in each worker


_SLOW = pytest.StashKey[int]()
"""How many slow tests this run leaves out."""


class Worker(Protocol):
    """A process that shares a run, when it has ended."""

    config: pytest.Config
    workeroutput: Mapping[str, int]


@pytest.hookimpl(tryfirst=True)  # before the workers write each test's group into its name
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Mark the extended tests. Groups are needed, and the order changed, only where workers share a run."""
    for item in filter(is_extended, items):
        item.add_marker(pytest.mark.extended)
    extend_unsampled(items)
    if "not slow" in config.option.markexpr:
        config.stash[_SLOW] = sum(
            bool(item.get_closest_marker("slow")) and not item.get_closest_marker("extended") for item in items
        )
    if hasattr(config, "workerinput"):
        arrange(items)


@pytest.fixture(scope="session", autouse=True)
def unhurried() -> Iterator[None]:
    """Answers have their extras, however busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        for name, seconds in _UNHURRIED.items():
            patch.setattr(name, seconds)
        yield


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Garbage is looked for among what tests make, and not among all modules and tests each time."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Each worker says how many tests it has left out: the one that reports has collected none."""
    output: dict[str, int] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["slow"] = session.config.stash.get(_SLOW, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Worker) -> None:
    """Keep what a worker says. All have collected the same tests."""
    node.config.stash[_SLOW] = getattr(node, "workeroutput", {}).get("slow", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once, with the number of tests, why some were skipped."""
    places = [cast("tuple[str, int, str]", report.longrepr) for report in terminalreporter.getreports("skipped")]
    reasons = Counter(reason.removeprefix("Skipped: ") for _, _, reason in places)
    for reason, count in reasons.most_common():
        terminalreporter.line(f"{count} skipped: {reason}")


def pytest_unconfigure(config: pytest.Config) -> None:
    """The last line: what else there is to run."""
    count = config.stash.get(_SLOW, 0)
    if count and not hasattr(config, "workerinput"):
        sys.stdout.write(f"{count} slow tests were left out: `make test-all` runs them as well.\n")
