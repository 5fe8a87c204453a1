"""The parser's tables are kept in a folder, so that only the first process of all has to compute them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from lark import Lark

from kgnav_mcp.languages.cypher import syntax

pytestmark = pytest.mark.slow

TEXT = "MATCH (a:Person)-[:knows]->(b) RETURN b"
new_parser = syntax._parser.__wrapped__  # pyright: ignore[reportPrivateUsage] - one for each process


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tables."""
    folder = tmp_path_factory.mktemp("tables") / "cache" / "kgnav-mcp"
    new_parser(folder)
    return folder


def parsed(parser: Lark) -> object:
    return parser.parse(TEXT)  # pyright: ignore[reportUnknownMemberType]


def test_later_parsers_read_the_tables_and_do_not_compute_them(kept: Path, monkeypatch: pytest.MonkeyPatch):
    def computed(*_: object, **__: object) -> None:
        raise AssertionError("the tables were computed again")

    tree = syntax.parse_tree(TEXT)
    monkeypatch.setattr("lark.lark.load_grammar", computed)
    assert parsed(new_parser(kept)) == tree


@pytest.mark.parametrize("cut", [0, 70_000])
def test_damaged_tables_are_computed_again(kept: Path, tmp_path: Path, cut: int):
    folder = shutil.copytree(kept, tmp_path / "damaged")
    (tables,) = folder.iterdir()
    whole = tables.read_bytes()
    tables.write_bytes(whole[:cut] or b"no tables")
    assert parsed(new_parser(folder)) == parsed(new_parser(kept))
    assert len(tables.read_bytes()) > cut, "they are kept again"


def test_a_folder_that_cannot_be_made_is_no_hindrance(kept: Path, tmp_path: Path):
    (tmp_path / "file").write_text("not a folder")
    assert parsed(new_parser(tmp_path / "file" / "cache")) == parsed(new_parser(kept))
