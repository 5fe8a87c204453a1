"""Resolves the entities that a plan names by id or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Candidate, Certainty, Count, Entity, Namesake, Page, Stop
from kgnav_mcp.navigation.nodes_by_value import printed_id_note
from kgnav_mcp.navigation.pages import refuse_partial
from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems, Unknown, closest_alternative
from kgnav_mcp.navigation.plans.check.scopes import Node
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.references import NEAREST, nearest_entities, spellings, with_other_readings
from kgnav_mcp.plan import (
    Call,
    Compare,
    Comparison,
    Connective,
    Constant,
    Expression,
    Function,
    Joined,
    ListOf,
    Not,
    PlanProblem,
    Property,
    Variable,
    is_named,
)
from kgnav_mcp.port import GraphAdapter

_MIN_SCORE, _MIN_LEAD = 0.6, 0.1
"""Minimum score of the best candidate for a hint, and its minimum lead over the next one, to be unambiguous."""

_USE_ID = "Use an id; find_node returns candidates."
_MAX_SEARCHED = 20
"""Problems of a plan from which the names nearest to further unknown ones are not searched: few problems are shown."""


@dataclass(frozen=True, slots=True)
class _Nodes:
    """The ids of the first nodes that a name matches, and the number of all that it matches."""

    ids: tuple[str, ...]
    number: Count


@dataclass(frozen=True, slots=True)
class EntityReader:
    """Finds the entities that a condition names."""

    graph: GraphAdapter
    lookups: Lookups
    problems: PlanProblems
    one_node: frozenset[str] = frozenset()
    """Variables whose name must mean a single node."""

    async def with_ids(self, condition: Compare, owner: str, texts: Sequence[Constant]) -> Expression:
        """A condition on a node's id, with ids as the graph writes them. Unknown ids are reported."""
        spellings_of = {constant: spellings(str(constant.value)) for constant in texts}
        found = await self.lookups.by_id([one for each in spellings_of.values() for one in each])
        ids: list[str] = []
        unknown: list[Unknown] = []
        for constant, forms in spellings_of.items():
            entity = next((found[form] for form in forms if form in found), None)
            if entity is not None:
                ids.append(entity.id)
                await self._note_other_reading(str(constant.value), entity)
            else:
                reason = f"no entity has the id {echoed(str(constant.value))}"
                unknown.append((await self._report_unknown(condition, constant, reason, by_id=True), constant))
        found_ids = has_id(owner, ids)
        if condition.comparison is Comparison.UNEQUAL:
            return Not(found_ids)
        return self._with_unknown(found_ids, unknown, len(texts))

    async def _note_other_reading(self, text: str, entity: Entity) -> None:
        """Note which other node an id may mean."""
        (read,) = (await with_other_readings(self.graph, {text: entity})).values()
        if read.namesakes:
            others = ", ".join(map(_with_name, read.namesakes))
            self.problems.notes.append(
                f"{echoed(text)} was interpreted as {_with_name(entity)}; it may also mean {others}."
            )

    async def with_node_values(self, condition: Compare) -> Expression:
        """A comparison of an edge's property with texts, each of which may be an id, in any spelling, of its value."""
        right = condition.right
        texts = [
            each for each in (right.items if isinstance(right, ListOf) else (right,)) if isinstance(each, Constant)
        ]
        spellings_of = {constant: spellings(str(constant.value)) for constant in texts}
        known = await self.lookups.by_id([one for each in spellings_of.values() for one in each])
        ids = [next((known[form].id for form in forms if form in known), None) for forms in spellings_of.values()]
        others = [Constant(one) for one in ids if one is not None and Constant(one) not in spellings_of]
        if not others:
            return condition
        if condition.comparison is Comparison.UNEQUAL:
            return Joined(Connective.AND, (condition, *(replace(condition, right=each) for each in others)))
        return replace(condition, comparison=Comparison.IN, right=ListOf((*texts, *others)))

    async def printed_ids(self, prop: Property, constants: Sequence[Constant]) -> Mapping[Constant, str]:
        """Those constants that are printed ids and not values of the property `id`, with the ids. Notes name them."""
        spellings_of = {constant: spellings(str(constant.value)) for constant in constants}
        known = await self.lookups.by_id([one for each in spellings_of.values() for one in each])
        printed: dict[Constant, str] = {}
        for constant, forms in spellings_of.items():
            entity = next((known[form] for form in forms if form in known), None)
            if entity is not None and not (await self._having_values(Node(), prop.ids, [constant]))[constant].ids:
                printed[constant] = entity.id
                await self._note_other_reading(str(constant.value), entity)
                self.problems.notes.append(printed_id_note(str(constant.value)))
        return printed

    async def with_name(
        self, condition: Compare, prop: Property, texts: Sequence[Constant], node: Node, *, filters: bool
    ) -> Expression:
        """A condition on a node's name, replaced by a condition on the ids of the entities with that name.

        Exact spelling comes first, then any letter case; aliases count. `prop.ids` are the graph's own properties
        called `name`: texts that are the exact value of one, for a node with this node's labels, are compared with it.
        Unless it only `filters`, the condition is null for a node without a name.
        """
        named = await self._named(prop, texts, node)
        compared = [each for each in texts if named[each] is None]
        ids: list[str] = []
        unknown: list[Unknown] = []
        for constant in texts:
            entities = named[constant]
            if entities is None:
                continue
            text = echoed(str(constant.value))
            if not entities:
                unknown.append(
                    (await self._report_unknown(condition, constant, f"no entity has the name {text}"), constant)
                )
            if len(entities) > 1 and prop.owner in self.one_node:
                reason = f"{len(entities):,} entities have the name {text}: use the id of one"
                self.problems.add(prop.owner, reason, [entity.id for entity in entities[:NEAREST]])
                self.problems.correct(constant, None)
            ids += [entity.id for entity in entities]
        if len(compared) == len(texts):
            return replace(condition, left=prop)
        with_ids = has_id(prop.owner, ids)
        if not filters:
            with_ids = Joined(Connective.OR, (with_ids, replace(condition, left=prop)))
        with_ids = self._with_unknown(with_ids, unknown, len(texts))
        if not compared:
            return with_ids
        having_value = Compare(prop, Comparison.IN, ListOf(tuple(compared)))
        return Joined(Connective.OR, (having_value, with_ids)) if ids else having_value

    async def _named(
        self, prop: Property, texts: Sequence[Constant], node: Node
    ) -> Mapping[Constant, Sequence[Entity] | None]:
        """The entities that each name means. None: the store compares the name with `prop`, as `with_name` says.

        Notes tell which names match several nodes, or match in another letter case only.
        """
        given = dict.fromkeys(texts)
        ids = () if prop.owner in self.one_node else prop.ids
        having = await self._having_values(node, ids, list(given))
        found = await self.lookups.by_name([str(one.value) for one, nodes in having.items() if not nodes.ids])
        named: dict[Constant, Sequence[Entity] | None] = {}
        notes: list[str] = []
        for constant, nodes in having.items():
            text = str(constant.value)
            namesakes = None if nodes.ids else found[text]
            if namesakes is None or namesakes.stop is not Stop.COMPLETE:
                named[constant] = None
                notes.append(_matches(text, nodes if namesakes is None else _exact(text, namesakes)))
            else:
                named[constant], note = _meant(text, namesakes)
                notes += [note, namesakes.note]
        self._note_first([*filter(None, dict.fromkeys(notes))])
        return named

    def _note_first(self, notes: Sequence[str]) -> None:
        """Add the notes on the names of a list, the first of them if there are many."""
        self.problems.notes += notes[:NEAREST]
        if len(notes) > NEAREST:
            more = len(notes) - NEAREST
            self.problems.notes.append(
                f"{more:,} more names of the list match several nodes or in another letter case."
            )

    def _with_unknown(self, condition: Expression, unknown: Sequence[Unknown], number: int) -> Expression:
        """The condition. It holds for no node if all of its names are unknown; else notes tell which are."""
        if len(unknown) == number:
            self.problems.absent(condition, unknown)
        else:
            self.problems.note_unknown(unknown)
        return condition

    async def with_hint(self, owner: str, hints: Sequence[Constant], node: Node) -> Expression:
        """The condition that a node is the best candidate for a hint, as `find_node` ranks them.

        A note names it, unless the hint is its name or id. If the match is not clear, that is a problem.

        Raises:
            StoreTimeout, Unsupported: the store did not return all candidates, and none has exactly this name.
        """
        ids: list[str] = []
        labels = () if node.subclasses else node.labels
        label = next((group[0] for group in labels if len(group) == 1), None)
        for constant in hints:
            hint = str(constant.value)
            found: Sequence[Candidate] = ()
            with suppress(UnknownName):  # an unknown label is reported where labels are checked
                page = await self.graph.find(hint, label=label, limit=NEAREST)
                found = page.items
                if page.stop is not Stop.LIMIT and all(each.score < 1.0 for each in found):
                    refuse_partial(page.stop, _not_all(f"candidates for {echoed(hint)}"), next_step=_USE_ID)
            scores = [each.score for each in found]
            least = 1.0 if 1.0 in scores else max(_MIN_SCORE, max(scores, default=0.0) - _MIN_LEAD)
            best, by = [each.entity for each in found if each.score >= least], ""
            if not best:
                best, by = await self._most_similar(hint, label), ", by meaning"
            if len(best) == 1:
                ids.append(best[0].id)
                if 1.0 not in scores:
                    self.problems.notes.append(f"The hint {echoed(hint)} was interpreted as {_with_name(best[0])}{by}.")
                continue
            nearest = [_with_name(each) for each in best or [one.entity for one in found]]
            how = "matches several entities: use the id of one" if best else "does not match any entity clearly"
            self.problems.add(owner, f"the hint {echoed(hint)} {how}", nearest)
            self.problems.correct(constant, None)
        return has_id(owner, ids)

    async def _most_similar(self, hint: str, label: str | None) -> list[Entity]:
        """The entity whose meaning is most like a hint's, and those nearly as like it."""
        similar: Sequence[Candidate] = ()
        with suppress(UnknownName):  # as above
            similar = (await self.graph.find_by_meaning(hint, label=label, limit=NEAREST)).items
        least = max((each.similarity or 0.0 for each in similar), default=0.0) - _MIN_LEAD
        return [each.entity for each in similar if (each.similarity or 0.0) >= least]

    async def with_other_name(
        self, condition: Compare, prop: Property, texts: Sequence[Constant], node: Node
    ) -> Expression:
        """A condition that a node's name is not this: it is none of the nodes that `with_name` takes it to mean."""
        named = (await self._named(prop, texts, node))[texts[0]]
        compared = replace(condition, left=prop)
        if not named:
            return compared
        return Joined(Connective.AND, (compared, Not(has_id(prop.owner, [entity.id for entity in named]))))

    async def _having_values(
        self, node: Node, properties: Sequence[str], constants: Sequence[Constant]
    ) -> Mapping[Constant, _Nodes]:
        """The first nodes with this node's labels that have each text as the value of a property, and their number.

        Raises:
            StoreTimeout, Unsupported: the store returned none of the nodes with a text, but not because there are none.
        """
        labels = node.labels[0] if node.labels and not node.subclasses else (None,)
        texts = [str(constant.value) for constant in constants]
        pages: list[Mapping[str, Page[Entity]]] = []
        for label, name in product(labels, properties):
            with suppress(UnknownName):  # an unknown label is reported where labels are checked
                pages.append(await self.lookups.by_values(label, name, texts))
        for text in texts:
            if not any(page[text].items for page in pages):
                message = _not_all(f"nodes with the value {echoed(text)}")
                refuse_partial(Stop.first(page[text].stop for page in pages), message, next_step=_USE_ID)
        return {
            constant: _first_nodes([page[text] for page in pages])
            for constant, text in zip(constants, texts, strict=True)
        }

    async def _report_unknown(
        self, condition: Compare, constant: Constant, reason: str, *, by_id: bool = False
    ) -> PlanProblem:
        """Report that nothing has this name or, with `by_id`, this id; with the nearest names, or ids with names.

        For the first few problems only: each search takes milliseconds, and a list may have thousands of unknown names.
        """
        text = str(constant.value)
        searched = len(self.problems.entries) < _MAX_SEARCHED
        nearest = await nearest_entities(self.graph, text, NEAREST) if searched else ()
        names = [entity.id if by_id else entity.label or entity.id for entity in nearest]
        shown = [_with_name(entity) for entity in nearest] if by_id else names
        problem = self.problems.add(f"{_left(condition)} = {echoed(text)}", reason, list(dict.fromkeys(shown)))
        name = closest_alternative(text, names)
        self.problems.correct(constant, Constant(name) if name is not None else None)
        return problem


