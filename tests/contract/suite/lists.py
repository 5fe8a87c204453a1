"""Nodes by property, distinct values, and the schema."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from kgnav_mcp.errors import InvalidCursor, UnknownName, Unsupported
from kgnav_mcp.model import Certainty, Listing
from kgnav_mcp.navigation.graphwalk import get_node_by_property
from kgnav_mcp.navigation.nodes_by_value import nodes_by_value
from kgnav_mcp.port import Capability, GraphAdapter, ValueOwner
from tests.contract import toy
from tests.contract.suite.base import ALL, AdapterContract, has
from tests.contract.toy_views import View


class NodeContract(AdapterContract):
    @pytest.mark.parametrize("size", [1, 7, ALL])
    async def test_nodes_of_a_label_come_page_by_page(self, adapter: GraphAdapter, view: View, size: int):
        if not has(adapter, Capability.LABELS):
            with pytest.raises(Unsupported):
                await adapter.nodes("Person", None, None, limit=size)
            return
        for label in ("Person", "Boat"):
            for written in (label, view.style.label_id(label)):
                read = await self.walked(
                    lambda limit, after, written=written: adapter.nodes(written, None, None, limit=limit, after=after),
                    size,
                )
                ids = [entity.id for entity in read]
                assert sorted(ids) == sorted(node for node, types in view.types.items() if label in types)

    @pytest.mark.parametrize("size", [100, ALL])
    async def test_all_nodes_come_page_by_page_those_without_a_name_too(
        self, adapter: GraphAdapter, view: View, size: int
    ):
        read = await self.walked(lambda limit, after: adapter.nodes(None, None, None, limit=limit, after=after), size)
        assert sorted(entity.id for entity in read) == sorted(view.types)

    async def test_chosen_properties_of_nodes_are_shown_and_absent_ones_named(self, adapter: GraphAdapter, view: View):
        age, height, absent = view.relation("age"), view.relation("height"), "agee"
        found = await get_node_by_property(adapter, "*", age, "36", properties=[height, absent])
        shown = {item.entity.id: [triple.relation.id for triple in item.properties] for item in found.page.items}
        assert shown == {view.node("ada"): [height], view.node("cyd"): []}
        assert (found.chosen, [one.name for one in found.absent]) == ((height,), [absent])
        assert {age, "age"} & set(found.absent[0].nearest)
        with pytest.raises(UnknownName, match="no property"):
            await get_node_by_property(adapter, "*", age, "36", properties=[absent])

    async def test_many_nodes_are_shown_with_the_property_that_selects_them_alone(
        self, adapter: GraphAdapter, view: View
    ):
        flag, length = view.relation("flag"), view.relation("length")
        many = await get_node_by_property(adapter, "*", flag, "red")
        assert len(many.page.items) == sum(number % 2 for number in range(toy.BOATS))
        assert {triple.relation.id for item in many.page.items for triple in item.properties} == {flag}
        assert (many.chosen, length in many.omitted) == ((flag,), True)
        few = await get_node_by_property(adapter, "*", view.relation("age"), "36")
        assert (few.chosen, few.omitted) == (None, ())

    @pytest.mark.parametrize("size", [1, 7, ALL])
    async def test_nodes_with_a_value_come_page_by_page(self, adapter: GraphAdapter, view: View, size: int):
        for name, value in (("age", "36"), ("tag", "night"), ("flag", "red"), ("alive", "false"), ("tag", "nothing")):
            relation = view.relation(name)
            read = await self.walked(
                lambda limit, after, relation=relation, value=value: adapter.nodes(
                    None, relation, value, limit=limit, after=after
                ),
                size,
            )
            expected = [row[0] for row in view.rows if row[1] == relation and row[2][0] == value]
            assert sorted(entity.id for entity in read) == sorted(expected)

    @pytest.mark.parametrize(
        ("name", "value", "nodes"),
        [
            ("age", "36.0", ["ada", "cyd"]),
            ("age", "3.6e1", ["ada", "cyd"]),
            ("age", "+36", ["ada", "cyd"]),
            ("age", "036", []),
            ("height", "1.710", ["ada"]),
            ("level", "-1.50", ["scope"]),
            ("code", "7.0", [toy.REGISTRY]),
            ("photons", "9007199254740993", ["scope_array"]),
            ("photons", "9007199254740992", ["cloud"]),
            ("photons", "9007199254740992.0", ["cloud"]),
            ("serial", "7", ["lamp"]),
            ("serial", "7.0", []),
            ("serial", "007", ["cloud"]),
            ("mark", "1e2", ["scope"]),
            ("mark", "100", []),
            ("born", "1815", ["ada"]),
            ("born", "1815-12", ["ada"]),
            ("born", "1815-12-10", ["ada"]),
            ("born", "1815-12-10T08:30", ["ada"]),
            ("born", "1815-12-11", []),
            ("born", "1816", []),
            ("seen", "1842", ["ada"]),
            ("seen", "1842-01-05", ["ada"]),
            ("seen", "1842-01-05T08:30", ["ada"]),
            ("seen", "1842-01-05T09:30:00+01:00", ["ada"]),
            ("seen", "1842-01-05T08:30:01Z", []),
            ("mark", "1815", []),
        ],
    )
    async def test_numbers_are_compared_as_numbers_dates_by_their_precision_and_texts_as_texts(
        self, adapter: GraphAdapter, view: View, name: str, value: str, nodes: list[str]
    ):
        page = await adapter.nodes(None, view.relation(name), value, limit=9)
        assert sorted(entity.id for entity in page.items) == sorted(map(view.node, nodes))

    async def test_totals_count_all_nodes(self, adapter: GraphAdapter, view: View):
        page = await adapter.nodes(None, view.relation("flag"), "red", limit=3)
        assert page.stop == "limit"
        if has(adapter, Capability.EXACT_COUNTS):
            assert page.total.certainty is Certainty.EXACT
        if page.total.certainty is Certainty.EXACT:
            assert page.total.value == toy.BOATS // 2

    async def test_label_and_value_together_narrow(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.LABELS):
            with pytest.raises(Unsupported):
                await adapter.nodes("Sailor", view.relation("tag"), "night", limit=5)
            return
        ben = view.node("ben")
        tagged = {row[0] for row in view.rows if row[1] == view.relation("tag") and row[2][0] == "night"}
        for label in view.types[ben]:
            page = await adapter.nodes(label, view.relation("tag"), "night", limit=5)
            assert {entity.id for entity in page.items} == {node for node in tagged if label in view.types[node]}
            assert [set(entity.types) for entity in page.items if entity.id == ben] == [view.types[ben]]
        page = await adapter.nodes("Boat", view.relation("tag"), "night", limit=5)
        assert (page.items, page.stop) == ((), "complete")

    async def test_the_name_is_a_property_of_every_node(self, adapter: GraphAdapter, view: View):
        page = await adapter.nodes(None, "name", "Ben Waters", limit=5)
        assert [entity.id for entity in page.items] == [view.node("ben")]

    async def test_a_printed_id_finds_its_node_as_the_property_id_too(self, adapter: GraphAdapter, view: View):
        page = await nodes_by_value(adapter, None, "id", view.node("ben"), limit=5)
        assert [entity.id for entity in page.items] == [view.node("ben")]
        assert (await nodes_by_value(adapter, None, "id", view.node("nobody"), limit=5)).items == ()

    async def test_properties_may_be_called_by_their_names(self, adapter: GraphAdapter, view: View):
        for name in ("height", "HEIGHT"):
            page = await adapter.nodes(None, name, "1.71", limit=5)
            assert [entity.id for entity in page.items] == [view.node("ada")]

    async def test_a_long_value_is_told_from_others_with_the_same_beginning(self, adapter: GraphAdapter, view: View):
        for side in ("left", "right"):
            page = await adapter.nodes(None, view.relation("text"), toy.LONG_BEGINNING + side, limit=5)
            assert [entity.id for entity in page.items] == [view.node(side)]
        page = await adapter.nodes(None, view.relation("text"), toy.LONG_TEXT, limit=5)
        assert [entity.id for entity in page.items] == [view.node("archive")]

    async def test_unknown_labels_and_properties_are_refused_with_the_nearest(self, adapter: GraphAdapter, view: View):
        with pytest.raises(UnknownName) as caught:
            await adapter.nodes(None, "hieght", "1.71", limit=5)
        assert view.relation("height") in caught.value.nearest
        if has(adapter, Capability.LABELS):
            with pytest.raises(UnknownName):
                await adapter.nodes("Persson", None, None, limit=5)

    async def test_a_position_that_no_page_gave_is_refused(self, adapter: GraphAdapter, view: View):
        with pytest.raises(InvalidCursor):
            await adapter.nodes(None, view.relation("flag"), "red", limit=5, after="nonsense")


class ValueContract(AdapterContract):
    @pytest.mark.parametrize("size", [1, 7, ALL])
    async def test_distinct_values_come_page_by_page(self, adapter: GraphAdapter, view: View, size: int):
        for name in ("age", "tag", "code", "text", "note", "motto"):
            relation = view.relation(name)
            read = await self.walked(
                lambda limit, after, relation=relation: adapter.values(
                    relation, None, ValueOwner.NODE, limit=limit, after=after
                ),
                size,
            )
            texts = [one.value.text for one in read]
            assert sorted(texts) == sorted(view.values(relation))

    @pytest.mark.parametrize("size", [1, 3, ALL])
    async def test_numbers_come_by_their_size_then_texts_page_by_page(
        self, adapter: GraphAdapter, view: View, size: int
    ):
        for name, expected in (
            ("code", [str(number) for number in range(1, 71)]),
            ("level", ["-12.5", "-1.5", "0.25", "9.75", "10.5"]),
            ("mark", ["-3", "2.5", "9", "10", "1e2", "12 Street", "1815-12-10", "abc"]),
        ):
            relation = view.relation(name)
            read = await self.walked(
                lambda limit, after, relation=relation: adapter.values(
                    relation, None, ValueOwner.NODE, limit=limit, after=after
                ),
                size,
            )
            assert [one.value.text for one in read] == expected

    @pytest.mark.parametrize("size", [1, ALL])
    async def test_values_narrow_to_the_nodes_of_a_label(self, adapter: GraphAdapter, view: View, size: int):
        relation = view.relation("tag")
        if not has(adapter, Capability.LABELS):
            with pytest.raises(Unsupported):
                await adapter.values(relation, "Sailor", ValueOwner.NODE, limit=size)
            return
        for label in {*view.types[view.node("ben")], "Person", "Boat"}:
            read = await self.walked(
                lambda limit, after, label=label: adapter.values(
                    relation, label, ValueOwner.NODE, limit=limit, after=after
                ),
                size,
            )
            assert sorted(one.value.text for one in read) == sorted(view.values(relation, label))

    async def test_the_total_counts_all_values(self, adapter: GraphAdapter, view: View):
        for name, label in (
            ("code", None),
            ("length", "Boat"),
            *(("age", one) for one in view.types[view.node("ben")]),
        ):
            relation = view.relation(name)
            if label is not None and not has(adapter, Capability.LABELS):
                continue
            page = await adapter.values(relation, label, ValueOwner.NODE, limit=1)
            if page.total.certainty is Certainty.EXACT:
                assert page.total.value == len(view.values(relation, label))

    @pytest.mark.parametrize("size", [1, 7, ALL])
    async def test_values_of_edge_properties_come_page_by_page(self, adapter: GraphAdapter, view: View, size: int):
        since, knows = view.relation("since"), view.relation("knows")
        if not has(adapter, Capability.QUALIFIERS):
            with pytest.raises(Unsupported):
                await adapter.values(since, knows, ValueOwner.RELATIONSHIP, limit=size)
            return
        for name, owner, expected in (
            (since, knows, ["1830", "1841"]),
            (view.relation("year"), view.relation("visited"), ["1950", "1951", "1952", "1953", "1954"]),
            (view.relation("how"), None, ["slowly", "work"]),
            (view.relation("how"), view.relation("visited"), []),
        ):
            read = await self.walked(
                lambda limit, after, name=name, owner=owner: adapter.values(
                    name, owner, ValueOwner.RELATIONSHIP, limit=limit, after=after
                ),
                size,
            )
            assert sorted(one.value.text for one in read) == expected

    @pytest.mark.parametrize("sorted_at_most", [5_000, 3])
    async def test_each_value_has_the_number_of_nodes_or_edges_that_have_it(
        self, adapter: GraphAdapter, view: View, sorted_at_most: int, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("kgnav_mcp.adapters.sparql_base.lists.MAX_SORTED", sorted_at_most)
        for name, label in (("tag", None), ("flag", "Boat"), ("age", None), ("text", None)):
            relation = view.relation(name)
            if label is not None and not has(adapter, Capability.LABELS):
                continue
            for one in (await adapter.values(relation, label, ValueOwner.NODE, limit=ALL)).items:
                having = {row[0] for row in view.rows if row[1] == relation and row[2][0] == one.value.text}
                if one.count.certainty is Certainty.EXACT:
                    assert one.count.value == len(having), (name, one)
        if has(adapter, Capability.QUALIFIERS):
            page = await adapter.values(
                view.relation("since"), view.relation("knows"), ValueOwner.RELATIONSHIP, limit=ALL
            )
            for one in page.items:
                if one.count.certainty is Certainty.EXACT:
                    assert one.count.value == {"1830": 2, "1841": 1}[one.value.text]
        page = await adapter.values(view.relation("tag"), None, ValueOwner.NODE, limit=ALL)
        assert {one.count.certainty for one in page.items} == {Certainty.EXACT}

    async def test_unknown_properties_and_owners_are_refused(self, adapter: GraphAdapter, view: View):
        with pytest.raises(UnknownName):
            await adapter.values("no such property", None, ValueOwner.NODE, limit=5)
        if has(adapter, Capability.LABELS):
            with pytest.raises(UnknownName):
                await adapter.values(view.relation("tag"), "Nobody", ValueOwner.NODE, limit=5)
        if has(adapter, Capability.QUALIFIERS):
            for name, owner in ((view.relation("tag"), None), (view.relation("since"), "no such relation")):
                with pytest.raises(UnknownName):
                    await adapter.values(name, owner, ValueOwner.RELATIONSHIP, limit=5)

    async def test_a_position_that_no_page_gave_is_refused(self, adapter: GraphAdapter, view: View):
        for position in ("nonsense", ""):
            with pytest.raises(InvalidCursor):
                await adapter.values(view.relation("tag"), None, ValueOwner.NODE, limit=5, after=position)


class SchemaContract(AdapterContract):
    async def test_the_overview_counts_labels_relations_and_properties(self, adapter: GraphAdapter, view: View):
        schema = await adapter.schema(limit=ALL)
        counts = view.relation_counts()
        for facts in schema.relations:
            if facts.count.certainty is Certainty.EXACT:
                assert facts.count.value == counts[facts.relation.id, False], facts.relation.id
        for facts in schema.properties:
            if facts.count.certainty is Certainty.EXACT:
                assert facts.count.value == counts[facts.relation.id, True], facts.relation.id
        assert {facts.relation.id for facts in schema.relations} == {id_ for id_, literal in counts if not literal}
        assert {facts.relation.id for facts in schema.properties} == {id_ for id_, literal in counts if literal}
        if has(adapter, Capability.LABELS):
            shown = {facts.label: facts.count for facts in schema.labels}
            assert set(shown) == {label for types in view.types.values() for label in types}
            assert shown["Boat"].value == toy.BOATS

    async def test_every_list_is_the_largest_first_and_bounded(self, adapter: GraphAdapter):
        schema = await adapter.schema(limit=3)
        for facts in (schema.labels, schema.relations, schema.properties):
            sizes = [entry.count.value for entry in facts]
            assert len(sizes) <= 3
            assert sizes == sorted(sizes, reverse=True)

    async def test_a_relation_shows_its_ends_and_qualifiers(self, adapter: GraphAdapter, view: View):
        (facts,) = (await adapter.schema(view.relation("visited"), limit=ALL)).relations
        assert facts.count.value == toy.VISITORS
        if has(adapter, Capability.LABELS):
            assert (facts.heads, facts.tails) == (("Visitor",), ("Place",))
            assert {(*labels, count.value) for *labels, count in facts.ends} == {("Visitor", "Place", toy.VISITORS)}
        if has(adapter, Capability.QUALIFIERS):
            (year,) = facts.qualifiers
            assert year.id == view.relation("year")
            assert year.datatypes == (view.style.datatypes["integer"],)

    async def test_each_label_lists_the_properties_of_its_nodes(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.LABELS):
            return
        expected: defaultdict[str, set[str]] = defaultdict(set)
        for head, relation, tail, *_ in view.rows:
            if not isinstance(tail, str):
                for label in view.types[head]:
                    expected[label].add(relation)
        whole = (await adapter.schema(limit=ALL)).labels
        around = [one for facts in whole for one in (await adapter.schema(facts.id, limit=ALL)).labels]
        assert {facts.id for facts in around} == {facts.id for facts in whole}
        for facts in (*whole, *around):
            found = set(facts.properties)
            assert len(found) == len(facts.properties)
            match facts.listing:
                case Listing.COMPLETE:
                    assert found == expected[facts.label], facts.label
                case Listing.SAMPLED:
                    assert found, facts.label
                    assert found <= expected[facts.label], facts.label
                case Listing.ABSENT:
                    assert not found, facts.label
        assert Listing.ABSENT not in {facts.listing for facts in around}

    async def test_the_labels_that_relations_join_are_counted_together(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.LABELS):
            return
        expected = Counter(
            (row[1], head, tail)
            for row in view.rows
            if isinstance(row[2], str)
            for head in view.types[row[0]]
            for tail in view.types[row[2]]
        )
        for facts in (await adapter.schema(limit=ALL)).relations:
            assert [count.value for *_, count in facts.ends] == sorted(
                (count.value for *_, count in facts.ends), reverse=True
            )
            for head, tail, count in facts.ends:
                size = expected[facts.relation.id, head, tail]
                exact = count.certainty is Certainty.EXACT
                assert count.value == size if exact else count.value <= size, (facts.relation.id, head, tail)

    async def test_a_property_shows_its_datatype(self, adapter: GraphAdapter, view: View):
        (facts,) = (await adapter.schema(view.relation("height"), limit=ALL)).properties
        assert facts.count.value == 1
        assert facts.datatypes == (view.style.datatypes["decimal"],)

    async def test_a_label_shows_its_properties_and_relations(self, adapter: GraphAdapter, view: View):
        if not has(adapter, Capability.LABELS):
            assert (await adapter.schema(limit=ALL)).labels == ()
            return
        schema = await adapter.schema("Boat", limit=ALL)
        assert [facts.label for facts in schema.labels] == ["Boat"]
        properties = {facts.relation.id: facts.count.value for facts in schema.properties}
        assert properties[view.relation("length")] == toy.BOATS
        assert view.relation("age") not in properties
        relations = {facts.relation.id for facts in schema.relations}
        assert {view.relation("moored_at"), view.relation("lists")} <= relations
        assert view.relation("visited") not in relations

    async def test_an_unknown_name_is_refused(self, adapter: GraphAdapter):
        with pytest.raises(UnknownName):
            await adapter.schema("nothing of that name", limit=5)

    async def test_health_tells_the_size_of_the_graph(self, adapter: GraphAdapter, view: View):
        health = await adapter.health()
        assert health.reachable
        if health.triples.certainty is Certainty.EXACT:
            assert health.triples.value == len(view.rows)
        if health.entities.certainty is Certainty.EXACT:
            assert health.entities.value == len(view.types)
