"""Time-outs and row caps: endpoint and Wikidata on an in-process store, Freebase on a live Virtuoso.

In the main run, each call is spoilt for one of the three.
"""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlencode

import pytest

from tests.contract import toy_files, toy_views, toy_wikibase
from tests.contract.faults.relay import Source, in_process, live
from tests.contract.faults.suite import FaultContract
from tests.contract.test_endpoint import OPTIONS
from tests.services import Virtuoso

pytestmark = pytest.mark.slow

GRAPH = "http://toy.example/faults"


@pytest.mark.one_in(3)
class TestEndpointOutOfTime(FaultContract):
    style: ClassVar[toy_views.Style] = toy_views.RDF

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls, tmp_path_factory: pytest.TempPathFactory) -> Source:
        return in_process(toy_files.write_rdf(tmp_path_factory.mktemp("endpoint")))

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls) -> str:
        return f"sparql+{{url}}#{urlencode(OPTIONS)}"


@pytest.mark.one_in(3, first=1)
class TestWikidataOutOfTime(FaultContract):
    style: ClassVar[toy_views.Style] = toy_views.WIKIDATA

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls, tmp_path_factory: pytest.TempPathFactory) -> Source:
        return in_process([toy_wikibase.write(tmp_path_factory.mktemp("wikidata"))])

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls) -> str:
        return "wikidata+{url}"


@pytest.mark.one_in(3, first=2)
class TestFreebaseOutOfTime(FaultContract):
    style: ClassVar[toy_views.Style] = toy_views.FREEBASE

    @pytest.fixture(scope="class")
    @classmethod
    def source(cls, virtuoso: Virtuoso, tmp_path_factory: pytest.TempPathFactory) -> Source:
        for path in toy_files.write_freebase(tmp_path_factory.mktemp("freebase")):
            virtuoso.load(path, GRAPH)
        return live(virtuoso.url)

    @pytest.fixture(scope="class")
    @classmethod
    def location(cls) -> str:
        return f"freebase+{{url}}?default-graph-uri={GRAPH}"