def _not_all(what: str) -> str:
    return f"the store did not return all {what}"


def _first_nodes(pages: Sequence[Page[Entity]]) -> _Nodes:
    """The nodes of the first pages of several lists, which may share some."""
    found = dict.fromkeys(entity.id for page in pages for entity in page.items)
    complete = all(page.stop is Stop.COMPLETE for page in pages)
    if len(pages) == 1 and not complete and pages[0].total.certainty is not Certainty.UNKNOWN:
        return _Nodes(tuple(found), pages[0].total)
    return _Nodes(tuple(found), Count(len(found)) if complete else Count.at_least(len(found)))


def _meant(text: str, found: Page[Namesake]) -> tuple[Sequence[Entity], str]:
    """The entities that a name means: those spelt exactly so, or else in any letter case. The note tells which."""
    exact = [one.entity for one in found.items if one.name == text]
    entities = exact or [one.entity for one in found.items]
    nodes = _Nodes(tuple(entity.id for entity in entities), Count(len(entities)))
    if exact or not entities:
        return entities, _matches(text, nodes)
    if len(entities) == 1:
        return entities, f"No entity has the name {echoed(text)} in this letter case: {entities[0].id} is used."
    return entities, _matches(text, nodes, " in another letter case")


def _exact(text: str, found: Page[Namesake]) -> _Nodes:
    """The nodes of an incomplete page that have exactly this name."""
    ids = tuple(one.entity.id for one in found.items if one.name == text)
    return _Nodes(ids, Count.at_least(len(ids)))


