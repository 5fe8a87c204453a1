"""Which tests stay together when several workers share a run, and which of them begin first."""

from __future__ import annotations

from pathlib import Path

import pytest

GROUPS = {
    "neo4j": ("neo4j", "installed"),  # commands of the README ask a Neo4j as well
    "virtuoso": ("virtuoso",),
    "oxigraph": ("oxigraph",),
    "blazegraph": ("blazegraph",),
    "fuseki": ("fuseki",),
    "rdf4j": ("rdf4j",),
}
"""Fixtures that make something costly for the whole session, by the group of the tests that ask for them."""

EXTENDED = frozenset({"blazegraph", "fuseki", "rdf4j", "own_blazegraph", "neo4j_with_apoc"})
"""Fixtures of further engines for adapters that other tests run on Oxigraph, Virtuoso and Neo4j without plugins."""

OWN = frozenset({"own_virtuoso", "own_oxigraph", "own_neo4j", "own_blazegraph"})
"""Fixtures that start a store for a single test, which can run in any worker."""

LONG = (
    "contract/test_faults",
    "server/test_transport",
    "wikidata/test_faults",
    "server/test_transport_http",
    "server/test_budget",
    "e2e/test_metaqa_replay",
    "sparql_base/test_virtuoso",
    "embedded/test_load_hostile",
    "sparql_base/test_loop",
    "embedded/test_load_file",
    "plans/test_evaluated",
    "plans/test_by_hand",
    "embedded/test_plans",
    "contract/test_embedded",
    "adapters/test_registry",
    "server/test_hanging_stores",
    "service/test_interrupted_run",
)
"""Modules that take ten seconds or more, the longest first: one at the end would keep the other workers waiting."""


def group(item: pytest.Item) -> str | None:
    """The name of the group that a test stays with, None where it stands alone.

    A test whose parameter names the store says so by a mark of its own, `xdist_group`. Tests without anything costly
    stay with their module: what it makes once is not made in each worker.

    Raises:
        UsageError: it asks for what two groups have, and would start one of them a second time.
    """
    marked = item.get_closest_marker("xdist_group")
    if marked:
        return marked.args[0]
    wanted = frozenset(getattr(item, "fixturenames", ()))
    costly = [name for name, fixtures in GROUPS.items() if wanted.intersection(fixtures)]
    if len(costly) > 1:
        raise pytest.UsageError(f"{item.nodeid} asks for {' and '.join(costly)}: make a test of each")
    if costly:
        return costly[0]
    if wanted & OWN:
        return None
    return f"{item.path.parent.name}/{item.path.stem}"


def is_extended(item: pytest.Item) -> bool:
    """Whether a test runs on one of the further engines, which it asks for or names as its group."""
    return not EXTENDED.isdisjoint({group(item), *getattr(item, "fixturenames", ())})


def arrange(items: list[pytest.Item]) -> None:
    """Name each test's group, and put the costly and long ones first: stores start side by side.

    Raises:
        UsageError: a long module is not there, or as `group` says.
    """
    tests = Path(__file__).parent
    absent = [name for name in LONG if not any(tests.glob(f"**/{name}.py"))]
    if absent:
        raise pytest.UsageError(f"there is no module {', '.join(absent)}: LONG in {__file__} names it")
    names = {item: group(item) for item in items}
    for item, name in names.items():
        if name is not None:
            item.add_marker(pytest.mark.xdist_group(name))
    first = [*GROUPS, *LONG]
    items.sort(key=lambda item: first.index(name) if (name := names[item]) in first else len(first))
