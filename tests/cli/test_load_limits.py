"""Sources of extreme sizes are loaded, or refused by a short sentence, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import Kgnav
from tests.sampling import sampled

LONGEST_SENTENCE = 400
NAMES = 30_000
"""Properties of one node, or columns of one table."""
LONG = "k" * 1_000_000

RDF: Mapping[str, Callable[[str, str, str], str]] = {
    ".nt": lambda head, link, text: f'<http://x/{head}> <http://x/{link}> "{text}" .\n',
    ".nq": lambda head, link, text: f'<http://x/{head}> <http://x/{link}> "{text}" <http://x/g> .\n',
    ".ttl": lambda head, link, text: f'<http://x/{head}> <http://x/{link}> "{text}" .\n',
    ".n3": lambda head, link, text: f'<http://x/{head}> <http://x/{link}> "{text}" .\n',
    ".trig": lambda head, link, text: f'<http://x/g> {{ <http://x/{head}> <http://x/{link}> "{text}" }}\n',
    ".rdf": lambda head, link, text: (
        f'<d:Description d:about="http://x/{head}"><{link}>{text}</{link}></d:Description>'
    ),
    ".jsonld": lambda head, link, text: json.dumps({"@id": f"http://x/{head}", f"http://x/{link}": text}),
}
"""A statement with a literal in each format of RDF."""
AROUND = {
    ".rdf": ('<d:RDF xmlns:d="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://x/">', "</d:RDF>"),
    ".jsonld": ("[", "]"),
}


def rdf(suffix: str, *statements: tuple[str, str, str]) -> str:
    """A source with these statements: head, relation and text."""
    begin, end = AROUND.get(suffix, ("", ""))
    return begin + ("," if suffix == ".jsonld" else "").join(RDF[suffix](*each) for each in statements) + end


def node(properties: Mapping[str, object], key: str = "a") -> str:
    return json.dumps({"type": "node", "id": key, "labels": ["A"], "properties": properties}) + "\n"


def table(delimiter: str, *rows: tuple[str, ...]) -> str:
    return "".join(f"{delimiter.join(row)}\n" for row in rows)


TABLES = {
    "nodes.csv": (":ID", ",", "a"),
    "edges.csv": ("source,target", ",", "a,b"),
    "edges.tsv": ("source\ttarget", "\t", "a\tb"),
    "edges.txt": ("source;target", ";", "a;b"),
}
"""The first columns of a table, its delimiter, and their fields."""
OTHERS = {".edges": "a b {}\n", ".sif": "a p b\n", ".tsv": "a\tp\tb\n"}
SUFFIXES = (*RDF, ".csv", ".tsv", ".txt", ".edges", ".sif", ".json", ".jsonl")
COLUMNS = tuple(f"column{number}" for number in range(NAMES))

SOURCES: Mapping[str, tuple[str, Callable[[], str]]] = {
    **{f"blank lines in {suffix}": (f"g{suffix}", lambda: "\n \n" * 100_000) for suffix in SUFFIXES},
    **{f"no byte in {suffix}": (f"g{suffix}", str) for suffix in SUFFIXES},
    **{
        f"properties in {suffix}": (
            f"g{suffix}",
            lambda suffix=suffix: rdf(suffix, *(("a", name, "1") for name in COLUMNS)),
        )
        for suffix in (".ttl", ".rdf", ".jsonld")
    },
    **{
        f"a long {part} in {suffix}": (
            f"g{suffix}",
            lambda suffix=suffix, long=long: rdf(suffix, ("a", "p", "1"), long, ("a", "p", "2")),
        )
        for suffix in RDF
        for part, long in (("head", (LONG, "p", "1")), ("relation", ("a", LONG, "1")), ("text", ("a", "p", LONG)))
    },
    **{
        f"columns in {name}": (
            name,
            lambda first=first, delimiter=delimiter, fields=fields: table(
                delimiter, (first, *COLUMNS), (fields, *("x" for _ in COLUMNS))
            ),
        )
        for name, (first, delimiter, fields) in TABLES.items()
    },
    **{
        f"{what} in {name}": (
            name,
            lambda first=first, delimiter=delimiter, fields=fields, column=column, field=field: table(
                delimiter, (first, column), (fields, field), (fields, field, "one too many")
            ),
        )
        for name, (first, delimiter, fields) in TABLES.items()
        for what, column, field in (
            ("a long column", LONG, "1"),
            ("a long field", "p", LONG),
            ("a long integer", "p:int", LONG),
            ("a long unknown type", f"p:{LONG}", "1"),
        )
    },
    **{
        f"a long {what} in {name}": (name, lambda content=content: content)
        for what, name, content in (
            ("id", "nodes.csv", f":ID,name\n{LONG},a\n{LONG},b\n"),
            ("missing id", "edges.csv", f":START_ID,:END_ID,:TYPE\n{LONG},b,p\n"),
            ("first column", "g.tsv", f"{LONG}\tp\tb\nc\tq\td\n"),
            ("middle column", "g.tsv", "".join(f"a{n}\t{n}{LONG}\t{n}\n" for n in range(6))),
            ("word", "g.edges", f"{LONG} b {{}}\na b {{}}\n"),
            ("attribute", "g.edges", f"a b {{'{LONG}': 1}}\n"),
            ("attribute without an end", "g.edges", f"a b {{}}\na b {{'{LONG}\n"),
            ("relation", "g.sif", f"a {LONG} b\n"),
            ("line of words", "g.csv", f"{LONG}\n"),
            ("line of fields", "g.csv", f"{','.join(COLUMNS)}\n{','.join(COLUMNS)}\n"),
            ("key", "g.jsonl", node({LONG: "x"}) + node({LONG: []}, "b")),
            ("id", "g.jsonl", node({}, LONG) + node({}, LONG)),
            ("type", "g.jsonl", json.dumps({"type": LONG}) + "\n"),
            ("key of no node", "g.json", json.dumps({LONG: "x"})),
            ("array", "g.json", json.dumps([LONG])),
            ("key without an end", "g.jsonl", '{"type": "node", "' + LONG),
            ("end", "g.jsonl", json.dumps({"type": "relationship", "label": "p", "start": {"id": LONG}})),
        )
    },
    "properties in .jsonl": ("g.jsonl", lambda: node(dict.fromkeys(COLUMNS, "x"))),
    "empty arrays in .jsonl": ("g.jsonl", lambda: node({name: [] for name in COLUMNS})),
}  # fmt: skip
"""File name and content by what is extreme in it."""


def load_and_check(kgnav: Kgnav, *arguments: str) -> str:
    """What the load says on stderr, each line of which is short."""
    result = kgnav("load", *arguments)
    assert result.exit_code in (0, 1), result.output[:1_000]
    for line in result.output.splitlines():
        assert len(line) <= LONGEST_SENTENCE, f"{len(line):,} characters: {line[:1_000]}"
    assert len(result.stderr) < 1_000, result.stderr
    assert Path("made.kg").exists() == (result.exit_code == 0)
    return result.stderr


@pytest.mark.parametrize("what", sampled(SOURCES, 3))
def test_a_source_of_extreme_size_is_loaded_or_refused_by_a_short_sentence(kgnav: Kgnav, what: str) -> None:
    name, content = SOURCES[what]
    Path(name).write_text(content(), encoding="utf-8")
    said = load_and_check(kgnav, name, "-o", "made.kg")
    if what.startswith(("blank lines", "no byte")):
        assert said.startswith(("Error: g.", "Error: the sources have no triples"))
    elif what.startswith(("properties", "columns")):
        assert Path("made.kg").exists()
    elif what.startswith(("a long relation", "a long key in", "a long column")):
        assert "has a name of 1,0" in said


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_name_of_extreme_length_is_refused_by_a_short_sentence(kgnav: Kgnav, suffix: str) -> None:
    Path(f"a{suffix}").write_text("x\n", encoding="utf-8")
    long = "n" * 300 + suffix
    for arguments in (
        (long, "-o", "made.kg"),
        (f"a{suffix}", "-o", "m" * 300),
        (f"a{suffix}", "-o", "m" * 250),
        (f"a{suffix}", "--labels", long, "-o", "made.kg"),
    ):
        assert ": File name too long\nGive the file a shorter name." in load_and_check(kgnav, *arguments)
    longest = Path("n" * (255 - len(suffix)) + suffix)
    longest.write_text("x\n", encoding="utf-8")
    load_and_check(kgnav, str(longest), "-o", "made.kg")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_option_of_extreme_length_is_refused_by_a_short_sentence(kgnav: Kgnav, suffix: str) -> None:
    name = f"g{suffix}"
    Path(name).write_text(rdf(suffix, ("a", "p", "1")) if suffix in RDF else OTHERS.get(suffix, node({"a": 1})))
    long = "o" * 100_000
    for option in ("--format", "--relation", "--type-relation", "--name-relation", "--name-property", "--language"):
        load_and_check(kgnav, name, option, long, "-o", "made.kg")
        Path("made.kg").unlink(missing_ok=True)
