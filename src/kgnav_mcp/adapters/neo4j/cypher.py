"""Queries as Cypher text: templates filled with names, which the language has no parameters for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from kgnav_mcp.adapters.neo4j import queries
from kgnav_mcp.model import Direction


def quoted(name: str) -> str:
    """A label, a type or a key of the catalogue, as Cypher writes any text as a name."""
    return "`" + name.replace("`", "``") + "`"


def labelled(name: str | None) -> str:
    """A label or a type behind a variable; nothing for None."""
    return "" if name is None else f":{quoted(name)}"


def edge(direction: Direction, types: Iterable[str] | None = None, variable: str = "r") -> str:
    """The edges of some types, or of all, as they leave or enter the node written before them."""
    inner = variable + (":" + "|".join(map(quoted, types)) if types is not None else "")
    return f"-[{inner}]->" if direction is Direction.OUTGOING else f"<-[{inner}]-"


def degree(direction: Direction, types: Sequence[str] | None = None) -> str:
    """The number of edges of some types, or of all, at `n`."""
    if types is None:
        return queries.DEGREE.replace("{edge}", edge(direction, variable=""))
    return " + ".join(queries.DEGREE.replace("{edge}", edge(direction, [name], variable="")) for name in types) or "0"


def degrees(direction: Direction, types: Sequence[str]) -> str:
    """The number of edges of each type at `n`, as pairs."""
    # The place stands for the name: no type's name is text of a query but where it is a name.
    return f"[{', '.join(f'[{place}, {degree(direction, [name])}]' for place, name in enumerate(types))}]"


def apoc_degrees(direction: Direction) -> str:
    """The same by APOC, for a node's own types."""
    return queries.APOC_DEGREES.replace("{function}", queries.APOC_FUNCTIONS[direction])


def types(direction: Direction, names: Sequence[str]) -> str:
    """Edges of each type at `n`: how many, and a few far ends."""
    return ", ".join(
        filled(queries.TYPE, degree=degree(direction, [name]), ends=ends(direction, name)) for name in names
    )


def ends(direction: Direction, name: str) -> str:
    """A few far ends of the edges of one type at `n`."""
    return filled(queries.EXAMPLES_OF_TYPE, edge=edge(direction, [name], variable=""))


@lru_cache(maxsize=1_000)
def filled(template: str, **parts: str) -> str:
    """A query with its parts put in, in one pass: a part is never searched for places. Its names are quoted already."""
    known = {"cell": _NEAR, "far": _FAR, "own": queries.OWN, **parts}
    return _PLACE.sub(lambda match: known[match[1]], template)


_PLACE = re.compile(r"\{(\w+)\}")
_NEAR = queries.CELL.replace("{n}", "n").replace("{keys}", "described")
_FAR = queries.CELL.replace("{n}", "m").replace("{keys}", "shown")
