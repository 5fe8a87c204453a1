"""The graph that comes with the package: painters, museums and places, as CSV beside this module.

Its location is the word `demo`. The graph file is made from the CSV on first use and kept in the user's cache folder
under a name that follows its content, so that a later version of the package makes a file of its own.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from importlib.resources import as_file, files
from pathlib import Path

from kgnav_mcp import __version__
from kgnav_mcp.adapters.embedded.fileformat import FORMAT_VERSION
from kgnav_mcp.config import user_cache_folder


def demo_graph_path() -> Path:
    """The demo graph's file, made now if it is not there yet. It blocks: call it in a thread.

    Two processes may come here at once: each makes its own file, and the last to finish puts it in place in one step.

    Raises:
        LoadError: the package's own data cannot be loaded, which means that the installation is damaged.
    """
    with as_file(files(__name__)) as folder:
        sources = sorted([*folder.glob("nodes/*.csv"), *folder.glob("edges/*.csv")])
        name = f"demo-{_content_hash(sources)}.kg"
        cached = user_cache_folder() / name
        if cached.is_file():
            return cached
        try:
            cached.parent.mkdir(parents=True, exist_ok=True)
            workshop = tempfile.TemporaryDirectory(prefix="demo-", dir=cached.parent)
        except OSError:
            return _make(sources, _private_folder() / name)  # The cache is a convenience: read-only homes are common.
        with workshop as made_in:
            return _make(sources, Path(made_in) / name).replace(cached)


def _content_hash(sources: Sequence[Path]) -> str:
    """Changes with the data, with the file format and with the version of the package that reads the data."""
    digest = blake2b(f"{FORMAT_VERSION} {__version__}".encode(), digest_size=8)
    for source in sources:
        digest.update(source.name.encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _make(sources: Sequence[Path], target: Path) -> Path:
    if not target.is_file():
        from kgnav_mcp.adapters.embedded.loading import (  # noqa: PLC0415 - the parsers it brings are needed once only
            LoadOptions,
            load,
        )

        load(sources, target, LoadOptions())
    return target


@cache
def _private_folder() -> Path:
    """A folder that only this user can write and that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="kgnav-mcp-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
