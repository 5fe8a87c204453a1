"""The toy graph's ids in a Wikibase: numbers of items and properties."""

from __future__ import annotations

from tests.contract import toy

INSTANCE_OF = "P31"
_UNKNOWN = 999_999

_NODES = {node.id: f"Q{number}" for number, node in enumerate(toy.NODES, 101)}
_LABELS = {label: f"Q{number}" for number, label in enumerate(toy.LABELS, 11)}
RELATIONS = tuple(
    dict.fromkeys(
        [
            *(name for each in toy.NODES for name, _ in each.properties),
            *(name for edge in toy.EDGES for name in (edge.relation, *(name for name, _ in edge.qualifiers))),
        ]
    )
)
"""Every property and relation, including properties of edges."""
_RELATIONS = {name: f"P{number}" for number, name in enumerate(RELATIONS, 1001)}


def node(local: str) -> str:
    """The item id of a node. An unknown node gets an id that does not exist."""
    digits = "".join(filter(str.isdigit, local)) or "0"
    return _NODES.get(local, f"Q{_UNKNOWN + int(digits)}")


def label(local: str) -> str:
    """The item id of a class."""
    return _LABELS[local]


def relation(local: str) -> str:
    """The property id of a relation. An unknown relation gets an id that does not exist."""
    return _RELATIONS.get(local, f"P{_UNKNOWN}")
