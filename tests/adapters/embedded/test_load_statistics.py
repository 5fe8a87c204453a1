from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded import fileformat
from kgnav_mcp.adapters.embedded.fileformat import DEGREE_FLOOR
from kgnav_mcp.model import Certainty, Count
from kgnav_mcp.port import AdapterOptions
from tests.adapters.embedded.loaded import Loaded, loaded

Row = tuple[str, str, str]


def triples_of(graph: Loaded) -> tuple[list[Row], list[Row]]:
    """Edges and attributes, an attribute's tail being its text in quotes."""
    attributes = graph.rows(
        "SELECT s.key, p.key, a.text FROM attribute a JOIN node s ON s.id = a.node JOIN relation p ON p.id = a.p"
    )
    return graph.edges(), [(s, p, f'"{text}"') for s, p, text in attributes]


def random_turtle(seed: int) -> str:
    """Two hubs, mediators between them, self-loops through mediators, literals on both, and some plain triples."""
    chance = random.Random(seed)  # noqa: S311 - test data, not a secret
    lines: list[str] = []
    for n in range(300):
        lines.append(f":hub{n % 2} :p{chance.randrange(4)} :n{chance.randrange(60)} .")
        lines.append(f":n{chance.randrange(60)} :p{chance.randrange(4)} :hub{n % 2} .")
        lines.append(f':hub0 :note{n % 3} "text {chance.randrange(50)}" .')
    for n in range(200):
        head, tail = (f":hub{chance.randrange(2)}" if chance.random() < 0.6 else f":n{n % 60}" for _ in range(2))
        lines.append(f"{head} :role{chance.randrange(3)} _:m{n} . _:m{n} :of{chance.randrange(3)} {tail} .")
        lines.append(f"_:m{n} :of{chance.randrange(3)} :n{chance.randrange(60)} ; :year {chance.randrange(9)} .")
        lines.append(f":n{chance.randrange(60)} :role0 _:m{n} .")
    return "\n".join(lines)


@pytest.fixture(params=[1, 2], ids=["one seed", "another"])
def graph(request: pytest.FixtureRequest, tmp_path: Path) -> Loaded:
    return loaded(tmp_path, {"g.ttl": random_turtle(request.param)})


def test_degrees_are_those_of_every_node_beyond_the_floor_and_no_other(graph: Loaded) -> None:
    edges, attributes = triples_of(graph)
    expected: Counter[tuple[str, int, str]] = Counter((s, 0, p) for s, p, _ in edges + attributes)
    expected.update((o, 1, p) for _, p, o in edges)
    sides: Counter[tuple[str, int]] = Counter()
    for (node, direction, _), count in expected.items():
        sides[node, direction] += count
    beyond = {key: n for key, n in expected.items() if sides[key[:2]] > DEGREE_FLOOR}
    found = graph.rows(
        "SELECT s.key, d.direction, p.key, d.n FROM degree d JOIN node s ON s.id = d.node JOIN relation p ON p.id = d.p"
    )
    assert {row[:3]: row[3] for row in found} == beyond
    assert {node for node, _, _ in beyond} == {"http://x/hub0", "http://x/hub1"}


def test_two_hop_counts_are_those_of_following_every_path_through_a_mediator(graph: Loaded) -> None:
    edges, attributes = triples_of(graph)
    mediators = {key for key, (_, _, mediator) in graph.nodes().items() if mediator}
    assert len(mediators) == 200
    heavy = set(graph.rows("SELECT DISTINCT s.key, d.direction FROM degree d JOIN node s ON s.id = d.node"))
    expected: Counter[tuple[str, int, str, str]] = Counter()
    for head, first, middle in edges:
        if middle in mediators:
            for other, second, tail in edges + attributes:
                if other == middle and tail != head:
                    if (head, 0) in heavy:
                        expected[head, 0, first, second] += 1
                    if (tail, 1) in heavy:
                        expected[tail, 1, first, second] += 1
    found = graph.rows("""
        SELECT s.key, t.direction, a.key, b.key, t.n
        FROM through t JOIN node s ON s.id = t.node JOIN relation a ON a.id = t.p1 JOIN relation b ON b.id = t.p2
    """)
    assert {row[:4]: row[4] for row in found} == expected
    assert len(expected) > 20


def test_a_node_at_the_floor_is_not_counted_and_one_beyond_it_is(tmp_path: Path) -> None:
    table = "".join(f"at\tp\tx{n}\n" for n in range(DEGREE_FLOOR))
    table += "".join(f"beyond\tp\tx{n}\n" for n in range(DEGREE_FLOOR + 1))
    graph = loaded(tmp_path, {"g.tsv": table})
    assert graph.rows("SELECT s.key, d.n FROM degree d JOIN node s ON s.id = d.node") == [("beyond", DEGREE_FLOOR + 1)]


SCHEMA = """
:a a :Film ; :by :p ; :year 1975 ; :title "A"@en .
:b a :Film, :Book ; :by :p, :q ; :year "soon" . :p a :Person . :q :age 3 .
"""


def ends(graph: Loaded) -> set[tuple[str, int, str, int]]:
    return set(
        graph.rows("""
            SELECT p.key, e.side, l.key, e.n FROM edge_end e
            JOIN relation p ON p.id = e.p JOIN label l ON l.id = e.label WHERE p.key = 'http://x/by'
        """)
    )


def joins(graph: Loaded) -> set[tuple[str, str, int]]:
    return set(
        graph.rows("""
            SELECT h.key, t.key, e.n FROM edge_join e JOIN label h ON h.id = e.head JOIN label t ON t.id = e.tail
            JOIN relation p ON p.id = e.p WHERE p.key = 'http://x/by'
        """)
    )


