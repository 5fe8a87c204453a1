"""All errors that this package raises deliberately.

    KgnavError
    |-- InvalidRequest            the call cannot be answered as it is; the caller can correct it
    |   |-- UnknownEntity         no such id or name; carries the nearest names
    |   |-- AmbiguousEntity       a name that several entities share; carries them
    |   |-- UnresolvedEntities    several of the entities are unknown or ambiguous; carries each of these
    |   |-- UnknownRelation       no such relation at that entity; carries the nearest, or the other direction
    |   |-- UnknownName           no such label or property in the graph; carries the nearest
    |   |-- UnknownGraph          no graph is configured under that name
    |   |-- InvalidPlan           a plan that cannot run; carries every problem, and the corrected plan if there is one
    |   |-- PlanTooLarge          a plan that needs more rows at once than may be held; carries the sizes of its parts
    |   |-- PlanOverBudget        a plan that creates or compares more values than allowed; carries the expression
    |   |-- AnswerTooLarge        an answer that may not be cut is larger than an answer may be
    |   |-- InvalidArgument       a value that is out of its range or of the wrong form
    |   |-- InvalidStep           a reasoning step that the graph does not have; carries triples of its anchor
    |   |-- InvalidCursor         a cursor of another call, another graph or another version of the graph
    |   |-- UnknownTrail          no trail has this handle, or it has expired
    |   `-- TrailFull             a trail that accepts no further step
    |-- Unsupported               this store cannot answer such calls at all; no change of the call helps
    |-- StoreError                the store failed; the call was valid
    |   |-- StoreUnavailable      the store does not answer, or the graph file does not exist
    |   |-- StoreTimeout          the store did not answer in time, or predicts that it would not
    |   |   `-- StepLimitReached  the store stopped a query at the step limit, whatever time it took
    |   |-- RateLimited           the store refuses more calls for now; carries when to try again
    |   |-- TrailStoreUnavailable the store of the trails does not answer; the graph may be fine
    |   `-- InvalidStore          the store answers, but it is damaged, of another version or not a graph
    |-- ConfigurationError        settings, files or packages of this installation are wrong
    |   `-- MissingDriver         a package is missing; carries the requirement for pip
    `-- LoadError                 a source could not be loaded
        `-- BadLine               one line of a source is wrong; carries file and line number

`message` says what failed. `next_step` says what to do now, with a call or a command that works. A driver's error is
the `__cause__`; its text alone is never the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isnan
from typing import TYPE_CHECKING, Final

from kgnav_mcp.clipping import ECHO, clipped, echoed
from kgnav_mcp.model import Certainty, Direction, Entity, PartSize, Triple

if TYPE_CHECKING:
    from kgnav_mcp.plan import Plan, PlanProblem


LONGEST_PAUSE: Final = 86_400.0
"""Seconds. A longer pause is reported as more than a day, and the store is tried again after a day."""


def pause_text(seconds: float) -> str:
    """The length of a pause, rounded up: `40 s`, `5 minutes`, `2 hours`."""
    if seconds > LONGEST_PAUSE:
        return "more than a day"
    whole_seconds = max(ceil(clamp_pause(seconds)), 1)
    minutes = ceil(whole_seconds / 60)
    if whole_seconds < 120:
        return f"{whole_seconds} s"
    return f"{minutes} minutes" if minutes < 120 else f"{ceil(minutes / 60)} hours"


def clamp_pause(seconds: float) -> float:
    """A pause limited to the range from 0 to LONGEST_PAUSE seconds; 0 for NaN."""
    return 0.0 if isnan(seconds) else min(max(seconds, 0.0), LONGEST_PAUSE)


class KgnavError(Exception):
    """Base of all deliberate errors: what failed, and what to do about it."""

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class ConfigurationError(KgnavError):
    """Settings, files or packages of this installation are wrong."""


class MissingDriver(ConfigurationError):
    """A package that a store or a ranker needs is not installed. `requirement` is the requirement for pip."""

    def __init__(self, needed_by: str, requirement: str) -> None:
        super().__init__(
            f"a package that {needed_by} needs is not installed", next_step=f"Run: pip install '{requirement}'"
        )
        self.requirement = requirement


_LONGEST_MESSAGE = 350
"""Maximum characters of a message, which may quote a source."""


class LoadError(KgnavError):
    """A source could not be loaded. A long message is cut."""

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(clipped(message, _LONGEST_MESSAGE), next_step=next_step)


_LONGEST_NAME = 100
"""Maximum characters of a source's name in a message."""

