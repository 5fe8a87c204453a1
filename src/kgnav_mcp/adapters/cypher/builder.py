"""Builds queries from templates. Fills in the words of a dialect, and names, as Cypher has no parameters for names.

A template has placeholders: `{degree}` for a part, `{is_list(n[key])}` for a part with an argument, and
`{labels({variable})}` for one whose argument is a part. They are filled in one pass: placeholders inside a part are not
filled. Names come only from the catalogue, and are quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import lru_cache

from kgnav_mcp.adapters.cypher import queries
from kgnav_mcp.adapters.cypher.dialect import Dialect
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Direction

_PLACE = re.compile(r"\{(\w+)(?:\((?:([\w\[\]]+)|\{(\w+)\})\))?\}")


def quoted(name: str) -> str:
    """A label, relationship type or property key, quoted in backticks as Cypher needs it."""
    return "`" + name.replace("`", "``") + "`"


def labelled(name: str | None) -> str:
    """A label or type as written after a variable (`` :`Film` ``); empty for None."""
    return "" if name is None else f":{quoted(name)}"


def edge(direction: Direction, types: Iterable[str] | None = None, variable: str = "r") -> str:
    """The edge part of a pattern, of some types or any, in a direction seen from the node written before it."""
    inner = variable + (":" + "|".join(map(quoted, types)) if types is not None else "")
    return f"-[{inner}]->" if direction is Direction.OUTGOING else f"<-[{inner}]-"


class Builder:
    """Fills templates with the words of one dialect."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        texts = {each.name: getattr(dialect, each.name) for each in fields(dialect)}
        self._known: dict[str, str] = {name: text for name, text in texts.items() if isinstance(text, str)}
        for name, template in queries.PARTS.items():
            with suppress(Unsupported):  # raised where a query needs the part
                self._known[name] = self._fill(template)
        self.fill = lru_cache(1_000)(self._fill)

    def _fill(self, template: str, **parts: str) -> str:
        """The template with its placeholders filled. A part that takes an argument has `{x}` where it goes.

        Raises:
            Unsupported: the dialect does not have a construct that the template needs.
        """
        known = {**self._known, **parts}

        def part(place: re.Match[str]) -> str:
            name, argument, argument_part = place.groups()
            if name not in known and (name in queries.PARTS or hasattr(self.dialect, name)):
                raise self._missing(name)
            argument = known[argument_part] if argument_part is not None else argument
            return known[name] if argument is None else known[name].replace("{x}", argument)

        return _PLACE.sub(part, template)

    def node_id(self, variable: str) -> str:
        """The expression for the store's own id of a node."""
        return self.dialect.node_id.replace("{x}", variable)

    def degree(self, direction: Direction, types: Sequence[str] | None = None) -> str:
        """The expression for the number of edges of some types, or of all, at `n`."""
        kinds = [None] if types is None else [[name] for name in types]
        return " + ".join(self.construct("degree", edge=edge(direction, kind, "")) for kind in kinds) or "0"

    def degrees(self, direction: Direction, types: Sequence[str]) -> str:
        """The list of the numbers of edges of each type at `n`, in the order of the types."""
        return f"[{', '.join(self.degree(direction, [name]) for name in types)}]"

    def subquery(self, variables: str, template: str, **parts: str) -> str:
        """A subquery that is run for each row and may use these variables of it."""
        importing = f"WITH {variables}" if variables else ""
        return self.construct("subquery", variables=variables, importing=importing, query=self.fill(template, **parts))

    def collected(self, template: str, **parts: str) -> str:
        """An expression for the only column of a query, as a list."""
        return self.construct("collected", query=self.fill(template, **parts))

    def construct(self, name: str, **parts: str) -> str:
        """A construct of the dialect, by the name of its field, with its placeholders filled.

        Raises:
            Unsupported: the dialect does not have it.
        """
        template: str | None = getattr(self.dialect, name)
        if template is None:
            raise self._missing(name)
        return self.fill(template, **parts)

    def _missing(self, name: str) -> Unsupported:
        return Unsupported(f"{self.dialect.store} has no construct for {name.replace('_', ' ')}")
