"""Nodes by the value of a property. `id` is a property of the graph first, then the id that answers print."""

from __future__ import annotations

from dataclasses import replace

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Entity, Page, Stop
from kgnav_mcp.navigation.references import NameIndex, spellings
from kgnav_mcp.port import GraphAdapter
from kgnav_mcp.port.lists import page_of

ID = "id"
"""The property that may also mean the id that answers print."""
_LABELS = 1_000
"""Labels of a schema that are read at most."""


def printed_id_note(value: str, *, is_certain: bool = True) -> str:
    """The note that a value was read as a printed id, because no node has it as the value of a property `id`.

    `is_certain`: the store returned all nodes with that value.
    """
    lack = "No node has" if is_certain else "The store did not return all nodes with"
    return f"{lack} the property id = {echoed(value)}: it was interpreted as the id that answers print."


async def nodes_by_value(
    graph: GraphAdapter, label: str | None, property_name: str, value: str, *, limit: int, after: str | None = None
) -> Page[Entity]:
    """The nodes with a label whose property has a value; None leaves out the label.

    If no node of the graph has the value as its property `id`, the node with this printed id is meant. A note says so,
    unless the graph has no property `id`.

    Raises:
        UnknownName: the graph has no such label or property.
        StoreTimeout, Unsupported: the store did not list the nodes, and none has this printed id.
    """
    if property_name.casefold() != ID:
        return await graph.nodes(label, property_name, value, limit=limit, after=after)
    page: Page[Entity] | None = None
    failure: StoreTimeout | Unsupported | None = None
    is_certain = True
    try:
        page = await graph.nodes(label, property_name, value, limit=limit, after=after)
        everywhere = page if label is None or page.items else await graph.node_ids(None, property_name, value, limit=1)
        if page.items or after is not None or everywhere.items:
            return page
        is_certain = page.stop is everywhere.stop is Stop.COMPLETE
    except UnknownName as error:
        if error.kind == "label":
            raise
    except (StoreTimeout, Unsupported) as error:  # not all properties were listed in time
        failure = error
    printed = await _with_printed_id(graph, label, value)
    if failure is not None and not printed.items:
        raise failure
    if page is None or not printed.items:
        return page or printed
    return replace(printed, note=printed_id_note(value, is_certain=is_certain))


async def _with_printed_id(graph: GraphAdapter, label: str | None, value: str) -> Page[Entity]:
    """The node with this printed id, if it has the label.

    Raises:
        UnknownName: the graph has no such label.
    """
    described = await graph.describe(spellings(value))
    entity = next((described[spelling] for spelling in spellings(value) if spelling in described), None)
    if label is not None and (entity is None or label.casefold() not in map(str.casefold, entity.types)):
        await graph.nodes(label, None, None, limit=0)  # raises UnknownName
        if entity is not None and not await has_label(graph, label, entity.types):
            entity = None
    return page_of([] if entity is None else [entity], 1)


async def has_label(graph: GraphAdapter, label: str, types: tuple[str, ...]) -> bool:
    """Whether a label is one of these types, perhaps under another name, such as its id."""
    if label.casefold() in map(str.casefold, types):
        return True
    facts = (await graph.schema(label, limit=_LABELS)).labels
    meant = NameIndex(facts, lambda fact: (fact.id, fact.label)).find(label)
    return any(fact.shown in types for fact in meant)