_LONGEST_REASON = 200
"""Maximum characters of a parser's message about a line."""


class BadLine(LoadError):
    """One line of a source is wrong. `line` counts from 1; None if the parser did not say."""

    def __init__(self, source: str, line: int | None, reason: str, *, next_step: str = "") -> None:
        reason = " ".join(reason.split())  # a parser quotes the unexpected input, which may be very long
        reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} ..."
        place = f"{clipped(source, _LONGEST_NAME)}:{line}" if line is not None else clipped(source, _LONGEST_NAME)
        super().__init__(f"{place}: {reason}", next_step=next_step)
        self.source = source
        self.line = line
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all fields: the error may be raised in another process that parses."""
        return type(self), (self.source, self.line, self.reason), self.__dict__


class InvalidRequest(KgnavError):
    """The call cannot be answered as it is; the caller can correct it."""


class UnknownEntity(InvalidRequest):
    """No entity has this id or name. `nearest` are entities with similar names, best first."""

    def __init__(self, reference: str, nearest: Sequence[Entity] = (), *, next_step: str = "") -> None:
        super().__init__(f"no entity has the id or name {echoed(reference)}", next_step=next_step)
        self.reference = reference
        self.nearest = tuple(nearest)


class AmbiguousEntity(InvalidRequest):
    """Several entities have this name. `candidates` are those that were found."""

    def __init__(self, reference: str, candidates: Sequence[Entity], *, next_step: str = "") -> None:
        super().__init__(f"{len(candidates)} entities have the name {echoed(reference)}", next_step=next_step)
        self.reference = reference
        self.candidates = tuple(candidates)


class UnresolvedEntities(InvalidRequest):
    """Several of the given entities are unknown or ambiguous. `problems` has the error of each."""

    def __init__(self, problems: Sequence[UnknownEntity | AmbiguousEntity]) -> None:
        super().__init__(
            f"{len(problems)} of the entities are unknown or ambiguous",
            next_step="Repeat the call with the right ids, or without these entities; find_node(hint) finds ids.",
        )
        self.problems = tuple(problems)


class UnknownRelation(InvalidRequest):
    """None of the entities has this relation in this direction.

    `nearest` are the most similar relations that they have. `opposite`: they have it in the other direction.
    `direction` is None if both directions were asked for. `is_partial`: the store did not list all their relations, so
    that they may have it.
    """

    def __init__(
        self,
        entities: Sequence[Entity],
        relation: str,
        direction: Direction | None,
        nearest: Sequence[str] = (),
        *,
        opposite: bool = False,
        is_partial: bool = False,
        next_step: str = "",
    ) -> None:
        side = f"{direction} " if direction else ""
        lack = (
            f"{echoed(entities[0].id)} has no"
            if len(entities) == 1
            else f"none of the {len(entities):,} entities has the"
        )
        among = " among those that the store could list" if is_partial else ""
        super().__init__(f"{lack} {side}relation {echoed(relation)}{among}", next_step=next_step)
        self.entities = tuple(entities)
        self.relation = relation
        self.direction = direction
        self.nearest = tuple(nearest)
        self.opposite = opposite
        self.is_partial = is_partial


class UnknownName(InvalidRequest):
    """The graph has no label, property or relation with this name. `kind` says which of these was asked for."""

    def __init__(self, kind: str, name: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(f"this graph has no {kind} {echoed(name)}", next_step="describe_graph() lists all names.")
        self.kind = kind
        self.name = name
        self.nearest = tuple(nearest)


class UnknownGraph(InvalidRequest):
    """No graph is served under this name. `known` are the names of the graphs that are."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(f"unknown graph {echoed(name)}", next_step=f"Use one of: {', '.join(known)}.")
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
"""Maximum characters of the sizes in the message of a plan that is too large; the first is always shown."""


