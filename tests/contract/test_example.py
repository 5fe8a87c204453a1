"""The example adapter passes the whole suite, found by the entry point of a separate package."""

from __future__ import annotations

import itertools
import os
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kgnav_mcp.adapters import GROUP
from kgnav_mcp.errors import InvalidArgument, Unsupported
from kgnav_mcp.model import Certainty, Entity, Listing, Page, Stop
from kgnav_mcp.navigation.codes import find_candidates
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.port import AdapterOptions, GraphAdapter, ValueOwner
from tests.contract import example, toy_views
from tests.contract.suite import GraphAdapterContract


class TestExample(GraphAdapterContract):
    schemes: ClassVar[frozenset[str]] = frozenset({"example"})
    style: ClassVar[toy_views.Style] = toy_views.PROPERTY_GRAPH

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
        """The location of the graph, while the adapter's package is installed, also for processes that tests start."""
        folder = tmp_path_factory.mktemp("installed")
        package = folder / "kgnav_example-1.0.dist-info"
        package.mkdir()
        (package / "METADATA").write_text("Metadata-Version: 2.1\nName: kgnav-example\nVersion: 1.0\n")
        (package / "entry_points.txt").write_text(f"[{GROUP}]\nexample = {example.__name__}:open_adapter\n")
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(folder))  # pyright: ignore[reportUnknownMemberType]
            patch.setenv("PYTHONPATH", os.pathsep.join((str(folder), str(Path(__file__).parents[2]))))
            yield "example://tests.contract.example_graph"


def test_the_example_is_short():
    """README and the port promise that an adapter can be written in an afternoon."""
    assert len(Path(example.__file__).read_text(encoding="utf-8").splitlines()) <= 150


async def test_a_store_that_looks_names_up_one_by_one_refuses_more_than_a_hundred():
    async with example.open_adapter("example://tests.contract.example_graph", AdapterOptions()) as adapter:
        with pytest.raises(InvalidArgument, match="101 of the entities are names instead of ids"):
            await adapter.find_by_names([f"nobody {n}" for n in range(101)], limit=1)


@pytest.fixture(params=["nodes", "neighbours"])
async def cut(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[GraphAdapter]:
    """The example, whose lists of nodes, or of their rows, end early because the store returns no more."""
    async with example.open_adapter("example://tests.contract.example_graph", AdapterOptions()) as adapter:
        verb: str = request.param
        read = getattr(adapter, verb)

        async def part(*given: Any, **named: Any) -> Page[Any]:
            page: Page[Any] = await read(*given, **named)
            return replace(page, items=page.items[:5], positions=page.positions[:5], stop=Stop.ROW_CAP)

        monkeypatch.setattr(adapter, verb, part)
        yield adapter


async def test_default_counts_over_a_part_of_the_graph_are_lower_bounds(cut: GraphAdapter):
    schema = await cut.schema(limit=50)
    facts = (*schema.labels, *schema.relations, *schema.properties)
    counts = [schema.entities, schema.triples, *(one.count for one in facts)]
    assert {one.certainty for one in counts} == {Certainty.AT_LEAST}
    assert {one.listing for one in (*schema.labels, *schema.relations)} == {Listing.SAMPLED}
    assert "not return all nodes and triples" in (schema.sampled or "")
    values = await cut.values(schema.properties[0].relation.id, None, ValueOwner.NODE, limit=50)
    assert (values.stop, values.total.certainty) == (Stop.ROW_CAP, Certainty.AT_LEAST)
    assert {one.count.certainty for one in values.items} == {Certainty.AT_LEAST}


async def test_default_verbs_call_no_name_unknown_that_a_part_of_the_graph_lacks(cut: GraphAdapter):
    with pytest.raises(Unsupported, match="may exist"):
        await cut.values("no_such_property", None, ValueOwner.NODE, limit=50)
    with pytest.raises(Unsupported, match="may exist"):
        await cut.schema("no_such_name", limit=50)
    assert await cut.triples_by_qualifier("cyd", limit=5) is None


async def test_a_code_is_not_resolved_from_a_part_of_the_nodes(cut: GraphAdapter):
    with pytest.raises(Unsupported, match="nodes with the value 'A1' may be missing"):
        await resolve_entity(cut, "A1")
    assert "Values of properties were not searched" in (await find_candidates(cut, "A1", label=None, limit=5)).note


@pytest.mark.parametrize("verb", ["nodes", "neighbours"])
async def test_a_code_is_not_searched_in_a_graph_of_millions_of_nodes_or_rows(
    verb: str, monkeypatch: pytest.MonkeyPatch
):
    async with example.open_adapter("example://tests.contract.example_graph", AdapterOptions()) as adapter:
        read, pages = getattr(adapter, verb), itertools.count()

        async def endless(*given: Any, limit: int, **named: Any) -> Page[Any]:
            number = next(pages)
            assert number * limit < 1_000_000
            page: Page[Any] = await read(*given, limit=limit, **{**named, "after": None})
            items = page.items * limit if verb == "neighbours" else [Entity(f"n{number}.{n}") for n in range(limit)]
            return replace(page, items=tuple(items[:limit]), positions=("1",) * limit, stop=Stop.LIMIT)

        monkeypatch.setattr(adapter, verb, endless)
        with pytest.raises(Unsupported, match="not all nodes and triples were read"):
            await resolve_entity(adapter, "A1")
