"""Options that say which properties are ids, names, aliases and descriptions (a graph's table in kgnav.toml)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from kgnav_mcp.adapters import wellknown
from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.options import PREFIXES, read_prefixes
from kgnav_mcp.errors import ConfigurationError

OPTIONS = ("keys", "names", "aliases", "descriptions", PREFIXES)

_NAMES = ("name", "title", "label")
"""The default name properties, in order of preference. Letter case does not matter."""
_ALIASES = ("aka", "alias", "aliases")
_DESCRIPTIONS = ("description",)

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PropertyOptions:
    """The properties with a special meaning. By label: `keys`, which identify nodes, and `names_of`.

    For any node: `names`, `aliases` and `descriptions`.
    """

    keys: Mapping[str, str]
    names: Texts
    names_of: Mapping[str, Texts]
    aliases: Texts
    descriptions: Texts
    prefixes: Prefixes
    """Prefixes of ids in whose place a key holds the IRI."""
    stated: tuple[tuple[str, str | None, str], ...] = ()
    """The configured properties: option, label (None: of any) and property. Without the usual ones."""

    @classmethod
    def read(cls, given: Mapping[str, object]) -> PropertyOptions:
        """Read `keys` (label = property), `names` (a list, or label = property), `aliases`, `descriptions`, `prefixes`.

        Raises:
            ConfigurationError: one has the wrong type.
        """
        names, names_of = _names(given.get("names", _NAMES))
        keys = {label: _one(value, "keys") for label, value in _table(given.get("keys", {}), "keys").items()}
        aliases = _list(given.get("aliases", _ALIASES), "aliases")
        descriptions = _list(given.get("descriptions", _DESCRIPTIONS), "descriptions")
        lists = {"names": () if names_of else names, "aliases": aliases, "descriptions": descriptions}
        stated = [
            *(("keys", label, name) for label, name in keys.items()),
            *(("names", label, name) for label, own in names_of.items() for name in own),
            *((option, None, name) for option, texts in lists.items() if option in given for name in texts),
        ]
        prefixes = Prefixes(read_prefixes(given), wellknown.PREFIXES)
        return cls(keys, names, names_of, aliases, descriptions, prefixes, tuple(stated))


def _names(value: object) -> tuple[Texts, Mapping[str, Texts]]:
    """The properties that are names of any node, and by label those that are tried first."""
    if not isinstance(value, dict):
        return _list(value, "names"), {}
    by_label = _table(cast("object", value), "names")
    return _NAMES, {label: _list(names, "names") for label, names in by_label.items()}


def _one(value: object, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise ConfigurationError(
            f"the option {key!r} must be a table with a property for each label",
            next_step=f'Write it as {key} = {{ Label = "id" }}.',
        )
    return value


def _list(value: object, key: str) -> Texts:
    found = (value,) if isinstance(value, str) else value
    if not isinstance(found, list | tuple) or not all(isinstance(one, str) for one in cast("list[object]", found)):
        raise ConfigurationError(
            f"the option {key!r} must be a list of properties", next_step=f'Write it as {key} = ["x"].'
        )
    return tuple(cast("list[str]", found))


def _table(value: object, key: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise ConfigurationError(
            f"the option {key!r} must be a table by label", next_step=f'Write it as {key} = {{ Label = "property" }}.'
        )
    return cast("Mapping[str, object]", value)
