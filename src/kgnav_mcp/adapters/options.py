"""Reads and checks a graph's options (its table `options` in kgnav.toml). Shared by all stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TypeVar, cast

from kgnav_mcp.clipping import clipped
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.model.ids import is_iri

T = TypeVar("T")

_NEAREST, _NAME = 3, 60
"""Maximum names suggested for an unknown one, and maximum characters of each."""

PREFIXES = "prefixes"
"""The option that maps prefixes to namespaces."""


def refuse_unknown(store: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Check that a store has all given options. `store` is its kind with the article ("a Neo4j graph").

    Raises:
        ConfigurationError: an option is unknown. The error suggests the most similar one and lists all.
    """
    for key in names:
        if key not in known:
            nearest = get_close_matches(key, known, n=1)
            meant = f"Did you mean {nearest[0]!r}? " if nearest else ""
            raise ConfigurationError(
                f"{store} has no option {key!r}", next_step=f"{meant}Its options are: {', '.join(known)}."
            )


def absent_name(option: str, kind: str, name: str, known: Iterable[str]) -> ConfigurationError:
    """The error for an option with the name of a label, property or relation (`kind`) that the graph does not have."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong name needs it

    folded = {each: each.casefold() for each in sorted(known)}
    found = process.extract(name.casefold(), folded, scorer=fuzz.WRatio, limit=_NEAREST)
    nearest = ", ".join(clipped(each, _NAME) for _, _, each in found)
    return ConfigurationError(
        f"the graph has no {kind} {clipped(name, _NAME)!r} of the option {option!r}",
        next_step=f"Use one of the nearest: {nearest}." if nearest else f"Omit the option {option}.",
    )


def read_prefixes(values: Mapping[str, object]) -> dict[str, str]:
    """The option `prefixes` as namespaces by prefix; empty if it is not given.

    Raises:
        ConfigurationError: the option is not a table, or a namespace is not an IRI.
    """
    table = values.get(PREFIXES, {})
    if not isinstance(table, Mapping):
        raise ConfigurationError(
            f"the option {PREFIXES!r} must be a table",
            next_step='Write it as prefixes = { ex = "http://example.org/" }.',
        )
    found = {str(name): namespace for name, namespace in cast("Mapping[object, object]", table).items()}
    for name, namespace in found.items():
        if not isinstance(namespace, str) or not is_iri(namespace):
            raise ConfigurationError(
                f"the prefix {name!r} must be one IRI", next_step=f'Write it as {name} = "http://...".'
            )
    return cast("dict[str, str]", found)


class Options:
    """Typed access to the options of a graph. Every method raises ConfigurationError if the value has another type."""

    def __init__(self, store: str, values: Mapping[str, object], known: Sequence[str]) -> None:
        """Wrap the given options.

        `store` is the kind of store with its article ("a Wikidata graph"), `known` all its options.
        """
        refuse_unknown(store, values, known)
        self._given = values

    def text(self, key: str, default: str = "") -> str:
        """A text option."""
        value = self._given.get(key, default)
        if not isinstance(value, str):
            raise ConfigurationError(f"the option {key!r} must be a text", next_step=f'Write it as {key} = "...".')
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, which may also be one text separated by commas; empty if the option is not given."""
        value = self._given.get(key, ())
        found = value.split(",") if isinstance(value, str) else value
        if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in cast("list[object]", found)):
            raise ConfigurationError(
                f"the option {key!r} must be a list of texts", next_step=f'Write it as {key} = ["..."].'
            )
        return tuple(text.strip() for text in cast("list[str]", found))

    def boolean(self, key: str, *, default: bool) -> bool:
        """A truth value, `true` or `false`."""
        value = self._given.get(key, default)
        if not isinstance(value, bool):
            raise ConfigurationError(
                f"the option {key!r} must be true or false", next_step=f"Write it as {key} = true."
            )
        return value

    def number(self, key: str, default: int | None) -> int | None:
        """A whole number, zero or more."""
        value = self._given.get(key, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            raise ConfigurationError(f"the option {key!r} must be a whole number", next_step=f"Write it as {key} = 24.")
        return value

    def choice(self, key: str, choices: Mapping[str, T], default: str | None = None) -> T:
        """The value in `choices` of the chosen word. Without the option, that of `default` or of the first word."""
        value = self._given.get(key, next(iter(choices)) if default is None else default)
        if not isinstance(value, str) or value not in choices:
            raise ConfigurationError(
                f"the option {key!r} has the invalid value {value!r}", next_step=f"Use one of: {', '.join(choices)}."
            )
        return choices[value]
