"""Calls that cannot be answered as they stand."""

from __future__ import annotations

from collections.abc import Sequence

from kgnav_mcp.clipping import echoed
from kgnav_mcp.errors.base import KgnavError, in_words
from kgnav_mcp.model import Certainty, Count, Direction, Entity, PartSize, Triple
from kgnav_mcp.plan import Plan, PlanProblem


def _count_in_words(count: Count) -> str:
    """A number of rows with how sure it is; nothing where it is not known."""
    return {
        Certainty.EXACT: f"{count.value:,}",
        Certainty.AT_LEAST: f"at least {count.value:,}",
        Certainty.UNKNOWN: "",
    }[count.certainty]


class InvalidRequest(KgnavError):
    """The call cannot be answered as it stands."""


class UnknownEntity(InvalidRequest):
    """No entity has this id or name. `nearest` are entities with similar names, best first."""

    def __init__(self, reference: str, nearest: Sequence[Entity] = (), *, next_step: str = "") -> None:
        super().__init__(f"no entity has the id or the name {echoed(reference)}", next_step=next_step)
        self.reference = reference
        self.nearest = tuple(nearest)


class AmbiguousEntity(InvalidRequest):
    """Several entities have this name. `candidates` are all of them that were found."""

    def __init__(self, reference: str, candidates: Sequence[Entity], *, next_step: str = "") -> None:
        super().__init__(f"{len(candidates)} entities are called {echoed(reference)}", next_step=next_step)
        self.reference = reference
        self.candidates = tuple(candidates)


class UnresolvedEntities(InvalidRequest):
    """Several of the entities that were given are unknown or ambiguous. `problems` says of each what is wrong."""

    def __init__(self, problems: Sequence[UnknownEntity | AmbiguousEntity]) -> None:
        super().__init__(
            f"{len(problems)} of the entities are unknown or ambiguous",
            next_step="Repeat the call with ids of those you mean, or without them; find_node looks others up.",
        )
        self.problems = tuple(problems)


class UnknownRelation(InvalidRequest):
    """None of the entities has such a relation in that direction.

    `nearest` are their own relations most like the asked one; `opposite` says that it is there in the other direction.
    `direction` is None where both directions were asked for.
    """

    def __init__(
        self,
        entities: Sequence[Entity],
        relation: str,
        direction: Direction | None,
        nearest: Sequence[str] = (),
        *,
        opposite: bool = False,
        next_step: str = "",
    ) -> None:
        side = f"{direction} " if direction else ""
        lack = (
            f"{echoed(entities[0].id)} has no"
            if len(entities) == 1
            else f"none of the {len(entities):,} entities has the"
        )
        super().__init__(f"{lack} {side}relation {echoed(relation)}", next_step=next_step)
        self.entities = tuple(entities)
        self.relation = relation
        self.direction = direction
        self.nearest = tuple(nearest)
        self.opposite = opposite


class UnknownName(InvalidRequest):
    """The graph has no label, property or relation of this name. `kind` says which of them was asked for."""

    def __init__(self, kind: str, name: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(f"this graph has no {kind} {echoed(name)}", next_step="describe_graph() lists what there is.")
        self.kind = kind
        self.name = name
        self.nearest = tuple(nearest)


class UnknownGraph(InvalidRequest):
    """No graph is served under this name. `known` are the names that are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no graph is called {echoed(name)}", next_step=f"Use one of: {', '.join(known)}.")
        self.name = name
        self.known = tuple(known)


class InvalidPlan(InvalidRequest):
    """A plan cannot run. `problems` are all that could be found at once.

    `plan` is what could be read of a plan that is not well written: what it names can be checked all the same.
    `mended` is the plan with all problems mended, as it was written or, with `in_cypher`, in Cypher instead of JSON;
    None where there is no single way to mend it.
    """

    def __init__(
        self,
        problems: Sequence[PlanProblem],
        plan: Plan | None = None,
        *,
        mended: str | None = None,
        in_cypher: bool = False,
        next_step: str = "",
    ) -> None:
        super().__init__("; ".join(f"{problem.place}: {problem.reason}" for problem in problems), next_step=next_step)
        self.problems = tuple(problems)
        self.plan = plan
        self.mended = mended
        self.in_cypher = in_cypher


class PlanTooLarge(InvalidRequest):
    """A plan needs more rows at once than may be held outside the store. `sizes` are those of its parts so far."""

    def __init__(self, bound: int, sizes: Sequence[PartSize], *, next_step: str = "") -> None:
        known = ", ".join(
            f"{_count_in_words(size.count)} for {size.part}" for size in sizes if _count_in_words(size.count)
        )
        super().__init__(
            f"this plan needs more than {bound:,} rows at once{f': {known}' if known else ''}", next_step=next_step
        )
        self.bound = bound
        self.sizes = tuple(sizes)


class InvalidArgument(InvalidRequest):
    """A value is out of its range or of the wrong form."""


class InvalidStep(InvalidRequest):
    """A reasoning step is not as the graph has it. `instead` are triples of its anchor that are there."""

    def __init__(self, message: str, instead: Sequence[Triple] = (), *, next_step: str = "") -> None:
        super().__init__(message, next_step=next_step)
        self.instead = tuple(instead)


class InvalidCursor(InvalidRequest):
    """The cursor does not belong to this call: another tool, other arguments, or the graph has changed."""


class UnknownTrail(InvalidRequest):
    """No trail has this handle: it was forgotten, or belongs to someone else, or never was."""

    def __init__(self, handle: str, lifetime: float) -> None:
        super().__init__(
            f"no trail has the handle {echoed(handle)}, or not any more: trails are kept for {in_words(lifetime)} "
            "after their last use",
            next_step="start_trail(question, topic_entities) gives a new one. Any tool works without a trail as well.",
        )
        self.handle = handle


class TrailFull(InvalidRequest):
    """A trail takes no further step: it may have so many bytes, `size`. What is in it stays."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"this trail is full: the step was not recorded, since a trail may take {size:,} bytes",
            next_step="show_trail and check_answer work on; start_trail opens another for what comes next.",
        )
        self.size = size


class Unsupported(KgnavError):
    """The store cannot answer this kind of question. What it can is in its capabilities."""
