"""Pictures of a walk: whole and well-formed whatever the graph holds, and text stays text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from syrupy.assertion import SnapshotAssertion

from kgnav_mcp.model import (
    Entity,
    Literal,
    Qualifier,
    Relation,
    Role,
    Subgraph,
    SubgraphEdge,
    SubgraphNode,
    Triple,
)
from kgnav_mcp.render.pictures import mermaid, svg
from kgnav_mcp.render.pictures.captions import shorten, text_width

_MERMAID_READS = 50_000
SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = (
    "<script>alert(1)</script>",
    "]]><image href='http://example.org/x.png'/>",
    '"] click n0 href "javascript:alert(1)"',
    "%%{init: {'theme': 'dark'}}%%",
    "`**bold**` | end; subgraph",
    "1. one",
    "nul\x00 bell\x07 \u202eright to left\ud800 \ufffe",
    "&amp; &#60;b&#62;",
    "\u68b5\u9ad8" * 100,
    "<" * 1_000,
    "",
)


def pictured(*names: str, relation: str = "knows") -> Subgraph:
    """A chain of nodes with these names, whose last is a value."""
    nodes = [Entity(f"ex:{place}", one) for place, one in enumerate(names[:-1])]
    value = Literal(names[-1])
    between = Relation(relation, relation)
    since = (Qualifier(Relation("since", "since"), Literal("1886")),)
    edges = [
        SubgraphEdge(place, place + 1, (Triple(head, between, tail, since),), proof=place == 0)
        for place, (head, tail) in enumerate(zip(nodes, [*nodes[1:], value], strict=True))
    ]
    all_roles = [Role.TOPIC, Role.ANSWER, Role.VISITED, *[Role.SEEN] * len(names)]
    shown = [SubgraphNode(node, role) for node, role in zip([*nodes, value], all_roles, strict=False)]
    return Subgraph("Who <knows> whom?", tuple(shown), tuple(edges))


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 - own


def wide() -> Subgraph:
    """As large as pictures get, every label as long as can be, all of it markup."""
    nodes = tuple(SubgraphNode(Entity(f"n{place}", "<&\"'>" * 200), Role.SEEN, 1_000) for place in range(200))
    knows = Relation("r", "#" * 1_000)
    edges = tuple(
        SubgraphEdge(
            place // 2, (place * 7 + 1) % 200, (Triple(Entity("a"), knows, Entity("b")),), proof=place % 2 == 0
        )
        for place in range(400)
    )
    return Subgraph("?" * 4_000, nodes, edges, 800, 900)


def test_a_small_walk(snapshot: SnapshotAssertion) -> None:
    walk = pictured("Vincent van Gogh", "Zundert", "The Netherlands", "Amsterdam", "\u68b5\u9ad8", "17900000")
    assert svg(walk) == snapshot(name="svg")
    assert mermaid(walk) == snapshot(name="mermaid")


def test_hostile_names_stay_text_in_svg() -> None:
    picture = svg(pictured(*HOSTILE, relation=HOSTILE[0]))
    root = ElementTree.fromstring(picture)  # noqa: S314 - our own
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags == {"svg", "title", "style", "defs", "marker", "rect", "path", "text", "g"}
    attributes = {name for element in root.iter() for name in element.attrib}
    assert not {name for name in attributes if "href" in name or name.startswith("on")}
    assert re.findall(r"url\((?!#arrow\)|#proof\))|@import|<!", picture) == []
    assert "<script>alert(1)</script>" in texts(picture)


def test_hostile_names_stay_text_in_mermaid() -> None:
    lines = mermaid(pictured(*HOSTILE, relation=HOSTILE[2])).splitlines()
    labels = [label for line in lines for label in re.findall(r'"([^"]*)"', line)]
    assert len(labels) == 2 * len(HOSTILE) - 1
    for label in labels:
        assert not re.search(r"""[<>&`%{}|*\\\x00-\x1f]|#(?!\d+;)""", label), label
    shape = r"  n\d+\W+\"[^\"]*\"\W+$|  n\d+ [-=]{2}>\|\"[^\"]*\"\| n\d+$|  (classDef|class|linkStyle) [\w, #:-]+$"
    assert [line for line in lines[1:] if not re.match(shape, line)] == []


def test_long_names_are_clipped_and_whole_where_one_points_at_them() -> None:
    name = "The Courtyard of a House in Delft, painted by Pieter de Hooch"
    picture = svg(pictured("Delft", name, "1658"))
    assert name not in texts(picture)
    root = ElementTree.fromstring(picture)  # noqa: S314 - as above
    assert f"{name} (ex:1)" in [title.text for title in root.iter(f"{SVG}title")]
    assert f"Delft - knows - {name} (since: 1886)" in [title.text for title in root.iter(f"{SVG}title")]


@pytest.mark.parametrize(
    ("text", "width", "short"),
    [
        ("Delft", 3, "Delft"),
        ("Delfts", 3, "Del…"),
        ("梵高画家", 4, "梵高画家"),
        ("梵高画家", 3.9, "梵高…"),
        ("WWW", 2, "W…"),
    ],
)
def test_a_text_is_cut_by_the_width_of_its_letters(text: str, width: float, short: str) -> None:
    assert shorten(text, width) == short
    assert text_width(short) <= width


def test_the_largest_walk_stays_within_what_mermaid_reads_and_is_drawn_without_overlap() -> None:
    walk = wide()
    assert len(mermaid(walk)) < _MERMAID_READS
    assert "Omitted: 800 nodes and 900 edges" in mermaid(walk)
    picture = svg(walk)
    assert any("Omitted: 800 nodes and 900 edges" in text for text in texts(picture))
    boxes = [tuple(map(float, place)) for place in re.findall(r'<path class="seen" d="M([\d.]+) ([\d.]+)L', picture)]
    assert len(boxes) == 200 + 1  # and the one that explains the shape
    for x, y in boxes:
        assert not [other for other in boxes if other[0] == x and 0 < abs(other[1] - y) < 24]


def test_the_same_walk_is_drawn_the_same() -> None:
    assert len({svg(wide()) for _ in range(3)}) == 1


def test_what_all_of_many_edges_say_is_said_once() -> None:
    few, many = svg(pictured(*map(str, range(5)))), svg(pictured(*map(str, range(20))))
    assert texts(few).count("knows") == 4
    assert texts(many).count("knows") == 0
    assert texts(many)[-2:] == ["20 nodes, 19 edges", "Each edge: knows"]


def test_a_part_without_a_topic_begins_on_the_left_with_what_was_visited() -> None:
    nodes = [SubgraphNode(Entity(name), role) for name, role in (("seen", Role.SEEN), ("here", Role.VISITED))]
    edges = (SubgraphEdge(0, 1, (Triple(Entity("seen"), Relation("r", "r"), Entity("here")),)),)
    picture = svg(Subgraph("?", tuple(nodes), edges))
    lefts = {text: float(x) for x, text in re.findall(r'x="([\d.]+)" y="[\d.]+">(seen|here)</text>', picture)[:2]}
    assert lefts["here"] < lefts["seen"]
