"""What a run of the conformance suite must show, and whether it does."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_FOLDER = re.compile(r"server-(?P<scenario>.+)-\d{4}-\d{2}-\d{2}T")

_TASKS = "the tasks extension (SEP-2663), which the mcp package does not implement and this server does not declare"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the suite: what it is told, how many checks must pass in it, and which scenarios cannot, and why.

    `scenario/check` in `expected_failures` means this check only, and that the others of the scenario pass.
    """

    name: str
    arguments: Sequence[str]
    passed: int
    expected_failures: Mapping[str, str]


RUNS = (
    Run("2026-07-28", ("--suite", "all", "--spec-version", "2026-07-28"), 152, {}),
    Run("2025-11-25", ("--suite", "all", "--spec-version", "2025-11-25"), 84, {}),
    Run(
        "2026-07-28 with extensions",
        ("--requirements", "2026-07-28"),
        152,
        dict.fromkeys(
            (
                "tasks-lifecycle",
                "tasks-capability-negotiation",
                "tasks-wire-fields",
                "tasks-request-state-removal",
                "tasks-mrtr-input",
                "tasks-request-headers",
                "tasks-dispatch-and-envelope",
                "tasks-required-task-error",
                "tasks-mrtr-composition",
            ),
            _TASKS,
        ),
    ),
)
"""The number of checks is what the SDK's own example server passes at the pinned version of the suite."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """How many checks of a scenario passed, and which did not."""

    name: str
    passed: int
    faults: Mapping[str, str]
    """What the checks that did not pass have to say, by the check's id."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run's scenarios and everything that is not as it must be; without faults the run is good."""

    run: Run
    scenarios: tuple[Scenario, ...]
    faults: tuple[str, ...]

    @property
    def passed(self) -> int:
        """Checks passed in the scenarios that must pass."""
        return sum(found.passed for found in self.scenarios if found.name not in self.run.expected_failures)


def read(results: Path) -> tuple[Scenario, ...]:
    """The scenarios whose results the suite wrote into this folder, by name. A warning is a fault as a failure is."""
    found: list[Scenario] = []
    for file in sorted(results.glob("*/checks.json")):
        folder = _FOLDER.match(file.parent.name)
        if folder is None:
            continue
        checks: list[dict[str, str]] = json.loads(file.read_text(encoding="utf-8"))
        tally = Counter(check["status"] for check in checks)
        faults = {
            check["id"]: check.get("errorMessage") or check.get("description", "")
            for check in checks
            if check["status"] in ("FAILURE", "WARNING")
        }
        found.append(Scenario(folder["scenario"], tally["SUCCESS"], faults))
    return tuple(found)


def judge(run: Run, scenarios: tuple[Scenario, ...]) -> Verdict:
    """Compare what was found with what must be found."""
    faults: list[str] = []
    failed = set[str]()
    for found in scenarios:
        for check, fault in found.faults.items():
            expected = {found.name, f"{found.name}/{check}"} & run.expected_failures.keys()
            failed |= expected
            if not expected:
                faults.append(f"{found.name}: {check}: {fault}")
    names = {found.name for found in scenarios}
    for expected in run.expected_failures:
        if expected.partition("/")[0] not in names:
            faults.append(f"{expected}: expected to fail, and was not run")
        elif expected not in failed:
            faults.append(f"{expected}: passes, though it is expected to fail: take it from the list")
    verdict = Verdict(run, scenarios, ())
    if verdict.passed < run.passed:
        faults.append(f"{verdict.passed} checks passed, {run.passed} must")
    return Verdict(run, scenarios, tuple(faults))