def _matches(text: str, nodes: _Nodes, how: str = "") -> str:
    """The sentence that a name matches several nodes; empty if it does not."""
    if nodes.number.value < 2:
        return ""
    shown = nodes.ids[:NEAREST]
    if nodes.number.certainty is not Certainty.EXACT:
        more = " and more"
    else:
        more = f" and {nodes.number.value - len(shown):,} more" if nodes.number.value > len(shown) else ""
    return f"The name {echoed(text)} matches {nodes.number} nodes{how}: {', '.join(shown)}{more}."


def has_id(owner: str, ids: Sequence[str]) -> Compare:
    """The condition that a node has one of these ids."""
    wanted = ListOf(tuple(Constant(each) for each in dict.fromkeys(ids)))
    return Compare(Call(Function.ID, (Variable(owner),)), Comparison.IN, wanted)


def _with_name(entity: Entity) -> str:
    """An entity as `wd:Q42 (Douglas Adams)`; only its id if it has no label."""
    return entity.id if entity.label in (None, entity.id) else f"{entity.id} ({entity.label})"


def _left(condition: Compare) -> str:
    match condition.left:
        case Property(owner, name):
            return f"{owner}.{name}" if is_named(owner) else name
        case Call(_, (Variable(name), *_)):
            return f"{name}.id" if is_named(name) else "id"
        case _:
            return "a name"
