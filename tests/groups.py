"""Which tests stay together when several workers share a run, and which of them begin first."""

from __future__ import annotations

import pytest

STORES = ("virtuoso", "oxigraph", "neo4j", "neo4j_with_apoc")
"""Fixtures that start a store for the whole session: all tests of one share a worker, the longest first."""

OWN = frozenset({"own_virtuoso", "own_oxigraph", "own_neo4j"})
"""Fixtures that start one for a single test, which can run in any worker."""


def group(item: pytest.Item) -> str | None:
    """The name of the group that a test stays with, None where it stands alone.

    A store has one group. Tests without one stay with their module: what it makes once is not made in each worker.
    """
    wanted = getattr(item, "fixturenames", ())
    for store in STORES:
        if store in wanted:
            return store
    if OWN.intersection(wanted):
        return None
    return f"{item.path.parent.name}/{item.path.stem}"


def arrange(items: list[pytest.Item]) -> None:
    """Name each test's group, and put the stores first: they start side by side, and none is left for the end."""
    names = {item: group(item) for item in items}
    for item, name in names.items():
        if name is not None:
            item.add_marker(pytest.mark.xdist_group(name))
    rank = {name: place for place, name in enumerate(STORES)}
    items.sort(key=lambda item: rank.get(names[item] or "", len(rank)))