def properties(graph: Loaded) -> set[tuple[str | None, str, str, int]]:
    return set(
        graph.rows("""
            SELECT l.key, p.key, x.datatype, x.n FROM label_property x
            JOIN relation p ON p.id = x.p LEFT JOIN label l ON l.id = x.label
        """)
    )


def test_ends_of_relations_and_properties_of_labels_are_counted(tmp_path: Path) -> None:
    graph = loaded(tmp_path, {"g.ttl": SCHEMA})
    film, book, person = "http://x/Film", "http://x/Book", "http://x/Person"
    by, year = "http://x/by", "http://x/year"
    assert ends(graph) == {(by, 0, film, 3), (by, 0, book, 2), (by, 1, person, 2)}
    assert joins(graph) == {(film, person, 2), (book, person, 1)}
    assert properties(graph) == {
        (film, year, "xsd:integer", 1),
        (film, year, "string", 1),
        (book, year, "string", 1),
        (film, "http://x/title", "langString", 1),
        (None, "http://x/age", "xsd:integer", 1),
    }


def test_a_sample_of_a_large_graph_keeps_rare_relations_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fileformat, "EXACT_UP_TO", 1000)
    monkeypatch.setattr(fileformat, "RARE", 50)
    lines = [f":n{n} a :T ; :often :n{n * 7 % 997} ; :size {n} ." for n in range(2000)]
    graph = loaded(tmp_path, {"g.ttl": "\n".join(lines) + SCHEMA})
    assert graph.report.sampled
    assert graph.meta("sampled") == "yes"
    assert ends(graph) == {
        ("http://x/by", 0, "http://x/Film", 3),
        ("http://x/by", 0, "http://x/Book", 2),
        ("http://x/by", 1, "http://x/Person", 2),
    }
    ((often,),) = graph.rows("""
        SELECT n FROM edge_end e JOIN relation p ON p.id = e.p WHERE p.key = 'http://x/often' AND side = 0
    """)
    assert 1000 < often < 4000
    assert (None, "http://x/age", "xsd:integer", 1) in properties(graph)
    assert graph.rows("SELECT nodes FROM label WHERE key = 'http://x/T'") == [(2000,)]


async def test_the_schema_of_a_sample_claims_no_more_than_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fileformat, "EXACT_UP_TO", 1000)
    monkeypatch.setattr(fileformat, "RARE", 50)
    lines = [f":n{n} a :T ; :often :n{(n * n * 7 + n * 31) % 1999} ; :size {n} ." for n in range(2000)]
    graph = loaded(tmp_path, {"g.ttl": "\n".join(lines) + SCHEMA})
    async with open_adapter(str(graph.path), AdapterOptions()) as opened:
        of_label = await opened.schema("http://x/T", limit=50)
        (often,) = [one for one in of_label.relations if one.relation.id.endswith("often")]
        (size,) = [one for one in of_label.properties if one.relation.id.endswith("size")]
        (by,) = [one for one in (await opened.schema(limit=50)).relations if one.relation.id.endswith("by")]
    assert often.count == Count(2000)
    assert {count.certainty for _, _, count in often.ends} == {Certainty.UNKNOWN}
    assert size.count.certainty is Certainty.AT_LEAST
    assert 100 < size.count.value <= 2000
    assert sorted(count.value for _, _, count in by.ends) == [1, 2], "rare relations are counted completely"
    assert {count.certainty for _, _, count in by.ends} == {Certainty.EXACT}


MIXED = {
    "g.ttl": random_turtle(3) + SCHEMA + ":a :by :p {| :said :w |} . :hub0 rdfs:label 'Hub'@en .",
    "t.tsv": "".join(f"x{n % 17}\tp\ty{n % 13}\n" for n in range(200)),
    "e.csv": ":START_ID,:TYPE,:END_ID,w:int\n" + "".join(f"{n % 9},E,{n % 7},{n}\n" for n in range(50)),
    "n.csv": ":ID,name,:LABEL\n" + "".join(f"{n},Node {n},L\n" for n in range(9)),
}


def content(graph: Loaded) -> dict[str, list[str]]:
    """All there is, with blank nodes' keys, which hold a number, told by their order."""
    nodes = graph.nodes()
    blanks = sorted((key for key in nodes if key.startswith("_:")), key=lambda key: int(key[3:]))
    places = {f'"{key}"': f'"blank {place}"' for place, key in enumerate(blanks)}

    def told(row: object) -> str:
        return re.sub(r'"_:b\d+"', lambda key: places[key[0]], json.dumps(row))

    return {
        "edges": sorted(map(told, graph.qualified_edges())),
        "attributes": sorted(told((key, graph.attributes(key))) for key in nodes),
        "names": sorted(told((key, nodes[key], graph.names(key), graph.node_labels(key))) for key in nodes),
        "schema": sorted(map(told, [*ends(graph), *properties(graph)])),
        "degrees": sorted(map(told, graph.rows("SELECT direction, n FROM degree"))),
        "through": sorted(map(told, graph.rows("SELECT direction, n FROM through"))),
        "size": [told((graph.report.entities, graph.report.triples))],
    }


@pytest.mark.parametrize("budget", [1, 2_000, 20_000])
def test_a_dictionary_without_room_gives_the_same_graph(tmp_path: Path, budget: int) -> None:
    whole = content(loaded(tmp_path, MIXED))
    assert content(loaded(tmp_path, MIXED, term_budget=budget)) == whole
