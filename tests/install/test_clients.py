"""`scripts/try_clients`: what it tells a client, and how it judges. Of the clients only the SDK of Python is here."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from scripts.clients.cli import CHECKS, CLIENTS, TASK, outcome_failures
from scripts.clients.environments import PROGRAMS

from tests.server.processes import KGNAV

GOOD = {
    "tools": [check.tool for check in CHECKS],
    "answers": [f"1 row\n{check.shows}" for check in CHECKS],
    "prompt": TASK["prompt_arguments"]["question"],
}


def test_a_client_that_shows_all_that_was_requested_has_no_fault():
    assert outcome_failures(GOOD) == []


@pytest.mark.parametrize(
    ("lost", "fault"),
    [
        ({"tools": ["search"]}, "no tool find_node"),
        ({"answers": [*GOOD["answers"][:-1], "Something went wrong"]}, "an error: Something went wrong"),
        ({"prompt": ""}, "the prompt is not about the question"),
    ],
)
def test_what_a_client_loses_is_named(lost: dict[str, object], fault: str):
    assert outcome_failures({**GOOD, **lost}) == [fault]


def test_every_client_has_a_program_of_at_most_forty_lines_of_its_own():
    lengths = {name: len((PROGRAMS / client.program).read_text().splitlines()) for name, client in CLIENTS.items()}
    assert {name for name, lines in lengths.items() if lines > 40} <= {"go-sdk"}  # whose language wants more


@pytest.mark.slow
def test_the_program_of_the_sdk_that_is_here_carries_out_the_task():
    task = json.dumps({**TASK, "command": KGNAV, "args": ["serve"]})
    done = subprocess.run(
        [sys.executable, PROGRAMS / "python_sdk_2.py", task], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert CHECKS[0].shows in said["answers"][0]
    assert set(GOOD["tools"]) <= set(said["tools"])
    assert GOOD["prompt"] in said["prompt"]
