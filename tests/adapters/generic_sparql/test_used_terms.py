"""Which of some terms are values of relations, on stores that answer one query for all of these terms."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from unittest.mock import patch

import pytest
from rdflib import Literal, URIRef

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.generic_sparql.pattern_writer import PatternWriter
from kgnav_mcp.port import AdapterOptions
from tests.services import Oxigraph, RdfService, Virtuoso

EX = "http://ex.example/"
TEXTS = [Literal(f"T{n}") for n in range(40)]
"""Without languages: Virtuoso repeats a literal of a query without its language."""
NODES = [URIRef(f"{EX}node{n}") for n in range(20)]
USED = {"to": {*TEXTS[::3], *NODES[::2]}, "from": {*TEXTS[::5], *NODES[::7]}}
"""The values of two relations."""


def _loaded(store: RdfService, folder: Path) -> str:
    """The location of the graph, loaded into a store."""
    path = folder / "used.nt"
    triples = [f"<{EX}s{n}> <{EX}{name}> {term.n3()} .\n" for name in USED for n, term in enumerate(USED[name])]
    path.write_text("".join(triples), encoding="utf-8")
    store.load(path, f"{EX}used")
    return f"sparql+{store.url}?default-graph-uri={EX}used#prefix.ex={EX}"


class UsedTerms:
    """What holds on each store."""

    @pytest.fixture
    @classmethod
    async def writer(cls, location: str) -> AsyncGenerator[PatternWriter]:
        create = PatternWriter.__init__
        with patch.object(PatternWriter, "__init__", autospec=True, side_effect=create) as created:
            async with open_adapter(location, AdapterOptions()):
                yield created.call_args.args[0]

    @pytest.mark.parametrize("relations", [("to",), ("to", "from")])
    @pytest.mark.parametrize("size", [2, 4, 20])
    @pytest.mark.parametrize("terms", [TEXTS, NODES], ids=["texts", "nodes"])
    async def test_each_of_several_terms_is_found_where_it_is_used(
        self, writer: PatternWriter, relations: tuple[str, ...], size: int, terms: list[Literal | URIRef]
    ):
        used = set[object]().union(*(USED[name] for name in relations))
        iris = [URIRef(EX + name) for name in relations]
        for start in range(0, len(terms), size):
            several = terms[start : start + size]
            assert {*await writer.used_terms(iris, several)} == used.intersection(several)


class TestOnOxigraph(UsedTerms):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph, tmp_path_factory: pytest.TempPathFactory) -> str:
        return _loaded(oxigraph, tmp_path_factory.mktemp("used"))


class TestOnVirtuoso(UsedTerms):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> str:
        return _loaded(virtuoso, tmp_path_factory.mktemp("used"))
