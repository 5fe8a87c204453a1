"""Fetches the files of datasets into a cache.

The SHA-256 of each file is recorded, and later fetches must have the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import platformdirs
import requests
from tqdm import tqdm

from kgnav_bench.datasets.dataset import Dataset, File

LOCK = "hashes.json"
"""The file of the cache that records the SHA-256 of each file at its first fetch, by URL."""
_TIMEOUT = 60
"""Seconds without a byte after which fetching a file fails."""
_CHUNK = 1 << 16
"""Bytes that are written at once."""


class NotFetchedError(Exception):
    """A file cannot be fetched, or has changed. The message says what to do."""


def default_cache() -> Path:
    """The folder of fetched files: the user's cache folder."""
    return platformdirs.user_cache_path("kgnav-bench")


def fetch(dataset: Dataset, file: File, cache: Path, *, progress: bool = False) -> Path:
    """Return the path of a dataset's file in the cache. It is fetched unless it is there with the same hash.

    An interrupted transfer is continued, if the server supports it.

    Raises:
        NotFetchedError: it cannot be fetched, or its hash differs from the known or the recorded one.
    """
    path = cache / dataset.name / file.split / file.name
    recorded = _recorded(cache)
    known = file.sha256 or recorded.get(file.url)
    if not path.exists() or (known is not None and _sha256(path) != known):
        part = path.with_name(f"{path.name}.part")
        try:
            part.parent.mkdir(parents=True, exist_ok=True)
            _transfer(file.url, part, dataset.home, progress=progress)
            actual = _sha256(part)
            if known is not None and actual != known:
                part.unlink()
                raise NotFetchedError(_changed(file, known, actual, cache))
            part.replace(path)
        except OSError as error:  # that of requests is one, too
            raise NotFetchedError(
                f"{file.url} could not be fetched: {error}. Run the same command again; what has arrived is kept."
            ) from error
    if recorded.get(file.url) is None:
        _record(cache, {**recorded, file.url: _sha256(path)})
    return path


def _changed(file: File, known: str, actual: str, cache: Path) -> str:
    advice = (
        f"To read the new file all the same, fetch it by hand: curl -LO '{file.url}'"
        if file.sha256
        else f"To accept the new file, remove the line of this URL from {cache / LOCK} and run the command again."
    )
    return f"{file.url} has changed: its SHA-256 was {known} and is now {actual}. Nothing is kept. {advice}"


def _transfer(url: str, part: Path, home: str, *, progress: bool) -> None:
    """Fetch the rest of a file; all of it if no part was fetched, or if the publisher has changed the file.

    Raises:
        NotFetchedError: the server answers with an error.
        OSError: the transfer broke off, or the file cannot be written.
    """
    version_file = part.with_name(f"{part.name}.version")
    version = version_file.read_text(encoding="utf-8") if part.exists() and version_file.exists() else ""
    start = part.stat().st_size if version else 0
    headers = {"Accept-Encoding": "identity"}  # sizes and ranges are those of the file
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": version}
    with requests.get(url, headers=headers, stream=True, timeout=_TIMEOUT) as response:
        if start and response.status_code == requests.codes.requested_range_not_satisfiable:
            part.unlink()
            _transfer(url, part, home, progress=progress)
            return
        if not response.ok:
            raise NotFetchedError(f"{url} answers {response.status_code}. Look for the file at {home}")
        if response.headers.get("Content-Range", "").partition("-")[0] != f"bytes {start}":
            start = 0
        version_file.write_text(_version(response), encoding="utf-8")
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else None
        bar = tqdm(desc=part.stem, initial=start, total=total, unit="B", unit_scale=True, disable=not progress)
        with part.open("ab" if start else "wb") as file, bar:
            for chunk in response.iter_content(_CHUNK):
                file.write(chunk)
                bar.update(len(chunk))
    version_file.unlink()


def _version(response: requests.Response) -> str:
    """What tells this version of a file from others, for `If-Range`. Empty if the server gives nothing exact."""
    tag = response.headers.get("ETag", "")
    return tag if tag.startswith('"') else response.headers.get("Last-Modified", "")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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
