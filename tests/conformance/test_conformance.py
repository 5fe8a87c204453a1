"""The official conformance suite passes in both eras, and the judgement on it is strict in both directions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .judging import Run, judge, read

_RUN = Path(__file__).with_name("run.py")
_NOT_RUN = 3

_ONE = Run("one", (), 1, {})
_HOPELESS = Run("one", (), 0, {"hopeless": "nobody has built it"})


def _results(folder: Path, scenario: str, *statuses: str) -> Path:
    folder.mkdir(exist_ok=True)
    place = folder / f"server-{scenario}-2026-11-21T14-45-12-083Z"
    place.mkdir()
    checks = [{"id": f"check-{n}", "status": status, "errorMessage": "why"} for n, status in enumerate(statuses)]
    (place / "checks.json").write_text(json.dumps(checks), encoding="utf-8")
    return folder


@pytest.mark.extended
def test_the_official_suite_passes_in_both_eras() -> None:
    done = subprocess.run([sys.executable, str(_RUN)], check=False, capture_output=True, text=True)
    if done.returncode == _NOT_RUN and not os.environ.get("CI"):
        pytest.skip(f"{done.stderr.strip()} Then: scripts/conformance")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_run_in_which_everything_passes_is_good(tmp_path: Path) -> None:
    assert judge(_ONE, read(_results(tmp_path, "ping", "SUCCESS", "INFO", "SKIPPED"))).faults == ()


@pytest.mark.parametrize("status", ["FAILURE", "WARNING"])
def test_a_failure_or_a_warning_that_nobody_expects_is_a_fault(tmp_path: Path, status: str) -> None:
    assert judge(_ONE, read(_results(tmp_path, "ping", "SUCCESS", status))).faults == ("ping: check-1: why",)


def test_a_check_that_is_no_longer_made_is_a_fault(tmp_path: Path) -> None:
    assert judge(_ONE, read(_results(tmp_path, "ping", "SKIPPED"))).faults == ("0 checks passed, 1 must",)


def test_an_expected_failure_is_no_fault(tmp_path: Path) -> None:
    assert judge(_HOPELESS, read(_results(tmp_path, "hopeless", "SUCCESS", "FAILURE"))).faults == ()


def test_an_expected_failure_that_passes_is_a_fault(tmp_path: Path) -> None:
    (fault,) = judge(_HOPELESS, read(_results(tmp_path, "hopeless", "SUCCESS"))).faults
    assert "passes, though it is expected to fail" in fault


def test_an_expected_failure_of_one_check_is_none_of_the_others(tmp_path: Path) -> None:
    run = Run("one", (), 1, {"ping/check-1": "nobody has built it"})
    assert judge(run, read(_results(tmp_path, "ping", "SUCCESS", "WARNING"))).faults == ()
    [fault] = judge(run, read(_results(tmp_path / "more", "ping", "SUCCESS", "WARNING", "FAILURE"))).faults
    assert fault == "ping: check-2: why"


def test_an_expected_failure_that_was_not_run_is_a_fault(tmp_path: Path) -> None:
    (fault,) = judge(_HOPELESS, read(tmp_path)).faults
    assert "was not run" in fault
