"""Checks a plan against a graph before it runs: every name, every direction, every kind of value.

Source: GraphRunner's verification of a plan (known actions, known types, an edge type that really leaves that type).
Here all problems are reported at once, with the nearest valid alternatives, and the plan is corrected if there is only
one way to do it. The schema lists only the most frequent labels; what it leaves open is looked up in the graph.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile
from typing import cast

from kgnav_mcp.errors import StoreTimeout, Unsupported
from kgnav_mcp.languages.cypher import quoted, write_part
from kgnav_mcp.model import Stop, T
from kgnav_mcp.navigation.plans.check.conditions import ConditionChecker
from kgnav_mcp.navigation.plans.check.entities import EntityReader
from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems, closest_alternative
from kgnav_mcp.navigation.plans.check.properties import ANY_ROW, HasRows, PropertyChecker, SeveralValuesChecker
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.check.scopes import Node, Scope, after_match, after_project, after_unwind
from kgnav_mcp.navigation.plans.evaluate.several_values import several_values_note
from kgnav_mcp.navigation.plans.lookups import Lookups
from kgnav_mcp.navigation.plans.pushdown.alternatives import with_lists
from kgnav_mcp.navigation.plans.pushdown.reachability import with_reachability
from kgnav_mcp.plan import (
    Call,
    Clause,
    Column,
    Compare,
    Comparison,
    Connective,
    Constant,
    EdgePattern,
    Expression,
    Function,
    Joined,
    ListOf,
    Match,
    NodePattern,
    Order,
    Pipeline,
    Plan,
    PlanProblem,
    Project,
    Property,
    Unwind,
    Variable,
    is_named,
)
from kgnav_mcp.plan.walking import aggregates, conjuncts, variables_of
from kgnav_mcp.port import Capability, GraphAdapter


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A plan with the graph's own ids, and its problems."""

    plan: Plan
    """To be run only if there are no problems."""
    problems: tuple[PlanProblem, ...] = ()
    corrected: Plan | None = None
    """The written plan with every problem corrected. It was checked, too. None if there is no single correction."""
    notes: tuple[str, ...] = ()
    """How names were interpreted."""


async def check(
    graph: GraphAdapter,
    plan: Plan,
    has_rows: HasRows,
    lookups: Lookups,
    *,
    one_node: frozenset[str] = frozenset(),
) -> CheckedPlan:
    """The plan with the graph's own ids, or all its problems at once.

    `has_rows` is called to learn whether edges of a relation lead from a label to a label if the schema does not say.
    `one_node` are variables whose name must mean a single node.
    """
    schema_names = await SchemaNames.of(graph)

    async def checked(written: Plan, known: SchemaNames) -> CheckedPlan:
        problems = PlanProblems()
        entities = EntityReader(graph, lookups, problems, one_node)
        return await _Checker(known, problems, entities, has_rows).checked(written)

    found = await _check_and_correct(plan, lambda written: checked(written, schema_names))
    if found.problems and (read_again := await schema_names.read_again()):  # a missing name may have been added since
        return await _check_and_correct(plan, lambda written: checked(written, read_again))
    return found


async def _check_and_correct(plan: Plan, checked: Callable[[Plan], Awaitable[CheckedPlan]]) -> CheckedPlan:
    """The checked plan; if it has problems, its correction is checked and corrected again, a few times."""
    found = await checked(plan)
    for _ in range(_ROUNDS):
        if found.corrected is None:
            return found
        again = await checked(found.corrected)
        if not again.problems:
            return found
        found = replace(found, problems=(*found.problems, *again.problems), corrected=again.corrected)
    return replace(found, corrected=None)


