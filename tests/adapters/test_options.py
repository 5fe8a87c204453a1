"""Options of a graph that every kind of store checks alike."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.options import read_prefixes
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions


@pytest.mark.parametrize(
    ("location", "option", "nearest"),
    [
        ("films.kg", "prefix", "prefixes"),
        ("sparql+http://127.0.0.1/sparql", "lables", "labels"),
        ("freebase+http://127.0.0.1/sparql", "grahp", "graph"),
        ("wikidata+http://127.0.0.1/sparql", "vector", "vectors"),
        ("bolt://127.0.0.1", "pasword", "password"),
    ],
)
def test_an_unknown_option_is_refused_with_the_nearest(location: str, option: str, nearest: str) -> None:
    with pytest.raises(ConfigurationError, match=f"has no option '{option}'") as caught:
        open_adapter(location, AdapterOptions(extra={option: 1}))
    assert caught.value.next_step.startswith(f"Did you mean '{nearest}'? Its options are: ")


def test_an_unknown_option_like_no_other_is_refused_with_all_there_are() -> None:
    with pytest.raises(ConfigurationError) as caught:
        open_adapter("films.kg", AdapterOptions(extra={"foo": 1}))
    assert (caught.value.message, caught.value.next_step) == (
        "a graph file has no option 'foo'",
        "Its options are: prefixes.",
    )


@pytest.mark.parametrize("wrong", ["http://x/", {"ex": 7}, {"ex": "no iri"}])
def test_prefixes_that_are_no_table_of_iris_are_refused(wrong: object) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_prefixes({"prefixes": wrong})
    assert "http://" in caught.value.next_step
