"""The small graph, written as N-Triples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

GRAPH = "http://toy.example/small"
NS = "http://rdf.freebase.com/ns/"
FANS = 10_500
"""More than the 10,000 rows that Virtuoso gives or sorts at once."""
EVENTS = 1_500
"""Mediators at one hub: each ties the club to a fan and to the host, and every third to a second fan."""


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
        _edge("m.country", "location.country.capital", "m.capital"),
        _edge("m.capital", "location.location.river", "m.river"),
        _value("m.capital", "type.object.name", "The Capital", "en"),
        _value("m.river", "type.object.name", "The River", "en"),
        _value("m.country", "type.object.name", "Deutschland", "de"),
        _value("m.country", "type.object.name", "Allemagne", "fr"),
        _edge("m.film", "film.film.site", "http://films.example/1"),
        f"<{NS}m.film> <http://www.w3.org/2002/07/owl#sameAs> <http://other.example/film> .",
        *(_value(f"m.twin{n}", "type.object.name", "Twin", "en") for n in range(2)),
        *(_edge("m.twin1", "type.object.type", f"film.kind{n}") for n in range(3)),
        *(_edge(f"m.fan{n:05}", "people.person.fan_of", "m.star") for n in range(FANS)),
        *(_value(f"m.fan{n:05}", "type.object.name", f"Fan {n}", "en") for n in range(FANS)),
        *_club(),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def guests(event: int) -> list[str]:
    """The fans that an event has."""
    return [f"m.fan{n:05}" for n in ((event, event + 5_000) if event % 3 == 0 else (event,))]


def _club() -> Iterator[str]:
    yield _value("m.club", "type.object.name", "The Club", "en")
    yield _value("m.host", "type.object.name", "The Host", "en")
    for n in range(EVENTS):
        yield _edge("m.club", "club.club.event", f"g.event{n:04}")
        yield _edge(f"g.event{n:04}", "club.event.club", "m.club")
        yield _edge(f"g.event{n:04}", "club.event.host", "m.host")
        yield _value(f"g.event{n:04}", "club.event.note", f"Note {n}", "en")
        for fan in guests(n):
            yield _edge(f"g.event{n:04}", "club.event.guest", fan)
            yield _edge(fan, "club.guest.event", f"g.event{n:04}")
    # Neither is a mediator: the one has a name, the other is of another namespace.
    for other in ("m.gala", "http://clubs.example/night"):
        yield _edge("m.club", "club.club.event", other)
        yield _edge(other, "club.event.guest", "m.host")
    yield _value("m.gala", "type.object.name", "The Gala", "en")


def _edge(head: str, relation: str, tail: str) -> str:
    full = tail if tail.startswith("http") else NS + tail
    return f"<{head if head.startswith('http') else NS + head}> <{NS}{relation}> <{full}> ."


def _value(head: str, relation: str, text: str, language: str = "") -> str:
    return f'<{NS}{head}> <{NS}{relation}> "{text}"{"@" + language if language else ""} .'
