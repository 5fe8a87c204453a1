"""Which tests stay together when several workers share a run, and which of them begin first."""

from __future__ import annotations

import pytest

SHARED = ("neo4j", "virtuoso", "oxigraph", "neo4j_with_apoc", "installed")
"""Fixtures that make something costly for the whole session: all tests of one share a worker, the longest first."""

OWN = frozenset({"own_virtuoso", "own_oxigraph", "own_neo4j"})
"""Fixtures that start a store for a single test, which can run in any worker."""


def group(item: pytest.Item) -> str | None:
    """The name of the group that a test stays with, None where it stands alone.

    Tests without anything costly stay with their module: what it makes once is not made in each worker.
    """
    wanted = getattr(item, "fixturenames", ())
    for shared in SHARED:
        if shared in wanted:
            return shared
    if OWN.intersection(wanted):
        return None
    return f"{item.path.parent.name}/{item.path.stem}"


def arrange(items: list[pytest.Item]) -> None:
    """Name each test's group, and put the costly ones first: they start side by side, and none is left for the end."""
    names = {item: group(item) for item in items}
    for item, name in names.items():
        if name is not None:
            item.add_marker(pytest.mark.xdist_group(name))
    rank = {name: place for place, name in enumerate(SHARED)}
    items.sort(key=lambda item: rank.get(names[item] or "", len(rank)))
