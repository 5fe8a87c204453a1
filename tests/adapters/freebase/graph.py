"""The small graph, written as N-Triples."""

from __future__ import annotations

from pathlib import Path

GRAPH = "http://toy.example/small"
NS = "http://rdf.freebase.com/ns/"
FANS = 10_500
"""More than the 10,000 rows that Virtuoso gives or sorts at once."""


def write(path: Path) -> None:
    lines = [
        _edge("m.actor", "film.actor.film", "m.performance"),
        _edge("m.performance", "film.performance.film", "m.film"),
        _edge("m.performance", "film.performance.role", "m.role"),
        _edge("m.film", "film.film.starring", "m.performance"),
        _edge("m.performance", "film.performance.actor", "m.actor"),
        _value("m.performance", "film.performance.character_note", "uncredited"),
        _value("m.actor", "type.object.name", "Ann Actor", "en"),
        _value("m.film", "type.object.name", "A Film", "en"),
        _value("m.role", "type.object.name", "The Stranger", "en"),
        _value("film.actor.film", "type.object.name", "Film performances", "en"),
        _value("m.star", "type.object.name", "A Star", "en"),
        _edge("m.film", "film.film.site", "http://films.example/1"),
        f"<{NS}m.film> <http://www.w3.org/2002/07/owl#sameAs> <http://other.example/film> .",
        *(_value(f"m.twin{n}", "type.object.name", "Twin", "en") for n in range(2)),
        *(_edge("m.twin1", "type.object.type", f"film.kind{n}") for n in range(3)),
        *(_edge(f"m.fan{n:05}", "people.person.fan_of", "m.star") for n in range(FANS)),
        *(_value(f"m.fan{n:05}", "type.object.name", f"Fan {n}", "en") for n in range(FANS)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _edge(head: str, relation: str, tail: str) -> str:
    full = tail if tail.startswith("http") else NS + tail
    return f"<{NS}{head}> <{NS}{relation}> <{full}> ."


def _value(head: str, relation: str, text: str, language: str = "") -> str:
    return f'<{NS}{head}> <{NS}{relation}> "{text}"{"@" + language if language else ""} .'