@dataclass(slots=True)
class _Checker:
    schema_names: SchemaNames
    problems: PlanProblems
    entities: EntityReader
    has_rows: HasRows
    conditions: ConditionChecker = field(init=False)
    several: SeveralValuesChecker = field(init=False)

    def __post_init__(self) -> None:
        properties = PropertyChecker(self.schema_names, self.problems, self.has_rows)
        self.several = SeveralValuesChecker(self.schema_names, self.problems)
        self.conditions = ConditionChecker(
            self.schema_names, self.entities, properties, self.problems, self._match, self.several
        )

    async def checked(self, plan: Plan) -> CheckedPlan:
        """The plan with ids, and its problems."""
        pipelines = [await self._pipeline(with_listed_values(keeping_order(pipeline))) for pipeline in plan.pipelines]
        corrected = self.problems.corrected(plan) if self.problems.entries else None
        return CheckedPlan(
            with_lists(with_reachability(replace(plan, pipelines=tuple(pipelines)))),
            tuple(dict.fromkeys(self.problems.entries)),
            corrected,
            tuple(filter(None, (*dict.fromkeys(self.problems.notes), several_values_note(self.problems.several)))),
        )

    async def _pipeline(self, pipeline: Pipeline) -> Pipeline:
        scope: Scope = {}
        clauses: list[Match | Unwind | Project] = []
        for clause in pipeline.clauses:
            match clause:
                case Match():
                    new = await self._match(clause, scope)
                    scope = after_match(scope, new)
                case Unwind():
                    new = replace(clause, of=await self._value(clause.of, scope))
                    scope = after_unwind(scope, new)
                case Project():
                    before, scope = scope, after_project(scope, clause)
                    new = await self._project(clause, before, scope)
            clauses.append(new)
        return Pipeline(tuple(clauses))

    async def _value(self, value: T, scope: Scope) -> T:
        return cast("T", await self.conditions.checked(cast("Constant", value), scope))

    async def _project(self, project: Project, before: Scope, after: Scope) -> Project:
        columns = [Column(column.name, await self._value(column.value, before)) for column in project.columns]
        both = {**before, **after}
        order = [Order(await self._value(each.by, both), each.descending) for each in project.order]
        for each in project.order:
            await self.several.check_order(each.by, both)
        where = await self.conditions.checked(project.where, after, filters=True)
        return replace(project, columns=tuple(columns), order=tuple(order), where=where)

    async def _match(self, match: Match, scope: Scope) -> Match:
        nodes = [await self._node(node) for node in match.nodes]
        edges = [await self._relations(edge, match, nodes) for edge in match.edges]
        new = replace(match, nodes=tuple(nodes), edges=tuple(edges))
        inside = after_match(scope, new)
        for written, edge in zip(match.edges, new.edges, strict=True):
            await self._check_ends(written, edge, inside, match)
        return replace(new, where=await self.conditions.checked(match.where, inside, filters=True))

    async def _node(self, node: NodePattern) -> NodePattern:
        groups: list[tuple[str, ...]] = []
        for group in await self._join_split_ids(node):
            ids: list[str] = []
            for name in group:
                found = await self.schema_names.labels(name)
                if not found:
                    self._unknown_label(node, name)
                ids += found
            groups.append(tuple(ids))
        return replace(node, labels=tuple(groups))

    async def _join_split_ids(self, node: NodePattern) -> tuple[tuple[str, ...], ...]:
        """The labels of a node. Two labels may be a single id that was written without backticks, as in `:wd:Q5`."""
        groups = list(node.labels)
        for place, pair in enumerate(pairwise(node.labels)):
            whole_label = await self.schema_names.whole_label(*(name for group in pair for name in group))
            if whole_label is not None:
                reason = f"{whole_label} is one id, so it needs backticks"
                named = node.variable if is_named(node.variable) else ""
                self.problems.add(f"({named}:{whole_label})", reason, [quoted(whole_label)])
                groups[place : place + 2] = [(whole_label,)]
                self.problems.correct(node, replace(node, labels=tuple(groups)))
                break  # a second one is found when the corrected plan is checked
        return tuple(groups)

    def _unknown_label(self, node: NodePattern, name: str) -> None:
        place = write_part(NodePattern(node.variable, ((name,),)))
        if not self.schema_names.has_labels:
            self.problems.add(place, "this graph has no labels: omit it")
            self.problems.correct(node, replace(node, labels=()))
            return
        nearest = self.schema_names.nearest_label(name)
        self.problems.add(place, "unknown label", nearest)
        corrected = closest_alternative(name, nearest)
        current = cast("NodePattern", self.problems.current(node))
        labels = tuple(
            tuple(corrected if corrected and one == name else one for one in group) for group in current.labels
        )
        self.problems.correct(node, replace(current, labels=labels) if corrected else None)

    async def _relations(self, edge: EdgePattern, match: Match, nodes: Sequence[NodePattern]) -> EdgePattern:
        ids: list[str] = []
        for name in edge.relations:
            found = await self.schema_names.relations(name)
            if not found:
                labels = [one for node in nodes if node.variable in (edge.source, edge.target) for one in _flat(node)]
                await self._unknown_relation(edge, name, labels, match)
            ids += found
        return replace(edge, relations=tuple(dict.fromkeys(ids)))

    async def _unknown_relation(self, edge: EdgePattern, name: str, labels: Sequence[str], match: Match) -> None:
        place = _edge_with_ends(edge, match)
        if await self.schema_names.properties(name):
            value = f"{edge.source if is_named(edge.source) else 'node'}.{quoted(name)}"
            self.problems.add(place, f"{name} leads to values, not to nodes: it is a property", [value])
            self.problems.correct(edge, None)
            return
        nearest = await self.schema_names.nearest_relation(name, labels)
        self.problems.add(place, f"unknown relation {name}", nearest)
        self._rename(edge, name, closest_alternative(name, nearest))

    def _rename(self, edge: EdgePattern, name: str, corrected: str | None) -> None:
        current = cast("EdgePattern", self.problems.current(edge))
        relations = tuple(corrected if corrected and one == name else one for one in current.relations)
        self.problems.correct(edge, replace(current, relations=relations) if corrected else None)

    async def _check_ends(self, edge: EdgePattern, resolved: EdgePattern, scope: Scope, match: Match) -> None:
        """Report an edge whose relations never lead from the labels of its source to those of its target."""
        source, target = scope.get(edge.source), scope.get(edge.target)
        if not isinstance(source, Node) or not isinstance(target, Node) or not resolved.relations:
            return
        heads, tails = _one_group(source), _one_group(target)
        labels = (*source.labels, *target.labels)
        if resolved.path is not None or not labels or not all(labels):  # an unknown label is reported elsewhere
            return
        if any(self.schema_names.leads(one, heads, tails) for one in resolved.relations):
            return
        if await self._leads(resolved, source, target) is not False:
            return
        place, kinds = _edge_with_ends(edge, match), (_labelled(source), _labelled(target))
        if not edge.either and await self._leads(resolved, target, source):
            reversed_edge = replace(edge, source=edge.target, target=edge.source)
            reason = f"leads from {kinds[1]} to {kinds[0]}, not from {kinds[0]} to {kinds[1]}"
            self.problems.add(place, reason, [_edge_with_ends(reversed_edge, match)])
            current = cast("EdgePattern", self.problems.current(edge))
            self.problems.correct(edge, replace(current, source=current.target, target=current.source))
            return
        near = await self._relations_between(edge, source, target)
        self.problems.add(place, f"no such edge leads from {kinds[0]} to {kinds[1]}", near)
        # With a label at one end only, a single candidate is not necessarily the one meant.
        single = len(near) == 1 and source.labels and target.labels
        replacement = near[0] if single else closest_alternative(edge.relations[0], near)
        self._rename(edge, edge.relations[0], replacement if len(edge.relations) == 1 else None)

    async def _leads(self, edge: EdgePattern, source: Node, target: Node) -> bool | None:
        """Whether the graph has an edge of these relations between nodes with these labels; None if not known."""
        pattern = _between(edge, source, target)
        return await self.has_rows(Plan((Pipeline((pattern, ANY_ROW)),), only_exists=True))

    async def _relations_in_store(self, edge: EdgePattern, source: Node, target: Node) -> list[str] | None:
        """The relations of an edge that the graph has between nodes with these labels; None if the store cannot tell.

        One question for all of them: to look for an edge of each takes a SPARQL store some ten questions.
        """
        graph = self.schema_names.graph
        if not edge.relations or Capability.PLANS not in graph.capabilities or source.subclasses or target.subclasses:
            return None
        relation = Project((Column("relation", Call(Function.TYPE, (Variable("e"),))),), distinct=True)
        plan = Plan((Pipeline((_between(edge, source, target), relation)),), in_any_order=True)
        with suppress(Unsupported, StoreTimeout, TimeoutError):
            async with asyncio.timeout(_GROUPS_SECONDS):
                page = await graph.run(plan, limit=len(edge.relations) + 1)
            if page.stop is Stop.COMPLETE:
                found = {cell for row in page.items for cell in row.cells}
                return [one for one in edge.relations if one in found]
        return None

    async def _relations_between(self, edge: EdgePattern, source: Node, target: Node) -> list[str]:
        """Relations that lead from nodes like the source to nodes like the target; most similar names first."""
        at_source = await self.schema_names.relations_at(_one_group(source))
        at_target = await self.schema_names.relations_at(_one_group(target))
        shared = [one for one in at_source if one in at_target] if at_source and at_target else at_source or at_target
        candidates = replace(edge, relations=tuple(shared[:_RELATIONS_TRIED]), either=False)
        found = await self._relations_in_store(candidates, source, target)
        if found is None:
            each = [replace(candidates, relations=(relation,)) for relation in candidates.relations]
            found = [one.relations[0] for one in each if await self._leads(one, source, target)]
        words = await self.schema_names.nearest_relation(edge.relations[0], ())
        by_similarity = [one for word in words for one in await self.schema_names.relations(word)]
        ranks = {relation: rank for rank, relation in reversed(list(enumerate(by_similarity)))}
        return sorted(found, key=lambda one: ranks.get(one, len(by_similarity)))[:_OFFERED]


