"""SPARQL conditions that a literal equals a value: as a number, as a date, as a truth value or as a text.

Numbers are read from their texts, as everywhere in this program, so that `"0.1"^^xsd:float` is 0.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal

from rdflib import XSD, Literal

from kgnav_mcp import model
from kgnav_mcp.adapters.sparql_base import queries
from kgnav_mcp.adapters.sparql_base.dialect import Dialect
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated
from kgnav_mcp.adapters.sparql_base.text_forms import LEXICAL_FORMS, TextForms
from kgnav_mcp.values.comparison import Moment, Period, WantedValue
from kgnav_mcp.values.scalars import NUMBERS, WHOLE_NUMBERS, scalar

_FLOATS = ("double", "float")
_FORMS = {**LEXICAL_FORMS, XSD.anyURI: re.compile(r"\w+:.*")}


def usual_terms(value: str, languages: Sequence[str], dialect: Dialect) -> list[Literal]:
    """A text as literals: plain, in each language, and of each usual datatype, in the usual spellings of its value."""
    plain = TextForms.of(languages, (), dialect).terms([value])
    wanted = WantedValue.read(value)
    texts = {value: None}
    if wanted.number is not None:
        texts |= dict.fromkeys(number_texts(wanted.number))
        if not dialect.takes_large_integers and abs(wanted.number) >= _LARGE:
            return [*plain, *(Literal(text, datatype=XSD.double, normalize=False) for text in texts)]
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


def scalar_of(term: Literal) -> str | int | float | bool:
    """The value of a literal, as everywhere in this program."""
    return scalar(model.Literal(str(term), str(term.datatype) if term.datatype else None))


def number_terms(number: float) -> list[Literal] | None:
    """A number as a literal of each datatype of numbers; None if it has more digits than each store holds exactly."""
    _, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    if len(digits) > _EXACT_DIGITS or not -_EXACT_DIGITS <= int(exponent) <= _EXACT_DIGITS:
        return None
    text = number_texts(number or 0.0)[0]
    kinds = NUMBERS if number.is_integer() else NUMBERS - WHOLE_NUMBERS
    terms = [(text, kind) for kind in sorted(kinds)]
    if not number:
        terms += (("-0.0", kind) for kind in _FLOATS)  # another term for the same number
    return [Literal(text, datatype=XSD[kind], normalize=False) for text, kind in terms]


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
    """The note for users on a list that was looked up by `usual_terms`: other spellings of the value are not found."""
    known = ", ".join(languages)
    return (
        "The property has too many values to compare them all: texts in other languages than "
        f"{known}, values of unusual datatypes or spellings, and times of a date, were not searched."
    )


NUMBER_TYPES = comma_separated(*(XSD[kind] for kind in sorted(NUMBERS)))
"""The datatypes whose values are numbers."""
_EXACT_NUMBERS = comma_separated(*(XSD[kind] for kind in sorted(NUMBERS.difference(_FLOATS))))
_ONLY_FLOATS = comma_separated(*(XSD[kind] for kind in _FLOATS))
_DATES = comma_separated(XSD.date, XSD.dateTime, XSD.dateTimeStamp, XSD.gYear, XSD.gYearMonth)
_EXACT = 2**53
"""Integers below this are exact also as doubles."""
_LARGE = 2**63
"""Integers from this have more than 64 bits."""
_EXACT_DIGITS = 15
"""Digits up to which two different decimal numbers are also different doubles."""
_TWO_DIGITS = "[0-9]{2}"
_ZONE, _UTC = "(Z|[+-][0-9]{2}:?[0-9]{2})?", "(Z|[+-]00:?00)?"


def equals(reader: Reader, variable: str, value: str) -> Fragment:
    """The condition that the literal of a variable equals a value given as text."""
    conditions = _conditions(reader, Fragment(variable), WantedValue.read(value))
    return Fragment(" || ".join(f"({condition.text})" for condition in conditions))


def _conditions(reader: Reader, value: Fragment, wanted: WantedValue) -> Iterator[Fragment]:
    yield reader.part(queries.EQUAL_TEXT, value=value, text=Literal(wanted.text))
    if wanted.text in {"true", "false"}:
        yield reader.part(queries.EQUAL_TRUTH, value=value, truth=Literal(wanted.text, datatype=XSD.boolean))
    if wanted.number is not None:
        yield from _equal_number(reader, value, wanted.number)
    if wanted.period is not None:
        form = Literal(date_form(wanted.period))
        yield reader.part(queries.EQUAL_DATE, value=value, dates=_DATES, form=form)
        first, after = (
            Literal(date_time(end), datatype=XSD.dateTime, normalize=False)
            for end in (wanted.period.first, wanted.period.after)
        )
        yield reader.part(queries.IN_PERIOD, value=value, first=first, after=after)


def _equal_number(reader: Reader, value: Fragment, number: float) -> Iterator[Fragment]:
    """Large integers are compared as such: as doubles, they would equal their neighbours."""
    if abs(number) < _EXACT:
        yield reader.part(queries.EQUAL_DOUBLE, value=value, numbers=NUMBER_TYPES, number=Literal(float(number)))
        return
    if abs(number) < _LARGE or reader.dialect.takes_large_integers:
        yield reader.part(queries.EQUAL_NUMBER, value=value, numbers=_EXACT_NUMBERS, number=Literal(int(number)))
    else:
        texts = comma_separated(*(Literal(form.format(int(number))) for form in ("{}", "+{}", "{}.0")))
        yield reader.part(queries.EQUAL_DIGITS, value=value, numbers=_EXACT_NUMBERS, texts=texts)
    if float(number) == number:
        yield reader.part(queries.EQUAL_DOUBLE, value=value, numbers=_ONLY_FLOATS, number=Literal(float(number)))


def date_form(period: Period) -> str:
    """The regular expression for texts of dates that equal a date, except times in zones other than UTC.

    A date equals the times within it, and less precise dates that contain it.
    """
    digits = [f"{part:02}" for part in map(int, period.parts[1:5])]
    month, day = (*digits, _TWO_DIGITS, _TWO_DIGITS)[:2]
    year = date_time(period.first).partition("T")[0][:-6]
    time = "[0-9:.]+"
    if len(digits) > 2:
        time = f"{digits[2]}:{digits[3]}(:[0-9.]+)?"
    if len(period.parts) > 5:
        whole, _, fraction = f"{period.parts[5]:012.9f}".rstrip("0").partition(".")
        time = f"{digits[2]}:{digits[3]}(:{whole}{rf'[.]{fraction}0*' if fraction else '([.]0*)?'})?"
    return f"^{year}((-{month}(-{day})?)?{_ZONE}|-{month}-{day}T{time}{_UTC})$"
