"""What GraphWalker's public code does wrong does not happen here: each weakness, through the tools.

The names are those of the weaknesses; the graph is the toy graph, and the client speaks MCP.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.config import GraphSettings, Settings
from tests.contract import toy
from tests.server.clients import call, refused


@pytest.fixture
def settings(toy_graph: GraphSettings) -> Settings:
    return Settings(graphs={"toy": toy_graph})


def rows(answer: str) -> list[list[str]]:
    """The rows of the one table of an answer."""
    lines = answer.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("--|"))
    return [line.split("|") for line in lines[start + 1 :] if "|" in line]


async def test_direction_lost_in_the_merge(settings: Settings) -> None:
    listed = rows(await call("get_relations", {"entity": "ada"}, settings))
    directions = [(relation, direction) for relation, _, direction, _ in listed]
    assert {("knows", "outgoing"), ("knows", "incoming"), ("dislikes", "incoming")} <= set(directions)
    assert ("dislikes", "outgoing") not in directions
    found = rows(await call("get_triples", {"entity": "ada", "relations": ["knows", "dislikes"]}, settings))
    assert [(head, relation, tail) for head, _, relation, tail, *_ in found] == [
        ("ada", "knows", "ben"),
        ("ada", "knows", "ben"),
        ("ada", "knows", "cyd"),
        ("cyd", "dislikes", "ada"),
        ("ben", "knows", "ada"),
    ]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_relations", {"entity": "ada"}),
        ("get_relations", {"entity": "ada", "question": "Who is her spouse?"}),
        ("get_triples", {"entity": "ada", "relations": ["knows"]}),
    ],
)
async def test_time_outs_reported_as_no_relations(
    tool: str, arguments: dict[str, object], toy_graph: GraphSettings
) -> None:
    late = GraphSettings(location=toy_graph.location, timeout=1e-6)
    text = await refused(tool, arguments, Settings(graphs={"toy": late}))
    assert "did not answer within" in text
    assert "no relations" not in text


async def test_no_relations_is_said_only_where_there_are_none(settings: Settings) -> None:
    assert "has no relations at all" not in await call("get_relations", {"entity": "ada"}, settings)
    assert rows(await call("get_relations", {"entity": "hermit"}, settings))[0][0] == "name"


@pytest.mark.parametrize("question", [None, "Who is her spouse?", "nothing in common"])
async def test_random_sampling(question: str | None, toy_graph: GraphSettings) -> None:
    arguments = {"entity": toy.HUB, **({"question": question} if question else {})}
    first, *others = [
        (
            await call("get_relations", arguments, Settings(graphs={"toy": toy_graph})),
            await call(
                "get_triples", {"entity": toy.HUB, "relations": ["visited"]}, Settings(graphs={"toy": toy_graph})
            ),
        )
        for _ in range(3)
    ]
    assert others == [first, first], "every server gives the same answer"
    assert f"{toy.VISITORS} triples" in first[1].splitlines()[0], "all of them, not a sample"


async def test_flattened_relations_keyed_by_name_so_that_entities_collide(settings: Settings) -> None:
    one_marriage = {"entity": "ben", "relations": ["marriage.spouse"]}
    two_marriages = {"entity": "ada", "relations": ["marriage.spouse"]}
    for _ in range(2):  # asked in turns: what one entity's relation means must not stick to the other's
        bens = rows(await call("get_triples", one_marriage, settings))
        adas = rows(await call("get_triples", two_marriages, settings))
        assert [(row[0], row[3]) for row in bens] == [("ben", "ada"), ("ada", "ben")]
        assert [(row[0], row[3]) for row in adas] == [("ada", "ben"), ("ada", "cyd"), ("ben", "ada"), ("cyd", "ada")]


async def test_flattened_names_dropped_by_the_white_list(toy_graph: GraphSettings) -> None:
    only = Settings(graphs={"toy": toy_graph}, white_list=("marriage.*",))
    listed = rows(await call("get_relations", {"entity": "ada"}, only))
    assert {relation for relation, *_ in listed} == {"marriage.spouse", "marriage.from", "marriage.rite"}
    found = rows(await call("get_triples", {"entity": "ada", "relations": ["marriage.spouse"]}, only))
    assert [(row[0], row[3]) for row in found if row[0] == "ada"] == [("ada", "ben"), ("ada", "cyd")]


async def test_sibling_roles_torn_apart(settings: Settings) -> None:
    found = rows(await call("get_triples", {"entity": "ada", "relations": ["marriage.spouse"]}, settings))
    assert {(row[0], row[3]): row[5] for row in found} == {
        ("ada", "ben"): "from: 1835-07-08; rite: civil",
        ("ada", "cyd"): "from: 1846-02-14",
        ("ben", "ada"): "from: 1835-07-08; rite: civil",
        ("cyd", "ada"): "from: 1846-02-14",
    }


async def test_quotes_not_escaped(settings: Settings, tmp_path: Path) -> None:
    names = ("the 'old' \"Hall\"", 'five" by \\ five', "o'clock")
    source = tmp_path / "quoted.tsv"
    source.write_text("".join(f"{name}\tsaid \"to'\t{name} too\n" for name in names), encoding="utf-8")
    load([source], tmp_path / "quoted.kg", LoadOptions())
    quoted = Settings(graphs={"quoted": GraphSettings(location=str(tmp_path / "quoted.kg"))})
    for name in names:
        shown = name.replace("\\", "%5C")
        relation = "said \"to'"
        listed = rows(await call("get_relations", {"entity": name}, quoted))
        assert [row[0] for row in listed] == [relation]
        found = rows(await call("get_triples", {"entity": name, "relations": [relation]}, quoted))
        assert (found[0][0], found[0][2], found[0][3]) == (shown, relation, f"{shown} too")
    hunted = rows(await call("get_triples", {"entity": toy.HOSTILE_HUNTER, "relations": ["hunts"]}, settings))
    assert len(hunted) == len(toy.HOSTILE_TEXTS) - 1
    injected = await refused("get_triples", {"entity": "ada", "relations": ["knows' OR 'a'='a"]}, settings)
    assert "knows" in injected
