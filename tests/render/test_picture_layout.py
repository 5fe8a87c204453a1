"""Pictures of many kinds of walks: never too wide, and no text over another or over a node it is not about."""

from __future__ import annotations

import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from itertools import combinations, pairwise
from typing import NamedTuple
from xml.etree import ElementTree

import pytest

from kgnav_mcp.model import Entity, Literal, Relation, Subgraph, Trail, TrailStep, Triple
from kgnav_mcp.navigation.shown_graph import CHECK_TOOL, walked_subgraph
from kgnav_mcp.render.pictures import mermaid, svg

SVG = "{http://www.w3.org/2000/svg}"
ALL = (sys.maxsize,) * 3
FONT_SIZES = {"question": 15.0 * 1.1, "relation": 10.5, "note": 12.0}


def triple(head: Entity, relation: str, tail: Entity | Literal) -> Triple:
    return Triple(head, Relation(relation, relation), tail)


def step(visited: list[Entity], triples: list[Triple]) -> TrailStep:
    ids = tuple(entity.id for entity in visited)
    return TrailStep("search", {}, 0.0, "", False, ids, tuple(visited), tuple(triples))


def walk(topics: list[Entity], *steps: TrailStep, question: str = "Which?") -> Trail:
    return Trail("any", question, tuple(topics), 0.0, steps)


def airports() -> Trail:
    """Four airports, each with three hundred routes and twenty airlines, and a proof from the first to the last."""
    chance = random.Random(4)  # noqa: S311 - the same at each run
    hubs = [
        Entity(code, f"{name} International Airport ({code})")
        for code, name in (("AMS", "Amsterdam"), ("LHR", "London"), ("JFK", "New York"), ("CDG", "Paris"))
    ]
    others = [Entity(f"D{number}", f"Airport of the town {number}") for number in range(400)]
    airlines = [Entity(f"L{number}", f"Airline {number}") for number in range(60)]
    steps = list[TrailStep]()
    for hub in hubs:
        rows = [triple(hub, "elevation in feet", Literal("-11"))]
        rows += [triple(hub, "route to", one) for one in chance.sample(others, 300) if one is not others[7]]
        rows += [triple(one, "has its hub at", hub) for one in chance.sample(airlines, 20)]
        rows += [triple(hub, "route to", other) for other in hubs if other is not hub]
        steps.append(step([hub], rows))
    proof = (triple(hubs[0], "route to", others[7]), triple(others[7], "route to", hubs[3]))
    steps.append(TrailStep(CHECK_TOOL, {"answers": ["CDG"]}, 0.0, entities=(hubs[3],), triples=proof))
    return walk([hubs[0]], *steps, question="Which airports does one reach with one stop? " * 9)


def chain(length: int, name: str, relation: str = "follows") -> Trail:
    nodes = [Entity(f"n{number}", f"{name} {number}") for number in range(length)]
    rows = [triple(one, relation, other) for one, other in pairwise(nodes)]
    return walk(nodes[:1], step(nodes, rows))


def tangle(size: int) -> Trail:
    """Everyone has edges to three others, some to themselves, under three names."""
    chance = random.Random(2)  # noqa: S311 - as above
    nodes = [Entity(f"n{number}", f"Member of parliament {number}") for number in range(size)]
    names = ("met with", "voted against", "knows")
    rows = [triple(one, chance.choice(names), other) for one in nodes for other in chance.sample(nodes, 3)]
    return walk(nodes[:1], step(nodes, rows))


def scripts() -> Trail:
    """Names in Arabic, Hebrew, Chinese, emoji, and of the widest letters, with loops and edges both ways."""
    names = (
        "نهر النيل العظيم في أفريقيا والسودان",
        "אלכסנדריה",
        "梵高博物馆阿姆斯特丹博物馆广场六号荷兰",
        "😀" * 30,
        "W" * 60,
        "Щ" * 60,
    )
    nodes = [Entity(f"n{number}", name) for number, name in enumerate(names)]
    ends = ((0, 1), (1, 2), (1, 3), (2, 4), (4, 2), (4, 4), (5, 5), (3, 5), (0, 5))
    relations = ("يمر عبر", "展示于博物馆", "W" * 40, "m" * 40, "@" * 40)
    rows = [triple(nodes[head], relations[place % 5], nodes[tail]) for place, (head, tail) in enumerate(ends)]
    return walk(nodes[:1], step(nodes, rows), question="من أين؟ " * 40)


