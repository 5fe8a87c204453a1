"""ARK-V1's reasoning steps: an anchor, one of its relations, the cited triples, and the inference from them.

A step is valid if it agrees with the graph: the anchor is the head of triples, the relation is one of the anchor's, and
each cited triple is in the store now. Otherwise the error names alternatives at this anchor. Unlike in the paper's
public code, parallel edges are distinguished by their qualifiers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import (
    AmbiguousEntity,
    InvalidArgument,
    InvalidRequest,
    InvalidStep,
    UnknownEntity,
    UnknownRelation,
)
from kgnav_mcp.model import Direction, Entity, Link, Literal, Node, Page, ReasoningStep, Stop, Trail, Triple
from kgnav_mcp.navigation.flattening import FlattenedPage, read_flattened
from kgnav_mcp.navigation.limits import Limits
from kgnav_mcp.navigation.pages import pages_of_whole_list, refuse_partial
from kgnav_mcp.navigation.references import (
    NEAREST,
    NameIndex,
    nearest_names,
    resolve_entity,
    spellings,
)
from kgnav_mcp.navigation.relation_matching import RelationMatcher
from kgnav_mcp.navigation.relation_reader import NamedRelationReader
from kgnav_mcp.navigation.shown_graph import node_key
from kgnav_mcp.port import FarEndFilter, GraphAdapter


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited triple, by ids, names or values.

    `qualifiers` distinguish it from parallel edges. None: none are cited. Empty: the edge without qualifiers is cited.
    """

    head: str
    relation: str
    tail: str
    qualifiers: Mapping[str, str] | None = None

    def __str__(self) -> str:
        return f"[{echoed(self.head)}, {echoed(self.relation)}, {echoed(self.tail)}]"


