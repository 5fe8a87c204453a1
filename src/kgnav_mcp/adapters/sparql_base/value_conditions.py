"""Conditions in SPARQL that a literal equals a wanted value: as a number, as a date, as a truth value or as a text.

Numbers are read from their texts, as everywhere in this program, so that `"0.1"^^xsd:float` is 0.1.
"""

from __future__ import annotations

from collections.abc import Iterator

from rdflib import XSD, Literal

from kgnav_mcp.adapters.sparql_base import queries
from kgnav_mcp.adapters.sparql_base.literal_forms import date_time
from kgnav_mcp.adapters.sparql_base.query_reader import Reader
from kgnav_mcp.adapters.sparql_base.terms import Fragment, comma_separated
from kgnav_mcp.port.wanted_values import WantedValue
from kgnav_mcp.values.comparison import Period
from kgnav_mcp.values.scalars import NUMBERS

_FLOATS = ("double", "float")
_ALL_NUMBERS = comma_separated(*(XSD[kind] for kind in sorted(NUMBERS)))
_EXACT_NUMBERS = comma_separated(*(XSD[kind] for kind in sorted(NUMBERS.difference(_FLOATS))))
_ONLY_FLOATS = comma_separated(*(XSD[kind] for kind in _FLOATS))
_DATES = comma_separated(XSD.date, XSD.dateTime, XSD.dateTimeStamp, XSD.gYear, XSD.gYearMonth)
_EXACT = 2**53
"""Integers below this are exact also as doubles."""
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
        yield reader.part(queries.EQUAL_DOUBLE, value=value, numbers=_ALL_NUMBERS, number=Literal(float(number)))
        return
    yield reader.part(queries.EQUAL_NUMBER, value=value, numbers=_EXACT_NUMBERS, number=Literal(int(number)))
    if float(number) == number:
        yield reader.part(queries.EQUAL_DOUBLE, value=value, numbers=_ONLY_FLOATS, number=Literal(float(number)))


def date_form(period: Period) -> str:
    """The regular expression of the texts of dates that equal a date, apart from times in other zones than UTC.

    A date equals both those of a part of its time, and those that are less precise.
    """
    given = [f"{part:02}" for part in map(int, period.parts[1:5])]
    month, day = (*given, _TWO_DIGITS, _TWO_DIGITS)[:2]
    year = date_time(period.first).partition("T")[0][:-6]
    time = "[0-9:.]+"
    if len(given) > 2:
        time = f"{given[2]}:{given[3]}(:[0-9.]+)?"
    if len(period.parts) > 5:
        whole, _, fraction = f"{period.parts[5]:012.9f}".rstrip("0").partition(".")
        time = f"{given[2]}:{given[3]}(:{whole}{rf'[.]{fraction}0*' if fraction else '([.]0*)?'})?"
    return f"^{year}((-{month}(-{day})?)?{_ZONE}|-{month}-{day}T{time}{_UTC})$"
