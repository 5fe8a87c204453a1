"""The RDF of a Wikibase is loaded as its statements, with qualifiers, ranks and readable values.

The Wikibase is one of its own, so that nothing depends on Wikidata's namespaces. Rows are compared with what was
written, not with what another adapter reads.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from kgnav_bench.wikibase import SAME_AS, Value, Wikibase, iri_line
from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.embedded.loading import LoadOptions, load
from kgnav_mcp.adapters.embedded.loading.options import Statements
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.languages import parse_plan
from kgnav_mcp.model import Direction, Entity
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import AdapterOptions, FarEndKind, ValueOwner
from tests.adapters.embedded.loaded import Loaded
from tests.adapters.wikidata.graph import values_and_ranks
from tests.rows import triples_at

BASE = "https://kb.example.org"
KB = Wikibase(BASE)
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
ANN, BOB, CITY, HUMAN = "Q1", "Q2", "Q3", "Q5"


def entity(local: str) -> str:
    return f"{BASE}/entity/{local}"


def direct(local: str) -> str:
    return f"{BASE}/prop/direct/{local}"


def load_lines(folder: Path, lines: Iterable[str], name: str = "kb.nt", **options: Any) -> Loaded:
    path = folder / name
    text = "".join(lines)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return Loaded(folder / "kb.kg", load([path], folder / "kb.kg", LoadOptions(**options)))


def small() -> list[str]:
    """Two statements of Ann, which lead to Bob and to a city, and the definitions of four properties."""
    lines: list[str] = []
    for name, kind, label in (
        ("P31", "item", "instance of"),
        ("P26", "item", "spouse"),
        ("P580", "time", "start time"),
        ("P214", "external-id", "VIAF ID"),
        ("P2048", "quantity", "height"),
    ):
        lines += KB.property(name, kind, [(label, "en"), (f"{label} (de)", "de")])
    lines += KB.item(ANN, [("Ann", "en"), ("Anna", "de")], [("Annie", "en")], [("a person", "en")])
    lines += KB.item(BOB, [("Bob", "mul"), ("Robert", "fr")])
    lines += KB.item(HUMAN, [("human", "en")])
    lines += KB.statement(ANN, "P31", Value("item", HUMAN), number=1)
    lines += KB.statement(
        ANN, "P26", Value("item", BOB), [("P580", Value("time", "1971-05-01T00:00:00Z", "10"))], number=2, references=2
    )
    lines += KB.statement(ANN, "P214", Value("string", "113230702"), number=3)
    return lines


@pytest.mark.parametrize("name", ["kb.nt", "kb.nt.gz", "kb.ttl", "kb.ttl.gz"])
def test_a_statement_is_one_triple_with_its_qualifiers_and_the_number_of_its_references(tmp_path: Path, name: str):
    file = load_lines(tmp_path, small(), name)
    qualifiers = {
        direct("P580"): [["1971-05", "time", None]],
        "http://www.w3.org/ns/prov#wasDerivedFrom": [["2", None, None]],
    }
    assert file.qualified_edges() == [
        (entity(ANN), direct("P26"), entity(BOB), 0, qualifiers),
        (entity(ANN), direct("P31"), entity(HUMAN), 0, None),
    ]
    assert file.attributes(entity(ANN)) == [(direct("P214"), "113230702", "external-id", None)]
    assert file.report.notes == (f"read as the Wikibase {BASE}: 3 statements",)


def test_only_entities_are_nodes_and_classes_are_those_of_instance_of(tmp_path: Path):
    site, page, dataset = "https://en.example.org/", "https://en.example.org/Ann", f"{BASE}/wiki/Special:EntityData/Q1"
    lines = [
        *small(),
        iri_line(page, TYPE, "http://schema.org/Article"),
        iri_line(page, "http://schema.org/about", entity(ANN)),
        iri_line(page, "http://schema.org/isPartOf", site),
        f'<{page}> <http://schema.org/name> "Ann (person)"@en .\n',
        f'<{site}> <http://wikiba.se/ontology#wikiGroup> "wikipedia" .\n',
        iri_line(dataset, TYPE, "http://schema.org/Dataset"),
        iri_line(dataset, "http://schema.org/about", entity(ANN)),
        f'<{dataset}> <http://schema.org/version> "7" .\n',
        iri_line(f"{BASE}/prop/novalue/P26", "http://www.w3.org/2002/07/owl#complementOf", "_:x").replace(
            "<_:x>", "_:x"
        ),
        iri_line("x", "http://www.w3.org/2002/07/owl#onProperty", direct("P26")).replace("<x>", "_:x"),
    ]
    file = load_lines(tmp_path, lines)
    properties = {entity(name) for name in ("P31", "P26", "P580", "P214", "P2048")}
    assert set(file.nodes()) == {entity(ANN), entity(BOB), entity(HUMAN)} | properties
    assert file.node_labels(entity(ANN)) == [entity(HUMAN)]
    assert json.loads(file.meta("type_relations")) == [direct("P31")]
    assert file.names(entity(ANN)) == [(0, "en", "Ann"), (0, "de", "Anna"), (1, "en", "Annie"), (2, "en", "a person")]
    assert file.nodes()[entity(BOB)][0] == "Bob"


def test_relations_have_the_labels_of_their_properties(tmp_path: Path):
    file = load_lines(tmp_path, small())
    labels = dict(file.rows("SELECT key, label FROM relation"))
    assert labels[direct("P26")] == "spouse"
    assert labels[direct("P580")] == "start time"
    (tmp_path / "german").mkdir()
    german = load_lines(tmp_path / "german", small(), languages=("de",))
    assert dict(german.rows("SELECT key, label FROM relation"))[direct("P26")] == "spouse (de)"


def test_relations_without_labels_get_them_from_a_file_of_names_and_else_a_warning_says_so(tmp_path: Path):
    lines = [line for line in small() if "/entity/P" not in line]
    bare = load_lines(tmp_path, lines)
    assert dict(bare.rows("SELECT key, label FROM relation"))[direct("P26")] is None
    assert any("--labels adds names" in warning for warning in bare.report.warnings)
    (tmp_path / "names.tsv").write_text("P26\tspouse\nQ2\tRobert\n", encoding="utf-8")
    named = load_lines(tmp_path, lines, labels=(tmp_path / "names.tsv",))
    assert dict(named.rows("SELECT key, label FROM relation"))[direct("P26")] == "spouse"
    assert not named.report.warnings


@pytest.mark.parametrize(("statements", "shown"), [("truthy", [BOB]), ("all", [BOB, CITY, HUMAN])])
def test_statements_of_lower_rank_are_left_out_unless_all_are_wanted(
    tmp_path: Path, statements: Statements, shown: list[str]
):
    lines = [
        *KB.statement(ANN, "P551", Value("item", BOB), number=1, rank="Preferred"),
        *KB.statement(ANN, "P551", Value("item", CITY), number=2, best=False),
        *KB.statement(ANN, "P551", Value("item", HUMAN), number=3, rank="Deprecated", best=False),
    ]
    file = load_lines(tmp_path, lines, statements=statements)
    assert [tail for _, _, tail in file.edges()] == [entity(local) for local in shown]
    ranks = {
        tail: json.loads(qualifiers)[RANK][0][0] if qualifiers else "normal" for tail, qualifiers in file.rows(RANKS)
    }
    expected = {entity(BOB): "preferred", entity(CITY): "normal", entity(HUMAN): "deprecated"}
    assert ranks == {tail: expected[tail] for tail in map(entity, shown)}
    assert ("2 others are omitted" in file.report.notes[0]) == (statements == "truthy")


RANK = "http://wikiba.se/ontology#rank"
RANKS = "SELECT o.key, e.qualifiers FROM edge e JOIN node o ON o.id = e.o"


def test_without_marks_of_the_best_rank_all_statements_but_deprecated_ones_are_shown(tmp_path: Path):
    lines = [
        *KB.statement(ANN, "P551", Value("item", BOB), number=1, best=False),
        *KB.statement(ANN, "P551", Value("item", CITY), number=2, rank="Deprecated", best=False),
    ]
    file = load_lines(tmp_path, lines)
    assert [tail for _, _, tail in file.edges()] == [entity(BOB)]
    assert "those that are not deprecated are shown; 1 others" in file.report.notes[0]


def test_values_are_readable_and_unknown_and_absent_ones_are_said_in_words(tmp_path: Path):
    file = load_lines(tmp_path, values_and_ranks(KB))
    rows = file.attributes(entity("Q1001"))
    found = {(key.rpartition("/")[2], text, datatype, language) for key, text, datatype, language in rows}
    assert found == {
        ("P22", "unknown value", "somevalue", None),
        ("P40", "no value", "novalue", None),
        ("P569", "1952-03-11", "time", None),
        ("P570", "0044-03-15 BCE", "time", None),
        ("P571", "20th century", "time", None),
        ("P571", "1955", "time", None),
        ("P571", "1950s", "time", None),
        ("P625", "51.5665°N, 0.1454°W", "globe-coordinate", None),
        ("P2048", "1.96 metre", "quantity", None),
        ("P1082", "12", "quantity", None),
        ("P2561", "Ann of the Hill", None, "en"),
        ("P214", "113230702", "external-id", None),
        ("P646", "/m/0282x", "external-id", None),
    }


def test_parallel_statements_stay_apart_and_a_file_that_is_loaded_twice_counts_once(tmp_path: Path):
    lines = [*small(), *KB.statement(ANN, "P26", Value("item", BOB), number=9)]
    once = load_lines(tmp_path, lines)
    assert [tail for _, relation, tail in once.edges() if relation == direct("P26")] == [entity(BOB)] * 2
    (tmp_path / "twice").mkdir()
    twice = load_lines(tmp_path / "twice", [*lines, *lines])
    assert twice.qualified_edges() == once.qualified_edges()
    assert twice.attributes(entity(ANN)) == once.attributes(entity(ANN))


def test_of_entities_without_statements_the_direct_values_are_read(tmp_path: Path):
    truthy = [line for line in small() if "/entity/statement/" not in line and "/value/" not in line.split("> <")[0]]
    truthy += KB.item("Q7", [("Cy", "en")])
    truthy.append(iri_line(entity("Q7"), direct("P26"), f"{BASE}/.well-known/genid/1"))
    file = load_lines(tmp_path, truthy)
    assert file.edges() == [
        (entity(ANN), direct("P26"), entity(BOB)),
        (entity(ANN), direct("P31"), entity(HUMAN)),
    ]
    assert file.attributes(entity("Q7")) == [(direct("P26"), "unknown value", "somevalue", None)]
    assert file.node_labels(entity(ANN)) == [entity(HUMAN)]


def test_other_triples_among_the_sources_stay_as_they_are(tmp_path: Path):
    ours = [
        iri_line("http://x/book", "http://schema.org/about", entity(ANN)),
        '<http://x/book> <http://www.w3.org/2000/01/rdf-schema#label> "A book" .\n',
        iri_line("http://x/book", TYPE, "http://x/Book"),
        iri_line(entity("Q99"), SAME_AS, entity(ANN)),
    ]
    file = load_lines(tmp_path, [*small(), *ours])
    others = [edge for edge in file.edges() if "/prop/direct/" not in edge[1]]
    assert others == [
        ("http://x/book", "http://schema.org/about", entity(ANN)),
        ("http://x/book", TYPE, "http://x/Book"),
        (entity("Q99"), SAME_AS, entity(ANN)),
    ]
    assert file.attributes("http://x/book") == [("http://www.w3.org/2000/01/rdf-schema#label", "A book", None, None)]
    assert file.node_labels("http://x/book") == ["http://x/Book"]


def test_terms_that_got_two_numbers_are_folded_as_one(tmp_path: Path):
    path = tmp_path / "kb.nt"
    path.write_text("".join(small()), encoding="utf-8")
    file = Loaded(tmp_path / "kb.kg", load([path], tmp_path / "kb.kg", LoadOptions(), term_budget=2_000))
    assert [tail for _, _, tail in file.edges()] == [entity(BOB), entity(HUMAN)]


@pytest.mark.parametrize("name", ["P26", "wdt:P26", "p:P26", "ps:P26", "pq:P26", "spouse", direct("P26")])
async def test_a_relation_is_named_by_its_id_in_any_form_or_by_its_label(tmp_path: Path, name: str):
    load_lines(tmp_path, small())
    async with open_adapter(str(tmp_path / "kb.kg"), AdapterOptions()) as graph:
        schema = await graph.schema(name, limit=5)
        assert [one.relation.id for one in schema.relations] == ["wdt:P26"]
        if name != "spouse":
            page = await triples_at(graph, ["Q1"], Direction.OUTGOING, relation_paths=[(name,)], limit=5)
            assert [triple.tail for triple in page.items] == [Entity("wd:Q2", "Bob")]


async def test_identifiers_are_counted_and_shown_only_by_name_and_last_in_the_schema(tmp_path: Path):
    of_bob = [
        *KB.statement(BOB, "P214", Value("string", "1"), number=1),
        *KB.statement(BOB, "P2048", Value("quantity", "2"), number=2),
    ]
    load_lines(tmp_path, [*small(), *of_bob])
    async with open_adapter(str(tmp_path / "kb.kg"), AdapterOptions()) as graph:
        facts = await graph.relations(["Q1"], Direction.OUTGOING, examples=2, limit=9)
        assert {one.relation.id: (one.hidden, len(one.examples)) for one in facts.items} == {
            "wdt:P214": (True, 0),
            "wdt:P26": (False, 1),
            "wdt:P31": (False, 1),
        }
        page = await triples_at(graph, ["Q1"], Direction.OUTGOING, limit=9)
        assert [triple.relation.id for triple in page.items] == ["wdt:P26", "wdt:P31"]
        assert page.total.value == 2
        assert page.note.startswith("1 identifiers of other databases are hidden")
        schema = await graph.schema(limit=9)
        assert [one.relation.id for one in schema.properties] == ["wdt:P2048", "wdt:P214"]
        both = await graph.rows_or_relations(["Q1"], Direction.OUTGOING, rows=2, relations=9)
        assert (both.relations, len(both.rows.items)) == (None, 2)
        named = await triples_at(graph, ["Q1"], Direction.OUTGOING, relation_paths=[("P214",)], limit=9)
        assert (len(named.items), named.note) == (1, "")
        far = await triples_at(graph, ["Q1"], Direction.OUTGOING, far_end_kind=FarEndKind.ENTITY, limit=9)
        assert (len(far.items), far.note) == (2, "")


async def test_an_entity_without_a_label_has_no_invented_name(tmp_path: Path):
    load_lines(tmp_path, [*small(), *KB.statement(ANN, "P26", Value("item", "Q77"), number=8)])
    async with open_adapter(str(tmp_path / "kb.kg"), AdapterOptions()) as graph:
        described = await graph.describe(["Q77"])
        assert (described["Q77"].id, described["Q77"].label) == ("wd:Q77", None)
        assert [one.entity.id for one in (await graph.find("Q77", limit=5)).items] == ["wd:Q77"]


async def test_a_property_with_unknown_values_and_entities_is_searched_for_both(tmp_path: Path):
    lines = [*small(), *KB.statement(BOB, "P26", Value("somevalue"), number=8)]
    load_lines(tmp_path, lines)
    async with open_adapter(str(tmp_path / "kb.kg"), AdapterOptions()) as graph:
        for value, found in (
            ("Bob", ["wd:Q1"]),
            ("Q2", ["wd:Q1"]),
            ("unknown value", ["wd:Q2"]),
            (None, ["wd:Q1", "wd:Q2"]),
        ):
            page = await graph.nodes(None, "P26", value, limit=5)
            assert ([one.id for one in page.items], page.total.value) == (found, len(found)), value
            first = await graph.nodes(None, "P26", value, limit=1)
            assert first.total.value == len(found)
        values = await graph.values("P26", None, ValueOwner.NODE, limit=5)
        assert values.note.startswith("1 more values of wdt:P26 in the graph are entities")


async def test_a_misspelt_class_is_answered_with_names(tmp_path: Path):
    load_lines(tmp_path, small())
    async with open_adapter(str(tmp_path / "kb.kg"), AdapterOptions()) as graph:
        with pytest.raises(UnknownName) as caught:
            await graph.nodes("humman", None, None, limit=5)
        assert caught.value.nearest == ("human",)


async def test_a_quantity_is_found_by_its_number_whatever_its_unit(tmp_path: Path):
    lines = [
        *values_and_ranks(KB),
        *KB.statement(BOB, "P2048", Value("quantity", "1.960"), number=1),
        *KB.statement(CITY, "P2048", Value("quantity", "11.96", "Q11573"), number=1),
    ]
    load_lines(tmp_path, lines)
    async with open_adapter(str(tmp_path / "kb.kg"), AdapterOptions()) as graph:
        for value, ids in (("1.96", ["wd:Q1001", "wd:Q2"]), ("1.960", ["wd:Q1001", "wd:Q2"]), ("2", [])):
            page = await graph.nodes(None, "P2048", value, limit=5)
            assert sorted(one.id for one in page.items) == ids, value
        (exact,) = (await graph.nodes(None, "P2048", "1.96 metre", limit=5)).items
        assert exact.id == "wd:Q1001"


@pytest.mark.parametrize(
    ("condition", "ids", "is_noted"),
    [
        ("a.P2048 = '1.96 metre'", ["wd:Q1001"], False),
        ("a.P2048 CONTAINS 'metre'", ["wd:Q1001", "wd:Q3"], False),
        ("a.P2048 > 1", ["wd:Q2"], True),
    ],
)
async def test_a_plan_compares_quantities_with_a_unit_as_texts_and_says_so(
    tmp_path: Path, condition: str, ids: list[str], is_noted: bool
):
    lines = [
        *values_and_ranks(KB),
        *KB.statement(BOB, "P2048", Value("quantity", "1.960"), number=1),
        *KB.statement(CITY, "P2048", Value("quantity", "11.96", "Q11573"), number=1),
    ]
    load_lines(tmp_path, lines)
    async with open_adapter(str(tmp_path / "kb.kg"), AdapterOptions()) as graph:
        checked = await PlanRunner(graph).check(parse_plan(f"MATCH (a) WHERE {condition} RETURN a").plan)
        assert not checked.problems
        assert any("quantities with a unit" in note for note in checked.notes) is is_noted
        page = await PlanRunner(graph).run(checked.plan, limit=9)
    assert sorted(getattr(row.cells[0], "id", "") for row in page.items) == ids
