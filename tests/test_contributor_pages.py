"""The pages for contributors name files, modules and commands that exist, and their examples are run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from scripts.generate_docs import PARTS, rewritten

from kgnav_mcp.adapters.embedded.loading import load, recognition
from kgnav_mcp.errors import BadLine
from tests.adapters.embedded.arrows import ARROWS
from tests.adapters.embedded.loaded import Loaded, write

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", ROOT / "docs/architecture.md", *ROOT.glob("docs/decisions/*.md")]
)
_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#:]+)\)")
_TARGET = re.compile(r"make ([a-z-]+)")
_FOLDERS = ("src/", "tests/", "docs/", "scripts/", "bench/", ".ci/", ".github/")
_BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_EXCERPT = re.compile(r"^# (\S+\.py)\n", re.MULTILINE)
_NODE = re.compile(r'(\w+)\["')


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_each_path_and_link_of_a_page_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    paths = [ROOT / code.split()[0] for code in _CODE.findall(text) if code.startswith(_FOLDERS)]
    links = [page.parent / link for link in _LINK.findall(text)]
    assert [name_of(path.resolve()) for path in (*paths, *links) if not path.exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_each_make_target_of_a_page_exists(page: Path) -> None:
    code = " ".join(_CODE.findall(page.read_text(encoding="utf-8")))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [target for target in _TARGET.findall(code) if f"\n{target}:" not in makefile] == []


@pytest.mark.parametrize("page", PARTS)
def test_the_generated_parts_of_a_page_are_what_the_code_says(page: str) -> None:
    assert (ROOT / page).read_text(encoding="utf-8") == rewritten(page), "run: make docs"


def test_each_example_of_the_page_is_in_the_file_that_it_names() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found: list[tuple[str, str]] = []
    for block in _BLOCK.findall(text):
        before, *parts = _EXCERPT.split(block)
        assert before == "", f"no file is named above {before!r}"
        for file, excerpt in zip(parts[::2], parts[1::2], strict=True):
            found += [(file, piece) for piece in excerpt.split("...\n")]
    assert {file for file, piece in found if piece not in (ROOT / file).read_text(encoding="utf-8")} == set()
    assert len(found) >= len(re.findall(r"^## Add", text, re.MULTILINE)) == 5


def test_a_format_is_one_module_and_one_line_in_the_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognition, "FORMATS", (*recognition.FORMATS, ARROWS))
    source = write(tmp_path, "people.txt", "#arrows\nada = Ada Lovelace\nada knows bob\nbob = Bob\n")
    graph = Loaded(tmp_path / "g.kg", load([source], tmp_path / "g.kg"))
    assert graph.edges() == [("ada", "knows", "bob")]
    assert graph.nodes()["ada"][0] == "Ada Lovelace"
    with pytest.raises(BadLine, match=r"people\.txt:2: three words are expected"):
        load([write(tmp_path, "people.txt", "#arrows\nada knows\n")], tmp_path / "g.kg")


def test_the_picture_of_the_layers_has_each_package_and_no_other() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    picture = page[page.index("flowchart TD") : page.index("```", page.index("flowchart TD"))]
    packages = {path.parent.name for path in (ROOT / "src/kgnav_mcp").glob("*/__init__.py")}
    drawn = {*_NODE.findall(picture)}
    assert packages | {"app", "errors"} == drawn


def test_the_decisions_list_each_page() -> None:
    folder = ROOT / "docs/decisions"
    listed = {*_LINK.findall((folder / "README.md").read_text(encoding="utf-8"))}
    assert listed == {path.name for path in folder.glob("*.md")} - {"README.md"}
