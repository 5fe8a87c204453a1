"""`kgnav call --csv FILE` and `--json FILE`: all rows of all pages, unchanged, or the word that it is not all."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kgnav_mcp.cli.boundary import FAILED, INCOMPLETE, WRONG_USAGE
from kgnav_mcp.cli.call import Export
from tests.cli.conftest import SCRIPTS, Kgnav

PLAN = "MATCH (f)-[:has_genre]->(g) RETURN f, g"
LONG = "word " * 1000 + "end"


@pytest.fixture
def hub(tmp_path: Path, kgnav: Kgnav) -> Path:
    """A graph whose drama has 2,345 films: three pages of any list."""
    source = tmp_path / "kb.tsv"
    source.write_text("".join(f"Film {n:04}\thas_genre\tDrama\n" for n in range(2345)), encoding="utf-8")
    assert kgnav("load", str(source), "-o", "hub.kg").exit_code == 0
    return tmp_path / "hub.kg"


@pytest.fixture
def texts(tmp_path: Path, kgnav: Kgnav) -> Path:
    source = tmp_path / "texts.ttl"
    source.write_text(
        "@prefix : <http://f.example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        f":alien rdfs:label 'Alien' ; :plot '{LONG}' ; :slogan 'Im Weltall'@de ; :year 1979 ;"
        " :rating 8.5 ; :seen true ; :director :scott . :scott rdfs:label 'Scott, Ridley' .\n",
        encoding="utf-8",
    )
    assert kgnav("load", str(source), "-o", "texts.kg").exit_code == 0
    return tmp_path / "texts.kg"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("call", "column"),
    [
        (("run_plan", f"plan={PLAN}"), "f"),
        (("search", "entity=Drama", "direction=incoming", "properties_to_filter_for=has_genre"), "value"),
    ],
)
def test_all_rows_of_all_pages_are_written_as_csv(
    call: tuple[str, ...], column: str, hub: Path, tmp_path: Path, kgnav: Kgnav
) -> None:
    result = kgnav("call", *call, "--graph", str(hub), "--csv", "films.csv")
    assert (result.exit_code, result.stdout) == (0, "films.csv: 2,345 rows, complete\n")
    assert sorted(row[column] for row in rows_of(tmp_path / "films.csv")) == [f"Film {n:04}" for n in range(2345)]
    assert [path.name for path in tmp_path.glob("*.part")] == []


def test_all_rows_of_all_pages_are_written_as_json(hub: Path, tmp_path: Path, kgnav: Kgnav) -> None:
    assert kgnav("call", "run_plan", f"plan={PLAN}", "--graph", str(hub), "--json", "films.json").exit_code == 0
    written = json.loads((tmp_path / "films.json").read_text(encoding="utf-8"))
    assert (written["tool"], written["arguments"]) == ("run_plan", {"plan": PLAN})
    assert (written["complete"], written["count"], written["total"]) == (True, 2345, 2345)
    assert {row["f"]["id"] for row in written["rows"]} == {f"Film {n:04}" for n in range(2345)}


def test_values_are_unchanged_however_long(texts: Path, tmp_path: Path, kgnav: Kgnav) -> None:
    call = ("call", "search", "entity=Alien", "direction=outgoing", "--graph", str(texts))
    assert kgnav(*call, "--json", "alien.json").exit_code == 0
    values: dict[str, Any] = {
        row["property"]["id"].rpartition("/")[2].rpartition(":")[2]: row["value"]
        for row in json.loads((tmp_path / "alien.json").read_text(encoding="utf-8"))["rows"]
    }
    assert values["plot"] == LONG
    assert (values["year"], values["rating"], values["seen"]) == (1979, 8.5, True)
    assert values["slogan"] == {"text": "Im Weltall", "language": "de"}
    assert values["director"]["label"] == "Scott, Ridley"

    assert kgnav(*call, "--csv", "alien.csv").exit_code == 0
    by_value = {row["value"]: row for row in rows_of(tmp_path / "alien.csv")}
    assert {LONG, "1979", "8.5", "true", "Im Weltall", values["director"]["id"]} <= set(by_value)
    assert by_value["Im Weltall"]["valueLanguage"] == "de"
    assert by_value[values["director"]["id"]]["valueLabel"] == "Scott, Ridley"


def test_qualifiers_are_json_in_csv_and_are_not_cut(tmp_path: Path, kgnav: Kgnav) -> None:
    assert kgnav("call", "search", "entity=zundert", "direction=incoming", "--csv", "zundert.csv").exit_code == 0
    [vincent] = [row for row in rows_of(tmp_path / "zundert.csv") if row["value"] == "vincent_van_gogh"]
    assert json.loads(vincent["qualifiers"]) == [{"property": {"id": "date"}, "value": "1853-03-30"}]


def test_two_columns_never_have_one_heading(kgnav: Kgnav) -> None:
    plan = "MATCH (p:Painter)-[:born_in]->(c) RETURN c, count(p) AS cLabel ORDER BY cLabel DESC, c LIMIT 1"
    result = kgnav("call", "run_plan", f"plan={plan}", "--csv", "-")
    assert result.stdout.splitlines()[0] == "c,cLabel_,cLabel"


def test_stdout_has_the_rows_alone(kgnav: Kgnav) -> None:
    result = kgnav("call", "get_relations", "entity=zundert", "--json", "-")
    assert json.loads(result.stdout)["complete"] is True
    assert "stdout: 9 rows, complete" in result.stderr


def test_an_answer_without_rows_has_the_head_of_its_table(tmp_path: Path, kgnav: Kgnav) -> None:
    plan = "MATCH (p:Painter) WHERE p.born > 3000 RETURN p"
    assert kgnav("call", "run_plan", f"plan={plan}", "--csv", "none.csv").stdout == "none.csv: 0 rows, complete\n"
    result = kgnav("call", "find_node", "hint=qqqqqqqqqq", "--csv", "nothing.csv")
    assert (result.exit_code, result.stdout) == (0, "nothing.csv: 0 rows, complete\n")
    assert (tmp_path / "nothing.csv").read_text(encoding="utf-8").startswith("entity,")


def test_rows_that_are_not_all_are_written_and_said_to_be_incomplete(tmp_path: Path, kgnav: Kgnav) -> None:
    result = kgnav("call", "find_node", "hint=van", "limit=2", "--csv", "van.csv")
    assert result.exit_code == INCOMPLETE
    assert result.stdout.startswith("van.csv: 2 rows of 95, incomplete: the tool's limit")
    assert len(rows_of(tmp_path / "van.csv")) == 2


def test_an_error_answer_leaves_the_file_as_it_was(tmp_path: Path, kgnav: Kgnav) -> None:
    (tmp_path / "kept.csv").write_text("before", encoding="utf-8")
    result = kgnav("call", "search", "entity=no such thing", "direction=outgoing", "--csv", "kept.csv")
    assert result.exit_code == FAILED
    assert (result.stdout, result.stderr.partition(":")[0]) == ("", "Not found")
    assert (tmp_path / "kept.csv").read_text(encoding="utf-8") == "before"


def test_an_error_on_a_later_page_leaves_the_file_as_it_was(
    hub: Path, tmp_path: Path, kgnav: Kgnav, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the graph is replaced between two pages: the cursor of the first belongs to no call any more."""
    (tmp_path / "kept.csv").write_text("before", encoding="utf-8")
    real = Export.add

    def add(self: Export, facts: dict[str, Any]) -> None:
        completeness = facts["completeness"]
        real(self, {**facts, "completeness": {**completeness, "cursor": completeness["cursor"] and "of another call"}})

    monkeypatch.setattr(Export, "add", add)
    result = kgnav("call", "run_plan", f"plan={PLAN}", "--graph", str(hub), "--csv", "kept.csv")
    assert result.exit_code == FAILED
    assert "this cursor does not belong to this call" in result.stderr
    assert "kept.csv was not written." in result.stderr
    assert (tmp_path / "kept.csv").read_text(encoding="utf-8") == "before"


