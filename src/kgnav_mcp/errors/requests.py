"""Calls that cannot be answered as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgnav_mcp.clipping import ECHO, clipped, echoed
from kgnav_mcp.errors.base import KgnavError, in_words
from kgnav_mcp.model import Certainty, Count, Direction, Entity, PartSize, Triple

if TYPE_CHECKING:
    from kgnav_mcp.plan import Plan, PlanProblem


def _count_in_words(count: Count) -> str:
    """A number of rows with its certainty; empty if it is unknown."""
    return {
        Certainty.EXACT: f"{count.value:,}",
        Certainty.AT_LEAST: f"at least {count.value:,}",
        Certainty.UNKNOWN: "",
    }[count.certainty]


class InvalidRequest(KgnavError):
    """The call cannot be answered as it is; the caller can correct it."""


class UnknownEntity(InvalidRequest):
    """No entity has this id or name. `nearest` are entities with similar names, best first."""

    def __init__(self, reference: str, nearest: Sequence[Entity] = (), *, next_step: str = "") -> None:
        super().__init__(f"no entity has the id or the name {echoed(reference)}", next_step=next_step)
        self.reference = reference
        self.nearest = tuple(nearest)


class AmbiguousEntity(InvalidRequest):
    """Several entities have this name. `candidates` are those that were found."""

    def __init__(self, reference: str, candidates: Sequence[Entity], *, next_step: str = "") -> None:
        super().__init__(f"{len(candidates)} entities are called {echoed(reference)}", next_step=next_step)
        self.reference = reference
        self.candidates = tuple(candidates)


class UnresolvedEntities(InvalidRequest):
    """Several of the given entities are unknown or ambiguous. `problems` has the error of each."""

    def __init__(self, problems: Sequence[UnknownEntity | AmbiguousEntity]) -> None:
        super().__init__(
            f"{len(problems)} of the entities are unknown or ambiguous",
            next_step="Repeat the call with ids of those you mean, or without them; find_node looks others up.",
        )
        self.problems = tuple(problems)


class UnknownRelation(InvalidRequest):
    """None of the entities has this relation in this direction.

    `nearest` are the most similar relations that they have. `opposite`: they have it in the other direction.
    `direction` is None if both directions were asked for.
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
    """The graph has no label, property or relation with this name. `kind` says which of these was asked for."""

    def __init__(self, kind: str, name: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(f"this graph has no {kind} {echoed(name)}", next_step="describe_graph() lists what there is.")
        self.kind = kind
        self.name = name
        self.nearest = tuple(nearest)


class UnknownGraph(InvalidRequest):
    """No graph is served under this name. `known` are the names of the graphs that are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"no graph is called {echoed(name)}", next_step=f"Use one of: {', '.join(known)}.")
        self.name = name
        self.known = tuple(known)


class InvalidPlan(InvalidRequest):
    """A plan cannot run. `problems` are all problems that could be found at once.

    `plan` is the part of a malformed plan that could be parsed, so that its names can still be checked. `corrected` is
    the corrected plan, in the language of the original or, with `in_cypher`, in Cypher instead of JSON; None if there
    is no single correction.
    """

    def __init__(
        self,
        problems: Sequence[PlanProblem],
        plan: Plan | None = None,
        *,
        corrected: str | None = None,
        in_cypher: bool = False,
        next_step: str = "",
    ) -> None:
        super().__init__("; ".join(f"{problem.place}: {problem.reason}" for problem in problems), next_step=next_step)
        self.problems = tuple(problems)
        self.plan = plan
        self.corrected = corrected
        self.in_cypher = in_cypher


_SIZES = 120
"""Most characters of the sizes in the message of a plan that is too large; the first is always shown."""


class PlanTooLarge(InvalidRequest):
    """A plan needs more rows at once than may be held outside the store. `sizes` are the known sizes of its parts."""

    def __init__(self, bound: int, sizes: Sequence[PartSize], *, next_step: str = "") -> None:
        known_sizes = [
            f"{_count_in_words(size.count)} for {size.part}" for size in sizes if _count_in_words(size.count)
        ]
        shown = [
            each
            for place, each in enumerate(known_sizes)
            if not place or sum(map(len, known_sizes[: place + 1])) <= _SIZES
        ]
        more = [f"and {len(known_sizes) - len(shown)} more parts"] if len(shown) < len(known_sizes) else []
        listed = ", ".join((*shown, *more))
        super().__init__(
            f"this plan needs more than {bound:,} rows at once{f': {listed}' if listed else ''}", next_step=next_step
        )
        self.bound = bound
        self.sizes = tuple(sizes)


class PlanOverBudget(InvalidRequest):
    """A plan makes more values, or compares more of them, than one plan may. `part` is the expression that does."""

    def __init__(self, excess: str, part: str, *, next_step: str) -> None:
        super().__init__(f"this plan {excess}, at {clipped(part, ECHO)}", next_step=next_step)
        self.part = part


class AnswerTooLarge(InvalidRequest):
    """An answer that may not be cut has more than `limit` bytes."""

    def __init__(self, limit: int, *, next_step: str) -> None:
        super().__init__(
            f"the answer has more than {limit:,} bytes, and a paper's format is never cut", next_step=next_step
        )
        self.limit = limit


class InvalidArgument(InvalidRequest):
    """A value is out of its range or of the wrong form."""


class InvalidStep(InvalidRequest):
    """A reasoning step does not agree with the graph. `instead` are triples that its anchor does have."""

    def __init__(self, message: str, instead: Sequence[Triple] = (), *, next_step: str = "") -> None:
        super().__init__(message, next_step=next_step)
        self.instead = tuple(instead)


class InvalidCursor(InvalidRequest):
    """The cursor does not belong to this call: another tool, other arguments, or the graph has changed."""


class UnknownTrail(InvalidRequest):
    """No trail has this handle: it has expired, belongs to another caller, or never existed."""

    def __init__(self, handle: str, lifetime: float) -> None:
        super().__init__(
            f"no trail has the handle {echoed(handle)}, or not any more: trails are kept for {in_words(lifetime)} "
            "after their last use",
            next_step="start_trail(question, topic_entities) gives a new one. Any tool works without a trail as well.",
        )
        self.handle = handle


class TrailFull(InvalidRequest):
    """A trail accepts no further step: it may have at most `size` bytes. Its existing steps stay."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"this trail is full: the step was not recorded, since a trail may take {size:,} bytes",
            next_step="show_trail and check_answer work on; start_trail opens another for what comes next.",
        )
        self.size = size


class Unsupported(KgnavError):
    """The store cannot answer this kind of call. Its capabilities say what it can do."""
