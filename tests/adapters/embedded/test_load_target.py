"""What a load may write over: an older graph file, and nothing that would be lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.errors import LoadError
from tests.adapters.embedded.loaded import write

TRIPLE = "a\tp\tb\n"

OTHER_PATHS: dict[str, Callable[[Path, Path], object]] = {
    "symbolic link": lambda link, file: link.symlink_to(file),
    "hard link": lambda link, file: link.hardlink_to(file),
}


def refusal(sources: list[Path], target: Path, options: LoadOptions | None = None) -> LoadError:
    with pytest.raises(LoadError) as caught:
        load(sources, target, options or LoadOptions())
    assert caught.value.next_step
    return caught.value


def test_an_output_that_is_a_source_is_refused_even_by_force(tmp_path: Path) -> None:
    source = write(tmp_path, "my.tsv", TRIPLE)
    for force in (False, True):
        error = refusal([source], source, LoadOptions(force=force))
        assert "is a source" in error.message
        assert f"-o {tmp_path / 'my.kg'}" in error.next_step
    assert source.read_text(encoding="utf-8") == TRIPLE


@pytest.mark.parametrize("make", OTHER_PATHS.values(), ids=list(OTHER_PATHS))
def test_an_output_that_is_a_source_by_another_path_is_refused(
    tmp_path: Path, make: Callable[[Path, Path], object]
) -> None:
    source = write(tmp_path, "my.tsv", TRIPLE)
    make(tmp_path / "out.kg", source)
    assert "is a source" in refusal([source], tmp_path / "out.kg", LoadOptions(force=True)).message
    assert source.read_text(encoding="utf-8") == TRIPLE


def test_an_output_that_is_a_file_of_names_is_refused(tmp_path: Path) -> None:
    source, names = write(tmp_path, "my.tsv", TRIPLE), write(tmp_path, "names.tsv", "a\tA\n")
    assert "is a source" in refusal([source], names, LoadOptions(labels=(names,), force=True)).message


@pytest.mark.parametrize("make", OTHER_PATHS.values(), ids=list(OTHER_PATHS))
def test_a_source_that_is_named_twice_is_refused(tmp_path: Path, make: Callable[[Path, Path], object]) -> None:
    source = write(tmp_path, "my.tsv", TRIPLE)
    make(tmp_path / "again.tsv", source)
    assert "are the same file" in refusal([source, tmp_path / "again.tsv"], tmp_path / "g.kg").message
    assert "is given twice" in refusal([source, source], tmp_path / "g.kg").message


def test_a_file_that_is_no_graph_file_is_kept_unless_forced(tmp_path: Path) -> None:
    source, notes = write(tmp_path, "my.tsv", TRIPLE), write(tmp_path, "notes.txt", "dear diary")
    error = refusal([source], notes)
    assert "is not a graph file" in error.message
    assert "--force" in error.next_step
    assert notes.read_text(encoding="utf-8") == "dear diary"
    assert load([source], notes, LoadOptions(force=True)).triples == 1


def test_the_output_is_looked_at_before_any_source(tmp_path: Path) -> None:
    notes = write(tmp_path, "notes.txt", "dear diary")
    assert "notes.txt" in refusal([tmp_path / "missing.tsv"], notes).message


def test_an_older_graph_file_and_an_empty_file_are_replaced(toy_file: Path, tmp_path: Path) -> None:
    source = write(tmp_path, "my.tsv", TRIPLE)
    shutil.copy(toy_file, tmp_path / "old.kg")
    write(tmp_path, "empty.kg", "")
    for name in ("old.kg", "empty.kg"):
        assert load([source], tmp_path / name).triples == 1


def test_a_folder_a_missing_folder_and_a_pipe_are_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = write(tmp_path, "my.tsv", TRIPLE)
    os.mkfifo(tmp_path / "pipe.kg")
    for folder in (Path(), Path(".."), tmp_path):
        error = refusal([source], folder)
        assert "is a folder" in error.message
        assert f"-o {folder / 'graph.kg'}" in error.next_step
    assert "does not exist" in refusal([source], tmp_path / "none" / "g.kg").message
    assert "not a regular file" in refusal([source], tmp_path / "pipe.kg", LoadOptions(force=True)).message
