"""Files of datasets are fetched into a cache, and known by their hashes, from a server of this machine."""

from __future__ import annotations

import threading
from collections.abc import Generator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.cli import main
from kgnav_bench.datasets import registry
from kgnav_bench.datasets.dataset import File
from kgnav_bench.datasets.fetching import LOCK
from kgnav_bench.datasets.simpleqa import SIMPLEQA

CONTENT = b"metadata,problem,answer\n" * 20_000


class Publisher:
    """What the server answers, and how often it was asked."""

    def __init__(self) -> None:
        self.content = CONTENT
        self.status = 200
        self.cut = False
        self.etag = '"1"'
        self.ranges = True
        self.requests = 0
        self.sent = 0
        """Bytes of all answers."""
        self.url = ""


@pytest.fixture
def publisher() -> Generator[Publisher]:
    state = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests += 1
            start = 0
            if state.ranges and self.headers["If-Range"] == state.etag:
                start = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            self.send_response(206 if start else state.status)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(state.content) - 1}/{len(state.content)}")
            self.send_header("ETag", state.etag)
            self.send_header("Content-Length", str(len(state.content) - start))
            self.end_headers()
            body = state.content[start : len(state.content) // 2 if state.cut else None]
            state.sent += len(body)
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/test_set.csv?download=1"
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def published(monkeypatch: pytest.MonkeyPatch, *files: File) -> None:
    """Have SimpleQA published as these files."""
    changed = replace(SIMPLEQA, files=files)
    monkeypatch.setattr(registry, "DATASETS", {**registry.DATASETS, "simpleqa": changed})


def fetch(cache: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["dataset", "fetch", "simpleqa", "--cache", str(cache), *arguments])


def test_a_file_is_fetched_once_with_its_licence_named(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
):
    published(monkeypatch, File("test", publisher.url, sha256(CONTENT).hexdigest()))
    for _ in range(2):
        result = fetch(tmp_path)
        assert result.exit_code == 0, result.output
        assert "Licence: MIT" in result.stderr
        assert Path(result.stdout.strip()).read_bytes() == CONTENT
        assert Path(result.stdout.strip()).name == "test_set.csv"
    assert publisher.requests == 1


def test_a_file_with_another_hash_than_the_known_one_is_refused(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
):
    published(monkeypatch, File("test", publisher.url, "0" * 64))
    result = fetch(tmp_path)
    assert result.exit_code == 1
    assert f"has changed: its SHA-256 was {'0' * 64} and is now {sha256(CONTENT).hexdigest()}" in result.output
    assert "fetch it by hand: curl -LO" in result.output
    assert not list(tmp_path.rglob("test_set.csv*"))


def test_a_file_of_unknown_hash_must_stay_as_it_was_first_fetched(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
):
    published(monkeypatch, File("test", publisher.url))
    path = Path(fetch(tmp_path).stdout.strip())
    assert sha256(CONTENT).hexdigest() in (tmp_path / LOCK).read_text(encoding="utf-8")
    path.unlink()
    publisher.content = b"something else"
    output = fetch(tmp_path).output
    assert sha256(CONTENT).hexdigest() in output
    assert sha256(b"something else").hexdigest() in output
    assert f"remove the line of this URL from {tmp_path / LOCK}" in output
    assert not path.exists()
    (tmp_path / LOCK).write_text("{}", encoding="utf-8")
    assert fetch(tmp_path).exit_code == 0
    assert path.read_bytes() == b"something else"


def test_a_transfer_that_broke_off_continues_where_it_stopped(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
):
    published(monkeypatch, File("test", publisher.url, sha256(CONTENT).hexdigest()))
    publisher.cut = True
    assert "what has arrived is kept" in fetch(tmp_path).output
    publisher.cut = False
    result = fetch(tmp_path)
    assert Path(result.stdout.strip()).read_bytes() == CONTENT
    assert publisher.sent < len(CONTENT) + 100_000  # anew it would be half as much again
    assert [path.name for path in tmp_path.rglob("test_set.csv*")] == ["test_set.csv"]


@pytest.mark.parametrize(("etag", "ranges"), [('"2"', True), ('"1"', False)], ids=["new version", "no ranges"])
def test_a_transfer_starts_anew_where_it_cannot_continue(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch, etag: str, ranges: bool
):
    published(monkeypatch, File("test", publisher.url))
    publisher.cut = True
    fetch(tmp_path)
    publisher.cut, publisher.etag, publisher.ranges = False, etag, ranges
    publisher.content = CONTENT.upper()
    assert Path(fetch(tmp_path).stdout.strip()).read_bytes() == CONTENT.upper()


def test_a_file_in_the_cache_that_was_damaged_is_fetched_again(
    tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
):
    published(monkeypatch, File("test", publisher.url))
    path = Path(fetch(tmp_path).stdout.strip())
    path.write_bytes(b"damaged")
    assert fetch(tmp_path).exit_code == 0
    assert path.read_bytes() == CONTENT


def test_what_cannot_be_fetched_says_why(tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch):
    published(monkeypatch, File("test", publisher.url))
    publisher.status = 404
    assert "answers 404. Look for the file at https://github.com" in fetch(tmp_path).output
    publisher.status, publisher.cut = 200, True
    assert "could not be fetched" in fetch(tmp_path).output
    published(monkeypatch, File("test", "http://127.0.0.1:9/x.csv"))
    assert "could not be fetched" in fetch(tmp_path).output
    assert not list(tmp_path.rglob("*.csv"))
    assert not (tmp_path / LOCK).exists()


def test_a_file_that_does_not_exist_and_files_to_fetch_by_hand_are_named(tmp_path: Path):
    assert "has no file 'dev' to fetch; it has test" in fetch(tmp_path, "--split", "dev").output
    result = CliRunner().invoke(main, ["dataset", "fetch", "cwq", "--cache", str(tmp_path)])
    assert result.exit_code == 1
    assert "By hand: https://www.tau-nlp" in result.stderr
    assert "kgnav-bench dataset read cwq FILE" in result.stderr
