"""Parses plans in GraphRunner's steps: Find_Node, Fetch_Neighbors and Find_Common_Nodes, each a named set of nodes.

All steps on which the result depends form one pattern: a row is one assignment of a node from each returned or
counted set such that nodes of the other sets connect them. A step that no other step uses restricts those from which it
starts. A set that is used only in `except` may be empty. Source: GraphRunner, its three actions and plans in steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from pydantic import Field, ValidationError, model_validator

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.json_forms import Strict, form_problems, parse_conditions, projections
from kgnav_mcp.languages.json_patterns import OneOrMany, identity_conditions, node_pattern, path_length
from kgnav_mcp.plan import (
    HINT,
    UNNAMED,
    Aggregate,
    AggregateFunction,
    Column,
    Compare,
    Comparison,
    Constant,
    EdgePattern,
    Exists,
    Expression,
    Match,
    NodePattern,
    Not,
    PathKind,
    PathLength,
    Pipeline,
    Plan,
    PlanProblem,
    Project,
    Property,
    Variable,
)
from kgnav_mcp.plan.walking import conjunction

DEFAULT_HOPS = 3
"""Maximum hops to nodes of a type, if no edge type and no number of hops is given. The paper has no limit."""
EdgeDirection = Literal["outgoing", "incoming", "either"]
DEFAULT_DIRECTION: Final = "outgoing"
"""The default of both actions that follow edges, as in GraphRunner 3.1.2 and 3.1.3."""
MAX_NESTED = 5
"""Maximum depth of nested `except`: a step excludes a step that has an `except` itself, and so on."""
MAX_COPIES = 200
"""Maximum copies of steps for all `except` sets: they double with each nested one."""
MAX_OMITTED = 1_000
"""Number up to which omitted matches are counted exactly."""


class FindNode(Strict):
    """The one node with this name, the nodes with these ids, or all nodes of a type with these properties.

    `hint` and `node_type` are those of the tool `find_node`. A hint means its best candidate.
    """

    name: str | None = None
    hint: str | None = Field(default=None, min_length=1)
    node_type: str | None = None
    id: OneOrMany | None = None
    element_id: OneOrMany | None = None
    type: str | None = Field(default=None, alias="label")
    where: dict[str, Any] = Field(default_factory=dict[str, Any])


class FetchNeighbors(Strict):
    """The nodes one hop along an edge type from those of a step, or the nearest nodes of a type over several hops."""

    source: str = Field(alias="from")
    edge_type: str | list[str] | None = None
    label: str | None = Field(default=None, alias="node_type")
    direction: EdgeDirection = DEFAULT_DIRECTION
    hops: int | tuple[int, int | None] | None = None
    where: dict[str, Any] = Field(default_factory=dict[str, Any])
    edge_where: dict[str, Any] = Field(default_factory=dict[str, Any])
    edge_as: str | None = None
    """A name for its edges, so that they can be returned or counted."""
    excluded: str | list[str] | None = Field(default=None, alias="except")


class CommonPair(Strict):
    """The neighbours along an edge type of a step's nodes. GraphRunner writes it as the pair (node, edge type)."""

    node: str
    edge_type: str | None = None
    direction: EdgeDirection = DEFAULT_DIRECTION

    @model_validator(mode="before")
    @classmethod
    def _pair(cls, value: object) -> object:
        if isinstance(value, dict | CommonPair):
            return cast("object", value)
        pair = cast("list[object]", value) if isinstance(value, list) else []
        if len(pair) != 2:
            raise ValueError('must be a pair of a step and an edge type: ["p", "born_in"]')
        return dict(zip(("node", "edge_type"), pair, strict=True))


