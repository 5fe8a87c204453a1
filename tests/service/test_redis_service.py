"""`scripts/service redis`: a store of trails, which is no store of graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.services import Redis, running


def test_it_starts_stops_and_has_no_graphs_to_load(tmp_path: Path, redis_url: str) -> None:
    with running(Redis(tmp_path / "own")) as service:
        assert service.url.startswith("redis://127.0.0.1:")
        assert service.url != redis_url
        assert service.script("start").stdout == f"{service.url}\n"
        refused = service.script("load", "a.nt")
        assert (refused.returncode, "invalid choice: 'load'" in refused.stderr) == (2, True)
        service.stop()
        assert service.script("status").stdout == "stopped\n"


@pytest.mark.usefixtures("redis_url")
def test_nothing_is_written(tmp_path: Path) -> None:
    with running(Redis(tmp_path / "own")) as service:
        service.stop()
        assert not list(service.home.glob("*.rdb"))
