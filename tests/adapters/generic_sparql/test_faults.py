"""What is wrong with an endpoint is said so that its user can mend it, and never looks like an empty graph."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from unittest.mock import PropertyMock, patch

import pytest
from click.testing import CliRunner

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.sparql_base.requests import Address
from kgnav_mcp.cli import main
from kgnav_mcp.errors import ConfigurationError, InvalidStore, KgnavError, RateLimited, StoreTimeout, StoreUnavailable
from kgnav_mcp.port import AdapterOptions
from tests.adapters.sparql_base.stub import Handler, always, serving
from tests.services import Oxigraph

FAULTS: list[tuple[Handler, type[KgnavError], str, str]] = [
    (always("<html>Hello</html>", kind="text/html"), InvalidStore, "a web page instead of a SPARQL result", "address"),
    (always("", status="404 Not Found"), InvalidStore, "there is no SPARQL endpoint at", "address"),
    (always("", status="401 Unauthorized"), ConfigurationError, "requires a user and a password", "USER:PASSWORD@"),
    (always("", status="403 Forbidden"), ConfigurationError, "refuses access", "another user"),
    (always("", "Retry-After: 7", status="429 Too Many Requests"), RateLimited, "no more queries now", "7 s"),
    (always("", status="502 Bad Gateway"), StoreUnavailable, "fails (HTTP 502)", "Try again"),
    (always("", status="504 Gateway Timeout"), StoreTimeout, "", "Narrow the call"),
    (always("", "Location: http://elsewhere.example/", status="302 Found"), InvalidStore, "another address", "final"),
    (always('{"head": {"vars": ["n"]}, "results"'), InvalidStore, "damaged or cut", "Try again"),
]


@pytest.mark.parametrize(("handler", "error", "words", "step"), FAULTS)
async def test_each_fault_has_its_own_sentence_and_says_what_to_do(
    handler: Handler, error: type[KgnavError], words: str, step: str
):
    async with serving(handler) as stub:
        adapter = open_adapter(f"sparql+{stub.url}", AdapterOptions(timeout=5))
        with pytest.raises(error) as caught:
            await adapter.open()
        assert words in caught.value.message
        assert step in caught.value.next_step
        await adapter.close()


def test_an_endpoint_of_wikimedia_needs_a_contact():
    location = "sparql+https://query.wikidata.org/sparql"
    with pytest.raises(ConfigurationError, match="no contact is set") as caught:
        open_adapter(location, AdapterOptions())
    assert "KGNAV_CONTACT" in caught.value.next_step
    open_adapter(location, AdapterOptions(contact="operator@example.org"))


async def test_another_machine_is_told_who_asks_and_gets_the_pause_it_wants():
    """The stub is on this machine, which needs no limits: for this test it passes for another."""
    limited = always("", "Retry-After: 1", status="429 Too Many Requests")
    broken = always("", status="404 Not Found")
    with patch.object(Address, "is_local", new_callable=PropertyMock, return_value=False):
        async with serving(limited, broken) as stub:
            adapter = open_adapter(f"sparql+{stub.url}", AdapterOptions(timeout=5, contact="operator@example.org"))
            begin = monotonic()
            with pytest.raises(InvalidStore, match="there is no SPARQL endpoint at"):
                await adapter.open()
            assert monotonic() - begin >= 1
            assert "operator@example.org" in stub.requests[0].headers["user-agent"]
            await adapter.close()


def _doctor(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["doctor", *arguments], prog_name="kgnav")
    return result.exit_code, result.stdout


def test_the_doctor_says_that_nothing_listens_and_keeps_passwords_to_itself():
    code, said = _doctor("--graph", "x=sparql+http://user:hidden@127.0.0.1:1/sparql#mediators=blank")
    assert code == 1
    assert "DOES NOT ANSWER: nothing listens at http://127.0.0.1:1/sparql" in said
    assert "Start the endpoint, or correct the graph's address" in said
    assert "hidden" not in said


def test_the_doctor_tells_a_wrong_path_from_an_endpoint(oxigraph: Oxigraph):
    code, said = _doctor("--graph", f"x=sparql+{oxigraph.url.replace('/query', '/elsewhere')}")
    assert code == 1
    assert "there is no SPARQL endpoint at" in said


def test_the_doctor_names_the_graphs_of_an_endpoint_whose_default_graph_is_empty(
    own_oxigraph: Oxigraph, tmp_path: Path
):
    own_oxigraph.start()
    location = f"sparql+{own_oxigraph.url}"
    assert "has no other graph: load data first" in _doctor("--graph", f"x={location}")[1]
    path = tmp_path / "one.ttl"
    path.write_text('<http://e.example/a> <http://e.example/n> "A" .', encoding="utf-8")
    own_oxigraph.load(path, "http://e.example/g")

    code, said = _doctor("--graph", f"x={location}")
    assert code == 0
    assert "The default graph is empty; graphs with triples: http://e.example/g." in said
    assert "?default-graph-uri=http://e.example/g" in said
    code, said = _doctor("--graph", f"x={location}?default-graph-uri=http://e.example/g")
    assert "1 triples" in said
    assert "set the option labels" in said
    assert "is empty" not in said


async def test_a_server_that_goes_away_is_said_and_is_used_again_when_it_is_back(
    own_oxigraph: Oxigraph, tmp_path: Path
):
    path = tmp_path / "one.ttl"
    path.write_text('<http://e.example/a> <http://e.example/n> "A" .', encoding="utf-8")
    own_oxigraph.start()
    own_oxigraph.load(path)
    async with open_adapter(f"sparql+{own_oxigraph.url}", AdapterOptions()) as adapter:
        before = await adapter.describe(["http://e.example/a"])
        own_oxigraph.kill()
        with pytest.raises(StoreUnavailable):
            await adapter.describe(["http://e.example/b"])
        own_oxigraph.start()
        assert await adapter.describe(["http://e.example/a", "http://e.example/b"]) == before
