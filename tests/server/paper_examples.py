"""The facts of the papers' printed examples, and the tables that the papers print for them.

Search-on-Graph, A.3, listings 4 to 8; GraphWalker, E.3; GraphWalk, C.1 and C.3.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgnav_mcp.adapters.embedded.loading import LoadOptions, load

NS = "http://rdf.freebase.com/ns/"
XSD = "http://www.w3.org/2001/XMLSchema#"


@dataclass(frozen=True)
class Table:
    """A call of `search` and the rows that the paper prints. Rows of other entities lie beside it in the graph."""

    entity: str
    direction: str
    rows: str

    @property
    def lines(self) -> list[str]:
        return self.rows.strip().splitlines()


FREEBASE_TABLES = (
    Table(
        "m.06v3q8",
        "outgoing",
        """
language.language_family.member_of_language_families|member of language families|m.01sd8|Celtic languages
language.language_family.geographic_distribution|geographic distribution|m.02j9z|Europe
kg.object_profile.prominent_type||language.language_family|Language Family
""",
    ),
    Table(
        "m.01vtj38",
        "outgoing",
        """
base.schemastaging.context_name.official_name|Official name|Cherilyn Sarkisian|
people.person.children|Children|m.01w4bt1|Elijah Blue Allman
people.person.children|Children|m.0br66|Chaz Bono
people.person.parents|Parents|m.0kmhsk2|Gilbert Hartmann LaPiere
""",
    ),
    Table(
        "m.01w4bt1",
        "outgoing",
        """
people.person.parents|Parents|m.01vtj38|Cher
people.person.gender|Gender|m.05zppz|Male
people.person.sibling_s|Siblings|m.0w4gdrb|
people.person.sibling_s|Siblings|m.0vvfthw|
""",
    ),
    Table(
        "m.0br66",
        "outgoing",
        """
people.person.parents|Parents|m.01vtj38|Cher
people.person.sibling_s|Siblings|m.0w4gdrb|
people.person.gender|Gender|m.05zppz|Male
""",
    ),
    Table(
        "m.0fsb8",
        "outgoing",
        """
common.topic.topical_webpage|Topical webpage|http://www.charmeck.org/|
travel.travel_destination.tourist_attractions|Tourist attractions|m.09k6h_2|Bechtler Museum of Modern Art
travel.travel_destination.tourist_attractions|Tourist attractions|m.02vnhrq|Billy Graham Library
travel.travel_destination.tourist_attractions|Tourist attractions|m.05g_v01|Bojangles' Coliseum
travel.travel_destination.tourist_attractions|Tourist attractions|m.0cq5c0|Carolinas Aviation Museum
""",
    ),
    Table(
        "m.02vnhrq",
        "outgoing",
        """
common.topic.notable_types|Notable types|m.01y2hzb|Museum
architecture.structure.opened|Opened|2007-06-05-08:00|
type.object.type|Type|base.type_ontology.abstract|Abstract
""",
    ),
    Table(
        "m.05g_v01",
        "outgoing",
        """
architecture.structure.opened|Opened|1955-08:00|
common.topic.social_media_presence|Social media presence|http://www.facebook.com/pages/Bojangles-Coliseum/196122978761|
common.topic.social_media_presence|Social media presence|https://twitter.com/BojanglesCol|
""",
    ),
    Table(
        "m.017k6",
        "incoming",
        """
base.rosetta.rosetta_document.refers_to|Refers To|m.05tr3c6|Basque Numbers
language.language_regulator.language|Language|m.057xsn|Euskaltzaindia
type.type.instance|Instance|language.languoid|
""",
    ),
    Table(
        "m.057xsn",
        "outgoing",
        """
type.object.type|Type|common.topic|Topic
type.object.type|Type|base.type_ontology.agent|Agent
type.object.type|Type|language.language_regulator|Language Regulator
language.language_regulator.language|Language|m.017k6|Basque
""",  # the last row is printed from the other side, in the table before
    ),
)

WIKIDATA_TABLES = (
    Table(
        "wd:Q5089",
        "outgoing",
        """
wdt:P885|origin of the watercourse|wd:Q691557|Gangotri Glacier
wdt:P974|tributary|wd:Q3635865|Punpun River
wdt:P30|continent|wd:Q48|Asia
""",
    ),
    Table(
        "wd:Q691557",
        "outgoing",
        """
