"""Relations that are shown only when they are named, and ids with another prefix."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.model import Count, Direction, Entity, Page, Relation, RelationFacts, Stop
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.relation_lists import relation_facts
from kgnav_mcp.navigation.relation_matching import matching_relations
from kgnav_mcp.navigation.relations import get_relations

ANN = Entity("wd:Q1", "Ann")


def facts(name: str, *, hidden: bool = False) -> RelationFacts:
    relation = Relation(name, name.rpartition(":")[2])
    return RelationFacts(relation, Direction.OUTGOING, Count(1), (relation,), hidden=hidden)


class Store:
    """What of a graph is asked for its relations."""

    capabilities = frozenset[str]()
    class_relations = frozenset[str]()

    async def relations(self, ids: Sequence[str], direction: Direction, **_: object) -> Page[RelationFacts]:
        assert ids == [ANN.id]
        if direction is Direction.INCOMING:
            return Page((), (), Count(0))
        items = (facts("wdt:P19"), facts("wdt:P214", hidden=True), facts("wdt:P646", hidden=True))
        return Page(items, tuple(each.relation.id for each in items), Count(3), Stop.COMPLETE)


async def test_hidden_relations_are_left_out_and_counted_with_an_example():
    page = await relation_facts(Store(), [ANN.id], Direction.OUTGOING, limits=Limits())  # pyright: ignore[reportArgumentType]
    assert [each.relation.id for each in page.items] == ["wdt:P19"]
    assert (page.total, page.positions) == (Count(1), ("wdt:P19",))
    assert page.note == "2 relations to external identifiers are hidden. Name one to show it, such as wdt:P214."


async def test_hidden_relations_can_be_requested():
    page = await relation_facts(Store(), [ANN.id], Direction.OUTGOING, hidden=True, limits=Limits())  # pyright: ignore[reportArgumentType]
    assert len(page.items) == 3
    assert page.note == ""


async def test_the_list_of_all_relations_says_what_it_leaves_out_also_when_it_is_ranked():
    for question in (None, "where was she born?"):
        page = (await get_relations(Store(), ANN, question=question, limits=Limits())).page  # pyright: ignore[reportArgumentType]
        assert [each.relation.id for each in page.items] == ["wdt:P19"]
        assert "2 relations" in page.note


def test_an_id_is_meant_by_what_stands_behind_its_prefix():
    known = [facts("wdt:P19"), facts("wdt:P214")]
    for name in ("P19", "p19", "p:P19", "http://www.wikidata.org/prop/direct/P19", "wdt:P19"):
        meant = matching_relations([name], known)[name]
        assert [each.relation.id for each in meant] == ["wdt:P19"], name
    for name in ("wdt:P40.wdt:P19", ":spouse.:P19", "http://x.org/spouse.http://x.org/P19"):
        assert matching_relations([name], known) == {name: []}, "a way through a mediator is not its second half"
    for iri in ("http://x.org:80/P19", "<http://x.org:80/P19>"):
        assert matching_relations([iri], known)[iri] == known[:1]
    assert matching_relations(["P1", "19", "wdt:", ""], known) == {"P1": [], "19": [], "wdt:": [], "": []}
