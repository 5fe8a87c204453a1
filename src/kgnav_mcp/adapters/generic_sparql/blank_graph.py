"""The blank nodes of one answer, with their triples: how they are told apart, and the paths that identify them.

A blank node is identified by the path from a node with an IRI to it, with a mark at each step (see `ids`). A mark is a
hash of the node's triples and of those of the blank nodes next to it, so it does not depend on blank labels. Nodes
whose marks are equal have the same neighbours with IRIs and are always read together; they are numbered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b

from rdflib import RDF, BNode, URIRef

from kgnav_mcp.adapters.generic_sparql.reification import REIFIES
from kgnav_mcp.adapters.ids.rdf import BlankPath, Step
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.model import Direction

Edge = tuple[URIRef, Term]
Arrival = tuple[Term, URIRef, bool]
"""The last step to a blank node: the node before it, the relation, and whether it is followed backwards."""


@dataclass(slots=True, eq=False)
class Blank:
    """A blank node with its triples: `outgoing` as relation and tail, `incoming` as relation and head."""

    label: BNode
    outgoing: dict[Edge, None] = field(default_factory=dict[Edge, None])
    incoming: dict[Edge, None] = field(default_factory=dict[Edge, None])

    def edges(self, direction: Direction) -> Collection[Edge]:
        """The triples in one direction, as relation and far end."""
        return self.outgoing if direction is Direction.OUTGOING else self.incoming

    @property
    def is_reifier(self) -> bool:
        """Whether it is a statement about a triple."""
        return any(relation in {RDF.subject, REIFIES} for relation, _ in self.outgoing)

    def arrivals(self) -> Iterator[Arrival]:
        """Each triple as a step to this node."""
        yield from ((far, relation, False) for relation, far in self.incoming)
        yield from ((far, relation, True) for relation, far in self.outgoing)

    def first_step(self, *, from_type: bool = False) -> tuple[URIRef, URIRef, bool] | None:
        """The first step of its id: a neighbour with an IRI, the relation, and whether it is followed backwards.

        It does not depend on how the node was reached, so that no node has two ids. None without such a neighbour; a
        type is one only if `from_type`, because it may have many nodes.
        """
        skipped = {REIFIES} if from_type else {RDF.type, REIFIES}
        steps = [
            (inverse, str(far), str(relation))
            for far, relation, inverse in self.arrivals()
            if isinstance(far, URIRef) and not (inverse and relation in skipped)
        ]
        if not steps:
            return None
        inverse, anchor, relation = min(steps)
        return URIRef(anchor), URIRef(relation), inverse


class BlankGraph:
    """Blank nodes with those around them. `seeds` are the ones that were to be read."""

    def __init__(self, nodes: Mapping[BNode, Blank], seeds: Collection[BNode]) -> None:
        self.nodes = nodes
        self.seeds = seeds
        self._marks: dict[BNode, str | None] = {}
        self._paths: dict[BNode, BlankPath | None] = {}

    def reached_by(self, arrival: Arrival) -> list[Blank]:
        """The blank nodes that a step leads to, sorted by label."""
        return self._arriving.get(arrival, [])

    def at_step(self, start: Term, step: Step) -> Blank | None:
        """The blank node that a step of a path leads to from a node."""
        arrival = start, step.relation, step.inverse
        return next((one for one in self.reached_by(arrival) if self._mark(one, arrival) == step.mark), None)

    def path(self, blank: Blank) -> BlankPath | None:
        """The path that identifies a node: from a neighbour with an IRI, or through a blank node with such a path.

        None if the graph does not hold enough of the nodes around it, or nothing identifies it.
        """
        if blank.label not in self._paths:
            self._paths[blank.label] = None  # meanwhile: a path does not lead through its end
            self._paths[blank.label] = self._find(blank)
        return self._paths[blank.label]

    def path_by(self, start: URIRef | BlankPath, blank: Blank, arrival: Arrival) -> BlankPath | None:
        """The path to a node by a step from the end of another path, `start`; None if its mark is not known."""
        mark = self._mark(blank, arrival)
        if mark is None:
            return None
        step = Step(arrival[1], arrival[2], mark)
        return start.on(step) if isinstance(start, BlankPath) else BlankPath(start, (step,))

    def path_by_type(self, blank: Blank) -> BlankPath | None:
        """The path from one of its types, for a node that nothing else identifies."""
        first = blank.first_step(from_type=True)
        return None if first is None else self.path_by(first[0], blank, first)

    def _find(self, blank: Blank) -> BlankPath | None:
        first = blank.first_step()
        if first is not None:
            return self.path_by(first[0], blank, first)
        found: list[BlankPath] = []
        for backwards in (False, True):
            for far, relation, inverse in blank.arrivals():
                before = self.nodes.get(far) if isinstance(far, BNode) and inverse is backwards else None
                start = None if before is None or relation == REIFIES else self.path(before)
                path = None if start is None else self.path_by(start, blank, (far, relation, inverse))
                found += [] if path is None else [path]
            if found:
                return min(found, key=lambda path: (len(path.steps), path.anchor, str(path.steps)))
        return None

    def _mark(self, blank: Blank, arrival: Arrival) -> str | None:
        """The mark of a node among those that a step leads to; None if the graph lacks a node next to it."""
        mark = self._unnumbered_mark(blank)
        twins = [one.label for one in self.reached_by(arrival) if self._unnumbered_mark(one) == mark]
        place = twins.index(blank.label) + 1 if blank.label in twins else 1
        return mark if place == 1 or mark is None else f"{mark}.{place}"

    def _unnumbered_mark(self, blank: Blank) -> str | None:
        if blank.label not in self._marks:
            around = {far for far, _, _ in blank.arrivals() if isinstance(far, BNode)}
            known = around <= self.nodes.keys()
            shapes = {label: _hash(self.nodes[label], {}) for label in around} if known else {}
            self._marks[blank.label] = _hash(blank, shapes) if known else None
        return self._marks[blank.label]

    @cached_property
    def _arriving(self) -> Mapping[Arrival, list[Blank]]:
        found: dict[Arrival, list[Blank]] = defaultdict(list)
        for _, blank in sorted(self.nodes.items()):
            for arrival in blank.arrivals():
                found[arrival].append(blank)
        return found


def _hash(blank: Blank, shapes: Mapping[BNode, str]) -> str:
    """A short hash of a node's triples; of blank nodes next to it, only their `shapes` count."""
    lines = [
        f"{'-+'[inverse]} {relation.n3()} {shapes.get(far, '') if isinstance(far, BNode) else far.n3()}"
        for far, relation, inverse in blank.arrivals()
        if relation != REIFIES or not inverse
    ]
    return blake2b("\n".join(sorted(lines)).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