def loners() -> Trail:
    """Forty topics without an edge, and two with one to themselves."""
    nodes = [Entity(f"t{number}", f"A topic without edges {number}") for number in range(42)]
    return walk(nodes, step([], [triple(nodes[place], "is a part of", nodes[place]) for place in (3, 20)]))


WALKS: dict[str, Callable[[], Trail]] = {
    "one node": lambda: walk([Entity("ada", "Ada")]),
    "two nodes": lambda: chain(2, "Ada"),
    "four airports": airports,
    "a chain of forty": lambda: chain(40, "Emperor of Constantinople"),
    "a short chain with long names": lambda: chain(9, "W" * 80, "M" * 80),
    "a tangle of twelve": lambda: tangle(12),
    "a tangle of forty": lambda: tangle(40),
    "many scripts": scripts,
    "nodes without edges": loners,
}


class Rectangle(NamedTuple):
    text: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Rectangle) -> bool:
        return (
            min(self.right, other.right) - max(self.left, other.left) > 0.1
            and min(self.bottom, other.bottom) - max(self.top, other.top) > 0.1
        )


def drawn_width(text: str, size: float) -> float:
    """At least what common fonts without serifs take: a full letter for every unusual or wide one."""
    width = 0.0
    for letter in text:
        if unicodedata.combining(letter):
            continue
        if unicodedata.bidirectional(letter) in ("R", "AL"):
            width += 0.7
        elif not letter.isascii() or letter in "mwMW@%":
            width += 1.0
        elif letter.isupper():
            width += 0.79
        else:
            width += 0.4 if letter in " .,:;'|!()ijlftr-" else 0.64
    return width * size


def text_boxes(picture: str) -> list[Rectangle]:
    boxes = list[Rectangle]()
    for element in ElementTree.fromstring(picture).iter(f"{SVG}text"):  # noqa: S314 - our own
        kind, text = element.attrib["class"], element.text or ""
        size = FONT_SIZES.get(kind, 12.0)
        x, y, width = float(element.attrib["x"]), float(element.attrib["y"]), drawn_width(text, size)
        left = x if kind in ("note", "question") else x - width / 2
        boxes.append(Rectangle(text, left, y - 0.8 * size, left + width, y + 0.25 * size))
    return boxes


def node_shapes(picture: str) -> Iterator[Rectangle]:
    """The outlines of nodes, by the numbers in their paths."""
    kinds = "topic|answer|visited|seen|value|more"
    for path, text in re.findall(rf'<path class="(?:{kinds})[^"]*" d="([^"]*)"/><text[^>]*>([^<]*)</text>', picture):
        corners = [(float(x), float(y)) for x, y in re.findall(r"[ML]([-\d.]+) ([-\d.]+)", path)]
        xs = [x for x, _ in corners] + [float(x) for x in re.findall(r"H([-\d.]+)", path)]
        ys = [y for _, y in corners]
        if pill := re.search(r"v([\d.]+)a", path):
            xs, ys = [min(xs) - 12, max(xs) + 12], [ys[0], ys[0] + 24 + float(pill[1])]
        yield Rectangle(text, min(xs), min(ys), max(xs), max(ys))


def size_of(picture: str) -> tuple[int, int]:
    found = re.search(r'viewBox="0 0 (\d+) (\d+)"', picture)
    assert found
    return int(found[1]), int(found[2])


