"""Entities by id and by name."""

from __future__ import annotations

import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.errors import AmbiguousEntity, UnknownEntity, UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Direction
from kgnav_mcp.navigation.codes import find_candidates
from kgnav_mcp.navigation.references import resolve_entity
from kgnav_mcp.port import AdapterOptions, Capability, FarEndKind, GraphAdapter
from tests.contract import toy
from tests.contract.suite.base import ALL, AdapterContract, has
from tests.contract.toy_views import View
from tests.rows import triples_at


class EntityContract(AdapterContract):
    async def test_every_node_is_found_by_its_id_with_name_types_and_description(
        self, adapter: GraphAdapter, view: View
    ):
        found = await adapter.describe([view.node(node.id) for node in toy.NODES])
        assert len(found) == len(toy.NODES)
        for node in toy.NODES:
            entity = found[view.node(node.id)]
            names = {value.text for value in node.names}
            assert entity.id == view.node(node.id)
            assert entity.label in names if names else entity.label is None
            assert entity.description == node.description
            if has(adapter, Capability.LABELS):
                assert set(entity.types) == view.types[entity.id]
            if has(adapter, Capability.MEDIATORS):
                assert entity.mediator == node.mediator

    async def test_the_name_shown_is_the_one_in_the_preferred_language(self, adapter: GraphAdapter, view: View):
        found = await adapter.describe([view.node("ada"), view.node(toy.HUB)])
        assert [entity.label for entity in found.values()] == ["Ada Stone", "Old Harbour"]

    async def test_other_preferred_languages_show_other_names(self, location: str, view: View):
        ids = [view.node(local) for local in ("ada", toy.HUB, "ben")]
        for languages, names in (
            (("de",), ["Ada Stein", "Alter Hafen", "Ben Waters"]),
            (("ru", "de"), ["Эйда Стоун", "Alter Hafen", "Ben Waters"]),
        ):
            async with open_adapter(location, AdapterOptions(languages=languages)) as adapter:
                assert [entity.label for entity in (await adapter.describe(ids)).values()] == names
                page = await triples_at(adapter, ids[2:], Direction.OUTGOING, far_end_kind=FarEndKind.ENTITY, limit=ALL)
                assert names[0] in {entity.label for entity in (triple.tail for triple in page.items)}  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

    async def test_unknown_ids_are_absent_and_known_ones_beside_them_are_not(self, adapter: GraphAdapter, view: View):
        unknown = [view.node("nobody"), "", "no such thing", "http://nowhere.example/x", "\ud800", "a" * 5_000]
        found = await adapter.describe([*unknown, view.node("ben")])
        assert list(found) == [view.node("ben")]

    async def test_no_ids_give_no_entities(self, adapter: GraphAdapter):
        assert await adapter.describe([]) == {}

    async def test_a_name_in_any_language_finds_its_entity_letter_case_aside(self, adapter: GraphAdapter, view: View):
        for name in ("Ada Stone", "ADA STONE", "ada stone", "aDa sToNe", "Ada Stein", "Эйда Стоун", "эйда стоун"):
            page = await adapter.find_by_name(name, limit=5)
            assert [one.entity.id for one in page.items] == [view.node("ada")], name

    async def test_several_names_are_looked_up_as_each_of_them_is(self, adapter: GraphAdapter):
        names = ["Ada Stone", "ada stone", "Mercury", "Schauspiel", "stage piece", "Stone", "nobody", "Ada Stone"]
        names += ["\ud800", "", "play"]
        found = await adapter.find_by_names(names, limit=5)
        assert found == {name: await adapter.find_by_name(name, limit=5) for name in names}
        assert found["ada stone"].items
        assert not found["nobody"].items
        assert await adapter.find_by_names([], limit=5) == {}

    async def test_a_part_of_a_name_is_not_that_name(self, adapter: GraphAdapter):
        assert (await adapter.find_by_name("Stone", limit=5)).items == ()
        assert (await adapter.find_by_name("Ada Stone Junior", limit=5)).items == ()

    async def test_entities_of_one_name_are_all_found_and_told_apart_by_type(self, adapter: GraphAdapter, view: View):
        page = await adapter.find_by_name("Mercury", limit=5)
        assert {one.entity.id for one in page.items} == {view.node("mercury_planet"), view.node("mercury_metal")}
        if has(adapter, Capability.LABELS):
            assert {one.entity.types for one in page.items} == {("Planet",), ("Metal",)}

    async def test_who_spells_a_name_as_asked_for_comes_first_and_each_with_its_spelling(
        self, adapter: GraphAdapter, view: View
    ):
        for spelt, in_small in (("Drama", "drama"), ("Schauspiel", "schauspiel"), ("Stage Piece", "stage piece")):
            for asked, local in ((spelt, "play"), (in_small, "play_in_small")):
                page = await adapter.find_by_name(asked, limit=5)
                first, *others = [(one.entity.id, one.name) for one in page.items]
                assert first == (view.node(local), asked)
                assert asked not in [name for _, name in others]
                assert {name.casefold() for _, name in others} <= {asked.casefold()}

    async def test_a_name_as_it_is_spelt_is_enough_and_others_are_mentioned(self, adapter: GraphAdapter, view: View):
        entity = await resolve_entity(adapter, "Drama")
        assert entity.id == view.node("play")
        assert [one.id for one in entity.namesakes] == [view.node("play_in_small")]
        with pytest.raises(AmbiguousEntity):
            await resolve_entity(adapter, "DRAMA")

    async def test_an_id_without_its_prefix_is_a_name_of_last_resort(self, adapter: GraphAdapter, view: View):
        for local in ("scope_array", "mercury_planet"):
            bare = view.style.bare(local)
            assert (await resolve_entity(adapter, bare)).id == view.node(local)
            assert (await adapter.find(bare, limit=3)).items[0].entity.id == view.node(local)

    async def test_an_id_is_first_in_each_of_its_forms(self, adapter: GraphAdapter, view: View):
        iri = view.style.iri("scope_array")
        iris = (iri, f"<{iri}>") if view.style.namespace else ()
        for written in (view.node("scope_array"), view.style.bare("scope_array"), *iris):
            assert (await resolve_entity(adapter, written)).id == view.node("scope_array"), written
            found = (await adapter.find(written, limit=3)).items
            assert found[0].entity.id == view.node("scope_array"), written
            assert found[0].score >= 0.99

    async def test_an_unknown_id_or_code_has_no_look_alikes(self, adapter: GraphAdapter, view: View):
        unknown = (view.node("visitor001") + "999", view.style.bare("visitor001") + "999", view.style.iri("ada") + "9")
        for hint in (*unknown, "Q99999999", "DOID:99999", "Visitor9999"):
            page = await adapter.find(hint, limit=5)
            assert (page.items, page.total.value) == ((), 0), hint
            with pytest.raises(UnknownEntity) as caught:
                await resolve_entity(adapter, hint)
            assert not caught.value.nearest, hint

    async def test_a_code_finds_the_node_that_has_it_as_the_value_of_a_property(
        self, adapter: GraphAdapter, view: View
    ):
        found = await adapter.find_by_values(["007", "clocks", "night", "Ada Stone", "36", "nothing", "red"], limit=9)
        by_text = {text: {(one.entity.id, one.relation.id) for one in matches} for text, matches in found.items()}
        tag = view.relation("tag")
        assert by_text["007"] == {(view.node("cloud"), view.relation("serial"))}
        assert by_text["clocks"] == {(view.node("ada"), tag)}
        assert by_text["night"] == {(view.node("ada"), tag), (view.node("ben"), tag)}
        assert not by_text.get("nothing")
        assert not by_text.get("36"), "a number is no text"
        assert len(found["red"]) == 9
        assert await adapter.find_by_values([], limit=9) == {}

    async def test_a_code_is_resolved_and_comes_first_with_the_property_that_has_it(
        self, adapter: GraphAdapter, view: View
    ):
        entity = await resolve_entity(adapter, "007")
        assert (entity.id, entity.found_by) == (view.node("cloud"), (view.relation("serial"), "007"))
        page = await find_candidates(adapter, "007", label=None, limit=5)
        best = page.items[0]
        assert (best.entity.id, best.matched, best.found_by) == (view.node("cloud"), "007", view.relation("serial"))
        assert (page.total.value, best.degree) == (1, (await adapter.find(view.node("cloud"), limit=1)).items[0].degree)
        with pytest.raises(UnknownEntity):
            await resolve_entity(adapter, "clocks")

    async def test_find_puts_a_name_in_the_other_number_first_where_nothing_has_the_very_name(
        self, adapter: GraphAdapter, view: View
    ):
        for hint, local in (("telescope", "scope"), ("planetary nebula", "cloud"), ("Harbor Lamps", "lamp")):
            page = await adapter.find(hint, limit=5)
            assert page.items[0].entity.id == view.node(local), hint
            assert all(candidate.score < page.items[0].score for candidate in page.items[1:])

    async def test_find_looks_for_near_words_beside_exact_ones_or_says_what_it_looked_for(
        self, adapter: GraphAdapter, view: View
    ):
        page = await adapter.find("Harbor", limit=5)
        found = [candidate.entity.id for candidate in page.items]
        if has(adapter, Capability.FUZZY_NAMES):
            assert found[:3] == [view.node(local) for local in ("lamp", toy.HUB, toy.REGISTRY)]
            assert page.note == ""
        else:
            assert page.note.startswith("Searched for ")
            assert (await adapter.find("Harbour Registry", limit=5)).note == ""

    async def test_find_puts_the_very_name_first(self, adapter: GraphAdapter, view: View):
        for hint, local in (("Ada Stone", "ada"), ("Ben Waters", "ben"), ("Harbour Registry", toy.REGISTRY)):
            best = (await adapter.find(hint, limit=5)).items[0]
            assert (best.entity.id, best.matched, best.score) == (view.node(local), hint, 1.0)

    async def test_find_takes_an_id(self, adapter: GraphAdapter, view: View):
        best = (await adapter.find(view.node("cyd"), limit=1)).items[0]
        assert (best.entity.id, best.score) == (view.node("cyd"), 1.0)

    async def test_find_knows_aliases_and_other_languages(self, adapter: GraphAdapter, view: View):
        for hint, local in (("The Clockmaker", "ada"), ("Ada Stein", "ada"), ("Alter Hafen", toy.HUB)):
            page = await adapter.find(hint, limit=3)
            assert page.items[0].entity.id == view.node(local), hint
            assert page.items[0].matched == hint

    async def test_find_forgives_misspelt_words_or_says_what_it_looked_for(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.FUZZY_NAMES):
            assert (await adapter.find("Ada Stoone", limit=5)).note.startswith("Searched for ")
            return
        for hint, local in (
            ("Ada Stoone", "ada"),
            ("Bne Watres", "ben"),
            ("Stone Ada", "ada"),
            ("Harbor Regsitry", toy.REGISTRY),
            ("jose nandu", "jose"),
            ("Mercurry", "mercury_metal"),
        ):
            page = await adapter.find(hint, limit=5)
            assert page.items[0].entity.id == view.node(local), hint
            assert 0.5 < page.items[0].score < 1.0

    async def test_scores_fall_and_degrees_are_those_of_the_graph(self, adapter: GraphAdapter, view: View):
        page = await adapter.find("Harbour", limit=10)
        scores = [candidate.score for candidate in page.items]
        assert scores == sorted(scores, reverse=True)
        degrees = {candidate.entity.id: candidate.degree for candidate in page.items}
        for node in (view.node(toy.HUB), view.node(toy.REGISTRY)):
            if degrees[node].certainty is Certainty.EXACT:
                assert degrees[node].value == view.degree(node)

    async def test_find_narrows_to_a_label(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.LABELS):
            with pytest.raises(Unsupported):
                await adapter.find("Mercury", label="Planet", limit=5)
            return
        for label in ("Planet", view.style.label_id("Planet")):
            page = await adapter.find("Mercury", label=label, limit=5)
            assert [candidate.entity.id for candidate in page.items] == [view.node("mercury_planet")]
        with pytest.raises(UnknownName) as caught:
            await adapter.find("Mercury", label="Plannet", limit=5)
        assert any("Planet" in name for name in caught.value.nearest)

    async def test_hints_without_words_and_with_the_signs_of_query_languages_are_harmless(self, adapter: GraphAdapter):
        for hint in (
            "",
            " ",
            '"',
            "*",
            "()",
            "^",
            "NEAR(",
            "AND",
            "OR NOT",
            "a* OR",
            '"" AND',
            "-",
            "text:x",
            "\ud800",
        ):
            page = await adapter.find(hint, limit=3)
            assert len(page.items) <= 3

    async def test_find_stops_at_its_limit_and_says_so(self, adapter: GraphAdapter):
        page = await adapter.find("Visitor Number", limit=3)
        assert len(page.items) == 3
        assert page.stop != "complete"
        assert (await adapter.find("Ouroboros", limit=ALL)).stop == "complete"

    async def test_nodes_are_only_counted_where_none_is_wanted(self, adapter: GraphAdapter, view: View):
        labels: list[str | None] = ["Person", None] if has(adapter, Capability.LABELS) else [None]
        for label in labels:
            page, first = [await adapter.nodes(label, None, None, limit=limit) for limit in (0, 1)]
            assert (page.items, page.positions, page.stop) == ((), (), "limit")
            assert page.total == first.total
        page = await adapter.nodes(None, view.relation("flag"), "no such flag", limit=0)
        assert (page.items, page.stop, page.total.value) == ((), "complete", 0)
