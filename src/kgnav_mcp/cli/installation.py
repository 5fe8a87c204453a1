"""The command that adds an extra to this installation, which depends on the program that installed it."""

from __future__ import annotations

import json
import sys
import sysconfig
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

_NAME = "kgnav-mcp"


def extra_command(extra: str) -> str:
    """The shell command that installs an extra of kgnav-mcp.

    pipx and `uv tool` are recognized by the files that they keep in a tool's environment. A Python that belongs to the
    operating system is marked as PEP 668 says: pip refuses to install there, so the command makes an environment.
    """
    prefix = Path(sys.prefix)
    requirement = quote(f"{_NAME}[{extra}]")
    if (prefix / "pipx_metadata.json").is_file():
        return f"pipx runpip {quote(prefix.name)} install {requirement}"
    if _belongs_to_system():
        return f"pipx install {quote(published_or_source(extra))}"
    if (prefix / "uv-receipt.toml").is_file() or find_spec("pip") is None:
        return f"uv pip install --python {quote(str(prefix))} {requirement}"
    return f"{quote(sys.executable)} -m pip install {requirement}"


def _belongs_to_system() -> bool:
    return sys.prefix == sys.base_prefix and Path(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED").is_file()


def published_or_source(extra: str = "") -> str:
    """The requirement for another environment, from where this installation came (PEP 610)."""
    name = f"{_NAME}[{extra}]" if extra else _NAME
    text = distribution(_NAME).read_text("direct_url.json")
    if text is None:
        return name
    source = json.loads(text)
    system = source.get("vcs_info", {}).get("vcs")
    return f"{name} @ {f'{system}+' if system else ''}{source['url']}"
