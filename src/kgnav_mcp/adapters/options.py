"""What every kind of store checks alike in the options of a graph (its table `options` in kgnav.toml)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import cast

from kgnav_mcp.adapters.naming import is_iri
from kgnav_mcp.errors import ConfigurationError

PREFIXES = "prefixes"
"""The option that maps prefixes to namespaces."""


def refuse_unknown(store: str, given: Iterable[str], known: Sequence[str]) -> None:
    """Check that a kind of store, named with its article, has all options that are given.

    Raises:
        ConfigurationError: one is unknown; carries the nearest known one, and all of them.
    """
    for key in given:
        if key not in known:
            nearest = get_close_matches(key, known, n=1)
            meant = f"Did you mean {nearest[0]!r}? " if nearest else ""
            raise ConfigurationError(
                f"{store} has no option {key!r}", next_step=f"{meant}Its options are: {', '.join(known)}."
            )


def read_prefixes(given: Mapping[str, object]) -> dict[str, str]:
    """The option `prefixes`: namespaces by prefix.

    Raises:
        ConfigurationError: it is no table, or one of the namespaces is no IRI.
    """
    table = given.get(PREFIXES, {})
    if not isinstance(table, Mapping):
        raise ConfigurationError(
            f"the option {PREFIXES!r} is a table", next_step='Write it as prefixes = { ex = "http://example.org/" }.'
        )
    found = {str(name): namespace for name, namespace in cast("Mapping[object, object]", table).items()}
    for name, namespace in found.items():
        if not isinstance(namespace, str) or not is_iri(namespace):
            raise ConfigurationError(
                f"the prefix {name!r} stands for one IRI", next_step=f'Write it as {name} = "http://...".'
            )
    return cast("dict[str, str]", found)
