"""Run the official conformance suite against this project's server, in both protocol eras.

First with the suite's fixtures mounted beside the tools, so that every scenario can pass; then as users run it.

Exit code: 0 when everything that must pass does, 1 when something does not, 3 when the suite cannot be had here.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from judging import RUNS, Run, Verdict, judge, read
from missing_fixtures import HANDSHAKE, STATELESS
from suite import SUITE, VERSION, SuiteMissing, find_suite

FAULTY = 1
NOT_RUN = 3
_WITH_FIXTURES = (sys.executable, "-W", "ignore", str(Path(__file__).with_name("server.py")))
_PRODUCT = (str(Path(sys.executable).with_name("kgnav-mcp")), "--http", "127.0.0.1:0")
_PRODUCT_RUNS = tuple(
    Run(f"product, {version}", ("--suite", "all", "--spec-version", version), passed, missing)
    for version, passed, missing in (("2026-07-28", 65, STATELESS), ("2025-11-25", 23, HANDSHAKE))
)
_READY = "Serving MCP at "
_END_S = 10


def main() -> int:
    """Run, judge, print."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    try:
        suite = find_suite()
    except SuiteMissing as missing:
        sys.stderr.write(f"{missing}\n")
        return NOT_RUN
    verdicts: list[Verdict] = []
    for command, runs in ((_WITH_FIXTURES, RUNS), (_PRODUCT, _PRODUCT_RUNS)):
        with tempfile.TemporaryDirectory() as folder, serving(command, Path(folder)) as url:
            for number, run in enumerate(runs):
                results = Path(folder) / str(number)
                results.mkdir()
                suite.run(url, run.arguments, results)
                verdicts.append(judge(run, read(results)))
    sys.stdout.write(f"{SUITE} {VERSION}\n\n{table(verdicts)}\n")
    return FAULTY if any(verdict.faults for verdict in verdicts) else 0


@contextmanager
def serving(command: Sequence[str], folder: Path) -> Generator[str]:
    """The URL of a server under test in a process of its own, without the user's settings; it ends with this block."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("KGNAV_")}
    environment["XDG_CONFIG_HOME"] = str(folder)
    with subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield _url(process)
        finally:
            process.terminate()
            process.wait(_END_S)


def _url(process: subprocess.Popen[str]) -> str:
    """The address that the server says it listens on; what it says later is read and dropped, so that it can go on."""
    assert process.stderr is not None
    said: list[str] = []
    for line in process.stderr:
        said.append(line)
        if line.startswith(_READY):
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return line.removeprefix(_READY).strip()
    raise RuntimeError(f"the server under test ended at its start:\n{''.join(said)}")


def table(verdicts: Sequence[Verdict]) -> str:
    """What passed, what was expected to fail and why, and what is wrong."""
    lines = [f"{'run':28}{'scenarios':>10}{'passed':>8}{'must':>6}{'expected failures':>19}{'faults':>8}"]
    for verdict in verdicts:
        run = verdict.run
        scenarios = len(verdict.scenarios)
        expected = len(run.expected_failures)
        lines.append(
            f"{run.name:28}{scenarios:>10}{verdict.passed:>8}{run.passed:>6}{expected:>19}{len(verdict.faults):>8}"
        )
    reasons: dict[str, dict[str, None]] = {}
    for verdict in verdicts:
        for name, reason in verdict.run.expected_failures.items():
            reasons.setdefault(reason, {})[name] = None
    lines += [f"\nexpected to fail, {reason}:\n  {', '.join(names)}" for reason, names in reasons.items()]
    lines += [f"\nFAULT in {verdict.run.name}: {fault}" for verdict in verdicts for fault in verdict.faults]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
