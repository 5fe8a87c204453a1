"""A small Wikibase with what the toy graph does not have: ranks, unknown values, precisions, merged items, a hub."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

from kgnav_bench.wikibase import Rank, Value, Wikibase

GRAPH = "http://toy.example/wikibase"
FANS = 700
"""More than the 500 statements of one property that are read whole."""

ANN, BOB, CITY, MERGED, METRE, HUMAN = "Q1001", "Q1002", "Q1003", "Q1004", "Q11573", "Q5"
PRIEST = "Q1005"
"""Nothing but the value of a qualifier: of a statement of the best rank, and of one that is not shown."""
CLUB, FIRST_FAN = "Q1006", "Q5000"
"""Has one member from the city, as a qualifier says."""

_PROPERTIES = {
    "P31": ("item", "instance of"),
    "P19": ("item", "place of birth"),
    "P22": ("item", "father"),
    "P26": ("item", "spouse"),
    "P40": ("item", "child"),
    "P551": ("item", "residence"),
    "P569": ("time", "date of birth"),
    "P570": ("time", "date of death"),
    "P571": ("time", "inception"),
    "P580": ("time", "start time"),
    "P582": ("time", "end time"),
    "P625": ("coordinates", "coordinate location"),
    "P2048": ("quantity", "height"),
    "P1082": ("quantity", "population"),
    "P214": ("external-id", "VIAF ID"),
    "P646": ("external-id", "Freebase ID"),
    "P2561": ("text", "name"),
    "P463": ("item", "member of"),
    "P366": ("item", "has use"),
}


def write(path: Path, *, properties: bool = True) -> Path:
    """The graph as N-Triples; without its properties as a copy that holds items alone."""
    path.write_text("".join(_lines(Wikibase(), properties=properties)), encoding="utf-8")
    return path


def _lines(wikibase: Wikibase, *, properties: bool) -> Iterator[str]:
    yield from values_and_ranks(wikibase, properties=properties)
    for number in range(FANS):
        fan = f"Q{5_000 + number}"
        yield from wikibase.statement(fan, "P31", Value("item", HUMAN), number=1)
        if number < 3:
            yield from wikibase.statement(fan, "P463", Value("item", HUMAN), number=2)
    origin = "P366", Value("item", CITY)
    yield from wikibase.statement(FIRST_FAN, "P463", Value("item", CLUB), [origin], number=3)


def values_and_ranks(wikibase: Wikibase, *, properties: bool = True) -> Iterator[str]:
    """Ann, whose statements have values of each kind, and ranks; and the entities that they lead to."""
    if properties:
        for name, (kind, label) in _PROPERTIES.items():
            yield from wikibase.property(name, kind, [(label, "en"), (f"{label} (de)", "de")])
    yield from wikibase.item(ANN, [("Ann", "en"), ("Anna", "de")], [("Annie", "en")], [("a person", "en")])
    yield from wikibase.item(BOB, [("Bob", "mul"), ("Robert", "fr")], [], [("eine Person", "de")])
    yield from wikibase.item(CITY, [("Stadt", "nl")])
    yield from wikibase.item(PRIEST, [("Priest", "en")])
    yield from wikibase.item(CLUB, [("Club", "en")])
    yield from wikibase.item(METRE, [("metre", "en")])
    yield from wikibase.item(HUMAN, [("human", "en")])
    yield from wikibase.redirect(MERGED, ANN)
    numbers = count(1)

    def say(
        name: str,
        value: Value,
        *qualifiers: tuple[str, Value],
        rank: Rank = "Normal",
        best: bool = True,
        references: int = 0,
    ) -> Iterator[str]:
        return wikibase.statement(
            ANN, name, value, qualifiers, number=next(numbers), rank=rank, best=best, references=references
        )

    by_priest = "P366", Value("item", PRIEST)
    yield from say("P31", Value("item", HUMAN))
    yield from say("P19", Value("item", CITY), references=2)
    yield from say("P22", Value("somevalue"))
    yield from say("P40", Value("novalue"))
    yield from say(
        "P26", Value("item", BOB), ("P580", Value("time", "1971-05-01T00:00:00Z", "10")), ("P582", Value("novalue"))
    )
    yield from say("P551", Value("item", CITY), rank="Preferred")
    yield from say("P551", Value("item", BOB), best=False)
    yield from say("P551", Value("item", HUMAN), by_priest, rank="Deprecated", best=False)
    yield from say("P569", Value("time", "1952-03-11T00:00:00Z", "11"))
    yield from say("P570", Value("time", "-0044-03-15T00:00:00Z", "11"))
    yield from say("P571", Value("time", "1901-01-01T00:00:00Z", "7"))
    yield from say("P571", Value("time", "1955-01-01T00:00:00Z", "9"))
    yield from say("P571", Value("time", "1950-01-01T00:00:00Z", "8"))
    yield from say("P625", Value("coordinates", "-0.1454 51.5665"))
    yield from say("P2048", Value("quantity", "1.96", METRE))
    yield from say("P1082", Value("quantity", "12"))
    yield from say("P2561", Value("text", "Ann of the Hill", "en"), by_priest)
    yield from say("P214", Value("string", "113230702"))
    yield from say("P646", Value("string", "/m/0282x"))
