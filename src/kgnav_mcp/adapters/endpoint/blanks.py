"""Blank nodes: reads their triples, makes ids from these, and finds the node of such an id.

The label of a blank node is valid only within one answer. Therefore one query reads all that is needed: all triples of
the node and those of the blank nodes next to it. (An endpoint with a row cap returns them in several answers, but such
endpoints keep their labels.)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from rdflib import RDF, BNode, URIRef

from kgnav_mcp.adapters.endpoint import queries
from kgnav_mcp.adapters.endpoint.ids import BlankPath, Ids, Step
from kgnav_mcp.adapters.endpoint.reification import REIFIES
from kgnav_mcp.adapters.sparql.around.counts import BlankAnchor
from kgnav_mcp.adapters.sparql.reading import Reader, Row, boolean_in, iri_in, number_in
from kgnav_mcp.adapters.sparql.results import Term
from kgnav_mcp.adapters.sparql.terms import Fragment
from kgnav_mcp.model import Direction

_MAX_ROWS = 100_000
"""Maximum number of triples read to find one blank node among those that its path may lead to."""

Edge = tuple[URIRef, Term]
Route = tuple[URIRef | BlankPath, URIRef, bool]
"""How a blank node was reached: the start, the relation, and whether it was followed backwards."""


@dataclass(slots=True)
class Blank:
    """A blank node with its triples: `outgoing` as relation and tail, `incoming` as relation and head."""

    label: BNode
    outgoing: list[Edge] = field(default_factory=list[Edge])
    incoming: list[Edge] = field(default_factory=list[Edge])

    def edges(self, direction: Direction) -> list[Edge]:
        """The triples in one direction, as relation and far end."""
        return self.outgoing if direction is Direction.OUTGOING else self.incoming

    @property
    def mark(self) -> str:
        """A short hash of its triples without blank labels, which distinguishes it from other blank nodes."""
        lines = [
            f"{sign} {relation.n3()} {'' if isinstance(far, BNode) else far.n3()}"
            for sign, edges in (("+", self.outgoing), ("-", self.incoming))
            for relation, far in edges
        ]
        return blake2b("\n".join(sorted(lines)).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    def first_step(self) -> tuple[URIRef, URIRef, bool] | None:
        """The first step of its id: a neighbour with an IRI, the relation, and whether it is followed backwards.

        It does not depend on how the node was reached, so that no node has two ids. None without such a neighbour.
        """
        ways = [(str(far), str(relation), False) for relation, far in self.incoming if isinstance(far, URIRef)]
        ways = ways or [
            (str(far), str(relation), True)
            for relation, far in self.outgoing
            if isinstance(far, URIRef) and relation not in {RDF.type, REIFIES}
        ]
        if not ways:
            return None
        anchor, relation, inverse = min(ways)
        return URIRef(anchor), URIRef(relation), inverse


@dataclass(frozen=True, slots=True, eq=False)
class Resolved(BlankAnchor):
    """The blank node of an id, with the blank nodes next to it."""

    path: BlankPath
    blank: Blank
    near: Mapping[BNode, Blank]


class Blanks:
    """Reads blank nodes."""

    def __init__(self, reader: Reader, ids: Ids) -> None:
        self._reader = reader
        self._ids = ids

    @staticmethod
    def path(blank: Blank, route: Route, marks: Mapping[BNode, str]) -> BlankPath:
        """The path to a blank node.

        `route` is used where the node has no neighbour with an IRI. `marks` are those of all nodes read with it.
        """
        start, relation, inverse = blank.first_step() or route
        step = Step(relation, inverse, marks[blank.label])
        return start.on(step) if isinstance(start, BlankPath) else BlankPath(start, (step,))

    async def at(self, blanks: Fragment) -> list[tuple[Row, Blank]]:
        """Read the blank nodes that a pattern binds as ?b, each with its first row."""
        read = await self._reader.slice(queries.CONTENTS, 0, _MAX_ROWS, blanks=blanks)
        found: dict[tuple[str, ...], tuple[Row, Blank]] = {}
        by_label: dict[BNode, Blank] = {}
        seen: set[tuple[BNode, bool, URIRef, Term]] = set()
        for row in read.all_rows():
            label = row["b"]
            if not isinstance(label, BNode):
                continue
            blank = by_label.setdefault(label, Blank(label))
            found.setdefault((str(row.get("s", "")), str(row.get("p", "")), str(label)), (row, blank))
            edge = (label, boolean_in(row, "out"), iri_in(row, "q"), row["v"])
            if edge not in seen:
                seen.add(edge)
                (blank.outgoing if edge[1] else blank.incoming).append(edge[2:])
        return [found[key] for key in sorted(found)]

    async def resolved(self, path: BlankPath) -> Resolved | None:
        """Find the blank node that a path leads to; None if there is none."""
        depth = len(path.steps)
        last = f"?b{depth}"
        steps = self._steps(path)
        levels = [(" ".join(steps[: n + 1]), f"?b{n + 1}") for n in range(depth)]
        levels += [
            (f"{' '.join(steps)} {self._reader.filled(pattern, **_ends(last))}", "?b")
            for pattern in queries.STEP.values()
        ]
        union = " UNION ".join(
            self._reader.filled(queries.LEVEL, steps=Fragment(text), node=Fragment(node), level=level)
            for level, (text, node) in enumerate(levels, 1)
        )
        read = await self._reader.slice(queries.RESOLVE, 0, _MAX_ROWS, levels=Fragment(union))
        read.all_rows()
        labels: list[str] = []
        blank: Blank | None = None
        for n, step in enumerate(path.steps, 1):
            found = _grouped(
                row for row in read.rows if number_in(row, "level") == n and _on_path(row, labels, f"b{n}")
            )
            by_mark = {mark: label for label, mark in marked(found).items()}
            blank = next((blank_node for blank_node in found if blank_node.label == by_mark.get(step.mark)), None)
            if blank is None:
                return None
            labels.append(str(blank.label))
        assert blank is not None  # noqa: S101 - a path has a step
        near = _grouped(
            (row for row in read.rows if number_in(row, "level") > depth and _on_path(row, labels, "b")), variable="b"
        )
        return Resolved(path, blank, {blank_node.label: blank_node for blank_node in near})

    def _steps(self, path: BlankPath) -> list[str]:
        found: list[str] = []
        start: URIRef | Fragment = path.anchor
        for n, step in enumerate(path.steps, 1):
            to = Fragment(f"?b{n}")
            found.append(
                self._reader.filled(queries.STEP[step.inverse], **{"from": start, "relation": step.relation, "to": to})
            )
            start = to
        return found


def _ends(last: str) -> dict[str, Fragment]:
    return {"from": Fragment(last), "relation": Fragment("?rel"), "to": Fragment("?b")}


def _on_path(row: Row, labels: Sequence[str], variable: str) -> bool:
    """Whether a row continues the path through the nodes with these labels, and binds the variable."""
    return variable in row and all(str(row.get(f"b{n}")) == label for n, label in enumerate(labels, 1))


def _grouped(rows: Iterable[Row], variable: str | None = None) -> list[Blank]:
    """The blank nodes in the rows of one level, with their distinct triples."""
    found: dict[BNode, dict[tuple[bool, URIRef, Term], None]] = defaultdict(dict)
    for row in rows:
        label = row[variable or f"b{number_in(row, 'level')}"]
        if isinstance(label, BNode):
            found[label][boolean_in(row, "out"), iri_in(row, "q"), row["v"]] = None
    return [
        Blank(label, [edge[1:] for edge in edges if edge[0]], [edge[1:] for edge in edges if not edge[0]])
        for label, edges in sorted(found.items())
    ]


def marked(blanks: Iterable[Blank]) -> dict[BNode, str]:
    """The mark of each blank node. Nodes that cannot be distinguished by their triples get a number after it."""
    twins: dict[tuple[str, object], set[BNode]] = defaultdict(set)
    for blank in blanks:
        twins[blank.mark, blank.first_step()].add(blank.label)
    return {
        label: f"{mark}.{place}" if place > 1 else mark
        for (mark, _), labels in twins.items()
        for place, label in enumerate(sorted(labels), 1)
    }