def test_a_folder_that_does_not_exist_is_refused_before_the_call(kgnav: Kgnav) -> None:
    result = kgnav("call", "describe_graph", "--csv", "nowhere/graph.csv")
    assert result.exit_code == FAILED
    assert "mkdir -p" in result.stderr


def test_a_link_is_kept_and_its_file_replaced(tmp_path: Path, kgnav: Kgnav) -> None:
    (tmp_path / "real.csv").touch()
    (tmp_path / "link.csv").symlink_to("real.csv")
    assert kgnav("call", "get_relations", "entity=zundert", "--csv", "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert len(rows_of(tmp_path / "real.csv")) == 9


def test_line_breaks_are_kept(tmp_path: Path, kgnav: Kgnav) -> None:
    source = tmp_path / "lines.nt"
    source.write_text('<http://f.example/x> <http://f.example/plot> "one\\ntwo, three" .\n', encoding="utf-8")
    kgnav("load", str(source), "-o", "lines.kg")
    call = ("call", "search", "entity=http://f.example/x", "direction=outgoing", "--graph", "lines.kg")
    assert kgnav(*call, "--csv", "lines.csv").exit_code == 0
    assert [row["value"] for row in rows_of(tmp_path / "lines.csv")] == ["one\ntwo, three"]


def test_the_example_of_the_documentation_prints_what_it_says(kgnav: Kgnav) -> None:
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
    examples = [shlex.split(line) for line in page.splitlines() if line.startswith("kgnav call ")]
    printed = [kgnav(*example[1:]).stdout for example in examples]
    assert len(printed) == 2
    assert printed[0].splitlines()[-1] in page
    assert printed[1] == "netherlands.json: 55 rows, complete\n"


def test_csv_and_json_exclude_each_other(kgnav: Kgnav) -> None:
    assert kgnav("call", "describe_graph", "--csv", "a.csv", "--json", "b.json").exit_code == WRONG_USAGE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device without room")
def test_a_file_that_cannot_be_written_is_an_error_with_the_way_on(kgnav: Kgnav) -> None:
    result = kgnav("call", "get_relations", "entity=zundert", "--csv", "/dev/full")
    assert result.exit_code == FAILED
    assert "/dev/full cannot be written: No space left on device" in result.stderr
    assert "name another file" in result.stderr


@pytest.mark.slow
def test_a_reader_that_stops_early_is_no_mistake_of_the_program(hub: Path) -> None:
    call = f"'{SCRIPTS / 'kgnav'}' call run_plan plan='{PLAN}' --graph '{hub}' --csv - | head -1"
    done = subprocess.run(["bash", "-c", call], capture_output=True, text=True, check=True)
    assert (done.stdout, "mistake" in done.stderr) == ("f,g\n", False)