_ROUNDS = 4
"""Maximum times that a corrected plan is checked again: one mistake may hide another."""
_RELATIONS_TRIED = 20
"""Relations between two labels that are looked up in the graph, most frequent first."""
_OFFERED = 5
_GROUPS_SECONDS = 5.0
"""Seconds for the question which of them there are; after them, each is looked up."""


def _between(edge: EdgePattern, source: Node, target: Node) -> Match:
    """The pattern of an edge between nodes with these labels."""
    ends = [NodePattern(name, end.labels, end.subclasses) for name, end in (("s", source), ("t", target))]
    return Match(tuple(ends), (EdgePattern("e", "s", "t", edge.relations, edge.either),))


def _flat(node: NodePattern | Node) -> list[str]:
    return [label for group in node.labels for label in group]


def _one_group(node: Node) -> tuple[str, ...]:
    return node.labels[0] if node.labels else ()


def _labelled(node: Node) -> str:
    return "".join(f":{'|'.join(group)}" for group in node.labels) or "any node"


def _edge_with_ends(edge: EdgePattern, match: Match) -> str:
    """An edge with its ends and their labels, written as the place of a problem."""
    ends = (edge.source, edge.target)
    nodes = sorted((node for node in match.nodes if node.variable in ends), key=lambda node: ends.index(node.variable))
    return write_part(Match(tuple(nodes), (edge,)))


