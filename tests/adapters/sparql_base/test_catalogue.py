"""What a user calls a relation or a type is found by its id, its name, or any spelling that a store has for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import pytest
from rdflib import URIRef

from kgnav_mcp.adapters.sparql_base import schema
from kgnav_mcp.adapters.sparql_base.schema import Use, combined_stop, nearest
from kgnav_mcp.errors import StoreTimeout, UnknownName, Unsupported
from kgnav_mcp.model import Count, Relation, Stop

NONE, SOME, UNKNOWN = Count(0), Count(3), Count.unknown()
FILMS, FILM_YEARS, FILM = (URIRef(f"http://e.example/{name}") for name in ("films", "film_years", "Film"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue(schema.Catalogue):
    """One whose names have two spellings."""

    def spellings(self, iri: URIRef) -> Iterable[str]:
        return self.names[iri].id, self.names[iri].label


KNOWN = Catalogue(
    relations={FILMS: Use(SOME, NONE), FILM_YEARS: Use(NONE, SOME)},
    types={FILM: SOME},
    names={
        FILMS: Relation("ex:films", "Films"),
        FILM_YEARS: Relation("ex:film_years", "films"),
        FILM: Relation("ex:Film", "Film"),
    },
    triples=SOME,
    sampled=None,
)


def test_an_id_means_itself_and_a_name_whatever_has_it_with_letter_case_aside():
    assert KNOWN.types_named("whatever it says", FILM) == [FILM]
    assert KNOWN.types_named(" FILM ", None) == [FILM]
    assert KNOWN.types_and_relations_named("films", None) == ([], [FILM_YEARS, FILMS])


def test_a_property_is_rather_a_relation_with_values_than_one_without():
    assert KNOWN.properties("Films", None) == [FILM_YEARS]
    assert KNOWN.properties("Films", FILMS) == [FILMS]
    assert KNOWN.properties("ex:FILMS", None) == [FILMS]


def test_a_name_of_nothing_is_refused_with_the_nearest_ones():
    for ask, expected in (
        (KNOWN.properties, ("ex:film_years", "ex:films")),
        (KNOWN.types_named, ("Film",)),
        (KNOWN.types_and_relations_named, ("ex:Film", "ex:film_years", "ex:films")),
    ):
        with pytest.raises(UnknownName) as caught:
            ask("filn", URIRef("http://e.example/filn"))
        assert caught.value.nearest == expected


def test_a_name_of_nothing_among_a_part_may_be_among_the_rest():
    part = replace(KNOWN, stop=Stop.TIME_OUT)
    assert part.types_named("film", None) == [FILM]
    for ask in (part.properties, part.types_named, part.types_and_relations_named):
        with pytest.raises(StoreTimeout, match=r"whether the store has a .*'filn'") as caught:
            ask("filn", None)
        assert "Film" in caught.value.next_step or "ex:films" in caught.value.next_step
    with pytest.raises(StoreTimeout) as caught:
        replace(part, types={}).types_named("filn", None)
    assert "describe_graph()" in caught.value.next_step


def test_a_name_of_nothing_may_be_behind_the_row_cap_which_is_no_time_out():
    part = replace(KNOWN, stop=Stop.ROW_CAP)
    assert part.types_named("film", None) == [FILM]
    for ask, kind in ((part.properties, "property"), (part.types_named, "label")):
        with pytest.raises(Unsupported, match=f"whether the store has a {kind} 'filn': its row cap cut") as caught:
            ask("filn", None)
        assert "Film" in caught.value.next_step or "ex:films" in caught.value.next_step


def test_another_try_may_help_where_time_cut_one_of_several_lists():
    assert combined_stop(Stop.ROW_CAP, Stop.TIME_OUT) is combined_stop(Stop.TIME_OUT, Stop.ROW_CAP) is Stop.TIME_OUT
    assert combined_stop(Stop.COMPLETE, Stop.ROW_CAP) is Stop.ROW_CAP
    assert combined_stop(Stop.COMPLETE, Stop.COMPLETE) is Stop.COMPLETE


def test_a_relation_that_is_not_counted_may_have_anything():
    assert Use(UNKNOWN, UNKNOWN).has_edges
    assert Use(UNKNOWN, UNKNOWN).has_values
    assert not Use(NONE, SOME).has_edges
    assert not Use(SOME, NONE).has_values


def test_of_equally_near_names_the_first_comes_first():
    assert nearest("Oslo", {"b": "oslo", "a": "OSLO", "c": "Lima"}) == ["b", "a", "c"]
