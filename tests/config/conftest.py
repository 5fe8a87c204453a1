"""An empty folder and none of our variables, and what the tests of settings share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.config import (
    describe_settings,
    load_settings,
)
from kgnav_mcp.errors import ConfigurationError


@pytest.fixture(autouse=True)
def nothing_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An empty folder, no user configuration, and none of our variables."""
    for facts in describe_settings():
        monkeypatch.delenv(facts.env, raising=False)
    for name in ("KGNAV_CONFIG", "KGNAV_GRAPH", "KGNAV_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def refusal(**arguments: Any) -> ConfigurationError:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(**arguments)
    assert "pydantic" not in str(caught.value)
    assert "://" not in f"{caught.value} {caught.value.next_step}"
    return caught.value
