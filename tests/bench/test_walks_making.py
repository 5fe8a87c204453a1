"""Walks over a graph file by a real server: complete answers, checks that find faults, and continuing after a kill."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from itertools import count, pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.cli import main
from kgnav_bench.client import ToolFailedError, load
from kgnav_bench.records import Question, read_records
from kgnav_bench.walks.authors import Templates
from kgnav_bench.walks.making import Maker, Settings
from kgnav_bench.walks.order import in_order
from kgnav_bench.walks.patterns import FORMS, pattern
from kgnav_bench.walks.sampling import DroppedError, Limits, Sampler
from kgnav_bench.walks.session import (
    RelationRow,
    Relations,
    Session,
    TripleRow,
    Triples,
    UnusableServerError,
    connected,
)
from kgnav_bench.walks.sharegpt import (
    Conversation,
    NamedEntity,
    PathHop,
    Sender,
    Shape,
    read_conversations,
    write_conversations,
)
from kgnav_bench.walks.topics import sampled_topics

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_walks_pass_their_check(walks: list[Conversation], graph: Path, tmp_path: Path):
    write_conversations(tmp_path / "walks.jsonl", walks)
    checked = run("check", tmp_path / "walks.jsonl", "--graph", graph)
    assert checked.exit_code == 0, checked.output
    assert checked.output.startswith(f"{len(walks)} walks, ")
    assert "0 malformed, 0 unreplayable, 0 ungrounded, 0 incomplete" in checked.output


@pytest.mark.slow
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


@pytest.mark.slow
def test_relations_are_followed_only_if_they_are_allowed(graph: Path, tmp_path: Path):
    path = tmp_path / "walks.jsonl"
    limits = ("--allow", "*_by", "--forbid", "written*", "--d-min", "2")
    ran = run("make", "--graph", graph, "--shape", "chain-2", "--count", "3", "-o", path, *limits)
    assert ran.exit_code == 1  # two hops along directed_by begin at a film, which has one director
    assert "No more walks of shape chain-2" in ran.output
    assert run("make", "--graph", graph, "--shape", "chain-2", "--count", "3", "-o", path, *limits[:4]).exit_code == 1
    assert "results of other parameters" in run("make", "--graph", graph, "--shape", "2i", "-o", path).output


@pytest.mark.slow
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


def test_relations_to_mediators_are_not_followed():
    rows = {
        "film.film.awards": 1,
        "film.film.awards.award.honor.winner": 1,
        "film.film.genre": 1,
    }
    chance = random.Random(1)  # noqa: S311 - not a secret
    graph = FakeGraph(tuple(RelationRow(name, name, "outgoing", count) for name, count in rows.items()))
    sampler = Sampler(graph, Limits(), chance)
    with pytest.raises(DroppedError):
        asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
    assert sorted(graph.followed) == ["film.film.awards.award.honor.winner", "film.film.genre"]


def test_relations_with_more_triples_than_a_hop_may_have_are_not_read():
    rows = {"few": 20, "twice": 40, "many": 41}
    graph = FakeGraph(tuple(RelationRow(name, name, "outgoing", count) for name, count in rows.items()))
    sampler = Sampler(graph, Limits(d_max=20), random.Random(1))  # noqa: S311 - not a secret
    with pytest.raises(DroppedError):
        asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
    assert sorted(graph.followed) == ["few", "twice"]


def test_a_conjunction_does_not_begin_with_a_relation_to_a_single_entity():
    graph = FakeGraph((RelationRow("one", "one", "outgoing", 1), RelationRow("two", "two", "outgoing", 2)))
    for shape, followed in ((Shape.INTERSECTION, ["two"]), (Shape.CHAIN_2, ["one", "two"])):
        graph.followed.clear()
        sampler = Sampler(graph, Limits(), random.Random(1))  # noqa: S311 - not a secret
        with pytest.raises(DroppedError):
            asyncio.run(sampler.walk(shape, NamedEntity(id="m.1", name="Up")))
        assert sorted(graph.followed) == followed


def test_a_last_hop_reaches_no_more_entities_than_answers_are_allowed():
    sampler = Sampler(TwoEnds(), Limits(answers=1), random.Random(1))  # noqa: S311 - not a secret
    with pytest.raises(DroppedError, match="dead end"):
        asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))


def test_a_hop_is_drawn_from_the_relations_of_the_paths_entity():
    graph = TwoEnds()
    for seed in range(20):
        sampler = Sampler(graph, Limits(), random.Random(seed))  # noqa: S311 - not a secret
        path = asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
        assert (path[0].end, path[1].relation) in {("a", "of a"), ("b", "of b")}
    assert set(graph.followed) == {"ends", "of a", "of b"}
    assert len(graph.followed) == 40


def test_a_relation_whose_triples_cannot_be_listed_gives_no_topics_and_stops_nothing():
    class OneTooLarge(Session):
        def __init__(self) -> None:
            pass

        async def relation_counts(self) -> list[tuple[str, int]]:
            return [("type", 900_000), ("made_by", 2)]

        async def rows(self, plan: str) -> list[tuple[str, ...]]:
            if "`type`" in plan:
                raise ToolFailedError("Too large: this plan needs more than 100,000 rows at once")
            return [("f1", "A Film")] if "WITH DISTINCT a" in plan else [("p1", "A Person")]

    found = asyncio.run(sampled_topics(OneTooLarge(), Limits(), 1))
    assert [each.id for each in found] == ["f1", "p1"]
    with pytest.raises(UnusableServerError, match="The last answer was: Too large"):
        asyncio.run(sampled_topics(OneTooLarge(), Limits(allow=("type",)), 1))


class TwoEnds:
    """An entity with two neighbours, of which each has a relation of its own."""

    def __init__(self) -> None:
        self.followed: list[str] = []

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        del question
        names = ["ends"] if entities == ["m.1"] else [f"of {each}" for each in entities]
        return Relations(tuple(RelationRow(name, name, "outgoing", 2) for name in names))

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        del entities
        self.followed.append(relation)
        ends = [("m.1", "a"), ("m.1", "b")] if relation == "ends" else [(relation[-1], f"z{n}") for n in range(2)]
        rows = (
            TripleRow(NamedEntity(id=head, name=head), relation, NamedEntity(id=tail, name=tail)) for head, tail in ends
        )
        return Triples(tuple(rows), complete=True)


def test_the_relations_of_one_entity_are_not_listed_where_all_reached_ones_have_them():
    class Listed(TwoEnds):
        def __init__(self) -> None:
            super().__init__()
            self.lists: list[list[str]] = []

        async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
            self.lists.append(list(entities))
            listed = await super().relations(entities, question)
            if len(entities) == 1:
                return listed
            return Relations((replace(listed.rows[0], relation="shared", entities=shared),))

        async def triples(self, entities: Sequence[str], relation: str) -> Triples:
            if relation != "shared":
                return await super().triples(entities, relation)
            ends = [NamedEntity(id=each, name=each) for each in entities]
            rows = tuple(TripleRow(end, relation, NamedEntity(id=f"z{n}", name=f"z{n}")) for n, end in enumerate(ends))
            return Triples(rows, complete=True)

    for shared, lists in ((2, [["m.1"], ["a", "b"]]), (1, [["m.1"], ["a", "b"], ["a"]])):
        graph = Listed()
        sampler = Sampler(graph, Limits(), random.Random(1))  # noqa: S311 - not a secret
        walk = sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up"))
        if shared == 2:
            assert [hop.relation for hop in asyncio.run(walk)] == ["ends", "shared"]
        else:
            with pytest.raises(DroppedError):  # the entity has another relation
                asyncio.run(walk)
        assert graph.lists in (lists, [*lists[:2], *([["b"]] if shared == 1 else [])])


class Ways(TwoEnds):
    """An entity with two relations, of which one leads to an entity without any."""

    def __init__(self, characters: int = 0) -> None:
        super().__init__()
        self.characters = characters

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        del question
        names = {"m.1": ["blind", "open"], "end of open": ["last"], "m.2": ["last"]}.get(entities[0], [])
        return Relations(tuple(RelationRow(name, name, "outgoing", 1) for name in names), self.characters)

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        self.followed.append(relation)
        head, tail = (NamedEntity(id=each, name=each) for each in (entities[0], f"end of {relation}"))
        return Triples((TripleRow(head, relation, tail),), complete=True, characters=self.characters)


def test_a_walk_that_comes_to_a_dead_end_goes_back_a_hop():
    followed: set[tuple[str, ...]] = set()
    for seed in range(10):
        graph = Ways()
        sampler = Sampler(graph, Limits(), random.Random(seed))  # noqa: S311 - not a secret
        path = asyncio.run(sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up")))
        assert [hop.relation for hop in path] == ["open", "last"]
        followed.add(tuple(graph.followed))
    assert followed == {("open", "last"), ("blind", "open", "last")}


@pytest.mark.parametrize(("limit", "read"), [(6_000, ["last", "open"]), (4_500, ["open"]), (2_000, [])])
def test_a_hop_that_would_make_the_conversation_too_long_is_not_made(limit: int, read: list[str]):
    graph = Ways(characters=900)
    sampler = Sampler(graph, Limits(characters=limit), random.Random(3))  # noqa: S311 - not a secret
    walk = sampler.walk(Shape.CHAIN_2, NamedEntity(id="m.1", name="Up"))
    if len(read) == 2:
        asyncio.run(walk)
    else:
        with pytest.raises(DroppedError, match="dead end"):
            asyncio.run(walk)
    assert sorted({*graph.followed} - {"blind"}) == read


@dataclass
class FakeGraph:
    """A graph that lists relations, and has no triples."""

    listed: tuple[RelationRow, ...]
    followed: list[str] = field(default_factory=list[str])

    async def relations(self, entities: Sequence[str], question: str | None = None) -> Relations:
        del entities, question
        return Relations(self.listed)

    async def triples(self, entities: Sequence[str], relation: str) -> Triples:
        del entities
        self.followed.append(relation)
        return Triples((), complete=True)


def test_a_slow_walk_holds_up_no_other():
    async def run_all() -> tuple[list[int], int]:
        begun: list[int] = []
        slow_may_end = asyncio.Event()

        async def walk(number: int) -> int:
            begun.append(number)
            if number == 0:
                await slow_may_end.wait()
            elif number == 6:
                slow_may_end.set()
            return number

        async with aclosing(in_order(map(walk, range(10)), 2)) as results:
            return [each async for each in results], len(begun)

    assert asyncio.run(asyncio.wait_for(run_all(), 5)) == (list(range(10)), 10)


def test_no_more_walks_than_allowed_are_made_at_a_time():
    async def run_all() -> int:
        now, most = 0, 0

        async def walk(number: int) -> int:
            nonlocal now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1
            return number

        async with aclosing(in_order(map(walk, range(40)), 3)) as results:
            assert [each async for each in results] == list(range(40))
        return most

    assert asyncio.run(run_all()) == 3


def test_walks_that_are_not_needed_are_cancelled():
    async def run_some() -> list[int]:
        cancelled: list[int] = []

        async def walk(number: int) -> int:
            try:
                await asyncio.sleep(60 if number else 0)
            except asyncio.CancelledError:
                cancelled.append(number)
                raise
            return number

        async with aclosing(in_order(map(walk, count()), 3)) as results:
            assert await anext(results) == 0
        return cancelled

    assert asyncio.run(run_some()) == [1, 2]
