"""A small graph with parallel edges, two of them alike, a loop, a node without anything, several values."""

from __future__ import annotations

from tests.plans.graph import Node, Plain, Properties, graph


def _properties(given: dict[str, Plain | list[Plain]]) -> Properties:
    return tuple((name, each) for name, own in given.items() for each in (own if isinstance(own, list) else [own]))


def _node(id_: str, labels: str, **own: Plain | list[Plain]) -> Node:
    name = own.get("name")
    return Node(
        id_, frozenset(labels.split()), _properties({"id": id_, **own}), name if isinstance(name, str) else None
    )


PEOPLE = graph(
    [
        _node("ada", "Person Writer", name="Ada", age=36, height=1.71, alive=False, tag=["clocks", "night"]),
        _node("ben", "Person Sailor", name="Ben", age=41, alive=True, tag="night"),
        _node("cyd", "Person", name="Cyd 'the | cat' \"x\"", age=36),
        _node("dot", "Person", name="dot", height=1.5),
        _node("eve", "Sailor", name="Ève", age=-3, level=[3, 1, 2]),
        _node("rome", "City", name="Rome", size=2_800_000),
        _node("oslo", "City", name="Oslo", size=700_000.5),
        _node("void", ""),
    ],
    [
        ("ada", "KNOWS", "ben", (("since", 1830), ("how", "work"))),
        ("ada", "KNOWS", "ben", (("since", 1841),)),
        ("ada", "KNOWS", "cyd", ()),
        ("ben", "KNOWS", "ada", (("since", 1830),)),
        ("cyd", "KNOWS", "dot", (("since", 1835),)),
        ("dot", "KNOWS", "eve", ()),
        ("eve", "KNOWS", "eve", (("how", "slowly"),)),
        ("cyd", "DISLIKES", "ada", ()),
        ("ada", "LIVES_IN", "rome", ()),
        ("ben", "LIVES_IN", "rome", (("until", "1850-05-01"),)),
        ("dot", "LIVES_IN", "oslo", ()),
        ("eve", "LIVES_IN", "oslo", ()),
        ("eve", "LIVES_IN", "oslo", ()),
    ],
)
"""Parallel edges, two of them alike, a loop, a node without anything, several values, hostile names."""
