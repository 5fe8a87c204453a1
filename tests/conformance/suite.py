"""The official conformance suite: fetched once from npm into the user's cache, run against a URL."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SUITE = "@modelcontextprotocol/conformance"
VERSION = "0.2.0-alpha.12"

_NODE_VERSION = 22
_SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "win"}
_PROCESSORS = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_INSTALL_S = 300
_RUN_S = 180


class SuiteMissing(Exception):
    """The suite cannot be had on this machine; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Suite:
    """An installed suite."""

    node: Path
    script: Path

    def run(self, url: str, arguments: Sequence[str], results: Path) -> None:
        """Run scenarios against the server at this URL; each leaves its checks in a folder under `results`.

        The exit code says only that something failed, which may be expected: the checks are what counts.
        """
        command = [str(self.node), str(self.script), "server", "--url", url, *arguments, "-o", str(results)]
        # In its own folder: without -o the suite writes into the one it is started in.
        subprocess.run(command, check=False, capture_output=True, timeout=_RUN_S, cwd=results)


def find_suite() -> Suite:
    """The suite from the cache, or from npm where it is not there yet.

    Raises:
        SuiteMissing: npm is not there or could not install it.
    """
    from kgnav_mcp.config import user_cache_folder  # noqa: PLC0415 - `--help` needs no installation

    home = user_cache_folder() / "conformance" / VERSION
    if not (home / "node_modules" / SUITE / "package.json").is_file():
        _install(home)
    return Suite(_node(home), home / "node_modules" / SUITE / _script(home))


def _install(home: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise SuiteMissing("npm is not installed: the conformance suite is an npm package. Install Node.js with npm.")
    home.parent.mkdir(parents=True, exist_ok=True)
    packages = [f"{SUITE}@{VERSION}", *([] if _own_node() else [f"{_node_package()}@{_NODE_VERSION}"])]
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        command = [npm, "install", "--prefix", folder, "--no-audit", "--no-fund", "--loglevel=error", *packages]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=_INSTALL_S)
        if done.returncode:
            raise SuiteMissing(f"`{' '.join(command)}` failed:\n{_first_lines(done.stderr)}")
        try:
            # Two runs may install at once: whichever is done first gives what both use.
            (Path(folder) / "node_modules").rename(_made(home) / "node_modules")
        except OSError:
            if not (home / "node_modules" / SUITE / "package.json").is_file():
                raise


def _first_lines(said: str) -> str:
    return "\n".join(said.strip().splitlines()[:4])


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def _script(home: Path) -> str:
    package = json.loads((home / "node_modules" / SUITE / "package.json").read_text(encoding="utf-8"))
    return next(iter(package["bin"].values())) if isinstance(package["bin"], dict) else package["bin"]


def _node(home: Path) -> Path:
    installed = home / "node_modules" / _node_package() / "bin" / ("node.exe" if os.name == "nt" else "node")
    if installed.is_file():
        return installed
    if own := _own_node():
        return own
    raise SuiteMissing(f"The suite needs Node.js {_NODE_VERSION} or later. Remove {home} to have it fetched.")


def _node_package() -> str:
    """The npm package that holds Node.js itself for this machine."""
    processor = platform.machine().lower()
    return f"node-{_SYSTEMS.get(sys.platform, sys.platform)}-{_PROCESSORS.get(processor, processor)}"


def _own_node() -> Path | None:
    """The machine's own Node.js, if it is new enough for the suite."""
    node = shutil.which("node")
    if node is None:
        return None
    said = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout
    major = said.strip().removeprefix("v").partition(".")[0]
    return Path(node) if major.isdigit() and int(major) >= _NODE_VERSION else None
