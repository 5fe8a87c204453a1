"""Normalizes answers, so that different spellings of a value are equal and different values are not.

The rules are those of SQuAD's evaluation, which CWQ's and WebQSP's follow (lower case, no punctuation, no articles,
single spaces), with three differences that keep different values apart: numbers and dates are compared as values before
punctuation is dropped (1.5 is not 15), symbols are kept (C, C++ and C# are three languages), and a name that consists
of articles or punctuation only is kept as it is.
"""

from __future__ import annotations

import re
import unicodedata
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from kgnav_bench.records import AnswerKind

Key = tuple[Literal["number", "date", "boolean", "id", "text"], str | Decimal | bool]
"""A normalized answer: two answers are the same value if their keys are equal."""

_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_KEPT_PUNCTUATION: Final = frozenset("#%&@")
_NUMBER: Final = re.compile(r"[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?", re.ASCII)
"""A leading zero makes a code of it, such as 007."""
_LITERAL: Final = re.compile(r'"(?P<value>.*)"(?:\^\^\S+|@[A-Za-z-]+)?', re.DOTALL)
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH: Final = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_ISO_DATE: Final = re.compile(
    r"(?P<date>-?\d{4}-\d{2}(?:-\d{2})?)(?:T(?P<time>[\d:.]+))?(?P<zone>Z|[+-]\d{2}:\d{2})?", re.ASCII
)
_WORDED_DATES: Final = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH})\.?,? (?P<year>\d{{4}})",
        rf"(?P<month>{_MONTH})\.?,? (?P<year>\d{{4}})",
    )
)
_MIDNIGHT: Final = re.compile(r"0{2}:0{2}(?::0{2}(?:\.0+)?)?")
_WIKIDATA: Final = re.compile(r"(?:https?://www\.wikidata\.org/(?:entity|wiki)/|wd:|entity:)?(?P<id>[QPL][1-9]\d*)")
_FREEBASE: Final = re.compile(r"(?:http://rdf\.freebase\.com/ns/|ns:|fb:|freebase:|/)?(?P<kind>[mg])[./](?P<id>\w+)")
_BOOLEANS: Final = {"true": True, "yes": True, "false": False, "no": False}


@lru_cache(maxsize=1 << 17)
def key(text: str, kind: AnswerKind = AnswerKind.ENTITIES) -> Key:
    """The normalized form of one answer.

    An RDF literal counts by its value (`"5"^^xsd:integer` is 5). In answers to a yes-or-no question `yes` is `True`; in
    others it is a text.
    """
    text = unicodedata.normalize("NFC", text).strip()
    if literal := _LITERAL.fullmatch(text):
        text = literal["value"].strip()
    if kind is AnswerKind.BOOLEAN and (value := _BOOLEANS.get(normalize_text(text))) is not None:
        return "boolean", value
    if (number := _number(text)) is not None:
        return "number", number
    if (date := _date(text)) is not None:
        return "date", date
    return "text", normalize_text(text)


def normalize_text(text: str) -> str:
    """A text in lower case, without punctuation, articles and repeated spaces."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(
        each for each in folded if each in _KEPT_PUNCTUATION or not unicodedata.category(each).startswith("P")
    )
    return " ".join(_ARTICLES.sub(" ", kept).split()) or " ".join(folded.split())


def entity_id(text: str) -> Key:
    """The normalized id of an entity: one form for Wikidata's (Q42, wd:Q42, the IRI) and for Freebase's (m.0d, /m/0d).

    Any other id is compared as it is, with its letter case.
    """
    text = text.strip().removeprefix("<").removesuffix(">")
    if match := _WIKIDATA.fullmatch(text):
        return "id", match["id"]
    if match := _FREEBASE.fullmatch(text):
        return "id", f"{match['kind']}.{match['id']}"
    return "id", text


def _number(text: str) -> Decimal | None:
    text = text.replace("\N{MINUS SIGN}", "-")
    return Decimal(text.replace(",", "")) if _NUMBER.fullmatch(text) else None


def _date(text: str) -> str | None:
    """A date of its precision, such as 1853-03-30 or 1853-03; None if the text is not one. A bare year is a number."""
    if match := _ISO_DATE.fullmatch(text):
        time = match["time"]
        return match["date"] if time is None or _MIDNIGHT.fullmatch(time) else f"{match['date']}T{time}"
    for form in _WORDED_DATES:
        if match := form.fullmatch(text):
            parts = match.groupdict()
            month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(parts["month"].lower()[:3]))
            day = f"-{int(parts['day']):02}" if parts.get("day") else ""
            return f"{parts['year']}-{month:02}{day}"
    return None
