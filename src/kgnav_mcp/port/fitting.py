"""Patterns that a store fits by itself: what it is asked, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

from kgnav_mcp.plan import Match


@dataclass(frozen=True, slots=True)
class FitQuestion:
    """Around which nodes a pattern fits, and how many times around each.

    The pattern is of a checked plan: no named paths, not optional, no path of edges but REACHABLE. Its `where` is made
    by AND, OR and NOT of what nodes are (`elementId(a) IN [...]`, `a = b`, `a <> b`, HasLabel) and of Exists, whose
    pattern is made so, too.
    """

    match: Match
    variables: tuple[str, ...]
    """The nodes of the pattern that are told, beside those that are given."""
    given: tuple[str, ...] = ()
    """Nodes that are known, which the pattern or its conditions name."""
    rows: tuple[tuple[str, ...], ...] = ((),)
    """Their ids: the pattern is fitted around each of these rows, which differ."""
    counted: str | None = None
    """The node whose different ones are counted, instead of the times that the pattern fits."""
    top: int | None = None
    """Only those with the largest numbers are wanted: so many at least, and all with the number of the last."""


@dataclass(frozen=True, slots=True)
class Fit:
    """The ids of nodes, first of those given, then of `variables`, and how many times the pattern fits around them.

    It does so once at least.
    """

    nodes: tuple[str, ...]
    number: int