class Step(Strict):
    """One named action, or the result."""

    name: str | None = Field(default=None, alias="as")
    find_node: FindNode | None = None
    fetch_neighbors: FetchNeighbors | None = None
    find_common_nodes: list[CommonPair] | None = None
    returned: str | list[str] | None = Field(default=None, alias="return")
    order: str | list[str] | None = None
    limit: int | None = Field(default=None, ge=0)

    @property
    def depends_on(self) -> list[str]:
        """The steps from which it starts."""
        if self.fetch_neighbors is not None:
            return [self.fetch_neighbors.source]
        return [pair.node for pair in self.find_common_nodes or ()]

    @property
    def excludes(self) -> list[str]:
        """The steps whose nodes it excludes."""
        excluded = (self.fetch_neighbors.excluded if self.fetch_neighbors is not None else None) or []
        return [excluded] if isinstance(excluded, str) else excluded

    @property
    def edge_name(self) -> str | None:
        """The name of its edges, if they have one."""
        return self.fetch_neighbors.edge_as if self.fetch_neighbors is not None else None

    @property
    def uses(self) -> list[str]:
        """All steps that it refers to."""
        return [*self.depends_on, *self.excludes]

    @property
    def actions(self) -> int:
        """Number of actions. A valid step has one."""
        return sum(action is not None for action in (self.find_node, self.fetch_neighbors, self.find_common_nodes))

    @property
    def is_result(self) -> bool:
        """Whether it has `return`; it may have an action, too."""
        return self.returned is not None or self.order is not None or self.limit is not None

    def with_other_directions(self) -> Step:
        """The step with the other direction where none is given: incoming neighbours, common nodes by edges either way.

        The step itself if its directions are given.
        """
        hop, pairs = self.fetch_neighbors, self.find_common_nodes or []
        if hop is not None and _DIRECTION not in hop.model_fields_set:
            return self.model_copy(update={"fetch_neighbors": hop.model_copy(update={_DIRECTION: "incoming"})})
        if any(_DIRECTION not in pair.model_fields_set for pair in pairs):
            other = [
                pair if _DIRECTION in pair.model_fields_set else pair.model_copy(update={_DIRECTION: "either"})
                for pair in pairs
            ]
            return self.model_copy(update={"find_common_nodes": other})
        return self


_DIRECTION = "direction"


@dataclass(frozen=True, slots=True)
class OmittedMatches:
    """The matches that a step omits because it gives no direction, as a plan that counts them."""

    step: str
    is_common: bool
    """Whether they are common nodes by edges of either direction. Otherwise they are incoming neighbours."""
    count: Plan
    """Its only cell is their number, at most MAX_OMITTED + 1."""


@dataclass(slots=True)
class _Pattern:
    """The pattern made from several steps."""

    nodes: list[NodePattern] = field(default_factory=list[NodePattern])
    edges: list[EdgePattern] = field(default_factory=list[EdgePattern])
    where: list[Expression] = field(default_factory=list[Expression])

    def match(self) -> Match:
        return Match(tuple(self.nodes), tuple(self.edges), where=conjunction(self.where), edges_differ=False)


def parse_steps(steps: Sequence[object]) -> tuple[Plan, frozenset[str]]:
    """Parse steps. Returns the plan, and the variables of steps whose name must identify a single node.

    Raises:
        InvalidPlan: the steps are not valid. The error lists every problem.
    """
    problems: list[PlanProblem] = []
    reader, result = _read(steps, problems)
    plan = reader.plan(result)
    if problems:
        next_step = "Correct these steps and send the whole list again."
        raise InvalidPlan(list(dict.fromkeys(problems)), plan, next_step=next_step)
    return plan, frozenset(reader.one_node)


def omitted_matches(steps: Sequence[object]) -> Iterator[OmittedMatches]:
    """The matches that each of these valid steps omits because it gives no direction."""
    reader, _ = _read(steps, [])
    for name, step in reader.steps.items():
        other = step.with_other_directions()
        if other is not step:
            yield reader.omitted(name, other)


def _read(steps: Sequence[object], problems: list[PlanProblem]) -> tuple[_Reader, Step]:
    """Read the steps: a reader of those with an action, and the last one that returns."""
    actions: dict[str, Step] = {}
    results: list[Step] = []
    for number, source in enumerate(steps, 1):
        try:
            step = Step.model_validate(source)
        except ValidationError as error:
            problems += form_problems(error, f"step {number}", Step, _KEYS)
            continue
        if step.name in actions:
            problems.append(
                PlanProblem(f"step {number}", f"an earlier step has the name {step.name}", (f"{step.name}2",))
            )
            continue
        if step.is_result:
            results.append(step)
        if step.actions or not step.is_result:
            actions[step.name or f"step{number}"] = step
    if len(results) > 1:
        problems.append(PlanProblem("return", "several steps have `return`", ("only the last step",)))
    problems += _step_problems(actions)
    result = results[-1] if results else Step()
    if not actions and not problems:
        problems.append(PlanProblem("the steps", "no step finds nodes", ("find_node",)))
    if result.returned is None:
        result = result.model_copy(update={"returned": list(actions)[-1:]})
    return _Reader(actions, problems), result


_KEYS: dict[str, type[Strict]] = {
    "find_node": FindNode,
    "fetch_neighbors": FetchNeighbors,
    "find_common_nodes": CommonPair,
}


