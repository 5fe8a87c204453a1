"""The arguments of a tool: strict in their names, lenient in their forms.

Clients with strict function calling send every argument, the optional ones as `""`, `null` or `[]`; others send a list
as JSON text, or one element in place of a list. All of it is understood here, and nowhere else. The published schemas
say only the plain form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import UnionType
from typing import Any, ClassVar, Union, cast, get_args, get_origin

from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from pydantic import ConfigDict, ValidationError, model_validator
from rapidfuzz import process

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidArgument

Json = dict[str, Any]
OneOrMany = str | list[str]
"""One id or name, or a list of them."""

_FINDINGS = 5
"""Most mistakes of one call that are listed."""


class Arguments(ArgModelBase):
    """The arguments of a tool. Any other argument is refused."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, frozen=True)

    ids: ClassVar[frozenset[str]] = frozenset()
    """The arguments that are ids of entities or relations."""
    max_characters: ClassVar[int] = 4_000
    """Longest text that is read: twice the longest id that is printed."""
    max_elements: ClassVar[int] = 1_000
    """Longest list that is read."""

    @model_validator(mode="before")
    @classmethod
    def _normalize(cls, given: Json) -> Json:
        return cls.normalized(given)

    @classmethod
    def normalized(cls, given: Json) -> Json:
        """The arguments without optional ones that are blank, and with lists as lists, whatever form they came in."""
        kept: Json = {}
        for name, value in given.items():
            field = cls.model_fields.get(name)
            forms = _alternatives(field.annotation) if field is not None else []
            if list in forms:
                value = _elements(value, text_too=str in forms)  # noqa: PLW2901 - the same value in another form
            if field is None or field.is_required() or not _blank(value):
                kept[name] = value
        return kept

    def check_sizes(self) -> None:
        """Refuse what is too large, before a store is asked for it.

        Raises:
            InvalidArgument: a text or a list is too long.
        """
        for name, value in self.model_dump_one_level().items():
            elements = cast("list[object]", value) if isinstance(value, list) else [value]
            characters = max((len(each) for each in elements if isinstance(each, str)), default=0)
            if characters > self.max_characters:
                raise InvalidArgument(
                    f"the argument {name!r} has {characters:,} characters",
                    next_step=f"Shorten it: at most {self.max_characters:,} are read.",
                )
            if len(elements) > self.max_elements:
                raise InvalidArgument(
                    f"the argument {name!r} has {len(elements):,} elements",
                    next_step=f"Divide it among several calls: at most {self.max_elements:,} are read.",
                )

    def without_cursor(self) -> Mapping[str, object]:
        """The arguments that were given, but the cursor."""
        given = self.model_dump_one_level()
        return {name: value for name, value in given.items() if name != "cursor" and value is not None}


class Metadata(FuncMetadata):
    """Reads arguments as the SDK does, but takes a text that looks like JSON (`null`, `1`) for a text."""

    def pre_parse_json(self, data: Json) -> Json:
        return data


def _alternatives(annotation: object) -> list[object]:
    """The types that an annotation allows, without what they hold."""
    is_union = get_origin(annotation) in (Union, UnionType)
    return [get_origin(part) or part for part in (get_args(annotation) if is_union else (annotation,))]


def _blank(value: object) -> bool:
    return value is None or value == [] or (isinstance(value, str) and not value.strip())


def _elements(value: object, *, text_too: bool) -> object:
    """A list without blank elements, also where it came as JSON text or as its only element.

    Where a text will do as well (`text_too`), one element is not made a list, and only a list of texts is read as JSON.
    """
    if isinstance(value, str):
        parsed = _json(value) if value.lstrip().startswith("[") else None
        is_list = _are_texts(parsed) if text_too else isinstance(parsed, list)
        value = cast("list[object]", parsed) if is_list else [value]
    if not isinstance(value, list):
        return value
    kept = [each for each in cast("list[object]", value) if not _blank(each)]
    return kept[0] if text_too and len(kept) == 1 else kept


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in cast("list[object]", value))


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def validation_text(tool: str, schema: Json, error: ValidationError) -> str:
    """A validation error in sentences: which argument, what is wrong with it, what it may be."""
    known: dict[str, Json] = schema.get("properties", {})
    lines: list[str] = []
    for finding in error.errors(include_url=False, include_context=False)[:_FINDINGS]:
        name = str(finding["loc"][0]) if finding["loc"] else ""
        if finding["type"] == "extra_forbidden":
            nearest = nearest_argument(name, known)
            hint = f" Did you mean {nearest!r}?" if nearest else ""
            lines.append(f"Invalid call: {tool} has no argument {echoed(name)}.{hint}")
        elif finding["type"] == "missing":
            lines.append(f"Invalid call: {tool} needs the argument {name!r}. {known[name].get('description', '')}")
        elif finding["type"] == "too_short":
            lines.append(f"Invalid call: {name!r} is empty. {known[name].get('description', '')}")
        else:
            lines.append(
                f"Invalid call: {name!r} is not valid: {finding['msg']}. {_expected(known.get(name, {}))}".strip()
            )
    more = error.error_count() - _FINDINGS
    if more > 0:
        lines.append(f"{more:,} more mistakes.")
    required = ", ".join(schema.get("required", []))
    optional = ", ".join(name for name in known if name not in schema.get("required", []))
    lines.append(
        f"Next: call {tool} with {required or 'no argument'}" + (f"; optional: {optional}." if optional else ".")
    )
    return "\n".join(dict.fromkeys(lines))


def nearest_argument(name: str, known: Mapping[str, object]) -> str | None:
    """The known argument most like a name; None where none is like it."""
    found = process.extractOne(name[:_LONGEST_NAME], list(known), score_cutoff=60)
    return found[0] if found else None


_LONGEST_NAME = 100
"""Characters of an unknown argument's name that are compared."""


def _expected(schema: Json) -> str:
    """What an argument means, where the finding does not already list what it may be."""
    return "" if "enum" in schema else str(schema.get("description", ""))


def compact_schema(schema: Json) -> Json:
    """The JSON schema without titles, and without `null` where an argument can be left out."""
    kept: Json = {}
    for key, value in schema.items():
        if key == "properties":
            kept[key] = {
                name: compact_schema(_without_null(part)) for name, part in cast("dict[str, Json]", value).items()
            }
        elif key == "items":
            kept[key] = compact_schema(cast("Json", value))
        elif key not in ("title", "default") or (key == "default" and value not in (None, [])):
            kept[key] = value
    kept.pop("description", None) if schema.get("type") == "object" else None
    return kept


def _without_null(schema: Json) -> Json:
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    if len(options) != 1:
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **options[0]}
