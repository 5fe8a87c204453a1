"""RDF literals that a text may stand for. They are looked up where a property has too many values to compare."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rdflib import XSD, Literal

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
    """A text as literals: plain, in each language, and of each usual datatype whose form it has."""
    plain = [Literal(value), *(Literal(value, lang=language) for language in languages)]
    forms = _FORMS.items()
    typed = [Literal(value, datatype=datatype, normalize=False) for datatype, form in forms if form.fullmatch(value)]
    return [*plain, *typed]


def lookup_note(languages: Sequence[str]) -> str:
    """The note on a list that was looked up by `usual_terms`."""
    known = ", ".join(languages)
    return (
        "The property has too many values to compare them all: "
        f"texts in other languages than {known}, and values of unusual datatypes, were not looked for."
    )
