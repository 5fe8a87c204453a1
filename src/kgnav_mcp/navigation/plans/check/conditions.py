"""Checks the conditions and values of a plan: every property, label and constant is replaced by the graph's own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from kgnav_mcp.languages.cypher import quoted, write_part
from kgnav_mcp.model import NODE_VALUES
from kgnav_mcp.navigation.nodes_by_value import ID
from kgnav_mcp.navigation.plans.check.entities import EntityReader, has_id
from kgnav_mcp.navigation.plans.check.plan_problems import PlanProblems, closest_alternative
from kgnav_mcp.navigation.plans.check.properties import PropertyChecker, SeveralValuesChecker
from kgnav_mcp.navigation.plans.check.schema_names import SchemaNames
from kgnav_mcp.navigation.plans.check.scopes import Edge, Members, Node, Scope, within
from kgnav_mcp.navigation.plans.check.value_kinds import EDGE, report_no_numbers, report_other_kinds
from kgnav_mcp.navigation.references import NameIndex
from kgnav_mcp.plan import (
    HINT,
    NAME,
    Aggregate,
    AggregateFunction,
    Call,
    Compare,
    Comparison,
    ComparisonChain,
    Comprehension,
    Connective,
    Constant,
    CountOf,
    During,
    Exists,
    Expression,
    Function,
    HasLabel,
    Joined,
    ListOf,
    Match,
    Not,
    Property,
    Quantified,
    Reduction,
    Variable,
)
from kgnav_mcp.plan.expressions import MIRRORED
from kgnav_mcp.plan.walking import conjunction, facts_of_result, parts, rewritten_in_turn

FROM_NAMES = ("start time", "P580", "from", "start", "since", "begin", "valid_from", "start_date", "from_year")
TO_NAMES = ("end time", "P582", "to", "end", "until", "till", "valid_to", "end_date", "to_year")
"""Usual names of an edge's properties for the start and the end of its validity."""
OPEN_ENDS = "An edge without a start date is valid from the beginning, one without an end date until now."
_IDENTITY = frozenset((Comparison.EQUAL, Comparison.UNEQUAL, Comparison.IN))


