"""Short forms for what the tests of the algorithms read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from kgnav_mcp.model import Entity, Node, Page, Stop, T, Triple
from kgnav_mcp.port import GraphAdapter


async def entity(graph: GraphAdapter, name: str) -> Entity:
    """The entity with this id, which exists."""
    return (await graph.describe([name]))[name]


def end(node: Node) -> str:
    """An entity's id or a literal's text."""
    return node.id if isinstance(node, Entity) else node.text


def short(triple: Triple) -> tuple[str, str, str]:
    """A triple as ids and texts."""
    return triple.head.id, triple.relation.id, end(triple.tail)


def roles(triple: Triple) -> dict[str, str]:
    """A triple's qualifiers as texts."""
    return {item.relation.id: end(item.value) for item in triple.qualifiers}


async def all_pages(read: Callable[[str | None], Awaitable[Page[T]]]) -> list[T]:
    """Every item of a paged list, one page after the other; a page that cannot get on fails."""
    items: list[T] = []
    after: str | None = None
    while True:
        page = await read(after)
        items += page.items
        if page.stop is Stop.COMPLETE:
            return items
        assert page.positions, "a page that is not the last has items"
        assert page.positions[-1] != after
        after = page.positions[-1]
