"""What can be set for an endpoint, behind its address or in its table, and how ids are written then."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.generic_sparql.store import Endpoint, Mediators
from kgnav_mcp.adapters.sparql_base.virtuoso import VIRTUOSO
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions
from tests.adapters.generic_sparql.conftest import Load

HERE = "sparql+https://h.example/sparql"
TURTLE = """\
PREFIX ex: <http://ex.example/> PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
ex:a foaf:name "Ann" ; rdfs:label "Anna"@de ; ex:called "A"@en ; ex:kind ex:Cat . ex:Cat rdfs:label "cat"@en .
ex:b foaf:name "Bob" . <urn:odd:1> rdfs:label "odd"@en . <geo:1.5,2> rdfs:label "place"@en .
"""


def read(location: str, **extra: object) -> Endpoint:
    return Endpoint.read(location, AdapterOptions(extra=extra))


def test_the_graph_is_named_in_the_address_or_in_the_table_and_there_may_be_several():
    assert read(HERE).graphs == ()
    assert read(f"{HERE}?default-graph-uri=http://a.example/g").graphs == ("http://a.example/g",)
    assert read(HERE, graph=["http://a.example/g", "http://b.example/g"]).graphs == (
        "http://a.example/g",
        "http://b.example/g",
    )


def test_other_parameters_of_the_address_are_the_endpoints_own():
    found = read(
        "sparql+http://u:p@h.example:7200/repositories/x?infer=false&default-graph-uri=http://a.example/g#labels=foaf:name"
    )
    assert found.address == "http://u:p@h.example:7200/repositories/x?infer=false"


def test_options_behind_the_address_win_over_those_of_the_table():
    found = read(
        f"{HERE}#mediators=unnamed&labels=foaf:name,http://e.example/n&prefix.e=http://e.example/",
        mediators="blank",
        full_text="virtuoso",
    )
    assert (found.mediators, found.full_text) == (Mediators.UNNAMED, VIRTUOSO.full_text)
    assert [found.ids.short(relation) for relation in found.names] == ["foaf:name", "e:n"]


@pytest.mark.parametrize(
    "extra",
    [
        {"labelz": "x"},
        {"labels": 3},
        {"labels": ["no id"]},
        {"mediators": "all"},
        {"full_text": "lucene"},
        {"prefixes": "ex"},
        {"prefixes": {"ex": 3}},
        {"prefixes": {"ex": "no iri"}},
        {"graph": "no iri"},
    ],
)
def test_options_that_are_unknown_or_of_the_wrong_kind_are_refused(extra: dict[str, object]):
    with pytest.raises(ConfigurationError) as caught:
        read(HERE, **extra)
    assert caught.value.next_step


def test_an_address_without_a_host_is_refused_without_being_repeated():
    with pytest.raises(ConfigurationError) as caught:
        read("sparql+http:///secret")
    assert "secret" not in str(caught.value)


def test_ids_are_short_where_a_prefix_fits_and_every_form_is_taken():
    ids = read(f"{HERE}#prefix.go=http://obo.example/GO_&prefix.ex=http://ex.example/").ids
    for full, short in (
        ("http://ex.example/a", "ex:a"),
        ("http://ex.example/a/b", "http://ex.example/a/b"),
        ("http://ex.example/", "http://ex.example/"),
        ("http://obo.example/GO_0001", "go:0001"),
        ("http://xmlns.com/foaf/0.1/name", "foaf:name"),
        ("geo:52.5,13.4", "<geo:52.5,13.4>"),
        ("urn:isbn:1", "urn:isbn:1"),
    ):
        assert ids.short(full) == short
        for form in (short, full if not short.startswith("<") else short, f"<{full}>"):
            assert str(ids.iri(form)) == full
    for text in ("", "Ann", "ann:", "_:b0", "no iri", "<>"):
        assert ids.iri(text) is None


async def test_names_come_in_the_wanted_language_and_then_in_the_order_of_the_options(loaded: Load):
    location = loaded("names", TURTLE)
    for options, languages, names in (
        ("", ("en",), ["Ann", "Bob"]),
        ("", ("de",), ["Anna", "Bob"]),
        ("&labels=ex:called&labels=foaf:name", ("en",), ["A", "Bob"]),
        ("&labels=ex:called", ("fr",), ["A", None]),
    ):
        async with open_adapter(f"{location}{options}", AdapterOptions(languages=languages)) as adapter:
            found = await adapter.describe(["ex:a", "ex:b"])
            assert [entity.label for entity in found.values()] == names


@pytest.mark.parametrize("option", ["labels", "aliases", "descriptions", "types"])
async def test_an_option_that_names_a_relation_no_triple_has_is_refused_with_the_nearest(loaded: Load, option: str):
    for written in ("ex:caled", "foaf:name,ex:caled"):
        with pytest.raises(ConfigurationError, match=f"no relation 'ex:caled' of the option '{option}'") as refused:
            async with open_adapter(f"{loaded('names', TURTLE)}&{option}={written}", AdapterOptions()):
                pass
        assert refused.value.next_step.startswith("Use one of the nearest: ex:called")


async def test_the_options_of_an_empty_graph_are_not_compared_with_it(loaded: Load):
    empty = loaded("names", TURTLE).replace("example/names", "example/nothing")
    async with open_adapter(f"{empty}&labels=ex:caled", AdapterOptions()) as adapter:
        assert await adapter.describe(["ex:a"]) == {}


async def test_other_relations_may_give_types(loaded: Load):
    async with open_adapter(f"{loaded('names', TURTLE)}&types=ex:kind", AdapterOptions()) as adapter:
        assert (await adapter.describe(["ex:a"]))["ex:a"].types == ("cat",)
        assert [entity.id for entity in (await adapter.nodes("cat", None, None, limit=5)).items] == ["ex:a"]


async def test_ids_of_other_schemes_are_walked_as_well(loaded: Load):
    async with open_adapter(loaded("names", TURTLE), AdapterOptions()) as adapter:
        for name, printed in (("odd", "urn:odd:1"), ("place", "<geo:1.5,2>")):
            (found,) = (await adapter.find_by_name(name, limit=5)).items
            assert found.entity.id == printed
            assert list(await adapter.describe([printed])) == [printed]


async def test_several_graphs_are_walked_as_one(loaded: Load):
    first, second = loaded("names", TURTLE), loaded("more", '<http://ex.example/c> <http://ex.example/d> "e" .')
    both = first.replace("#", f"&{second.partition('?')[2].partition('#')[0]}#")
    async with open_adapter(both, AdapterOptions()) as adapter:
        assert list(await adapter.describe(["ex:a", "ex:c"])) == ["ex:a", "ex:c"]


async def test_iris_like_short_forms_need_no_brackets(loaded: Load):
    turtle = '<PMID:1> <http://www.w3.org/2000/01/rdf-schema#label> "paper" .'
    async with open_adapter(loaded("papers", turtle), AdapterOptions()) as adapter:
        assert [each.entity.id for each in (await adapter.find("PMID:1", limit=5)).items] == ["<PMID:1>"]
