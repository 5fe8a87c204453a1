"""The arguments of a tool: strict about names, lenient about the form of values.

Clients with strict function calling send every argument, optional ones as `""`, `null` or `[]`. Others send a list as
JSON text, or one element instead of a list. This module, and no other, accepts all these forms. The published schemas
show only the plain form.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, ClassVar, Final, Literal, Union, cast, get_args, get_origin

from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from pydantic import ConfigDict, ValidationError, model_validator
from rapidfuzz import process

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import InvalidArgument

Json = dict[str, Any]
OneOrMany = str | list[str]
"""One id or name, or a list of them."""

_ERRORS_LISTED = 5
"""Maximum errors listed for one call."""


class Arguments(ArgModelBase):
    """Base class of a tool's arguments. Unknown arguments are refused."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, frozen=True)

    ids: ClassVar[frozenset[str]] = frozenset()
    """Names of the arguments that hold ids of entities or relations."""
    max_characters: ClassVar[int] = 4_000
    """Longest text accepted: twice the longest id that is printed."""
    max_elements: ClassVar[int] = 1_000
    """Longest list accepted."""

    @model_validator(mode="before")
    @classmethod
    def _normalize(cls, arguments: Json) -> Json:
        return cls.normalized(arguments)

    @classmethod
    def normalized(cls, arguments: Json) -> Json:
        """The arguments without blank optional ones, and with the other accepted forms of lists made lists."""
        result: Json = {}
        for name, value in arguments.items():
            field = cls.model_fields.get(name)
            forms = _alternatives(field.annotation) if field is not None else []
            if list in forms:
                value = _elements(value, text_too=str in forms)  # noqa: PLW2901 - the same value in another form
            if dict in forms and isinstance(value, str) and value.lstrip().startswith("{"):
                value = _json(value) or value  # noqa: PLW2901 - as above
            if field is None or field.is_required() or not _is_blank(value):
                result[name] = value
        return result

    def check_sizes(self) -> None:
        """Refuse arguments that are too large, before any query of the store.

        Raises:
            InvalidArgument: a text or a list is too long.
        """
        for name, value in self.model_dump_one_level().items():
            elements = cast("list[object]", value) if isinstance(value, list) else [value]
            characters = max((len(element) for element in elements if isinstance(element, str)), default=0)
            if characters > self.max_characters:
                raise InvalidArgument(
                    f"the argument {name!r} has {characters:,} characters",
                    next_step=f"Shorten it to at most {self.max_characters:,}.",
                )
            if len(elements) > self.max_elements:
                raise InvalidArgument(
                    f"the argument {name!r} has {len(elements):,} elements",
                    next_step=f"Split it into calls with at most {self.max_elements:,} each.",
                )

    def without_cursor(self) -> Mapping[str, object]:
        """The given arguments except the cursor."""
        arguments = self.model_dump_one_level()
        return {name: value for name, value in arguments.items() if name != "cursor" and value is not None}


class Metadata(FuncMetadata):
    """The SDK's argument reader, except that a text that looks like JSON (`null`, `1`) stays a text."""

    def pre_parse_json(self, data: Json) -> Json:
        """The arguments as they were sent: no text is parsed."""
        return data


@cache
def _alternatives(annotation: object) -> list[object]:
    """The types that an annotation allows, without their type parameters."""
    is_union = get_origin(annotation) in (Union, UnionType)
    return [get_origin(part) or part for part in (get_args(annotation) if is_union else (annotation,))]


def _is_blank(value: object) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def _elements(value: object, *, text_too: bool) -> object:
    """A list without blank elements, given as a list, as JSON text or as its only element.

    With `text_too` the argument may be a text as well: a single element stays a text, and JSON is parsed only if it is
    a list of texts.
    """
    if isinstance(value, str):
        parsed = _json(value) if value.lstrip().startswith("[") else None
        is_list = _are_texts(parsed) if text_too else isinstance(parsed, list)
        value = cast("list[object]", parsed) if is_list else [value]
    if not isinstance(value, list):
        return value
    elements = [element for element in cast("list[object]", value) if not _is_blank(element)]
    return elements[0] if text_too and len(elements) == 1 else elements


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(element, str) for element in cast("list[object]", value))


def _json(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def validation_text(tool: str, schema: Json, error: ValidationError) -> str:
    """The text of a validation error: which argument is wrong, why, and what is valid."""
    properties: dict[str, Json] = schema.get("properties", {})
    lines: list[str] = []
    for finding in error.errors(include_url=False, include_context=False)[:_ERRORS_LISTED]:
        name = str(finding["loc"][0]) if finding["loc"] else ""
        if finding["type"] == "extra_forbidden":
            nearest = nearest_argument(name, properties)
            hint = f" Did you mean {nearest!r}?" if nearest else ""
            lines.append(f"Invalid call: {tool} has no argument {echoed(name)}.{hint}")
        elif finding["type"] == "missing":
            lines.append(f"Invalid call: {tool} needs the argument {name!r}. {properties[name].get('description', '')}")
        elif finding["type"] == "too_short":
            lines.append(f"Invalid call: {name!r} is empty. {properties[name].get('description', '')}")
        else:
            lines.append(
                f"Invalid call: {name!r} is not valid: {finding['msg']}. {_expected(properties.get(name, {}))}".strip()
            )
    more = error.error_count() - _ERRORS_LISTED
    if more > 0:
        lines.append(f"{more:,} more mistakes.")
    required = ", ".join(schema.get("required", []))
    optional = ", ".join(name for name in properties if name not in schema.get("required", []))
    lines.append(
        f"Next: call {tool} with {required or 'no argument'}" + (f"; optional: {optional}." if optional else ".")
    )
    return "\n".join(dict.fromkeys(lines))


def nearest_argument(name: str, names: Mapping[str, object]) -> str | None:
    """The known argument most similar to a name; None if none is similar."""
    match = process.extractOne(name[:_LONGEST_NAME], list(names), score_cutoff=60)
    return match[0] if match else None


_LONGEST_NAME = 100
"""Maximum characters of an unknown argument's name that are compared."""


def _expected(schema: Json) -> str:
    """The description of an argument; empty if the error already lists its choices."""
    return "" if "enum" in schema else str(schema.get("description", ""))


def compact_schema(schema: Json) -> Json:
    """The JSON schema without titles, without `null` for optional arguments, and without integers beside numbers."""
    result: Json = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {
                name: compact_schema(_simplified(part)) for name, part in cast("dict[str, Json]", value).items()
            }
        elif key == "items":
            result[key] = compact_schema(cast("Json", value))
        elif key not in ("title", "default") or (key == "default" and value not in (None, [])):
            result[key] = value
    result.pop("description", None) if "properties" in schema else None
    return result


def _simplified(schema: Json) -> Json:
    options = [option for option in schema.get("anyOf", []) if option.get("type") != "null"]
    if {"type": "number"} in options:  # it covers integers
        return {**schema, "anyOf": [option for option in options if option != {"type": "integer"}]}
    if len(options) != 1:
        return schema
    return {**{key: value for key, value in schema.items() if key != "anyOf"}, **options[0]}


ENTITY_DESCRIPTION = "Entity id as printed, or a name that only one entity has; or a list of them."
CURSOR_DESCRIPTION = "From `next: cursor` in the last answer."
QUESTION_DESCRIPTION = "The question to answer; ranks the relations."
EITHER: Final = "either"
EitherDirection = Literal["outgoing", "incoming", "either"]
"""A direction, or `either` for both."""
