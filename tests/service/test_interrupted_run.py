"""A test run that a signal ends leaves no service behind, and no home of one."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.sampling import extended
from tests.service_guard import processes_of, remove_service
from tests.services import need_redis

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WORKERS = 2
PATIENCE_S = 60
"""Seconds after which an event that does not come is a fault."""

TESTS = """
import os
from threading import Event

import pytest

from tests import service_guard
from tests.services import Redis, running


@pytest.mark.parametrize("number", range({workers}))
def test_it_waits(number, tmp_path):
    with running(Redis(tmp_path / "home")) as service, open({fifo!r}, "w") as fifo:
        fifo.write(f"{{os.getpid()}} {{service_guard._guard().pid}} {{service.process}} {{service.home}}\\n")
        fifo.flush()
        Event().wait()
"""


@dataclass(frozen=True)
class Worker:
    """A worker of a run: its process, those of its guard and of its service, and the service's home."""

    pid: int
    guard: int
    service: int
    home: Path

    def assert_gone(self) -> None:
        """Wait until its processes have ended, and see that nothing is left."""
        for process in (self.pid, self.guard, self.service):
            assert has_ended(process), f"process {process} runs"
        assert list(processes_of(self.home)) == []
        assert not self.home.exists()


@contextmanager
def waiting_run(folder: Path) -> Generator[tuple[subprocess.Popen[bytes], list[Worker]]]:
    """A run whose workers each have a service, and wait."""
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    (folder / "test_waiting.py").write_text(TESTS.format(workers=WORKERS, fifo=str(fifo)), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-n", str(WORKERS), "-c", os.devnull, "-p", "no:cacheprovider"]
    with (folder / "output").open("wb") as output, default_action(signal.SIGHUP):
        run = subprocess.Popen(
            [*command, "--rootdir", folder, "--basetemp", folder / "base", folder],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        lines = lines_from(fifo, WORKERS, folder / "output")
        fields = [line.split() for line in lines]
        yield run, [Worker(int(pid), int(guard), int(service), Path(home)) for pid, guard, service, home in fields]
    finally:
        remove_service(folder)  # where the test fails, too
        run.wait()


@contextmanager
def default_action(number: signal.Signals) -> Generator[None]:
    """Starts processes that a signal ends, also where it is ignored here: `nohup` ignores SIGHUP."""
    before = signal.signal(number, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(number, before)


def lines_from(fifo: Path, number: int, output: Path) -> list[str]:
    """The lines that the tests of the run write."""
    reader = os.open(fifo, os.O_RDWR)  # not for writing: a pipe that somebody may write to has no end
    try:
        text = ""
        while text.count("\n") < number:
            readable, _, _ = select.select([reader], [], [], PATIENCE_S)
            assert readable, output.read_text(encoding="utf-8")
            text += os.read(reader, 4096).decode()
    finally:
        os.close(reader)
    return text.splitlines()


def has_ended(process: int) -> bool:
    """Whether a process has ended, or does before long."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], PATIENCE_S)[0])
    finally:
        os.close(handle)


@pytest.mark.parametrize(
    "sent", [signal.SIGINT, extended(signal.SIGTERM), extended(signal.SIGHUP)], ids=lambda sent: sent.name
)
def test_a_signal_to_all_processes_of_a_run_leaves_no_service(tmp_path: Path, sent: signal.Signals):
    need_redis()
    with waiting_run(tmp_path) as (run, workers):
        os.killpg(run.pid, sent)
        for worker in workers:
            worker.assert_gone()


def test_the_end_of_the_controller_leaves_no_service(tmp_path: Path):
    need_redis()
    with waiting_run(tmp_path) as (run, workers):
        run.kill()
        for worker in workers:
            worker.assert_gone()


@pytest.mark.extended
def test_the_end_of_one_worker_removes_its_service_alone(tmp_path: Path):
    need_redis()
    with waiting_run(tmp_path) as (_, (first, second)):
        os.kill(first.pid, signal.SIGTERM)
        first.assert_gone()
        assert second.service in processes_of(second.home)
    second.assert_gone()