def keeping_order(pipeline: Pipeline) -> Pipeline:
    """The pipeline, with the order of sorted projections for the ones after them that are not sorted themselves.

    `WITH ... ORDER BY n LIMIT 3 RETURN n` is an example. Cypher leaves that order open, and readers expect it.
    It ends where rows are no longer those that were sorted, and with variables that are no longer there.
    """
    order: tuple[Order, ...] = ()
    clauses: list[Clause] = []
    for clause in pipeline.clauses:
        if isinstance(clause, Project):
            if not clause.order and _keeps_rows(clause):
                renamed = {column.name for column in clause.columns} - _unchanged(clause)
                kept = takewhile(lambda one: renamed.isdisjoint(variables_of(one.by)), order)  # noqa: B023 - used here
                clause = replace(clause, order=tuple(kept))  # noqa: PLW2901 - the clause is replaced
            order = _order_behind(clause)
        clauses.append(clause)
    return replace(pipeline, clauses=tuple(clauses))


def _unchanged(clause: Project) -> set[str]:
    """The variables that a projection keeps as they are."""
    return {column.name for column in clause.columns if column.value == Variable(column.name)}


def _order_behind(clause: Project) -> tuple[Order, ...]:
    """What a projection is sorted by, as the clauses behind it can write it: up to what they no longer have."""
    found: list[Order] = []
    for one in clause.order:
        column = next((column for column in clause.columns if column.value == one.by), None)
        written = one if column is None else replace(one, by=Variable(column.name))
        by_column = isinstance(written.by, Variable) and written.by.name in {each.name for each in clause.columns}
        if not by_column and not variables_of(written.by) <= _unchanged(clause):
            break
        found.append(written)
    return tuple(found)


def _keeps_rows(clause: Project) -> bool:
    """Whether each row of a projection is one of the rows before it."""
    return not clause.distinct and not any(aggregates(column.value) for column in clause.columns)


def with_listed_values(pipeline: Pipeline) -> Pipeline:
    """The pipeline where a property that equals a member of a written list must also be in that list.

    `UNWIND ['a1', 'b2'] AS x MATCH (p {code: x})` looks the two codes up so, and reads no other nodes.
    """
    lists: dict[str, ListOf] = {}
    members: dict[str, ListOf] = {}
    clauses: list[Match | Unwind | Project] = []
    for clause in pipeline.clauses:
        match clause:
            case Unwind(of, variable):
                written = lists.get(of.name) if isinstance(of, Variable) else of
                members |= {variable: written} if isinstance(written, ListOf) and _is_of_constants(written) else {}
            case Project(columns):
                own = {column.name: column.value for column in columns}
                kept = {name: value.name for name, value in own.items() if isinstance(value, Variable)}
                members = {name: members[before] for name, before in kept.items() if before in members}
                lists = {name: lists[before] for name, before in kept.items() if before in lists}
                lists |= {name: value for name, value in own.items() if isinstance(value, ListOf)}
            case Match(where=where, optional=False) if where is not None:
                listed = [*filter(None, (_listed(condition, members) for condition in conjuncts(where)))]
                if listed:
                    # The written condition stays the same object, by which its problems are found again.
                    clause = replace(clause, where=Joined(Connective.AND, (where, *listed)))  # noqa: PLW2901
            case Match():
                pass
        clauses.append(clause)
    return replace(pipeline, clauses=tuple(clauses))


def _is_of_constants(written: ListOf) -> bool:
    return bool(written.items) and all(isinstance(one, Constant) and one.value is not None for one in written.items)


def _listed(condition: Expression, members: Mapping[str, ListOf]) -> Expression | None:
    """The condition that a property is in a list, where it must equal a member of that list."""
    match condition:
        case Compare(Property() as owned, Comparison.EQUAL, Variable(name)) | Compare(
            Variable(name), Comparison.EQUAL, Property() as owned
        ) if name in members:
            return Compare(owned, Comparison.IN, members[name])
        case _:
            return None