def check(picture: str) -> None:
    """No text is outside of the picture, over another, or over a node that is not its own; no node over another."""
    width, height = size_of(picture)
    boxes, shapes = text_boxes(picture), list(node_shapes(picture))
    assert width <= 1_600
    assert [box for box in (*boxes, *shapes) if box.left < 0 or box.right > width or box.bottom > height] == []
    assert [(one.text, other.text) for one, other in combinations(boxes, 2) if one.overlaps(other)] == []
    assert [(one.text, other.text) for one, other in combinations(shapes, 2) if one.overlaps(other)] == []
    for box in boxes:
        over = [shape for shape in shapes if shape.overlaps(box)]
        inside = [shape for shape in over if shape.left <= box.left and box.right <= shape.right]
        assert len(over) == len(inside) <= 1, (box.text, over)
    assert len(shapes) >= 5


@pytest.mark.parametrize("name", WALKS)
def test_no_text_is_over_another_and_the_picture_is_not_too_wide(name: str) -> None:
    check(svg(walked_subgraph(WALKS[name]())))


def test_everything_is_drawn_without_overlap_and_as_narrow_if_it_is_requested() -> None:
    found = walked_subgraph(airports(), *ALL)
    picture = svg(found)
    assert (found.more_nodes, found.more_edges, "more<" in picture) == (0, 0, False)
    width, _ = size_of(picture)
    assert width <= 1_600
    boxes = sorted(text_boxes(picture), key=lambda box: box.top)
    near = [(one, other) for place, one in enumerate(boxes) for other in boxes[place + 1 : place + 40]]
    assert [(one.text, other.text) for one, other in near if one.overlaps(other)] == []
    entities = {node.node.id for node in found.nodes if isinstance(node.node, Entity)}
    assert entities == {
        end.id for s in airports().steps for t in s.triples for end in (t.head, t.tail) if isinstance(end, Entity)
    }


def test_four_airports_show_their_proof_and_count_the_rows_of_each() -> None:
    found = walked_subgraph(airports())
    picture = svg(found)
    assert size_of(picture)[1] < 1_200
    names = {node.node.id: node.more for node in found.nodes if isinstance(node.node, Entity)}
    assert {"AMS", "LHR", "JFK", "CDG", "D7"} <= set(names)
    assert len(found.nodes) < 30
    seen = {end.id if isinstance(end, Entity) else end.text for end in neighbours_of("AMS", airports())}
    drawn = {node.node.id if isinstance(node.node, Entity) else node.node.text for node in found.nodes}
    assert names["AMS"] == len(seen - drawn) > 300
    assert f">and {names['AMS']} more</text>" in picture
    assert f'["and {names["AMS"]} more"]' in mermaid(found)


def neighbours_of(hub: str, trail: Trail) -> Iterator[Entity | Literal]:
    for one in trail.steps:
        for row in one.triples:
            if row.head.id == hub:
                yield row.tail
            elif row.tail == Entity(hub, getattr(row.tail, "label", None)):
                yield row.head


def test_the_rows_of_a_node_stand_in_their_order_and_the_number_of_others_below_them() -> None:
    hub = Entity("hub", "Hub")
    rows = [triple(hub, "has", Entity(f"n{number}", f"Row {number}")) for number in range(9)]
    boxes = text_boxes(svg(walked_subgraph(walk([hub], step([hub], rows)))))
    column = [box.text for box in sorted(boxes, key=lambda box: box.top) if re.match("Row|and", box.text)]
    assert column == ["Row 0", "Row 1", "Row 2", "Row 3", "Row 4", "and 4 more"]


def test_what_goes_on_in_a_band_below_begins_with_a_copy_and_the_legend_says_so() -> None:
    picture = svg(walked_subgraph(chain(40, "Emperor of Constantinople")))
    texts = [box.text for box in text_boxes(picture)]
    copies = re.findall(r'<text class="visited copy"[^>]*>([^<]*)</text>', picture)
    assert len(copies) > 5
    assert all(texts.count(text) == 2 for text in copies)
    assert "continued from above" in texts
    assert "continued from above" not in svg(walked_subgraph(chain(3, "Emperor")))


def test_an_empty_picture_has_its_question_and_its_legend() -> None:
    assert size_of(svg(Subgraph("Which?", (), ()))) == (640, 148)
