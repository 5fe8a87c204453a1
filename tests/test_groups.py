"""What a run that several workers share is told of its modules, and which tests are left out of which run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from tests import groups
from tests.sampling import extend_unsampled

ROOT = Path(__file__).parents[1]


def last_line(*command: str, **variables: str) -> str:
    """The last line of what a command prints in the clone, as if no `make` had begun it."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTEST_"))}
    done = subprocess.run(command, cwd=ROOT, env={**own, **variables}, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


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


def test_of_a_class_the_main_run_may_have_no_test(request: pytest.FixtureRequest):
    module = cast("pytest.Module", request.node.parent)  # pyright: ignore[reportUnknownMemberType]
    items = [Named.from_parent(module, name=name) for name in ("page 1", "find")]  # pyright: ignore[reportUnknownMemberType]
    for item in items:
        item.add_marker(pytest.mark.one_in(0, of="page"))
    extend_unsampled(items)
    assert [item.name for item in items if not item.get_closest_marker("extended")] == ["find"]


@pytest.mark.parametrize(("ci", "tests"), [("", "not extended and not slow"), ("true", "not extended")])
def test_slow_tests_are_left_out_by_make_test_but_not_in_ci(ci: str, tests: str):
    assert last_line("make", "--dry-run", "test", CI=ci).endswith(f' -m "{tests}"')


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "worker"])
def test_the_last_line_says_how_many_slow_tests_were_left_out(workers: tuple[str, ...]):
    quick = ("-q", "-p", "no:cacheprovider", "-m", "not extended and not slow", "tests/cli/test_demo.py")
    said = "1 slow tests were left out: `make test-all` runs them as well."
    assert last_line(sys.executable, "-m", "pytest", *quick, *workers) == said