def rows_with_tail(tail: str, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows whose tail has this id; if there are none, those whose tail has this name or value."""
    ids = spellings(tail)
    by_id = [row for row in rows if isinstance(row.tail, Entity) and row.tail.id in ids]
    return by_id or [row for row in rows if is_text_of_node(tail, row.tail)]


def is_text_of_node(text: str, node: Node) -> bool:
    """Whether a text is a node as answers show it: its id, its name, both, or its value, which may be clipped."""
    shown = _normalized(text)
    if isinstance(node, Entity):
        names = (node.label, f"{node.label} ({node.id})") if node.label else ()
        return node.id in spellings(text) or shown in map(_normalized, names)
    if shown in (_normalized(node.text), _normalized(f"{node.text} @{node.language}")):
        return True
    clipped, cut, length = text.strip().rpartition("... (")
    return (
        bool(cut)
        and length == f"{len(node.text):,} characters)"
        and _normalized(node.text).startswith(_normalized(clipped))
    )


def _normalized(text: str) -> str:
    """A text without differences due to printing: letter case, whitespace, backslashes, invisible characters."""
    return "".join(one for one in text.casefold() if one.isprintable() and one not in " \\")


def rows_with_qualifiers(qualifiers: Mapping[str, str] | None, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows with the cited qualifiers; if some of them have no other qualifiers, only these."""
    if qualifiers is None:
        return rows
    matching = [row for row in rows if all(_has_qualifier(row, name, value) for name, value in qualifiers.items())]
    return [row for row in matching if len(row.qualifiers) == len(qualifiers)] or (matching if qualifiers else [])


def row_key(row: Triple) -> object:
    """The parts of a row by which a reader can distinguish it from others."""
    qualifiers = frozenset((one.relation.id, node_key(one.value)) for one in row.qualifiers)
    return row.relation.id, node_key(row.tail), qualifiers


def nearest_rows(tail: str, rows: Sequence[Triple]) -> Sequence[Triple]:
    """The rows whose tails have names most like a text, best first."""
    rows_by_name: dict[str, Triple] = {}
    for row in rows:
        rows_by_name.setdefault(_name(row.tail), row)
    return [rows_by_name[name] for name in nearest_names(tail, list(rows_by_name))]


def citation_advice(rows: Sequence[Triple]) -> str:
    """Advice on how to cite a single one of several rows that match a citation."""
    if len({node_key(row.tail) for row in rows}) > 1:
        return "Cite the tail by its id."
    for row in rows:
        for one in row.qualifiers:
            name, value = one.relation.id, _name(one.value)
            if sum(_has_qualifier(other, name, value) for other in rows) == 1:
                example = f"{{{echoed(name)}: {echoed(value)}}}"
                return f"Cite its qualifiers as a fourth element, such as {example}; {{}} is the one without any."
    return "Cite its relation by its id, and all its qualifiers as a fourth element."


def _has_qualifier(row: Triple, name: str, value: str) -> bool:
    index = NameIndex(row.qualifiers, lambda one: (one.relation.id, one.relation.label))
    return any(is_text_of_node(value, one.value) for one in index.find(name))


def _name(node: Node) -> str:
    return (node.label or node.id) if isinstance(node, Entity) else node.text


TOOL = "add_step"

_EDGES = 1_000
"""Edges that are read at once."""
_refuse_partial = partial(
    refuse_partial,
    message="the store did not return all rows of this relation, so that a cited triple may exist that was not read",
    next_step="Try again, or cite the tail by its id.",
)

_RELATIONS = 2
"""Alternatives offered for a relation, as many as in ARK-V1."""


@dataclass(frozen=True, slots=True)
class SubmittedStep:
    """A step as given by the client: ids or names, and at least one cited triple."""

    anchor: str
    relation: str
    cited: Sequence[Citation]
    inference: str


@dataclass(frozen=True, slots=True)
class StepLimits:
    """Limits of the reasoning on one trail. ARK-V1 gives no numbers; the defaults are this project's."""

    steps: int = 8
    """K_max: maximum steps of a trail."""
    retries: int = 5
    """C_max: refusals in a row that end the reasoning, as in ARK-V1's routes to the answer."""


async def add_step(
    graph: GraphAdapter, trail: Trail, submitted: SubmittedStep, *, limits: Limits, most: StepLimits
) -> Sequence[ReasoningStep]:
    """All steps of a trail, with this one checked and appended. Recording the call on the trail keeps the step.

    Raises:
        InvalidStep: the graph has no such step at this anchor; the error has alternatives.
        UnknownRelation: the anchor has no such relation; the error has the nearest ones.
        UnknownEntity, AmbiguousEntity: the anchor is not a single entity; the error has the nearest ones.
        InvalidArgument: the reasoning on this trail has ended: by a step that was `done`, the maximal number of steps,
            or too many refusals in a row.
    """
    steps = reasoning(trail)
    if ending := _ending(trail, len(steps), most):
        raise InvalidArgument(
            f"the reasoning on this trail has ended: {ending}",
            next_step="Answer from its steps. check_answer(trail, answers) shows the paths from the topics to the "
            "answers.",
        )
    try:
        step = await _StepCheck(graph, submitted, limits).step()
    except InvalidRequest as error:
        if _refusals(trail) + 1 >= most.retries:
            error.next_step = (
                f"{most.retries} steps in a row were refused, which ends the reasoning on this trail: answer from its "
                f"accepted steps, or start another trail."
            )
        raise
    return (*steps, step)


def reasoning(trail: Trail) -> tuple[ReasoningStep, ...]:
    """The reasoning steps that were accepted on a trail, in their order."""
    return tuple(
        ReasoningStep(step.entities[0], step.triples, str(step.arguments.get("inference", "")))
        for step in trail.steps
        if step.tool == TOOL and not step.failed
    )


def _ending(trail: Trail, steps: int, most: StepLimits) -> str:
    """Why no step can be added to a trail; empty if one can."""
    if any(step.arguments.get("done") for step in trail.steps if step.tool == TOOL and not step.failed):
        return "a step had done=true"
    if steps >= most.steps:
        return f"it has {most.steps} steps"
    return f"{most.retries} steps in a row were refused" if _refusals(trail) >= most.retries else ""


def _refusals(trail: Trail) -> int:
    """How many of the last steps in a row were refused."""
    taken = [not step.failed for step in trail.steps if step.tool == TOOL]
    return taken[::-1].index(True) if any(taken) else len(taken)


def _with_name(edge: Triple, entities: Mapping[str, Entity]) -> Triple:
    """An edge with the name of its tail, if it has none and the tail is one of some entities."""
    if isinstance(edge.tail, Literal) or edge.tail.label is not None:
        return edge
    return replace(edge, tail=entities.get(edge.tail.id, edge.tail))


def _is_through_mediator(row: Triple) -> bool:
    """Whether a flattened row leads through a mediator, or to one whose roles were not read."""
    return row.via is not None or (isinstance(row.tail, Entity) and row.tail.mediator)


def _stop_of(page: Page[Link]) -> Stop:
    """Why rows may be missing in a page; with them also the rows to roles of mediators that were not read."""
    return Stop.first((page.stop, page.roles if isinstance(page, FlattenedPage) else Stop.COMPLETE))


class _StepCheck:
    """The check of one step."""

    def __init__(self, graph: GraphAdapter, submitted: SubmittedStep, limits: Limits) -> None:
        self._graph = graph
        self._submitted = submitted
        self._limits = replace(limits, characters=None)
        self._anchor = Entity(submitted.anchor)
        self._rows: Sequence[Triple] = ()
        self._stop = Stop.COMPLETE

    async def step(self) -> ReasoningStep:
        submitted = self._submitted
        try:
            rows = await self._reader().rows(submitted.anchor, [submitted.relation])
        except UnknownRelation as error:
            raise await self._relation_error(error) from error
        (self._anchor,) = rows.entities
        self._rows, self._stop = [link.triple for link in rows.page.items], _stop_of(rows.page)
        triples = dict.fromkeys([one for citation in submitted.cited for one in await self._cited_triples(citation)])
        return ReasoningStep(self._anchor, tuple(triples), submitted.inference)

    def _reader(self, words: str | None = None) -> NamedRelationReader:
        return NamedRelationReader(self._graph, Direction.OUTGOING, self._limits, far=FarEndFilter(words=words))

    async def _relation_error(self, error: UnknownRelation) -> InvalidRequest:
        """The error for a relation that does not leave the anchor: it leads to the anchor, or others are nearest."""
        (anchor,) = error.entities
        shown, name = echoed(anchor.id), echoed(error.relation)
        if error.nearest:
            nearest, is_partial = error.nearest[:_RELATIONS], error.is_partial
            step = f"get_relations or search with direction outgoing lists all relations that leave {shown}."
            if is_partial:
                step = error.next_step
            return UnknownRelation(
                [anchor], error.relation, error.direction, nearest, is_partial=is_partial, next_step=step
            )
        if error.is_partial and not error.opposite:
            return error
        if error.opposite:
            few = replace(self._limits, row_limit=NEAREST)
            page = (await NamedRelationReader(self._graph, Direction.INCOMING, few).rows(anchor, [error.relation])).page
            message = (
                f"{name} leads to {shown}; the store did not list all relations that leave it"
                if error.is_partial
                else f"{name} does not leave {shown}, but leads to it"
            )
        else:
            page = await read_flattened(self._graph, [anchor.id], Direction.INCOMING, limit=NEAREST)
            message = f"{shown} is not the head of any triple"
        if page.items:
            step = "Anchor the step at the head of such a triple."
        else:
            step = "Choose another anchor" + (": this one has no triples." if page.stop is Stop.COMPLETE else ".")
        return InvalidStep(message, [link.triple for link in page.items], next_step=step)

    async def _cited_triples(self, citation: Citation) -> Sequence[Triple]:
        """The cited triple; several if nothing distinguishes them.

        Raises:
            InvalidStep: no triple, or more than one, matches the citation.
            StoreTimeout, Unsupported: as `_looked_up`.
        """
        await self._check_head(citation)
        matching = await self._looked_up(citation, await self._of_relation(citation))
        if not matching:
            raise self._refusal(f"{citation} does not exist", nearest_rows(citation.tail, self._rows))
        qualified = rows_with_qualifiers(citation.qualifiers, matching)
        if not qualified:
            qualified = rows_with_qualifiers(citation.qualifiers, await self._parallel(matching))
        if not qualified:
            raise self._refusal(f"{citation} exists, but not with the cited qualifiers", matching)
        if len(set(map(row_key, qualified))) > 1:
            raise InvalidStep(
                f"{citation} is not one triple: {len(qualified):,} fit it",
                qualified[:NEAREST],
                next_step=citation_advice(qualified),
            )
        return qualified

    async def _check_head(self, citation: Citation) -> None:
        anchor = self._anchor
        if citation.head.strip() == self._submitted.anchor.strip() or is_text_of_node(citation.head, anchor):
            return
        if anchor.id not in await self._candidates(citation.head):
            raise self._refusal(f"{citation} does not have the head {echoed(anchor.id)}", self._rows[:NEAREST])

    async def _of_relation(self, citation: Citation) -> list[Triple]:
        """The rows of the cited relation, which is that of the step or one of its two-hop relations."""
        rows = self._rows
        if citation.relation.strip().casefold() == self._submitted.relation.strip().casefold():
            return list(rows)
        relations = list(dict.fromkeys(row.relation for row in rows))
        cited = {one.id for one in NameIndex(relations, lambda one: (one.id, one.label)).find(citation.relation)}
        cited = cited or await self._relations_beyond(citation.relation)
        if not cited:
            raise self._refusal(
                f"{citation} is not of the step's relation {echoed(self._submitted.relation)}", rows[:NEAREST]
            )
        return [row for row in rows if row.relation.id in cited]

    async def _relations_beyond(self, relation: str) -> set[str]:
        """The ids of the relations with a name by which the step's relation leads on through mediators.

        Raises:
            StoreTimeout, Unsupported: the store did not list all of them.
        """
        names = [self._submitted.relation, relation]
        matches = await RelationMatcher(self._graph, Direction.OUTGOING, self._limits, hops=2).match(
            [self._anchor], names
        )
        own, cited = (matches.by_name[name] for name in names)
        if not cited:
            _refuse_partial(matches.offered.stop)
        first_hops = {fact.hops[0].id for fact in own}
        return {fact.relation.id for fact in cited if fact.hops[0].id in first_hops}

    async def _looked_up(self, citation: Citation, rows: Sequence[Triple]) -> Sequence[Triple]:
        """The rows to the cited tail: among those that were read or, at a hub, looked up by it.

        Raises:
            StoreTimeout, Unsupported: the store did not return all rows, so that the triple may exist.
        """
        known = rows_with_tail(citation.tail, rows)
        if known and (self._stop is Stop.COMPLETE or not isinstance(known[0].tail, Entity)):
            return known
        entities = await self._candidates(citation.tail)
        known = known or [row for row in rows if isinstance(row.tail, Entity) and row.tail.id in entities]
        is_ambiguous = len({node_key(row.tail) for row in known} | entities.keys()) > 1
        if self._stop is Stop.COMPLETE or (known and not is_ambiguous and known[0].via is not None):
            return known
        if entities and rows and not any(map(_is_through_mediator, rows)):
            edges = await self._edges({row.relation.id for row in rows}, entities)
            return [_with_name(edge, entities) for edge in edges]
        words = next((entity.label for entity in entities.values() if entity.label), citation.tail)
        page = (await self._reader(words).rows(self._anchor, [citation.relation])).page
        found = [link.triple for link in page.items]
        matching = [row for row in found if isinstance(row.tail, Entity) and row.tail.id in entities]
        matching = matching or rows_with_tail(citation.tail, found)
        if not matching or is_ambiguous:
            _refuse_partial(Stop.first((Stop.COMPLETE if self._stop is Stop.LIMIT else self._stop, page.stop)))
        return matching

    async def _parallel(self, rows: Sequence[Triple]) -> Sequence[Triple]:
        """All rows that differ from some only by qualifiers, which may not have been read.

        Raises:
            StoreTimeout, Unsupported: as `_looked_up`.
        """
        if self._stop is Stop.COMPLETE:
            return rows
        tails = {row.tail.id for row in rows if isinstance(row.tail, Entity) and row.via is None}
        if len(tails) < len({node_key(row.tail) for row in rows}):
            _refuse_partial(self._stop)
        return await self._edges({row.relation.id for row in rows}, tails)

    async def _edges(self, relations: Collection[str], tails: Collection[str]) -> Sequence[Triple]:
        """All edges of these relations from the anchor to these tails."""

        def read(after: str | None) -> Awaitable[Page[Triple]]:
            return self._graph.edges(
                [self._anchor.id], list(tails), relations=sorted(relations), limit=_EDGES, after=after
            )

        return [edge async for page in pages_of_whole_list(read, _refuse_partial) for edge in page.items]

    async def _candidates(self, reference: str) -> Mapping[str, Entity]:
        """The entities that a reference may mean, by id."""
        try:
            entities = [await resolve_entity(self._graph, reference)]
        except AmbiguousEntity as error:
            entities = error.candidates
        except (UnknownEntity, InvalidArgument):
            entities = ()
        return {entity.id: entity for entity in entities}

    def _refusal(self, message: str, instead: Sequence[Triple]) -> InvalidStep:
        step = (
            "Cite triples of this anchor and this relation as shown. Triples of other relations need a separate step."
        )
        return InvalidStep(message, instead[:NEAREST], next_step=step)
