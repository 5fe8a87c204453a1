"""Walks over a graph file by a real server: complete answers, checks that find faults, and continuing after a kill."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from contextlib import aclosing
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.cli import main
from kgnav_bench.client import load
from kgnav_bench.records import Question, read_records
from kgnav_bench.walks.authors import Templates
from kgnav_bench.walks.making import Maker, Settings
from kgnav_bench.walks.patterns import FORMS, pattern
from kgnav_bench.walks.sampling import Limits
from kgnav_bench.walks.session import (
    connected,
)
from kgnav_bench.walks.sharegpt import (
    Conversation,
    PathHop,
    Sender,
    Shape,
    read_conversations,
    write_conversations,
)
from kgnav_bench.walks.topics import sampled_topics

pytestmark = pytest.mark.slow

EACH = 6
Triple = tuple[str, str, str]


def made_up_films() -> list[Triple]:
    """80 films with directors, writers and genres; some people direct what they write."""
    chance = random.Random(7)  # noqa: S311 - a fixed graph
    people = [f"Person {n}" for n in range(25)]
    triples = set[Triple]()
    for n in range(80):
        film = f"Film {n}"
        triples.add((film, "directed_by", chance.choice(people)))
        triples |= {(film, "written_by", who) for who in chance.sample(people, 2)}
        triples |= {(film, "has_genre", f"Genre {chance.randrange(12)}") for _ in range(2)}
    return sorted(triples)


TRIPLES = made_up_films()


def counted(conversation: Conversation, triples: list[Triple] = TRIPLES) -> set[str]:
    """The complete answers by the raw triples: an independent evaluation of the pattern."""
    found = pattern(conversation.metadata.shape, conversation.metadata.path)

    def onward(here: set[str], hops: tuple[PathHop, ...]) -> set[str]:
        for hop in hops:
            pairs = ((h, t) if hop.direction == "outgoing" else (t, h) for h, r, t in triples if r == hop.relation)
            here = {far for near, far in pairs if near in here} - set(found.topics)
        return here

    sides = [onward({branch[0].start}, branch) for branch in found.branches]
    return onward(sides[0].intersection(*sides[1:]), found.tail)


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    (folder / "kb.tsv").write_text("".join("\t".join(triple) + "\n" for triple in TRIPLES), encoding="utf-8")
    load([folder / "kb.tsv"], folder / "films.kg")
    return folder / "films.kg"


@pytest.fixture(scope="module")
def walks(graph: Path) -> list[Conversation]:
    """Some walks of every shape."""

    async def make() -> list[Conversation]:
        made: list[Conversation] = []
        async with connected(str(graph), None) as session:
            tools = await session.tools()
            topics = await sampled_topics(session, Limits(), 1)
            for shape in FORMS:
                maker = Maker(session, tools, topics, Templates(), Settings(shape, 1, Limits(frontier=60, answers=60)))
                async with aclosing(maker.in_order(0, 2)) as outcomes:
                    while sum(one.metadata.shape is shape for one in made) < EACH:
                        one = await anext(outcomes)
                        made += [one.conversation] if one.conversation else []
        return made

    return asyncio.run(make())


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["walks", *map(str, arguments)])


def test_answers_are_all_ends_of_the_pattern_by_a_count_over_the_raw_triples(walks: list[Conversation]):
    assert Counter(each.metadata.shape for each in walks) == dict.fromkeys(FORMS, EACH)
    for each in walks:
        assert {answer.id for answer in each.metadata.answers} == counted(each), each.id


def test_a_question_names_topics_and_no_entity_on_the_way(walks: list[Conversation]):
    for each in walks:
        metadata = each.metadata
        words = metadata.question.replace('"', " ").split()
        assert all(topic.name in metadata.question for topic in metadata.topics)
        for entity in {hop.end for hop in metadata.path} - {topic.id for topic in metadata.topics}:
            first, second = entity.split()
            assert (first, second) not in set(pairwise(words)), each.id


def test_both_sides_of_a_conjunction_are_needed(walks: list[Conversation]):
    conjunctions = [each for each in walks if each.metadata.shape is Shape.INTERSECTION]
    for each in conjunctions:
        for hop in each.metadata.path:
            side = {
                (t if hop.direction == "outgoing" else h)
                for h, r, t in TRIPLES
                if r == hop.relation and hop.start in (h, t)
            }
            assert len(side) > len(each.metadata.answers), each.id


def test_a_path_never_comes_to_an_entity_twice(walks: list[Conversation]):
    for each in walks:
        if each.metadata.shape.value.startswith("chain"):
            entities = [each.metadata.path[0].start, *(hop.end for hop in each.metadata.path)]
            assert len(set(entities)) == len(entities), each.id


def test_walks_pass_their_check(walks: list[Conversation], graph: Path, tmp_path: Path):
    write_conversations(tmp_path / "walks.jsonl", walks)
    checked = run("check", tmp_path / "walks.jsonl", "--graph", graph)
    assert checked.exit_code == 0, checked.output
    assert checked.output.startswith(f"{len(walks)} walks, ")
    assert "0 malformed, 0 unreplayable, 0 ungrounded, 0 incomplete" in checked.output


def test_a_check_names_the_line_of_each_fault(walks: list[Conversation], graph: Path, tmp_path: Path):
    lines = [each.model_dump(mode="json") for each in walks[:5]]
    messages = [line["conversations"] for line in lines]
    messages[1][3]["value"] = (
        messages[1][3]["value"].replace("|outgoing|", "|incoming|").replace("relations\n", "relation\n")
    )
    messages[2][2]["value"] = messages[2][2]["value"].replace("<think>", '<think>"Somebody Else" ')
    last = lines[3]["metadata"]["answers"].pop()
    lines[3]["metadata"]["path"][-1]["end"] = (
        lines[3]["metadata"]["answers"][0]["id"] if lines[3]["metadata"]["answers"] else ""
    )
    messages[4].pop()
    path = tmp_path / "walks.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    checked = run("check", path, "--graph", graph)
    kinds = {tuple(line.split(": ")[:2]) for line in checked.output.splitlines() if line.startswith("line ")}
    assert checked.exit_code == 1
    assert last
    assert ("line 2", "unreplayable") in kinds
    assert ("line 3", "ungrounded") in kinds
    assert {kind for line, kind in kinds if line == "line 4"} & {"incomplete", "malformed"}
    assert ("line 5", "malformed") in kinds
    assert not {line for line, _ in kinds} & {"line 1"}


@pytest.mark.extended  # by what continues other runs: tests/bench/test_resuming.py
def test_a_killed_run_continues_with_the_same_walks(graph: Path, tmp_path: Path):
    whole, part = tmp_path / "whole.jsonl", tmp_path / "part.jsonl"
    options = ("--graph", graph, "--shape", "chain-2")
    assert run("make", *options, "--count", "12", "-o", whole, "--concurrency", "1").exit_code == 0
    assert run("make", *options, "--count", "5", "-o", part).exit_code == 0
    with part.open("ab") as file:
        file.write(whole.read_bytes().split(b"\n")[5] + b"\n" + b'{"id":"chain')  # written, but not finished
    continued = run("make", *options, "--count", "12", "-o", part)
    assert "5 walks are kept" in continued.output
    assert part.read_bytes() == whole.read_bytes()
    other = run("make", *options, "--count", "12", "-o", part, "--seed", "2")
    assert other.exit_code == 1
    assert "results of other parameters" in other.output


def test_relations_are_followed_only_if_they_are_allowed(graph: Path, tmp_path: Path):
    path = tmp_path / "walks.jsonl"
    limits = ("--allow", "*_by", "--forbid", "written*", "--d-min", "2")
    ran = run("make", "--graph", graph, "--shape", "chain-2", "--count", "3", "-o", path, *limits)
    assert ran.exit_code == 1  # two hops along directed_by begin at a film, which has one director
    assert "No more walks of shape chain-2" in ran.output
    assert run("make", "--graph", graph, "--shape", "chain-2", "--count", "3", "-o", path, *limits[:4]).exit_code == 1
    assert "results of other parameters" in run("make", "--graph", graph, "--shape", "2i", "-o", path).output


def test_walks_begin_at_given_seeds(graph: Path, tmp_path: Path):
    seeds, path = tmp_path / "seeds.txt", tmp_path / "walks.jsonl"
    seeds.write_text("Film 3\nPerson 4\n", encoding="utf-8")
    options = ("--graph", graph, "--shape", "chain-2", "--count", "4", "--seeds", seeds, "-o", path)
    assert run("make", *options).exit_code == 0
    assert {each.metadata.topics[0].id for each in read_conversations(path)} <= {"Film 3", "Person 4"}
    seeds.write_text("Film 3\nNobody\n", encoding="utf-8")
    refused = run("make", *options, "--again")
    assert refused.exit_code == 1
    assert "no entity has the id 'Nobody'" in refused.output


def test_overlapping_questions_are_left_out(walks: list[Conversation], tmp_path: Path):
    file, tests, clean = (tmp_path / name for name in ("walks.jsonl", "tests.jsonl", "clean.jsonl"))
    write_conversations(file, walks)
    assert run("questions", file, "-o", tests).exit_code == 0
    asked = list(read_records(tests, Question))
    assert [len(each.answers) for each in asked] == [len(each.metadata.answers) for each in walks]
    one = asked[0].model_copy(update={"text": "Other words?"})
    tests.write_text(one.model_dump_json() + "\n", encoding="utf-8")
    ran = run("overlap", file, "--against", tests, "-o", clean)
    assert ran.exit_code == 0, ran.output
    assert f"| same words | 0 of {len(walks)}" in ran.output
    assert walks[0].id not in {each.id for each in read_conversations(clean)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("make", "--shape", "2i", "-o", "w.jsonl"), "either --graph FILE|URL or --server URL"),
        (("make", "--shape", "2i", "-o", "w.json", "--graph", "x.kg"), "must end with .jsonl"),
        (("make", "--shape", "2i", "-o", "w.jsonl", "--graph", "x.kg", "--model", "m"), "go together"),
        (("make", "--shape", "2i", "-o", "w.jsonl", "--graph", "x.kg", "--d-min", "30"), "more than --d-max"),
    ],
)
def test_wrong_options_are_explained(
    arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert message in ran.output


def test_a_server_that_is_not_there_is_one_message(tmp_path: Path):
    ran = run("make", "--server", "http://127.0.0.1:9/mcp", "--shape", "2i", "-o", tmp_path / "w.jsonl")
    assert ran.exit_code == 1
    assert "No server for http://127.0.0.1:9/mcp" in ran.output
    assert "Traceback" not in ran.output


def test_messages_are_in_turns(walks: list[Conversation]):
    for each in walks:
        senders = [message.sender for message in each.conversations]
        assert senders[:2] == [Sender.SYSTEM, Sender.HUMAN]
        assert senders[2::2] == [Sender.GPT] * len(senders[2::2])
        assert senders[3::2] == [Sender.OBSERVATION] * len(senders[3::2])
