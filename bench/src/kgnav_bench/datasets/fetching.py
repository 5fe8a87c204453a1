"""Fetches the files of datasets into a cache. What was fetched is known by its hash ever after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import requests

from kgnav_bench.datasets.dataset import Dataset, File

_pooch: Final[Any] = import_module("pooch")  # its types are incomplete
LOCK = "hashes.json"
"""File of the cache with the SHA-256 of each file when it was first fetched, by its URL."""
_TIMEOUT = 60
"""Seconds without a byte after which fetching a file fails."""


class NotFetchedError(Exception):
    """A file cannot be fetched, or has changed. The message says what to do."""


def default_cache() -> Path:
    """The folder of fetched files: the user's cache folder."""
    return Path(_pooch.os_cache("kgnav-bench"))


def fetch(dataset: Dataset, file: File, cache: Path, *, progress: bool = False) -> Path:
    """A file of a dataset in the cache, fetched unless it is there with the same hash.

    Raises:
        NotFetchedError: it cannot be fetched, or has another hash than the known one or the one it had here before.
    """
    folder = cache / dataset.name / file.split
    recorded = _recorded(cache)
    known = file.sha256 or recorded.get(file.url)
    downloader = _pooch.HTTPDownloader(progressbar=progress, timeout=_TIMEOUT)
    try:
        found = Path(
            _pooch.retrieve(
                file.url, f"sha256:{known}" if known else None, file.name, path=folder, downloader=downloader
            )
        )
    except ValueError as error:
        raise NotFetchedError(
            f"{file.url} has changed: its SHA-256 is not {known}. If you want the new file, look at it first, then "
            f"fetch it by hand; if it should be the old one, the connection or the server is not to be trusted."
        ) from error
    except requests.HTTPError as error:
        status = error.response.status_code if error.response is not None else "an error"
        raise NotFetchedError(f"{file.url} answers {status}. Look for the file at {dataset.home}") from error
    except (requests.RequestException, OSError) as error:
        raise NotFetchedError(f"{file.url} could not be fetched: {error}. Try again.") from error
    if file.url not in recorded:
        _record(cache, {**recorded, file.url: _pooch.file_hash(str(found), alg="sha256")})
    return found


def _recorded(cache: Path) -> Mapping[str, str]:
    """The hashes of files that were fetched before.

    Raises:
        NotFetchedError: the record is damaged.
    """
    path = cache / LOCK
    if not path.exists():
        return {}
    try:
        read: Any = json.loads(path.read_text(encoding="utf-8"))
        return {str(url): str(sha256) for url, sha256 in cast("Mapping[object, object]", read).items()}
    except (ValueError, AttributeError) as error:
        raise NotFetchedError(f"{path} is damaged. Remove it: hashes are recorded anew at the next fetch.") from error


def _record(cache: Path, hashes: Mapping[str, str]) -> None:
    path = cache / LOCK
    part = path.with_suffix(".part")
    part.write_text(json.dumps(hashes, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    part.replace(path)
