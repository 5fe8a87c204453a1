"""A store is waited for as long as it works on its start, and no longer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts.services.instance import is_free
from scripts.services.process import DetachedProcess

ROOT = Path(__file__).parents[2]

IDLE = 0.3
"""Seconds after which a process that does nothing is given up here."""

WORKS = "import pathlib, time\nwhile time.process_time() < 1: pass\npathlib.Path('ready').touch()\ntime.sleep(60)"
READS = (
    "import pathlib, time\nfor _ in range(20): time.sleep(0.05); open('/dev/zero', 'rb').read(2_000_000)\n"
    "pathlib.Path('ready').touch()\ntime.sleep(60)"
)
HANGS = "import time\nprint('opening', flush=True)\ntime.sleep(60)"


COMMAND = """
import sys
from pathlib import Path
from scripts.services.failure import ServiceError
from scripts.services.process import DetachedProcess

folder, idle, script = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
store = DetachedProcess(folder / "process.id", "mark", folder / "output.log")
store.start([sys.executable, "-S", "-c", script, "mark"], folder)
try:
    store.wait_until((folder / "ready").exists, stopping=10, idle=idle)
except ServiceError as error:
    sys.exit(str(error))
"""
"""A command of its own, as `scripts/service` is: what it starts outlives it."""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[DetachedProcess]:
    """The process that is started, found as later commands find it."""
    detached = DetachedProcess(tmp_path / "process.id", "mark", tmp_path / "output.log")
    try:
        yield detached
    finally:
        detached.stop(10)


def started(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", COMMAND, str(folder), str(IDLE), script]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("script", [WORKS, READS], ids=["computes", "reads"])
def test_a_store_that_works_on_its_start_is_waited_for_and_said_to_be_at_work(
    process: DetachedProcess, script: str, tmp_path: Path
):
    done = started(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"s, but at work: process {process.pid()}\n" in done.stderr


def test_a_store_that_hangs_is_stopped_and_its_last_words_are_told(process: DetachedProcess, tmp_path: Path):
    assert "it does nothing and gives no answer; it said:\nopening" in started(HANGS, tmp_path).stderr
    assert process.pid() is None


def test_a_store_that_ends_while_it_starts_is_not_waited_for(process: DetachedProcess, tmp_path: Path):
    said = started("raise SystemExit('out of room')", tmp_path).stderr
    assert "it ended while it started;" in said
    assert "output.log ends with:\nout of room" in said
    assert process.pid() is None


ENDS_SLOWLY = """
import ctypes, os, pathlib, platform, signal, socket, threading, time

def end(*_):
    threading.Thread(target=lambda: (time.sleep(0.5), os._exit(0))).start()
    ctypes.CDLL(None).syscall({"x86_64": 60}.get(platform.machine(), 93), 0)  # ends this thread alone

signal.signal(signal.SIGTERM, end)
listening = socket.create_server(("127.0.0.1", 0))
pathlib.Path("port").write_text(str(listening.getsockname()[1]))
pathlib.Path("ready").touch()
time.sleep(60)
"""
"""A store whose first thread ends before the one that gives its port back."""


def test_the_port_of_a_store_that_was_stopped_is_free(process: DetachedProcess, tmp_path: Path):
    assert not started(ENDS_SLOWLY, tmp_path).returncode
    port = int((tmp_path / "port").read_text())
    assert not is_free(port)
    process.stop(10)
    assert is_free(port)
