"""What a run that several workers share is told of its modules."""

from __future__ import annotations

from typing import cast

import pytest

from tests import groups


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
