"""Kinds of values: number, text, date, boolean. Values of different kinds are never equal."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from kgnav_mcp.clipping import echoed
from kgnav_mcp.languages.cypher import write_part
from kgnav_mcp.model import NODE_VALUES
from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems
from kgnav_mcp.plan import Aggregate, Call, Compare, Comparison, Constant, Function, Property
from kgnav_mcp.values.scalars import DATES, NUMBERS

QUANTITY = "quantity"
"""The kind of a Wikibase's quantities: numbers, but texts if they have a unit, as `1.96 metre`."""
EDGE = "edge"
"""The kind of an edge itself."""
_KIND = {
    **{name.casefold(): "number" for name in ("number", *NUMBERS)},
    **{name.casefold(): "date" for name in ("zonedDatetime", "zoned_datetime", *DATES)},
    **dict.fromkeys(("bool", "boolean"), "boolean"),
    **dict.fromkeys(
        ["externalid", "langstring", "monolingualtext", "normalizedstring", "str", "string", "text", "token"], "text"
    ),
}
"""The kind of values by the name of a datatype, in lower case. Other datatypes are kinds of their own."""
_PLURAL = {
    "number": "numbers",
    "text": "texts",
    "date": "dates",
    "boolean": "true or false",
    NODE_VALUES: "nodes",
    EDGE: "edges",
}
_NEVER_EQUAL = {
    "number": frozenset({"text", "date", "boolean", NODE_VALUES}),
    "text": frozenset({"number", "boolean"}),
    "boolean": frozenset({"text", "date", "number", NODE_VALUES}),
}
"""For each kind the kinds that it never equals. A text is absent from some: it may be a date or the name of a node."""
_OF_ORDER = frozenset({Comparison.LESS, Comparison.AT_MOST, Comparison.GREATER, Comparison.AT_LEAST})
_OF_TEXTS = frozenset({Comparison.CONTAINS, Comparison.STARTS_WITH, Comparison.ENDS_WITH, Comparison.MATCHES})


def kinds_of(datatypes: Iterable[Sequence[str]]) -> frozenset[str]:
    """The kinds of values of some properties: `number`, `text`, `date`, `boolean`, `node`, or another datatype.

    Empty if the datatypes of one of the properties are unknown.
    """
    found = list(datatypes)
    if not all(found):
        return frozenset()
    return frozenset(_KIND.get(name, name) for each in found for name in map(_datatype_name, each))


def is_of_languages(datatype: str) -> bool:
    """Whether a datatype is that of texts with a language."""
    return _datatype_name(datatype) == "langstring"


def report_no_numbers(aggregate: Aggregate, kinds: frozenset[str], problems: PlanProblems) -> None:
    """Report a sum or average of values that are of these kinds, if none of them is a number."""
    if QUANTITY in kinds:
        problems.notes.append(_without_units(write_part(aggregate)))
    if not kinds or "number" in kinds or not kinds <= _PLURAL.keys():
        return
    text = aggregate.of if "text" in kinds else None
    as_numbers = None if text is None else replace(aggregate, of=Call(Function.NUMBER, (text,)))
    reason = f"its values are {_listed(kinds)}, but {aggregate.function} needs numbers"
    problems.add(write_part(aggregate), reason, [] if as_numbers is None else [write_part(as_numbers)])
    problems.correct(aggregate, as_numbers)


def report_other_kinds(
    condition: Compare,
    prop: Property,
    kinds: frozenset[str],
    constants: Sequence[Constant],
    problems: PlanProblems,
    *,
    written: Compare,
) -> None:
    """Report comparisons of a property that are never true, because its values are of these kinds.

    `condition` is what is `written`, with the property on the left.
    """
    if not kinds:
        return
    if QUANTITY in kinds:
        if any(_kind_of(constant) == "number" for constant in constants):
            problems.notes.append(_without_units(write_part(condition)))
        if not any(_may_have_unit(constant, condition.comparison) for constant in constants):
            kinds = kinds - {QUANTITY} | {"number"}
    place, values = write_part(prop), _listed(kinds)
    if condition.comparison in _OF_TEXTS:
        if kinds <= _NEVER_EQUAL["text"]:
            as_text = Compare(Call(Function.TEXT, (prop,)), condition.comparison, condition.right)
            reason = f"its values are {values}, {condition.comparison} compares texts"
            problems.add(place, reason, [write_part(as_text)])
            problems.correct(written, as_text)
        return
    for constant in constants:
        kind = _kind_of(constant)
        if kinds <= _NEVER_EQUAL[kind]:
            if kind == "number" and kinds == frozenset(("text",)) and condition.comparison in _OF_ORDER:
                # As texts, 9 comes after 10; as integers, 9.5 is not more than 9.
                as_number = Compare(Call(Function.NUMBER, (prop,)), condition.comparison, condition.right)
                reason = f"its values are {values}, {write_part(constant)} is a number"
                problems.add(place, reason, [write_part(as_number)])
                problems.correct(written, as_number)
                continue
            converted = _converted(kinds, constant)
            constant_text = echoed(constant.value) if isinstance(constant.value, str) else write_part(constant)
            reason = (
                f"its values are {values}, {constant_text} is {'true or false' if kind == 'boolean' else f'a {kind}'}"
            )
            problems.add(place, reason, [] if converted is None else [write_part(converted)])
            problems.correct(constant, converted)


def _without_units(place: str) -> str:
    return f"{place}: quantities with a unit ('1.96 metre') are texts, and ignored here."


def _may_have_unit(constant: Constant, comparison: Comparison) -> bool:
    """Whether a constant may be a quantity with a unit, or a part of one if parts of texts are compared."""
    if not isinstance(constant.value, str):
        return False
    form = r".*[^\W\d]" if comparison in _OF_TEXTS else r"[-+]?[\d.]+(E[-+]?\d+)? \S"
    return re.match(form, constant.value, re.DOTALL | re.IGNORECASE) is not None


def _listed(kinds: frozenset[str]) -> str:
    return " and ".join(_PLURAL.get(kind, kind) for kind in sorted(kinds))


def _kind_of(constant: Constant) -> str:
    if isinstance(constant.value, bool):
        return "boolean"
    return "text" if isinstance(constant.value, str) else "number"


def _converted(kinds: frozenset[str], constant: Constant) -> Constant | None:
    """The constant converted to one of these kinds; None if it cannot be."""
    value = constant.value
    if not isinstance(value, str):
        return Constant(write_part(constant)) if kinds & {"text", "date"} else None
    if "boolean" in kinds and value.casefold() in {"true", "false"}:
        return Constant(value.casefold() == "true")
    for kind in (int, float) if "number" in kinds else ():
        try:
            return Constant(kind(value))
        except ValueError:
            continue
    return None


def _datatype_name(datatype: str) -> str:
    """The last part of a datatype's id, in lower case and without hyphens."""
    return datatype.rsplit(":", 1)[-1].rsplit("#", 1)[-1].casefold().replace("-", "")