wdt:P4552|mountain range|wd:Q3777888|Gangotri Group
wdt:P31|instance of|wd:Q356666|glacier
wdt:P17|country|wd:Q668|India
""",
    ),
)

LITERALS: Mapping[str, str] = {
    "Cherilyn Sarkisian": "@en",
    "http://www.charmeck.org/": "",
    "2007-06-05-08:00": f"^^<{XSD}date>",
    "1955-08:00": f"^^<{XSD}gYear>",
    "http://www.facebook.com/pages/Bojangles-Coliseum/196122978761": "",
    "https://twitter.com/BojanglesCol": "",
    "4-3": "",
}
"""The literals of the tables, and what N-Triples write after each."""

NAMES = {
    "m.06v3q8": "Continental Celtic languages",
    "m.0fsb8": "Charlotte",
    "m.017k6": "Basque",
    "m.ws": "1946 World Series",
    "m.cards": "St. Louis Cardinals",
}
"""Names that the tables do not have."""

SIBLINGS = (
    ("m.0w4gdrb", "people.sibling_relationship.sibling", "m.01w4bt1"),
    ("m.0w4gdrb", "people.sibling_relationship.sibling", "m.0br66"),
    ("m.0w4gdrb", "people.sibling_relationship.since", "1976"),
    ("m.0vvfthw", "people.sibling_relationship.sibling", "m.01w4bt1"),
)
"""What lies behind the nodes without a name, which the paper searches next. Only the first three are printed."""

WALK = (
    "[1946 World Series, sports.sports_championship_event.champion, St. Louis Cardinals], "
    "[1946 World Series, sports.sports_championship_event.result, 4-3], "
    "[St. Louis Cardinals, sports.sports_team.championships, 1946 World Series], "
    "[1946 World Series, time.event.locations, Fenway Park], "
    "[1946 World Series, time.event.locations, Sportsman’s Park]"  # noqa: RUF001 - as the paper prints it
)
"""GraphWalker, E.3.2: an observation of get_triples."""
WALK_RELATIONS = (
    "sports.sports_championship_event.champion, sports.sports_championship_event.result, "
    "sports.sports_team.championships, time.event.locations"
)
"""GraphWalker, E.3: an observation of get_relations."""
_WALK_IDS = {
    "1946 World Series": "m.ws",
    "St. Louis Cardinals": "m.cards",
    "Fenway Park": "m.fenway",
    "Sportsman’s Park": "m.park",  # noqa: RUF001 - as above
}


def triples() -> tuple[list[tuple[str, str, str]], dict[str, str]]:
    """The facts of all Freebase tables and of GraphWalker's walk, and the names of ids."""
    names = {**NAMES, **{key: name for name, key in _WALK_IDS.items()}}
    facts: list[tuple[str, str, str]] = [*SIBLINGS]
    for table in FREEBASE_TABLES:
        for line in table.lines:
            relation, label, value, value_label = line.split("|")
            ends = (table.entity, value) if table.direction == "outgoing" else (value, table.entity)
            facts.append((ends[0], relation, ends[1]))
            names |= {key: name for key, name in ((relation, label), (value, value_label)) if name}
    for triple in WALK.removeprefix("[").removesuffix("]").split("], ["):
        head, relation, tail = triple.split(", ")
        facts.append((_WALK_IDS[head], relation, _WALK_IDS.get(tail, tail)))
    return list(dict.fromkeys(facts)), names


def _is_literal(text: str) -> bool:
    return text in LITERALS or text == "1976"


def write_freebase(path: Path) -> Path:
    """The facts as N-Triples of Freebase."""
    facts, names = triples()
    lines = [f'<{NS}{key}> <{NS}type.object.name> "{name}"@en .' for key, name in names.items()]
    for head, relation, tail in facts:
        end = f'"{tail}"{LITERALS.get(tail, "")}' if _is_literal(tail) else f"<{NS}{tail}>"
        lines.append(f"<{NS}{head}> <{NS}{relation}> {end} .")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def load_tables(folder: Path) -> Path:
    """The facts as a graph file, made from tables with the ids as they are printed, and without mediators."""
    facts, names = triples()
    edges = [fact for fact in facts if not _is_literal(fact[2])]
    values = [fact for fact in facts if _is_literal(fact[2])]
    (folder / "edges.tsv").write_text("".join("\t".join(fact) + "\n" for fact in edges), encoding="utf-8")
    (folder / "names.tsv").write_text("".join(f"{key}\t{name}\n" for key, name in names.items()), encoding="utf-8")
    nodes = list(_nodes(values))
    (folder / "nodes.jsonl").write_text("".join(json.dumps(node) + "\n" for node in nodes), encoding="utf-8")
    options = LoadOptions(labels=(folder / "names.tsv",), mediators="none", nodes_from_edges=True)
    load([folder / "nodes.jsonl", folder / "edges.tsv"], folder / "examples.kg", options)
    return folder / "examples.kg"


def _nodes(values: Sequence[tuple[str, str, str]]) -> Iterator[Mapping[str, object]]:
    """Nodes with their literals as properties, a list where there are several."""
    for head in dict.fromkeys(fact[0] for fact in values):
        own: dict[str, list[str]] = {}
        for _, relation, text in (fact for fact in values if fact[0] == head):
            own.setdefault(relation, []).append(text)
        yield {
            "type": "node",
            "id": head,
            "properties": {name: texts if len(texts) > 1 else texts[0] for name, texts in own.items()},
        }
