"""What every test may ask for by name, and what must be so before any of them runs."""

import gc
import signal
from collections.abc import Iterator

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


@pytest.hookimpl(tryfirst=True)  # before the workers write each test's group into its name
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Mark the extended tests. Groups are needed, and the order changed, only where workers share a run."""
    for item in filter(is_extended, items):
        item.add_marker(pytest.mark.extended)
    extend_unsampled(items)
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