@dataclass(frozen=True, slots=True)
class ConditionChecker:
    """Checks the expressions of one plan."""

    schema_names: SchemaNames
    entities: EntityReader
    having: PropertyChecker
    problems: PlanProblems
    match: Callable[[Match, Scope], Awaitable[Match]]
    """Checks the pattern within a condition."""

    several: SeveralValuesChecker

    async def checked(  # noqa: C901 - a case each
        self, expression: Expression | None, scope: Scope, *, filters: bool = False
    ) -> Expression | None:
        """The expression with the graph's own ids.

        `filters`: it is the condition of a WHERE, where null and false are the same.
        """
        filtering = {id(part) for part in _alternatives_of(expression)} if filters else set[int]()

        async def change(part: object) -> object | None:  # noqa: C901 - a case each
            await self.several.check(part, scope)
            match part:
                case Exists() | CountOf():
                    new = replace(part, match=await self.match(part.match, scope))
                case Compare():
                    new = await self._check_comparison(part, scope, filters=id(part) in filtering)
                case ComparisonChain():
                    new = await self._check_chain(part, scope)
                case Call(Function.SIZE, (Property() as owned,)):
                    new = await self.several.number_of_values(owned, await self._property(owned, scope), scope)
                case Property():
                    new = await self._property(part, scope)
                case Joined():
                    new = await self._joined(part, scope, filters=id(part) in filtering)
                case HasLabel():
                    new = await self._has_label(part, scope)
                case Aggregate(AggregateFunction.SUM | AggregateFunction.AVERAGE):
                    new = await self._check_sum(part, scope)
                case During():
                    new = await self._during(part, scope)
                case Comprehension() | Quantified() | Reduction():
                    new = await self._over_members(part, scope)
                case _:
                    new = None
            return new

        return None if expression is None else await rewritten_in_turn(expression, change)

    async def _over_members(
        self, part: Comprehension | Quantified | Reduction, scope: Scope
    ) -> Comprehension | Quantified | Reduction:
        """An expression over the members of a list, whose inner expressions have a further variable."""
        of = cast("Expression", await self.checked(part.of, scope))
        part = replace(part, of=of)
        inner = within(scope, part)
        match part:
            case Comprehension(_, _, where, value):
                return replace(
                    part, where=await self.checked(where, inner, filters=True), value=await self.checked(value, inner)
                )
            case Quantified():
                return replace(part, where=cast("Expression", await self.checked(part.where, inner)))
            case Reduction(_, initial, _, _, value):
                initial = cast("Expression", await self.checked(initial, scope))
                if self._needs_facts_of_result(part):
                    return part
                return replace(part, initial=initial, value=cast("Expression", await self.checked(value, inner)))

    def _needs_facts_of_result(self, reduction: Reduction) -> bool:
        """Report a part that needs facts of the graph for the result so far: they are read before it is known."""
        part = facts_of_result(reduction)
        if part is None:
            return False
        result = reduction.accumulator
        reason = (
            f"{result} changes with each member in reduce({result} = ...), so no facts of the graph are read for it"
        )
        alternatives = ["UNWIND list AS x WITH x ORDER BY x.p LIMIT 1, in place of reduce"]
        self.problems.add(write_part(part), reason, alternatives)
        self.problems.correct(part, None)
        return True

    async def _check_comparison(self, written: Compare, scope: Scope, *, filters: bool = False) -> Expression | None:
        condition = _property_first(written)
        texts = _constants(condition)
        if not texts:
            return None
        strings = all(isinstance(each.value, str) for each in texts)
        identity = strings and condition.comparison in _IDENTITY
        if not identity or not isinstance(condition.left, Property):
            await self._note_preferred_name(condition.left, scope)
        match condition.left:
            case Call(Function.ID, (Variable(owner),)) if identity and isinstance(scope.get(owner), Node):
                return await self.entities.with_ids(condition, owner, texts)
            case Property(owner) as prop:
                match scope.get(owner):
                    case Node() as node:
                        return await self._compare_node_property(
                            condition, prop, node, texts, identity=identity, filters=filters, written=written
                        )
                    case Edge(relations):
                        ids = await self.schema_names.qualifier_ids(prop.name, relations)
                        kinds = await self.schema_names.qualifier_kinds(relations, ids)
                        report_other_kinds(condition, prop, kinds, texts, self.problems, written=written)
                        if identity and ids and (NODE_VALUES in kinds or not kinds):
                            return await self.entities.with_node_values(replace(condition, left=replace(prop, ids=ids)))
                    case _:
                        pass
            case _:
                pass
        return None

    async def _check_chain(self, chain: ComparisonChain, scope: Scope) -> None:
        """Check each comparison of a chain. A correction of one is made to its property."""
        for link in chain.links:
            await self._check_comparison(link, scope)
            corrected = self.problems.current(link)
            if corrected is link or not isinstance(corrected, Compare) or not isinstance(corrected.left, Call):
                continue
            for value in (link.left, link.right):
                if isinstance(value, Property):
                    self.problems.correct(value, replace(corrected.left, arguments=(value,)))

    async def _note_preferred_name(self, compared: Expression, scope: Scope) -> None:
        """Note that a comparison with a part of a name ignores aliases."""
        for part in parts(compared):
            match part:
                case Property(owner, name) if name == NAME and isinstance(node := scope.get(owner), Node):
                    checked = await self._node_property(part, node)
                    if isinstance(checked, Property) and not checked.ids:
                        text = f"{write_part(compared)} is the preferred name only"
                        self.problems.notes.append(f"{text}; {owner}.name = '...' also finds aliases.")
                case _:
                    pass

    async def _compare_node_property(
        self,
        condition: Compare,
        prop: Property,
        node: Node,
        constants: Sequence[Constant],
        *,
        identity: bool,
        filters: bool,
        written: Compare,
    ) -> Expression | None:
        """A comparison of a node's property. `identity`: it is `=`, `<>` or IN, with texts that may be ids or names."""
        if prop.name == HINT:
            return await self.entities.with_hint(prop.owner, constants, node)
        ids = await self.schema_names.properties(prop.name)
        if prop.name.casefold() == ID and condition.comparison in _IDENTITY and _may_be_ids(constants):
            return await self._compare_id(condition, replace(prop, ids=ids), node, constants, written)
        if prop.name == NAME:
            if identity and condition.comparison is not Comparison.UNEQUAL:
                own = replace(prop, ids=ids if await self.having.has(node, prop, ids) else ())
                return await self.entities.with_name(condition, own, constants, node, filters=filters)
            prop = await self._shown_name(prop, node)
            if identity:
                return await self.entities.with_other_name(condition, prop, constants, node)
            ids = prop.ids
        kinds = self.schema_names.value_kinds(ids)
        if prop.name == NAME and not ids:
            kinds = frozenset({"text"})  # as names are
        report_other_kinds(condition, prop, kinds, constants, self.problems, written=written)
        return replace(condition, left=prop) if prop.name == NAME else None

    async def _compare_id(
        self, condition: Compare, prop: Property, node: Node, constants: Sequence[Constant], written: Compare
    ) -> Expression:
        """A comparison of a node's `id`.

        Each constant is a value of the property `id` if a node of the graph has it, else a printed id if it is one.
        """
        if not prop.ids:
            texts = [each if isinstance(each.value, str) else Constant(str(each.value)) for each in constants]
            return await self.entities.with_ids(condition, prop.owner, texts)
        printed = await self.entities.printed_ids(prop, constants)
        own = [each for each in constants if each not in printed]
        parts: list[Expression] = []
        if own:
            await self.having.report_missing(node, prop, prop.ids)
            kinds = self.schema_names.value_kinds(prop.ids)
            report_other_kinds(condition, prop, kinds, own, self.problems, written=written)
            among = ListOf(tuple(own)) if condition.comparison is Comparison.IN else condition.right
            parts.append(replace(condition, left=prop, right=among))
        if printed:
            with_id = has_id(prop.owner, [*printed.values()])
            parts.append(Not(with_id) if condition.comparison is Comparison.UNEQUAL else with_id)
        return parts[0] if len(parts) == 1 else Joined(Connective.OR, tuple(parts))

    async def _check_sum(self, aggregate: Aggregate, scope: Scope) -> None:
        """Report a sum or average of values that are not numbers: without a report it would be empty."""
        match aggregate.of:
            case Variable(name) if isinstance(scope.get(name), Node | Edge):
                kinds = frozenset((NODE_VALUES if isinstance(scope[name], Node) else EDGE,))
            case Property(owner, name) if isinstance(scope.get(owner), Node):
                ids = await self.schema_names.properties(name)
                kinds = self.schema_names.value_kinds(ids) if ids or name != NAME else frozenset(("text",))
            case Property(owner, name) if isinstance(edge := scope.get(owner), Edge):
                ids = await self.schema_names.qualifier_ids(name, edge.relations)
                kinds = await self.schema_names.qualifier_kinds(edge.relations, ids)
            case _:
                return
        report_no_numbers(aggregate, kinds, self.problems)

    async def _property(self, prop: Property, scope: Scope) -> Expression:
        match scope.get(prop.owner):
            case Node() as node:
                return await self._node_property(prop, node)
            case Edge(relations):
                return await self._edge_property(prop, relations)
            case None:
                return prop  # an unknown variable, which the parser has reported
            case Members(each):
                name = "node" if isinstance(each, Node) else "edge"
                place, reason = f"{prop.owner}.{prop.name}", f"{prop.owner} is a list of {name}s"
                self.problems.add(place, reason, [f"UNWIND {prop.owner} AS {name}"])
                self.problems.correct(prop, None)
                return prop
            case _:
                self.problems.add(
                    f"{prop.owner}.{prop.name}", f"{prop.owner} is neither a node nor an edge, so it has no properties"
                )
                self.problems.correct(prop, None)
                return prop

    async def _node_property(self, prop: Property, node: Node) -> Expression:
        ids = await self.schema_names.properties(prop.name)
        if prop.name == NAME:
            return await self._shown_name(prop, node)
        if ids:
            await self.having.report_missing(node, prop, ids)
            return replace(prop, ids=ids)
        if prop.name.casefold() == ID:
            return Call(Function.ID, (Variable(prop.owner),))
        place = f"{prop.owner}.{prop.name}"
        if await self.schema_names.relations(prop.name):
            pattern = f"({prop.owner})-[:{quoted(prop.name)}]->(x)"
            self.problems.add(place, "leads to nodes: write it as an edge of the pattern", [pattern])
            self.problems.correct(prop, None)
            return prop
        labels = [label for group in node.labels for label in group]
        nearest = await self.schema_names.nearest_property(prop.name, labels)
        self.problems.add(place, "no node has this property", [f"{prop.owner}.{quoted(one)}" for one in nearest])
        name = closest_alternative(prop.name, nearest)
        self.problems.correct(prop, replace(prop, name=name) if name is not None else None)
        return prop

    async def _shown_name(self, prop: Property, node: Node) -> Property:
        """The property `name` of a node, with the ids of the graph's own properties of that name.

        Without ids, as the name that answers show, if names have languages, or if nodes of the label lack the property.
        """
        ids = await self.schema_names.properties(prop.name)
        own = not self.schema_names.in_languages(ids) and await self.having.has(node, prop, ids)
        return replace(prop, ids=ids if own else ())

    async def _edge_property(self, prop: Property, relations: Sequence[str]) -> Expression:
        place = f"{prop.owner}.{prop.name}"
        ids = await self.schema_names.qualifier_ids(prop.name, relations)
        if not ids:
            known = await self.schema_names.qualifiers(relations)
            reason = "edges of this relation have no such property" if relations else "no edge has such a property"
            self.problems.add(place, reason, [f"{prop.owner}.{quoted(one)}" for one in known[:5]])
            name = closest_alternative(prop.name, known)
            self.problems.correct(prop, replace(prop, name=name) if name is not None else None)
        return replace(prop, ids=ids)

    async def _joined(self, condition: Joined, scope: Scope, *, filters: bool) -> Expression | None:
        if condition.connective is Connective.AND:
            return await self._join_split_ids(condition, scope, filters=filters)
        return await self._alternatives(condition, scope, filters=filters and condition.connective is Connective.OR)

    async def _alternatives(self, condition: Joined, scope: Scope, *, filters: bool) -> Expression:
        """The condition with each alternative checked. An unknown name is not a problem if others exist."""
        parts = [await self.checked(each, scope, filters=filters) for each in condition.parts]
        self.problems.note_absent_alternatives(parts)
        return replace(condition, parts=tuple(each for each in parts if each is not None))

    async def _join_split_ids(self, condition: Joined, scope: Scope, *, filters: bool) -> Expression | None:
        """The condition with two labels joined if they are one id that was written without backticks, as `n:wd:Q5`."""
        for place, (first, second) in enumerate(pairwise(condition.parts)):
            if not (isinstance(first, HasLabel) and isinstance(second, HasLabel) and first.variable == second.variable):
                continue
            whole_label = await self.schema_names.whole_label(*first.labels, *second.labels)
            if whole_label is not None:
                meant_one = HasLabel(first.variable, (whole_label,))
                reason = f"{whole_label} is one id, so it needs backticks"
                self.problems.add(f"{first.variable}:{whole_label}", reason, [write_part(meant_one)])
                corrected = conjunction((*condition.parts[:place], meant_one, *condition.parts[place + 2 :]))
                self.problems.correct(condition, corrected)
                return await self.checked(corrected, scope, filters=filters)
        return None

    async def _has_label(self, condition: HasLabel, scope: Scope) -> Expression:
        of_node = not isinstance(scope.get(condition.variable), Edge)
        look_up = self.schema_names.labels if of_node else self.schema_names.relations
        ids: list[str] = []
        for name in condition.labels:
            found = await look_up(name)
            if not found:
                nearest = (
                    self.schema_names.nearest_label(name)
                    if of_node
                    else await self.schema_names.nearest_relation(name, ())
                )
                kind = "label" if of_node else "relation"
                self.problems.add(f"{condition.variable}:{name}", f"unknown {kind}", nearest)
                corrected = closest_alternative(name, nearest)
                names = tuple(corrected if corrected and each == name else each for each in condition.labels)
                self.problems.correct(condition, replace(condition, labels=names) if corrected else None)
            ids += found
        return replace(condition, labels=tuple(ids))

    async def _during(self, condition: During, scope: Scope) -> Expression:
        edge = scope.get(condition.edge)
        relations = edge.relations if isinstance(edge, Edge) else ()
        known = await self.schema_names.qualifiers(relations)
        index = NameIndex(known, _name_twice)
        begins, ends = ([one for name in names for one in index.find(name)] for names in (FROM_NAMES, TO_NAMES))
        if not begins and not ends:
            self.problems.add(condition.edge, "its edges have no start or end date", known[:5])
            self.problems.correct(condition, None)
        else:
            self.problems.notes.append(OPEN_ENDS)
        return replace(condition, from_ids=tuple(dict.fromkeys(begins)), to_ids=tuple(dict.fromkeys(ends)))


