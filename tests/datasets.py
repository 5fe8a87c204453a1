"""The real graphs that some tests walk, in a folder beside the checkout or the one that KGNAV_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("KGNAV_DATA") or Path(__file__).parents[2] / "shared" / "data")


def dataset(name: str) -> Path:
    """The folder of one of them; a test that finds none is skipped."""
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"no data: {folder} is not there; KGNAV_DATA names the folder that has {name}/")
    return folder