class PlanTooLarge(InvalidRequest):
    """A plan needs more rows at once than may be held outside the store. `sizes` are the known sizes of its parts.

    `need` says what it needs if that is something other than rows.
    """

    def __init__(self, bound: int, sizes: Sequence[PartSize], *, need: str = "", next_step: str = "") -> None:
        known_sizes = [
            f"{size.count.words} for {size.part}" for size in sizes if size.count.certainty is not Certainty.UNKNOWN
        ]
        shown = [
            each
            for place, each in enumerate(known_sizes)
            if not place or sum(map(len, known_sizes[: place + 1])) <= _SIZES
        ]
        more = [f"and {len(known_sizes) - len(shown)} more parts"] if len(shown) < len(known_sizes) else []
        listed = ", ".join((*shown, *more))
        need = need or f"more than {bound:,} rows"
        super().__init__(f"this plan needs {need} at once{f': {listed}' if listed else ''}", next_step=next_step)
        self.bound, self.need = bound, need
        self.sizes = tuple(sizes)


class PlanOverBudget(InvalidRequest):
    """A plan creates or compares more values than allowed. `part` is the expression that does."""

    def __init__(self, excess: str, part: str, *, next_step: str) -> None:
        super().__init__(f"this plan {excess}, at {clipped(part, ECHO)}", next_step=next_step)
        self.excess, self.part = excess, part


class AnswerTooLarge(InvalidRequest):
    """An answer in a paper's format, which is never cut, has more than `limit` bytes."""

    def __init__(self, limit: int, *, next_step: str) -> None:
        super().__init__(
            f"the answer has more than {limit:,} bytes, and a paper's format is never cut", next_step=next_step
        )
        self.limit = limit


class InvalidArgument(InvalidRequest):
    """A value is out of its range or of the wrong form."""


class InvalidStep(InvalidRequest):
    """A reasoning step contradicts the graph. `instead` are triples that its anchor does have."""

    def __init__(self, message: str, instead: Sequence[Triple] = (), *, next_step: str = "") -> None:
        super().__init__(message, next_step=next_step)
        self.instead = tuple(instead)


class InvalidCursor(InvalidRequest):
    """The cursor does not belong to this call: another tool, other arguments, or the graph has changed."""


class UnknownTrail(InvalidRequest):
    """No trail has this handle: it has expired, belongs to another caller, or never existed."""

    def __init__(self, handle: str, lifetime: float) -> None:
        super().__init__(
            f"no trail has the handle {echoed(handle)}, or not any more: trails are kept for {pause_text(lifetime)} "
            "after their last use",
            next_step="start_trail(question, topic_entities) gives a new one. Any tool works without a trail as well.",
        )
        self.handle = handle


class TrailFull(InvalidRequest):
    """A trail accepts no further step: it may have at most `size` bytes. Its existing steps stay."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"this trail is full: the step was not recorded, since a trail may take {size:,} bytes",
            next_step="show_trail and check_answer still work. start_trail starts another trail for further calls.",
        )
        self.size = size


class Unsupported(KgnavError):
    """The store cannot answer this kind of call. Its capabilities say what it can do."""


class StoreError(KgnavError):
    """The store failed; the call was valid."""


class StoreUnavailable(StoreError):
    """The store does not answer, or the graph file does not exist."""


class StoreTimeout(StoreError):
    """The store did not answer within `seconds`. `message` replaces that text if it aborted or refused the query.

    `seconds` is the time that was too short; None if it is not known.
    """

    def __init__(self, seconds: float | None, message: str = "", *, next_step: str = "") -> None:
        time = "in time" if seconds is None else f"within {seconds:g} s"
        super().__init__(message or f"the store did not answer {time}", next_step=next_step)
        self.seconds = seconds


class StepLimitReached(StoreTimeout):
    """The store stopped a query after the allowed number of engine steps, whatever time they took."""

    def __init__(self, steps: int) -> None:
        super().__init__(None, f"the store stopped the query after {steps:,} steps")
        self.steps = steps


class RateLimited(StoreError):
    """The store refuses more calls for now.

    `retry_after` is in seconds, limited to the range from 0 to LONGEST_PAUSE; None if the store did not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        pause = "a minute" if retry_after is None else pause_text(retry_after)
        super().__init__(message, next_step=f"Try again in {pause}.")
        self.retry_after = None if retry_after is None else clamp_pause(retry_after)


class TrailStoreUnavailable(StoreError):
    """The store of the trails does not answer, or cannot be written to. The graph may be fine."""


class InvalidStore(StoreError):
    """The store answers, but its data cannot be read: damaged, of another version, or not a graph."""
