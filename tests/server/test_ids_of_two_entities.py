"""Ids that two entities of one graph could have, such as `PMID:1` and `obo/PMID_1`, never mean one in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgnav_mcp.adapters.embedded.loading import load
from kgnav_mcp.config import GraphSettings, Settings
from tests.server.clients import call
from tests.services import Oxigraph, RdfService, Virtuoso

OBO = "http://purl.obolibrary.org/obo/"
GRAPH = "http://ids.example/graph"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
P = "http://ids.example/p"
TRIPLES = f"""\
<PMID:1> <{LABEL}> "the article" .
<PMID:1> <{P}> <http://ids.example/a> .
<{OBO}PMID_1> <{LABEL}> "the term" .
<{OBO}PMID_1> <{P}> <http://ids.example/b> .
<NCIT:C32> <{LABEL}> "the code" .
<{OBO}NCIT_C32> <{LABEL}> "the concept" .
<{OBO}NCIT_C32> <{P}> <http://ids.example/b> .
<PMID:2> <{LABEL}> "another article" .
<PMID:2> <{P}> <http://ids.example/a> .
<{OBO}DOID_734> <{LABEL}> "urethral cancer" .
<{OBO}DOID_734> <{P}> <http://ids.example/b> .
"""
FAR = {"<PMID:1>": "a", "PMID:1": "b", f"{OBO}PMID_1": "b", "PMID:2": "a", "<PMID:2>": "a"}
"""What each text leads to."""
FORMS_OF_ONE = ["DOID:734", "obo:DOID_734", f"{OBO}DOID_734", f"<{OBO}DOID_734>"]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ids") / "ids.nt"
    path.write_text(TRIPLES, encoding="utf-8")
    return path


def _served(location: str) -> Settings:
    return Settings(graphs={"g": GraphSettings(location=location)})


def _plan(text: str) -> dict[str, object]:
    return {"plan": f"MATCH (x)-[:`{P}`]->(y) WHERE elementId(x) = '{text}' RETURN y"}


class IdsOfTwoEntities:
    """What holds on each store."""

    @pytest.mark.parametrize("text", FAR)
    async def test_each_text_leads_to_one_entity_in_every_tool(self, settings: Settings, text: str):
        row = f"\n{P}|p|http://ids.example/{FAR[text]}|"
        assert row in await call("search", {"entity": text, "direction": "outgoing"}, settings)
        plan = await call("run_plan", _plan(text), settings)
        assert plan.splitlines()[0] == "1 row"
        assert f"\nhttp://ids.example/{FAR[text]}" in plan

    async def test_a_search_offers_both(self, settings: Settings):
        found = await call("find_node", {"hint": "PMID:1"}, settings)
        assert "\n<PMID:1>|the article|" in found
        assert "\nPMID:1|the term|" in found

    @pytest.mark.parametrize(("text", "other"), [("PMID:1", "the article"), ("NCIT:C32", "the code")])
    async def test_answers_about_one_name_the_other(self, settings: Settings, text: str, other: str):
        arguments = {"entity": text, "direction": "outgoing"}
        assert f"May also mean: {other} (<{text}>)." in await call("search", arguments, settings)
        assert f"it may also mean <{text}> ({other})" in await call("run_plan", _plan(text), settings)

    async def test_texts_that_mean_one_entity_only_have_no_such_note(self, settings: Settings):
        for text in ("<PMID:1>", "PMID:2", "DOID:734"):
            assert "also mean" not in await call("search", {"entity": text, "direction": "outgoing"}, settings)
            assert "also mean" not in await call("run_plan", _plan(text), settings)

    @pytest.mark.parametrize("text", FORMS_OF_ONE)
    async def test_every_form_of_a_term_of_the_foundry_means_it(self, settings: Settings, text: str):
        assert "\nDOID:734|urethral cancer|" in await call("find_node", {"hint": text}, settings)
        assert f"\n{P}|p|http://ids.example/b|" in await call(
            "search", {"entity": text, "direction": "outgoing"}, settings
        )
        assert (await call("run_plan", _plan(text), settings)).startswith("1 row\n")


class TestInAGraphFile(IdsOfTwoEntities):
    @pytest.fixture(scope="class")
    @classmethod
    def settings(cls, source: Path) -> Settings:
        load([source], target := source.with_suffix(".kg"))
        return _served(str(target))


def _loaded(store: RdfService, source: Path) -> Settings:
    store.load(source, GRAPH)
    return _served(f"sparql+{store.url}?default-graph-uri={GRAPH}")


class TestOnOxigraph(IdsOfTwoEntities):
    @pytest.fixture(scope="class")
    @classmethod
    def settings(cls, oxigraph: Oxigraph, source: Path) -> Settings:
        return _loaded(oxigraph, source)


class TestOnVirtuoso(IdsOfTwoEntities):
    @pytest.fixture(scope="class")
    @classmethod
    def settings(cls, virtuoso: Virtuoso, source: Path) -> Settings:
        return _loaded(virtuoso, source)
