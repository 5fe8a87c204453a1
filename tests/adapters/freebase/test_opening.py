"""A graph is opened only once it is known which one it is, and how large; every query says how long it may take."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import InvalidStore, StoreTimeout
from kgnav_mcp.port import AdapterOptions
from tests.adapters.sparql_base.stub import always, serving, table
from tests.services import RdfService


async def test_a_graph_is_not_opened_under_a_revision_that_it_never_had():
    counted = table(["n"], [{"n": {"type": "literal", "value": "12"}}])
    async with serving(always(counted, "X-SQL-State: S1TAT")) as stub:
        adapter = open_adapter(f"freebase+{stub.url}?default-graph-uri=http://g", AdapterOptions())
        with pytest.raises(StoreTimeout, match="stopped the query"):
            await adapter.open()
        await adapter.close()


async def test_one_graph_among_those_read_in_time_is_not_taken_for_the_only_one():
    graphs = table(["g"], [{"g": {"type": "uri", "value": "http://g"}}])
    async with serving(always(graphs, "X-SQL-State: S1TAT")) as stub:
        with pytest.raises(StoreTimeout, match="could not be determined in time") as caught:
            await open_adapter(f"freebase+{stub.url}", AdapterOptions()).open()
    assert "default-graph-uri" in caught.value.next_step


@pytest.mark.parametrize(("seconds", "milliseconds"), [(30, "27500"), (6, "3500"), (5, "2500"), (1, "500")])
async def test_the_store_is_given_a_time_that_ends_before_the_calls(seconds: float, milliseconds: str):
    counted = table(["n"], [{"n": {"type": "literal", "value": "12"}}])
    async with serving(always(counted, "Server: Virtuoso/07.20")) as stub:
        location = f"freebase+{stub.url}?default-graph-uri=http://g"
        async with open_adapter(location, AdapterOptions(timeout=seconds)) as adapter:
            assert adapter.revision
        _, *reading = stub.requests  # the first, which costs nothing, asks what kind of store this is
        assert [request.form["timeout"] for request in reading] == [[milliseconds]]


@pytest.mark.parametrize(
    ("service", "title"),
    [
        pytest.param("oxigraph", "Oxigraph", marks=pytest.mark.xdist_group("oxigraph")),
        pytest.param("fuseki", "Fuseki", marks=pytest.mark.xdist_group("fuseki")),
        pytest.param("blazegraph", "Blazegraph", marks=pytest.mark.xdist_group("blazegraph")),
    ],
)
async def test_another_store_is_named_with_the_address_that_works(
    service: str, title: str, request: pytest.FixtureRequest, tmp_path: Path
):
    running: RdfService = request.getfixturevalue(service)
    (tmp_path / "one.nt").write_text("<http://g.example/a> <http://g.example/knows> <http://g.example/b> .\n")
    running.load(tmp_path / "one.nt", "http://g.example/other")
    location = f"freebase+{running.url}?default-graph-uri=http://g.example/other"
    with pytest.raises(InvalidStore, match=f"is {title}; freebase") as caught:
        await open_adapter(location, AdapterOptions()).open()
    given = caught.value.next_step.removeprefix("Write the graph's address as ").removesuffix(".")
    async with open_adapter(given, AdapterOptions()) as adapter:
        assert (await adapter.health()).triples.value == 1
