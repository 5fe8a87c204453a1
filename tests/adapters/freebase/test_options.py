"""What can be set for a Freebase graph."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters.freebase.store import Freebase
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions

HERE = "freebase+http://127.0.0.1:8890/sparql"


def test_the_graph_comes_from_the_location_or_from_the_options():
    assert Freebase.read(f"{HERE}?default-graph-uri=http://a.example/g", AdapterOptions()).graphs == (
        "http://a.example/g",
    )
    assert Freebase.read(HERE, AdapterOptions(extra={"graph": "http://b.example/g"})).graphs == ("http://b.example/g",)
    assert Freebase.read(HERE, AdapterOptions()).graphs == ()


def test_the_endpoint_keeps_its_scheme_path_and_query_and_has_a_usual_path_where_none_is_given():
    assert Freebase.read("freebase+https://h.example/a/sparql?x=1", AdapterOptions()).address == (
        "https://h.example/a/sparql?x=1"
    )
    assert Freebase.read("freebase+http://h.example:8890", AdapterOptions()).address == "http://h.example:8890/sparql"


@pytest.mark.parametrize(
    "extra", [{"grpah": "x"}, {"graph": 3}, {"namespaces": [1]}, {"name": "no id"}, {"namespaces": 7}]
)
def test_options_that_are_unknown_or_of_the_wrong_kind_are_refused(extra: dict[str, object]):
    with pytest.raises(ConfigurationError) as caught:
        Freebase.read(HERE, AdapterOptions(extra=extra))
    assert caught.value.next_step


def test_a_location_without_a_host_is_refused():
    with pytest.raises(ConfigurationError):
        Freebase.read("freebase+http:///sparql", AdapterOptions())


def test_other_relations_may_name_and_type_entities():
    freebase = Freebase.read(HERE, AdapterOptions(extra={"name": "http://www.w3.org/2000/01/rdf-schema#label"}))
    assert [str(relation) for relation in freebase.names] == ["http://www.w3.org/2000/01/rdf-schema#label"]
    assert [freebase.ids.short(relation) for relation in freebase.types] == ["type.object.type"]