def _step_problems(steps: dict[str, Step]) -> Iterator[PlanProblem]:
    """The problems of steps without exactly one action, and of references to unknown or later steps."""
    order = list(steps)
    for place, (name, step) in enumerate(steps.items()):
        if step.actions != 1:
            yield PlanProblem(
                name,
                "a step must have exactly one action",
                ("find_node", "fetch_neighbors", "find_common_nodes", "return"),
            )
        if step.edge_name in steps:
            yield PlanProblem(name, f"its edges have the name {step.edge_name} of a step", (f"{step.edge_name}_edges",))
        for used in step.uses:
            if used in order[place:]:
                yield PlanProblem(name, f"uses the step {used}, which is not an earlier step", tuple(order[:place]))
            elif used not in steps:
                yield PlanProblem(name, f"uses the step {used}, which does not exist", tuple(order[:place]))


class _Reader:
    """Converts all steps to one pattern."""

    def __init__(self, steps: dict[str, Step], problems: list[PlanProblem]) -> None:
        self.steps = steps
        self.problems = problems
        self.copies = 0
        self.one_node: set[str] = set()
        """Variables whose name must identify a single node."""

    def plan(self, result: Step) -> Plan:
        self._bound_excluded_sets()
        texts = [result.returned] if isinstance(result.returned, str) else result.returned or []
        order = [result.order] if isinstance(result.order, str) else result.order or []
        result_problems: list[PlanProblem] = []
        edges = {step.edge_name: name for name, step in self.steps.items() if step.edge_name is not None}
        results = projections(texts, order, result.limit, [*self.steps, *edges], result_problems)
        returned = dict.fromkeys(edges.get(column.name, column.name) for column in results[0].columns)
        self.problems += result_problems
        used = self._with_filters(list(self.steps) if result_problems else list(returned))
        pattern = _Pattern()
        for name in used:
            self._add(name, {}, pattern)
        return Plan((Pipeline((pattern.match(), *results)),))

    def _with_filters(self, returned: Sequence[str]) -> list[str]:
        """The steps of the pattern: those on which the returned ones depend, and those that restrict these.

        A step that is not used restricts the steps from which it starts. A step without any effect is a problem.
        """
        used = self._with_dependencies(returned)
        others = {name for step in self.steps.values() for name in step.uses}.union(used)
        unused = {name: self._with_dependencies([name]) for name in self.steps if name not in others}
        while filters := [name for name, needed in unused.items() if not set(needed).isdisjoint(used)]:
            used = self._with_dependencies([*used, *filters])
            unused = {name: needed for name, needed in unused.items() if name not in filters}
        reason = "it has no effect: it is not used, not returned and restricts no other step"
        self.problems += (PlanProblem(name, reason, (f"return {name}",)) for name in unused)
        return used

    def _bound_excluded_sets(self) -> None:
        """Report the first `except` that is nested too deeply or repeats too many steps."""
        depths: dict[str, int] = {}
        copies: dict[str, int] = {}
        total, reported = 0, False
        for name, step in self.steps.items():
            depth = copied = 0
            for excluded in self._earlier(name, () if reported else step.excludes):
                needed = self._with_dependencies([excluded])
                depth = max(depth, *(depths[step_name] + 1 for step_name in needed))
                copied += sum(copies[step_name] + 1 for step_name in needed)
                if depth > MAX_NESTED or total + copied > MAX_COPIES:
                    self.problems.append(_too_much_excluded(name, depth))
                    reported = True
                    break
            if reported and step.fetch_neighbors is not None:
                hop = step.fetch_neighbors.model_copy(update={"excluded": None})
                self.steps[name] = step.model_copy(update={"fetch_neighbors": hop})
            depths[name], copies[name] = depth, copied
            total += copied

    def omitted(self, name: str, other: Step) -> OmittedMatches:
        """The matches of a step with another direction that it does not have with its own."""
        needed = self._with_dependencies([name])
        pattern = _Pattern()
        for step in needed:
            _Reader({**self.steps, name: other}, [])._add(step, {}, pattern)
        self.copies += 1  # the edges of the step itself get other names than those of the pattern
        present = _Pattern()
        self._add(name, {step: step for step in needed}, present)
        present.nodes += (NodePattern(step) for step in self.steps[name].depends_on)
        pattern.where.append(Not(Exists(present.match())))
        is_common = other.find_common_nodes is not None
        ends = [name] if is_common else [*other.depends_on, name]
        rows = Project(tuple(Column(step, Variable(step)) for step in ends), distinct=True, limit=MAX_OMITTED + 1)
        number = Project((Column("matches", Aggregate(AggregateFunction.COUNT, None)),))
        return OmittedMatches(name, is_common, Plan((Pipeline((pattern.match(), rows, number)),)))

    def _add(self, name: str, variables: dict[str, str], pattern: _Pattern) -> None:
        """Add a step to a pattern. `called` has the variables of renamed steps; others are named as their step."""
        step, variable = self.steps[name], variables.get(name, name)
        if step.find_node is not None:
            find = step.find_node
            pattern.nodes.append(node_pattern(variable, filter(None, (find.type, find.node_type))))
            self.one_node |= {variable} if find.name else set()
            if find.hint is not None:
                pattern.where.append(Compare(Property(variable, HINT), Comparison.EQUAL, Constant(find.hint)))
            pattern.where += identity_conditions(variable, find.name, find.id, find.element_id)
            pattern.where += self._where(variable, find.where, f"{name} where")
        elif step.fetch_neighbors is not None:
            self._add_neighbors(name, step.fetch_neighbors, variables, pattern)
        else:
            pattern.nodes.append(NodePattern(variable))
            for number, pair in enumerate(step.find_common_nodes or (), 1):
                types = [pair.edge_type] if pair.edge_type else []
                ends = variables.get(pair.node, pair.node), variable
                pattern.edges.append(_edge(self._edge_name(f"{name}{number}"), ends, types, pair.direction))

    def _add_neighbors(self, name: str, step: FetchNeighbors, variables: dict[str, str], pattern: _Pattern) -> None:
        variable, edge = variables.get(name, name), self._edge_name(name, step.edge_as if not variables else None)
        types = [step.edge_type] if isinstance(step.edge_type, str) else step.edge_type or []
        length = path_length(step.hops)
        any_hops = step.hops is None and step.edge_as is None  # a named edge is a single edge, not a path
        most = DEFAULT_HOPS if any_hops else step.hops
        if step.label is not None and not types and isinstance(most, int):
            length = PathLength(PathKind.DISTANCE, 1, most)
        pattern.nodes.append(node_pattern(variable, filter(None, (step.label,))))
        ends = variables.get(step.source, step.source), variable
        pattern.edges.append(_edge(edge, ends, types, step.direction, length))
        pattern.where += self._where(variable, step.where, f"{name} where")
        pattern.where += self._where(edge, step.edge_where, f"{name} edge_where")
        for other in self._earlier(name, self.steps[name].excludes):
            pattern.where.append(Not(Exists(self._membership_pattern(other, variable))))

    def _edge_name(self, step: str, alias: str | None = None) -> str:
        """A variable for the edge of a step, different in each copy of the step."""
        return alias or f"{UNNAMED}{step}.{self.copies}"

    def _membership_pattern(self, step: str, variable: str) -> Match:
        """The pattern that a node is in the set of a step: a copy of the steps that lead there, with new variables."""
        self.copies += 1
        needed = self._with_dependencies([step])
        variables = {name: f"{UNNAMED}{name}{self.copies}" for name in needed} | {step: variable}
        pattern = _Pattern()
        for name in needed:
            self._add(name, variables, pattern)
        return pattern.match()

    def _with_dependencies(self, steps: Sequence[str]) -> list[str]:
        """These steps and all that they depend on, in the order of the plan."""
        names, needed = list(self.steps), list(steps)
        for name in needed:
            needed += (used for used in self._earlier(name, self.steps[name].depends_on) if used not in needed)
        return sorted(needed, key=names.index)

    def _earlier(self, step: str, used: Iterable[str]) -> list[str]:
        """Those of the used steps that come before a step. Others are problems, and could lead round in a circle."""
        names = list(self.steps)
        before = names[: names.index(step)]
        return [name for name in used if name in before]

    def _where(self, owner: str, where: dict[str, Any], place: str) -> Iterable[Expression]:
        return parse_conditions(owner, where, place, self.problems)


def _too_much_excluded(step: str, depth: int) -> PlanProblem:
    """The problem of a step whose `except` is nested too deeply, or else needs too many copies of other steps."""
    reason = f"its `except` is nested {depth} levels deep; the limit is {MAX_NESTED}"
    if depth <= MAX_NESTED:
        reason = f"with its `except` over {MAX_COPIES} steps are repeated, one by one for each set that is left out"
    return PlanProblem(
        step, reason, ('first run a plan for the inner set, then pass its ids: {"find_node": {"id": [...]}}',)
    )


def _edge(
    edge: str, ends: tuple[str, str], types: Sequence[str], direction: str, length: PathLength | None = None
) -> EdgePattern:
    source, target = ends
    ends = (target, source) if direction == "incoming" else ends
    return EdgePattern(edge, *ends, tuple(types), direction == "either", length)
