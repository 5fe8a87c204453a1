"""Resolves the entities that a plan names by id or by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Candidate, Entity, Namesake, Stop
from kgnav_mcp.navigation.nodes_by_value import read_as_printed
from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems, closest_alternative
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

_LEAST_SCORE, _LEAST_LEAD = 0.6, 0.1
"""The least score of the best candidate for a hint, and how much less the next one must score, to be no guess."""


@dataclass(frozen=True, slots=True)
class EntityReader:
    """Finds the entities that a condition names."""

    graph: GraphAdapter
    lookups: Lookups
    findings: PlanProblems
    one_node: frozenset[str] = frozenset()
    """Variables whose name must mean a single node."""

    async def with_ids(self, condition: Compare, owner: str, texts: Sequence[Constant]) -> Expression:
        """A condition on a node's id, with ids as the graph writes them. Unknown ids are reported."""
        given = {constant: spellings(str(constant.value)) for constant in texts}
        found = await self.lookups.by_id([one for each in given.values() for one in each])
        ids: list[str] = []
        problems: list[PlanProblem] = []
        for constant, forms in given.items():
            entity = next((found[form] for form in forms if form in found), None)
            if entity is not None:
                ids.append(entity.id)
                await self._note_other_reading(str(constant.value), entity)
            else:
                reason = f"no entity has the id {echoed(str(constant.value))}"
                problems.append(await self._report_unknown(condition, constant, reason, by_id=True))
        found_ids = has_id(owner, ids)
        if condition.comparison is Comparison.UNEQUAL:
            return Not(found_ids)
        return self._marked(found_ids, texts, problems)

    async def _note_other_reading(self, text: str, entity: Entity) -> None:
        """Note which other node an id may mean."""
        (read,) = (await with_other_readings(self.graph, {text: entity})).values()
        if read.namesakes:
            others = ", ".join(map(_with_name, read.namesakes))
            self.findings.notes.append(f"{echoed(text)} was read as {_with_name(entity)}; it may also mean {others}.")

    async def printed_ids(self, prop: Property, constants: Sequence[Constant]) -> Mapping[Constant, str]:
        """Those constants that are printed ids and not values of the property `id`, with the ids. Notes name them."""
        given = {constant: spellings(str(constant.value)) for constant in constants}
        known = await self.lookups.by_id([one for each in given.values() for one in each])
        printed: dict[Constant, str] = {}
        for constant, forms in given.items():
            entity = next((known[form] for form in forms if form in known), None)
            if entity is not None and not await self._have_value(Node(), prop.ids, [constant]):
                printed[constant] = entity.id
                await self._note_other_reading(str(constant.value), entity)
                self.findings.notes.append(read_as_printed(str(constant.value)))
        return printed

    async def with_name(self, condition: Compare, prop: Property, texts: Sequence[Constant], node: Node) -> Expression:
        """A condition on a node's name, replaced by a condition on the ids of the entities with that name.

        Exact spelling comes first, then any letter case; aliases count. `prop.ids` are the graph's own properties
        called `name`: if a node with this node's labels has the exact value, the condition stays a comparison of them.
        """
        if prop.owner not in self.one_node and await self._have_value(node, prop.ids, texts):
            return replace(condition, left=prop)
        named = await self.lookups.by_name([str(constant.value) for constant in texts])
        if any(page.stop is not Stop.COMPLETE for page in named.values()):
            return replace(condition, left=prop)
        ids: list[str] = []
        problems: list[PlanProblem] = []
        for constant in texts:
            text = str(constant.value)
            entities = self._meant(text, named[text].items)
            if not entities:
                reason = f"no entity is called {echoed(text)}"
                problems.append(await self._report_unknown(condition, constant, reason))
            if len(entities) > 1 and prop.owner in self.one_node:
                reason = f"{len(entities):,} entities are called {echoed(text)}: give the id of one"
                self.findings.problem(prop.owner, reason, [entity.id for entity in entities[:NEAREST]])
                self.findings.correct(constant, None)
            ids += [entity.id for entity in entities]
        return self._marked(has_id(prop.owner, ids), texts, problems)

    def _marked(self, condition: Compare, texts: Sequence[Constant], problems: Sequence[PlanProblem]) -> Compare:
        """The condition; recorded as one that holds for no node if its only text means none."""
        if len(texts) == 1 and problems:
            self.findings.absent(condition, problems[0], texts[0])
        return condition

    async def with_hint(self, owner: str, hints: Sequence[Constant], node: Node) -> Expression:
        """The condition that a node is the best candidate for a hint, as `find_node` ranks them.

        A note names it, unless the hint is its name or id. If it is no clear match, that is a problem.
        """
        ids: list[str] = []
        label = next((labels[0] for labels in node.labels if len(labels) == 1), None)
        for constant in hints:
            hint = str(constant.value)
            found: Sequence[Candidate] = ()
            with suppress(UnknownName):  # an unknown label is reported where labels are checked
                found = (await self.graph.find(hint, label=label, limit=NEAREST)).items
            scores = [each.score for each in found]
            least = 1.0 if 1.0 in scores else max(_LEAST_SCORE, max(scores, default=0.0) - _LEAST_LEAD)
            best, by = [each.entity for each in found if each.score >= least], ""
            if not best:
                best, by = await self._most_similar(hint, label), ", by meaning"
            if len(best) == 1:
                ids.append(best[0].id)
                if 1.0 not in scores:
                    self.findings.notes.append(f"The hint {echoed(hint)} is taken for {_with_name(best[0])}{by}.")
                continue
            nearest = [_with_name(each) for each in best or [one.entity for one in found]]
            how = "means several entities: give the id of one" if best else "means no entity clearly"
            self.findings.problem(owner, f"the hint {echoed(hint)} {how}", nearest)
            self.findings.correct(constant, None)
        return has_id(owner, ids)

    async def _most_similar(self, hint: str, label: str | None) -> list[Entity]:
        """The entity whose meaning is most like a hint's, and those nearly as like it."""
        similar: Sequence[Candidate] = ()
        with suppress(UnknownName):  # as above
            similar = (await self.graph.find_by_meaning(hint, label=label, limit=NEAREST)).items
        least = max((each.similarity or 0.0 for each in similar), default=0.0) - _LEAST_LEAD
        return [each.entity for each in similar if (each.similarity or 0.0) >= least]

    async def with_other_name(
        self, condition: Compare, prop: Property, texts: Sequence[Constant], node: Node
    ) -> Expression:
        """A condition that a node's name is not this: it is none of the nodes that `with_name` takes it to mean."""
        compared = replace(condition, left=prop)
        if await self._have_value(node, prop.ids, texts):
            return compared
        (text,) = (str(constant.value) for constant in texts)
        page = (await self.lookups.by_name([text]))[text]
        if not page.items or page.stop is not Stop.COMPLETE:
            return compared
        others = Not(has_id(prop.owner, [entity.id for entity in self._meant(text, page.items)]))
        return Joined(Connective.AND, (compared, others))

    async def _have_value(self, node: Node, properties: Sequence[str], texts: Sequence[Constant]) -> bool:
        """Whether a node with this node's labels has one of these texts as the value of a property."""
        labels = node.labels[0] if node.labels and not node.subclasses else (None,)
        for label, name, constant in product(labels, properties, texts):
            with suppress(UnknownName):  # an unknown label is reported where labels are checked
                if (await self.lookups.by_value(label, name, str(constant.value))).items:
                    return True
        return False

    def _meant(self, text: str, found: Sequence[Namesake]) -> Sequence[Entity]:
        """The entities that a name means: those spelt exactly so, or else in any letter case. A note tells which."""
        exact = [one.entity for one in found if one.name == text]
        entities = exact or [one.entity for one in found]
        names = ", ".join(entity.id for entity in entities[:NEAREST])
        if entities and not exact:
            self.findings.notes.append(f"Nothing is called {echoed(text)} in this letter case: {names} is meant.")
        elif len(entities) > 1:
            more = f" and {len(entities) - NEAREST:,} more" if len(entities) > NEAREST else ""
            self.findings.notes.append(f"{len(entities):,} entities are called {echoed(text)}: {names}{more}.")
        return entities

    async def _report_unknown(
        self, condition: Compare, constant: Constant, reason: str, *, by_id: bool = False
    ) -> PlanProblem:
        """Report that nothing has this name or, with `by_id`, this id; with the nearest names, or ids with names."""
        text = str(constant.value)
        nearest = await nearest_entities(self.graph, text, NEAREST)
        names = [entity.id if by_id else entity.label or entity.id for entity in nearest]
        shown = [_with_name(entity) for entity in nearest] if by_id else names
        problem = self.findings.problem(f"{_left(condition)} = {echoed(text)}", reason, list(dict.fromkeys(shown)))
        name = closest_alternative(text, names)
        self.findings.correct(constant, Constant(name) if name is not None else None)
        return problem


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
