"""The task of each client in Python, and its outcome, each as one JSON text."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Task:
    """The server by command or URL (the other is empty), the calls to make, and the prompt to get."""

    command: str
    args: Sequence[str]
    url: str
    calls: Sequence[tuple[str, Mapping[str, Any]]]
    prompt: str
    prompt_arguments: Mapping[str, str]


Outcome = tuple[Sequence[str], Sequence[str], str]
"""The names of the tools, the text of each call's answer, the text of the prompt."""


def carry_out(package: str, client: Callable[[Task], Awaitable[Outcome]]) -> None:
    """Run a client on the task of the command line, and print its package's version and the outcome."""

    async def outcome() -> Outcome:
        return await client(Task(**json.loads(sys.argv[1])))

    tools, answers, prompt = asyncio.run(outcome())
    report = {"version": version(package), "tools": list(tools), "answers": list(answers), "prompt": prompt}
    sys.stdout.write(json.dumps(report))


def text(content: Any) -> str:  # noqa: ANN401 - each client has a class of its own for it
    """The text of a tool result."""
    return "\n".join(block.text for block in content)
