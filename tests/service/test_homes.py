"""Each checkout has instances of its own, and never opens the data of another without being told to."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from scripts.services import pypi

from tests.service.test_oxigraph_service import EVERYTHING, GOOD, GRAPH, rows, written
from tests.services import SCRIPT, Oxigraph, need_oxigraph


@dataclass
class Checkout:
    """A copy of the script, as a second clone has it; what is downloaded is shared."""

    root: Path
    shared: Path
    stack: ExitStack

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as a shell in this checkout does."""
        return subprocess.run(
            ["sh", "-c", command],
            cwd=self.root,
            env={**os.environ, "KGNAV_SERVICES": str(self.shared)},
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, *arguments: str) -> Oxigraph:
        """Start an Oxigraph, which is removed after the test, in the home that the script names."""
        done = self.run(shlex.join(["scripts/service", "oxigraph", "start", *arguments]))
        assert done.returncode == 0, done.stderr
        home, self.state = done.stderr.splitlines()[-1].removeprefix("home ").split(", ")
        service = Oxigraph(Path(home))
        self.stack.callback(service.remove)
        assert done.stdout == f"{service.url}\n"
        return service


@pytest.fixture
def checkouts(tmp_path: Path) -> Iterator[tuple[Checkout, Checkout]]:
    """Two clones side by side."""
    need_oxigraph()
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "programs").symlink_to(pypi.place("oxigraph").parent)
    with ExitStack() as stack:
        one, two = (Checkout(tmp_path / name / "kgnav", shared, stack) for name in ("one", "two"))
        for checkout in (one, two):
            shutil.copytree(SCRIPT.parent, checkout.root / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
        yield one, two


def test_two_checkouts_have_instances_of_their_own(checkouts: tuple[Checkout, Checkout], tmp_path: Path):
    one, two = checkouts
    first = one.start()
    first.load(written(tmp_path / "good.nt", GOOD), GRAPH)
    second = two.start()
    assert (one.state, two.state) == ("empty", "empty")
    assert first.home != second.home
    assert (rows(first, EVERYTHING, GRAPH), rows(second, EVERYTHING, GRAPH)) == (2, 0)


def test_a_start_says_whether_its_home_was_empty(checkouts: tuple[Checkout, Checkout], tmp_path: Path):
    one, _ = checkouts
    first = one.start()
    first.load(written(tmp_path / "good.nt", GOOD), GRAPH)
    assert one.start().home == first.home
    assert one.state == "it runs already"
    assert one.start("--home", f"{first.home.parent}/../{first.home.parent.name}/{first.home.name}").home == first.home
    first.stop()
    assert rows(one.start(), EVERYTHING, GRAPH) == 2
    assert one.state == "not empty: it was used before"


@pytest.mark.slow
def test_the_home_of_another_checkout_is_refused_with_commands_that_work(
    checkouts: tuple[Checkout, Checkout], tmp_path: Path
):
    one, two = checkouts
    home = str(tmp_path / "a home")
    one.start("--home", home).load(written(tmp_path / "good.nt", GOOD), GRAPH)

    refused = two.run(shlex.join(["scripts/service", "oxigraph", "start", "--home", home]))
    assert refused.returncode == 1
    assert f"{home} was made by {one.root}, not by this one" in refused.stderr
    assert len(refused.stderr.replace(str(tmp_path), "")) <= 400
    own, _, take_over = refused.stderr.partition(" own: ")[2].partition(". Or use that data from here: ")
    assert rows(two.start(*shlex.split(own)[3:]), EVERYTHING, GRAPH) == 0
    assert two.run(take_over).returncode == 0
    assert rows(two.start("--home", home), EVERYTHING, GRAPH) == 2


def test_a_home_with_data_and_no_record_of_its_maker_is_refused(checkouts: tuple[Checkout, Checkout]):
    one, _ = checkouts
    service = one.start()
    service.stop()
    (service.home / "checkout").unlink()
    refused = one.run("scripts/service oxigraph start")
    assert refused.returncode == 1
    assert f"{service.home} was made by an unknown checkout, not by this one" in refused.stderr