def _alternatives_of(condition: Expression | None) -> Iterator[Expression]:
    """The condition and, if it joins others by AND or OR, theirs: a row passes whether any of them is null or false."""
    if condition is None:
        return
    yield condition
    if isinstance(condition, Joined) and condition.connective is not Connective.XOR:
        for each in condition.parts:
            yield from _alternatives_of(each)


def _name_twice(name: str) -> tuple[str, str]:
    return name, name


def _may_be_ids(constants: Sequence[Constant]) -> bool:
    return all(isinstance(each.value, str | int) and not isinstance(each.value, bool) for each in constants)


def _property_first(condition: Compare) -> Compare:
    """The comparison with a constant on the left moved to the right, if there is an equivalent comparison."""
    if not isinstance(condition.left, Constant) or isinstance(condition.right, Constant):
        return condition
    mirrored = MIRRORED.get(condition.comparison)
    return Compare(condition.right, mirrored, condition.left) if mirrored else condition


def _constants(condition: Compare) -> list[Constant]:
    """The constants on the right of a comparison; empty if there are others than constants."""
    match condition.right:
        case Constant(value) as constant if value is not None and condition.comparison is not Comparison.IN:
            return [constant]
        case ListOf(items) if condition.comparison is Comparison.IN:
            constants = [item for item in items if isinstance(item, Constant) and item.value is not None]
            return constants if len(constants) == len(items) else []
        case _:
            return []
