"""RDF literals that a text may stand for. They are looked up where a property has too many values to compare."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from rdflib import XSD, Literal

from kgnav_mcp.port.wanted_values import WantedValue
from kgnav_mcp.values.comparison import Moment, Period

_FORMS = {
    XSD.integer: re.compile(r"[+-]?\d+"),
    XSD.int: re.compile(r"[+-]?\d+"),
    XSD.decimal: re.compile(r"[+-]?\d*\.\d+"),
    XSD.double: re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?"),
    XSD.float: re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?"),
    XSD.boolean: re.compile(r"true|false"),
    XSD.date: re.compile(r"-?\d{4,}-\d\d-\d\d.*"),
    XSD.dateTime: re.compile(r"-?\d{4,}-\d\d-\d\dT.*"),
    XSD.gYear: re.compile(r"-?\d{4,}"),
    XSD.gYearMonth: re.compile(r"-?\d{4,}-\d\d"),
    XSD.anyURI: re.compile(r"\w+:.*"),
}


def usual_terms(value: str, languages: Sequence[str]) -> list[Literal]:
    """A text as literals: plain, in each language, and of each usual datatype, in the usual spellings of its value."""
    plain = [Literal(value), *(Literal(value, lang=language) for language in languages)]
    wanted = WantedValue.read(value)
    texts = {value: None}
    if wanted.number is not None:
        texts |= dict.fromkeys(number_texts(wanted.number))
    if wanted.period is not None:
        texts |= dict.fromkeys(date_texts(wanted.period))
    forms = _FORMS.items()
    typed = [
        Literal(text, datatype=datatype, normalize=False)
        for text in texts
        for datatype, form in forms
        if form.fullmatch(text)
    ]
    return [*plain, *typed]


def number_texts(number: float) -> list[str]:
    """The usual spellings of a number: plain, with a sign, with a fraction, and as XML Schema writes doubles."""
    plain = f"{Decimal(repr(number)):f}"
    plain = plain.rstrip("0").rstrip(".") if "." in plain else plain
    sign, digits, exponent = Decimal(plain).normalize().as_tuple()
    mantissa = f"{'-' * sign}{digits[0]}.{''.join(map(str, digits[1:])) or '0'}"
    texts = [plain, plain if "." in plain else f"{plain}.0", f"{mantissa}E{int(exponent) + len(digits) - 1}"]
    return [*texts, *(f"+{text}" for text in texts if number >= 0)]


def date_texts(period: Period) -> list[str]:
    """The usual spellings of the dates that equal a date: less precise ones, and the days of a month or a year."""
    texts: list[str] = []
    day = Period.of(period.first[:3])
    while day.first < period.after:
        text = date_time(day.first).partition("T")[0]
        texts += (text, f"{text}Z", f"{text}T00:00:00", f"{text}T00:00:00Z")[: 4 if len(period.parts) == 3 else 1]
        day = Period.of(day.after[:3])
    year, month, _ = texts[0].rsplit("-", 2)
    months = [month] if len(period.parts) > 1 else [f"{number:02}" for number in range(1, 13)]
    return [year, *(f"{year}-{each}" for each in months), *texts]


def date_time(moment: Moment) -> str:
    """A moment in UTC as xsd:dateTime writes it."""
    year, month, day, hour, minute = map(int, moment[:5])
    seconds = f"{moment[5]:012.9f}".rstrip("0").rstrip(".")
    return f"{'-' if year < 0 else ''}{abs(year):04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{seconds}Z"


def lookup_note(languages: Sequence[str]) -> str:
    """The note on a list that was looked up by `usual_terms`."""
    known = ", ".join(languages)
    return (
        "The property has too many values to compare them all: texts in other languages than "
        f"{known}, values of unusual datatypes or spellings, and times of a date, were not looked for."
    )
