"""FB15k-237 written as Freebase's RDF: mediators of their own, names, types; and what the benchmark asks of it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from rdflib import Graph, Literal, URIRef

from kgnav_bench import freebase, freebase_reach
from kgnav_bench.cli import main
from kgnav_bench.metaqa import Step

TRIPLES = """\
/m/01\t/people/person/spouse_s./people/marriage/spouse\t/m/02
/m/02\t/people/person/spouse_s./people/marriage/spouse\t/m/01
/m/01\t/people/person/gender\t/m/03
"""
NAMES = '/m/01\tAda\n/m/02\tWilliam "Will" \\ King\n/m/03\tWeiblich\n'
QUESTION = {"question": "which gender?", "topic": "/m/01", "relation": "/people/person/gender", "answer": "/m/03"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data set of three triples, in the files of the real one."""
    for name, text in (
        ("triples.tsv", TRIPLES),
        ("names.tsv", NAMES),
        ("simplequestions.jsonl", json.dumps(QUESTION) + "\n"),
    ):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    return tmp_path


@pytest.fixture
def graph(folder: Path) -> Graph:
    """What was written of it, read by another reader."""
    target = folder / "freebase.nt.gz"
    assert freebase.convert(folder, target) == 12
    return Graph().parse(data=gzip.decompress(target.read_bytes()), format="nt")


def ns(name: str) -> URIRef:
    return URIRef(freebase.NAMESPACE + name)


def test_each_two_hop_triple_has_a_nameless_mediator_of_its_own(graph: Graph) -> None:
    mediators = set(graph.objects(None, ns("people.person.spouse_s")))

    assert len(mediators) == 2
    for mediator in mediators:
        assert str(mediator).startswith(freebase.NAMESPACE + "g.")
        assert not list(graph.objects(mediator, ns(freebase.NAME)))
        ends = set(graph.subjects(ns("people.person.spouse_s"), mediator))
        assert ends | set(graph.objects(mediator, ns("people.marriage.spouse"))) == {ns("m.01"), ns("m.02")}


def test_names_are_english_and_come_back_as_they_were(graph: Graph) -> None:
    assert list(graph.objects(ns("m.02"), ns(freebase.NAME))) == [Literal('William "Will" \\ King', lang="en")]


def test_a_node_is_of_the_types_whose_relations_it_heads(graph: Graph) -> None:
    (mediator, _) = graph.objects(None, ns("people.person.spouse_s"))

    assert list(graph.objects(ns("m.01"), ns(freebase.TYPE))) == [ns("people.person")]
    assert list(graph.objects(mediator, ns(freebase.TYPE))) == [ns("people.marriage")]
    assert list(graph.objects(ns("m.03"), ns(freebase.TYPE))) == []


def test_the_truth_and_the_walks_are_in_the_form_of_answers(folder: Path) -> None:
    truth = freebase.source_neighbours(folder)
    spouse = "people.person.spouse_s.people.marriage.spouse"

    assert truth["m.01", "outgoing"] == {spouse: ["m.02"], "people.person.gender": ["m.03"]}
    assert truth["m.01", "incoming"] == {spouse: ["m.02"]}
    assert freebase_reach.gold_walks(folder) == [
        freebase_reach.Walk("m.01", Step("people.person.gender", "outgoing"), "m.03", "which gender?")
    ]
    assert freebase_reach.Walk("m.02", Step(spouse, "incoming"), "m.01") in freebase_reach.relation_walks(folder)


class Scripted:
    """A client whose server answers every call with the next of these texts."""

    def __init__(self, *answers: str) -> None:
        self._answers = list(answers)
        self.calls: list[dict[str, object]] = []

    def call(self, tool: str, arguments: Mapping[str, object]) -> str:
        self.calls.append({"tool": tool, **arguments})
        return self._answers.pop(0)


def test_a_relation_on_a_later_page_has_its_place_in_the_whole_list() -> None:
    heading = "relation|relationLabel|direction|rows\n--|--|--|--"
    client = Scripted(
        f'showing 1 of 2 relations; next: cursor "c"\n{heading}\na.b.c|c|outgoing|1',
        f"showing relations 2 to 2 of 2 relations; that is the end\n{heading}\nd.e.f|f|outgoing|1",
        "1 triple\nhead|headLabel|relation|tail|tailLabel\n--|--|--|--|--\nm.1|A|d.e.f|m.2|B",
    )
    walk = freebase_reach.Walk("m.1", Step("d.e.f", "outgoing"), "m.2", "why?")

    (walked,) = freebase_reach.by_relations(client, [walk])

    assert (walked.rank, walked.shown, walked.calls, walked.reached) == (2, True, 3, True)
    assert client.calls[1] == {"tool": "get_relations", "entity": "m.1", "question": "why?", "cursor": "c"}


def test_rows_that_are_lost_or_shown_twice_are_counted() -> None:
    paged = freebase_reach.Paged("search", "m.1", Step("a.b.c", "outgoing"), 2, ["m.2", "m.2", "m.3"], ["m.2", "m.4"])

    assert (paged.lost, paged.surplus) == (1, 2)


def test_freebase_is_not_walked_without_an_endpoint(folder: Path) -> None:
    done = CliRunner().invoke(main, ["reach", "freebase", "--data", str(folder)])

    assert done.exit_code == 2
    assert "--endpoint URL" in done.output
