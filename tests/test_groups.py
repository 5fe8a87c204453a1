"""What a run that several workers share is told of its modules."""

from __future__ import annotations

from typing import cast

import pytest

from tests import groups
from tests.sampling import extend_unsampled


def test_a_long_module_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch):
    groups.arrange([])
    monkeypatch.setattr(groups, "LONG", (*groups.LONG, "plans/test_nowhere"))
    with pytest.raises(pytest.UsageError, match="there is no module plans/test_nowhere"):
        groups.arrange([])


@pytest.mark.parametrize(
    ("fixture", "extended"),
    [("oxigraph", False), ("own_virtuoso", False), ("blazegraph", True), ("own_blazegraph", True), ("rdf4j", True)],
)
def test_the_tests_on_further_engines_are_those_that_ask_for_one(
    fixture: str, extended: bool, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
):
    item = cast("pytest.Function", request.node)  # pyright: ignore[reportUnknownMemberType]
    assert not groups.is_extended(item)
    monkeypatch.setattr(item, "fixturenames", [fixture])
    assert groups.is_extended(item) == extended


class Named(pytest.Item):
    """A test of which nothing but its name matters."""

    def runtest(self) -> None: ...


def test_of_a_class_the_main_run_has_one_test_in_so_many(request: pytest.FixtureRequest):
    module = cast("pytest.Module", request.node.parent)  # pyright: ignore[reportUnknownMemberType]
    names = ("page 1", "page 2", "find", "page 3", "page 4", "page 5")
    items = [Named.from_parent(module, name=name) for name in names]  # pyright: ignore[reportUnknownMemberType]
    for item in items:
        item.add_marker(pytest.mark.one_in(3, first=1, of="page"))
    extend_unsampled(items)
    assert [item.name for item in items if not item.get_closest_marker("extended")] == ["page 2", "find", "page 5"]
