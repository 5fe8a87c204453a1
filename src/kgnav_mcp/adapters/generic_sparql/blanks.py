"""Blank nodes: reads their triples, derives ids from these triples, and finds the nodes that have such ids.

The label of a blank node is valid only within one answer. Therefore one query reads everything that is needed: the
triples of the nodes, and those of the blank nodes next to them. (An endpoint with a row cap returns them in several
answers, but such endpoints keep their labels.)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from math import inf

from rdflib import RDF, BNode, URIRef

from kgnav_mcp.adapters.generic_sparql import queries
from kgnav_mcp.adapters.generic_sparql.reification import REIFIES
from kgnav_mcp.adapters.ids.rdf import BlankPath, Step
from kgnav_mcp.adapters.sparql_base.around.counts import BlankAnchor
from kgnav_mcp.adapters.sparql_base.query_reader import Reader, Row, boolean_in, iri_in, number_in
from kgnav_mcp.adapters.sparql_base.results import Term
from kgnav_mcp.adapters.sparql_base.terms import Fragment, rows
from kgnav_mcp.concurrency import gathered, in_thread
from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import Direction
from kgnav_mcp.port.lists import batches

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
        """Whether the node is a reifier: a statement about a triple."""
        return any(relation in {RDF.subject, REIFIES} for relation, _ in self.outgoing)

    def arrivals(self) -> Iterator[Arrival]:
        """Each triple as a step to this node."""
        yield from ((far, relation, False) for relation, far in self.incoming)
        yield from ((far, relation, True) for relation, far in self.outgoing)

    def linked(self) -> Iterator[tuple[BNode, URIRef, bool]]:
        """The steps to this node from other blank nodes."""
        for far, relation, inverse in self.arrivals():
            if isinstance(far, BNode) and relation != REIFIES:
                yield far, relation, inverse

    def first_step(self, *, from_type: bool = False) -> tuple[URIRef, URIRef, bool] | None:
        """The first step of the node's id: a neighbour with an IRI, the relation, and whether it is followed backwards.

        It does not depend on how the node was reached, so that no node has two ids. None if there is no such neighbour.
        A type counts as a neighbour only with `from_type`, because many nodes may have it.
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
    """Blank nodes around those that a query asked for (`seeds`), up to a number of steps (`levels`) away.

    An id does not depend on how many nodes were read: a node has one only if all that may decide about it were read.
    """

    def __init__(self, nodes: Mapping[BNode, Blank], seeds: Collection[BNode], levels: int) -> None:
        self.nodes = nodes
        self.seeds = seeds
        self._levels: float = levels
        self._ambiguous: Collection[BNode] = ()
        self._known_facts: dict[BNode, tuple[Arrival, ...]] = {}
        self._marks: dict[BNode, str | None] = {}
        self._numbered: dict[Arrival, Mapping[BNode, str]] = {}
        self._paths: dict[BNode, BlankPath | None] = {}

    def reached_by(self, arrival: Arrival) -> list[Blank]:
        """The blank nodes that a step leads to, sorted by label."""
        return self._arriving.get(arrival, [])

    def at_step(self, start: Term, step: Step) -> Blank | None:
        """The blank node reached from `start` by one step of a path; None if there is none."""
        marks = self._marks_at((start, step.relation, step.inverse))
        return next((self.nodes[label] for label, mark in marks.items() if mark == step.mark), None)

    def complete(self) -> None:
        """Note that there are no further blank nodes."""
        self._levels = inf
        self._paths.clear()

    def exclude(self, ambiguous: Collection[BNode]) -> None:
        """Note nodes that no step from a node with an IRI tells from nodes that were not read."""
        self._ambiguous = ambiguous
        self._paths.clear()

    def pointing(self, blanks: Iterable[Blank]) -> dict[BNode, Surroundings]:
        """The nodes that point at the node with an IRI at which the paths of some nodes begin."""
        found: dict[BNode, Surroundings] = {}
        firsts = {(path.anchor, path.steps[0]) for path in map(self.identify, blanks) if path is not None}
        for arrival in {(anchor, step.relation, True) for anchor, step in firsts if step.inverse}:
            for label, mark in self._marks_at(arrival).items():
                if (arrival[0], Step(arrival[1], True, mark)) in firsts:
                    found[label] = self._surroundings(self.nodes[label], arrival)
        return found

    def _surroundings(self, blank: Blank, arrival: Arrival) -> Surroundings:
        facts = [fact for fact in self._facts(blank) if fact != arrival]
        around = sorted(
            {(by, back, self._facts(near)[:_MAX_FACTS]) for near, by, back in self._next_to(blank)}, key=str
        )
        own = [*facts[:_MAX_FACTS], arrival]
        own.sort(key=lambda step: isinstance(step[0], URIRef))  # fewer nodes have a value: stores begin with the first
        return Surroundings(tuple(own), tuple(around[:_MAX_AROUND]))

    def number_with(self, wanted: Surroundings) -> int:
        """The number of nodes with these surroundings, among those whose blank nodes were read."""
        return sum(self._has(blank, wanted) for blank in min(map(self.reached_by, wanted.facts), key=len))

    def _has(self, blank: Blank, wanted: Surroundings) -> bool:
        near = [(by, back, set(self._facts(other))) for other, by, back in self._next_to(blank)]
        return set(wanted.facts) <= set(self._facts(blank)) and all(
            any((relation, inverse) == (by, back) and own.issuperset(facts) for by, back, own in near)
            for relation, inverse, facts in wanted.around
        )

    def _next_to(self, blank: Blank) -> Iterator[tuple[Blank, URIRef, bool]]:
        return ((self.nodes[far], by, back) for far, by, back in blank.linked() if far in self.nodes)

    def _facts(self, blank: Blank) -> tuple[Arrival, ...]:
        """The triples of a node without other blank nodes, sorted."""
        if blank.label not in self._known_facts:
            own = (step for step in blank.arrivals() if not isinstance(step[0], BNode))
            found = [step for step in own if isinstance(step[0], URIRef) or len(str(step[0])) <= _MAX_CHARACTERS]
            self._known_facts[blank.label] = tuple(sorted(found, key=lambda step: (step[2], step[1], step[0].n3())))
        return self._known_facts[blank.label]

    def within(self, steps: int) -> list[Blank]:
        """The nodes up to a number of steps away from the seeds."""
        return [blank for label, blank in self.nodes.items() if self._steps.get(label, inf) <= steps]

    def identify(self, blank: Blank) -> BlankPath | None:
        """The path that identifies a node of a graph that was read as far as necessary; else from one of its types."""
        if (path := self.path(blank)) is not None:
            return path
        first = blank.first_step(from_type=True)
        return None if first is None else self.path_by(first[0], blank, first)

    def path(self, blank: Blank) -> BlankPath | None:
        """The path that identifies a node: one of the shortest from a node with an IRI through blank nodes.

        None if too few nodes were read, or if there is none.
        """
        if blank.label not in self._paths:
            self._paths[blank.label] = self._find(blank)
        return self._paths[blank.label]

    def path_by(self, start: URIRef | BlankPath, blank: Blank, arrival: Arrival) -> BlankPath | None:
        """The path to `blank` by one step, `arrival`, from the end of another path, `start`.

        None if the mark of the step, which tells it from similar ones, is not known.
        """
        mark = self._marks_at(arrival).get(blank.label)
        if mark is None or (blank.label in self._ambiguous and isinstance(start, URIRef)):
            return None
        step = Step(arrival[1], arrival[2], mark)
        return start.on(step) if isinstance(start, BlankPath) else BlankPath(start, (step,))

    def _find(self, blank: Blank) -> BlankPath | None:
        first = blank.first_step()
        if first is not None:
            return self.path_by(first[0], blank, first)
        distance = self._distances.get(blank.label)
        if distance is None or self._steps.get(blank.label, inf) + distance - 1 > self._levels:
            return None
        found: list[BlankPath] = []
        for far, relation, inverse in blank.linked():
            if self._distances.get(far, inf) == distance - 1:
                start = self.path(self.nodes[far])
                path = None if start is None else self.path_by(start, blank, (far, relation, inverse))
                if path is None:
                    return None  # it may be the first in order
                found.append(path)
        return min(found, key=lambda path: (path.steps[-1].inverse, path.anchor, str(path.steps)))

    @cached_property
    def _distances(self) -> Mapping[BNode, int]:
        """The number of steps to each node from the nearest node with an IRI."""
        return self._levels_from([label for label, blank in self.nodes.items() if blank.first_step() is not None], 1)

    @cached_property
    def _steps(self) -> Mapping[BNode, int]:
        """The number of steps to each node from the nearest seed."""
        return self._levels_from(list(self.seeds), 0)

    def _levels_from(self, front: Sequence[BNode], level: int) -> Mapping[BNode, int]:
        found = dict.fromkeys(front, level)
        while front:
            level += 1
            reached = {far: None for label in front for far, _, _ in self.nodes[label].linked() if far in self.nodes}
            front = [label for label in reached if label not in found]
            found.update(dict.fromkeys(front, level))
        return found

    def _marks_at(self, arrival: Arrival) -> Mapping[BNode, str]:
        """The marks of the nodes that a step leads to; without those that are not known yet."""
        if arrival not in self._numbered:
            self._numbered[arrival] = self._numbered_marks(arrival)
        return self._numbered[arrival]

    def _numbered_marks(self, arrival: Arrival) -> Mapping[BNode, str]:
        start, relation, inverse = arrival
        marks = {one.label: self._unnumbered_mark(one) for one in self.reached_by(arrival)}
        if isinstance(start, BNode):
            siblings = {far for far, by, back in self.nodes[start].linked() if (by, back) == (relation, not inverse)}
            if None in marks.values() or not siblings <= self.nodes.keys():
                return {}  # they are numbered among all of them
        places, numbered = Counter[str](), dict[BNode, str]()
        for label, mark in marks.items():
            if mark is not None:
                places[mark] += 1
                numbered[label] = mark if places[mark] == 1 else f"{mark}.{places[mark]}"
        return numbered

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


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Triples of a node, as steps to it, and those of blank nodes next to it, each with the step from there."""

    facts: tuple[Arrival, ...]
    around: tuple[tuple[URIRef, bool, tuple[Arrival, ...]], ...]

    def pattern(self, reader: Reader) -> str:
        """The pattern for nodes ?b that have them."""
        parts = [_of_node("?b", self.facts, reader)]
        for n, (relation, inverse, facts) in enumerate(self.around):
            near = Fragment(f"?x{n}")
            parts += [_of_node("?b", [(near, relation, inverse)], reader), _of_node(near.text, facts, reader)]
        return " ".join(parts)


def _of_node(node: str, facts: Iterable[tuple[Term | Fragment, URIRef, bool]], reader: Reader) -> str:
    return " ".join(
        reader.filled(queries.STEP[inverse], **{"from": far, "relation": relation, "to": Fragment(node)})  # pyright: ignore[reportArgumentType]
        for far, relation, inverse in facts
    )


def _hash(blank: Blank, shapes: Mapping[BNode, str]) -> str:
    """A short hash of a node's triples; of blank nodes next to it, only their `shapes` count."""
    lines = [
        f"{'-+'[inverse]} {relation.n3()} {shapes.get(far, '') if isinstance(far, BNode) else far.n3()}"
        for far, relation, inverse in blank.arrivals()
        if relation != REIFIES or not inverse
    ]
    return blake2b("\n".join(sorted(lines)).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()


_MAX_ROWS = 100_000
"""Maximum number of triples read to identify blank nodes."""
_MAX_LEVELS = 6
"""Maximum number of steps from blank node to blank node that are read to identify one."""
_PATHS_PER_QUERY = 100
_MAX_FACTS, _MAX_AROUND, _MAX_CHARACTERS = 8, 4, 200
"""Of a node, how many of its triples, blank nodes next to it, and characters of a value are compared in the store."""
_COMPARED_TOGETHER = 40


@dataclass(frozen=True, slots=True)
class Seeds:
    """A pattern for blank nodes, and the variable that it binds to them.

    A pattern keeps its own variable: Comunica finds no triples of a blank node that `(?s AS ?b)` has bound.
    """

    pattern: Fragment
    variable: str = "b"


@dataclass(frozen=True, slots=True, eq=False)
class Resolved(BlankAnchor):
    """The blank node that an id stands for, in the graph of the blank nodes around it."""

    path: BlankPath
    blank: Blank
    graph: BlankGraph


@dataclass(frozen=True, slots=True)
class Identified:
    """Blank nodes, by the labels of one answer, with the paths that identify them."""

    paths: Mapping[BNode, BlankPath]
    nodes: Mapping[BNode, Blank]
    unidentified: int
    """The number of nodes that no path identifies; they are left out."""
    rows: Sequence[Row] = ()
    """The rows of further branches of the same query."""


class Blanks:
    """Reads blank nodes and resolves their ids."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def around(self, seeds: Seeds) -> BlankGraph:
        """Read the blank nodes that a pattern binds, and those around them that decide about their ids.

        Raises:
            Unsupported: there are too many blank nodes.
        """
        graph, _ = await self._read_far_enough([seeds], 1, ())
        return graph

    async def identified(self, seeds: Sequence[Seeds], beside: Sequence[str] = ()) -> Identified:
        """Read the blank nodes that some patterns bind, with the paths that identify them.

        `beside` are further branches of the same query: blank nodes have the same labels in their rows. Raises as
        `around` does.
        """
        graph, found = await self._read_far_enough(seeds, 1, beside)

        def identify() -> Identified:
            nodes = {label: graph.nodes[label] for label in graph.seeds}
            paths = {label: path for label, blank in nodes.items() if (path := graph.identify(blank)) is not None}
            return Identified(paths, nodes, len(nodes) - len(paths), found)

        return await in_thread(len(graph.nodes), identify)

    async def resolved(self, paths: Sequence[BlankPath]) -> dict[BlankPath, Resolved]:
        """Find the blank nodes that paths lead to, in few queries. Paths that lead to no node are omitted.

        Raises:
            Unsupported: a step of a path leads to too many nodes.
        """
        by_form: dict[tuple[bool, ...], list[BlankPath]] = defaultdict(list)
        for path in paths:
            by_form[tuple(step.inverse for step in path.steps)].append(path)
        lists = [
            batch
            for alike in by_form.values()
            for batch in batches(alike, _PATHS_PER_QUERY // len(alike[0].steps) or 1)
        ]
        found: dict[BlankPath, Resolved] = {}
        for part in await gathered(*map(self._resolved_alike, lists)):
            found |= part
        return found

    async def _resolved_alike(self, paths: Sequence[BlankPath]) -> dict[BlankPath, Resolved]:
        """As `resolved`, for paths of one form: all have the same number of steps in the same directions."""
        steps = paths[0].steps
        names = ["?a", *(f"?a{n}" for n in range(1, len(steps))), "?b"]
        pattern = [
            self._reader.filled(
                queries.STEP[step.inverse],
                **{"from": Fragment(names[n]), "relation": Fragment(f"?p{n}"), "to": Fragment(names[n + 1])},
            )
            for n, step in enumerate(steps)
        ]
        columns = Fragment(" ".join(("?a", *(f"?p{n}" for n in range(len(steps))))))
        given = dict.fromkeys((path.anchor, *(step.relation for step in path.steps)) for path in paths)
        blanks = self._reader.part(queries.PATHS, columns=columns, rows=rows(*given), steps=Fragment(" ".join(pattern)))
        # the nodes next to those found are shown, too
        graph, _ = await self._read_far_enough([Seeds(blanks)], len(steps) + 1, (), within=1)

        def follow() -> dict[BlankPath, Resolved]:
            ends = ((path, _end(graph, path)) for path in paths)
            return {path: Resolved(path, blank, graph) for path, blank in ends if blank is not None}

        return await in_thread(len(graph.nodes), follow)

    async def _read_far_enough(
        self, seeds: Sequence[Seeds], levels: int, beside: Sequence[str], *, within: int = 0
    ) -> tuple[BlankGraph, Sequence[Row]]:
        """Read at least some `levels`, and more until all nodes `within` so many steps of the seeds have an id."""
        graph, found = await self._read(seeds, levels, beside)
        for further in range(levels + 1, _MAX_LEVELS + 1):
            if await in_thread(len(graph.nodes), lambda: all(map(graph.path, graph.within(within)))):  # noqa: B023 - called at once
                break
            size = len(graph.nodes)
            graph, found = await self._read(seeds, further, beside)
            if len(graph.nodes) == size:
                graph.complete()
                break
        graph.exclude(await self._ambiguous(graph, within))
        return graph, found

    async def _ambiguous(self, graph: BlankGraph, within: int) -> frozenset[BNode]:
        """The nodes that look like others that were not read, from the node with an IRI that they point at."""

        async def hidden(batch: Sequence[tuple[BNode, Surroundings]]) -> list[BNode]:
            numbers = [graph.number_with(wanted) for _, wanted in batch]
            branches = [
                self._reader.filled(
                    queries.ALIKE, number=n, pattern=Fragment(wanted.pattern(self._reader)), most=numbers[n] + 1
                )
                for n, (_, wanted) in enumerate(batch)
            ]
            read = await self._reader.union(branches)
            most = {number_in(row, "number"): number_in(row, "n") for row in read.all_rows()}
            return [label for n, (label, _) in enumerate(batch) if most.get(n, 0) > numbers[n]]

        found = await in_thread(len(graph.nodes), lambda: list(graph.pointing(graph.within(within)).items()))
        return frozenset(chain.from_iterable(await gathered(*map(hidden, batches(found, _COMPARED_TOGETHER)))))

    async def _read(
        self, seeds: Sequence[Seeds], levels: int, beside: Sequence[str]
    ) -> tuple[BlankGraph, Sequence[Row]]:
        branches = [*beside, *(branch for each in seeds for branch in self._contents(each, levels))]
        union = Fragment(" UNION ".join(branches))
        read = (await self._reader.slice(queries.BRANCHES, 0, _MAX_ROWS, branches=union)).all_rows()
        if len(read) == _MAX_ROWS:
            raise Unsupported(
                f"the blank nodes here have more than {_MAX_ROWS:,} triples, so they cannot be distinguished",
                next_step="Add a condition, or start at a node with an IRI.",
            )
        variables = [each.variable for each in seeds]
        return await in_thread(len(read), lambda: _graph(read, variables, levels))

    def _contents(self, seeds: Seeds, levels: int) -> Iterator[str]:
        """The branches that read the triples of blank nodes, and of those up to a number of steps away."""
        seed = node = Fragment(f"?{seeds.variable}")
        steps, nearby = "", 0 if self._reader.dialect.lists_first else 1
        for level in range(levels + 1):
            if level:
                near, node = node, Fragment(f"?b{level}")
                steps += self._reader.filled(queries.NEXT_BLANK, near=near, far=node, r=Fragment(f"?r{level}"))
            contents = queries.CONTENTS_FAR_AWAY if level > nearby else queries.CONTENTS
            yield self._reader.filled(contents, blanks=seeds.pattern, seed=seed, steps=Fragment(steps), node=node)


def _graph(read: Sequence[Row], variables: Sequence[str], levels: int) -> tuple[BlankGraph, Sequence[Row]]:
    """The blank nodes in the rows of CONTENTS, which begin at some `variables`, and the other rows."""
    nodes: dict[BNode, Blank] = {}
    seeds: dict[BNode, None] = {}
    others: list[Row] = []
    for row in read:
        if "out" not in row:
            others.append(row)
            continue
        seed = next((row[variable] for variable in variables if variable in row), None)
        label = seed or next(term for name, term in row.items() if name[0] == "b" and name[1:].isdecimal())
        if not isinstance(label, BNode):
            continue
        if seed is not None:
            seeds[label] = None
        blank = nodes.setdefault(label, Blank(label))
        edge: tuple[URIRef, Term] = iri_in(row, "q"), row["v"]
        (blank.outgoing if boolean_in(row, "out") else blank.incoming)[edge] = None
    return BlankGraph(nodes, seeds, levels), others


def _end(graph: BlankGraph, path: BlankPath) -> Blank | None:
    """The node that a path leads to."""
    at: Term = path.anchor
    found: Blank | None = None
    for step in path.steps:
        found = graph.at_step(at, step)
        if found is None:
            return None
        at = found.label
    return found
