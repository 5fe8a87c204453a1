"""Every error this product raises on purpose.

    KgnavError
    |-- InvalidRequest            the call cannot be answered as it stands; the caller can mend it
    |   |-- UnknownEntity         no such id or name; carries the nearest names
    |   |-- AmbiguousEntity       a name that several entities share; carries them
    |   |-- UnresolvedEntities    several of the entities are unknown or ambiguous; carries each of these
    |   |-- UnknownRelation       no such relation at that entity; carries the nearest, or the other direction
    |   |-- UnknownName           no such label or property in the graph; carries the nearest
    |   |-- UnknownGraph          no graph is configured under that name
    |   |-- InvalidPlan           a plan that cannot run; carries every problem, and where it can, the plan mended
    |   |-- PlanTooLarge          a plan that needs more rows at once than may be held; carries the sizes of its parts
    |   |-- InvalidArgument       a value that is out of its range or of the wrong form
    |   |-- InvalidStep           a reasoning step that the graph does not have; carries triples that it has there
    |   |-- InvalidCursor         a cursor of another call, another graph or another version of the graph
    |   |-- UnknownTrail          no trail has that handle, or not any more
    |   `-- TrailFull             a trail that takes no further step
    |-- Unsupported               this store cannot answer that at all; no change of the call helps
    |-- StoreError                the store failed; the call was fine
    |   |-- StoreUnavailable      it does not answer, or the graph file is not there
    |   |-- StoreTimeout          it did not answer in time, or foresees that it would not
    |   |-- RateLimited           it refuses more calls for now; carries when to try again
    |   |-- TrailStoreUnavailable what keeps the trails does not answer; the graph may be well
    |   `-- InvalidStore          it answers, but it is damaged, of another version or not a graph
    |-- ConfigurationError        settings, files or packages of this installation are wrong
    |   `-- MissingDriver         a package is missing; carries what to give to pip
    `-- LoadError                 a source could not be loaded
        `-- BadLine               one line of a source is wrong; carries file and line number

`message` says what failed. `next_step` says what to do now, with a call or a command that works.
A driver's error is always the `__cause__`, never the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isnan
from typing import Final

from kgnav_mcp.clipping import echoed
from kgnav_mcp.model import Certainty, Count, Direction, Entity, PartSize, Triple
from kgnav_mcp.plan import Plan, PlanProblem

LONGEST_PAUSE: Final = 86_400.0
"""Seconds. A longer pause is told as more than a day, and the store is asked again after one."""


def in_words(seconds: float) -> str:
    """How long a pause is, rounded up: `40 s`, `5 minutes`, `2 hours`."""
    if seconds > LONGEST_PAUSE:
        return "more than a day"
    whole = max(ceil(_bounded(seconds)), 1)
    minutes = ceil(whole / 60)
    if whole < 120:
        return f"{whole} s"
    return f"{minutes} minutes" if minutes < 120 else f"{ceil(minutes / 60)} hours"


def _in_words(count: Count) -> str:
    """A number of rows with how sure it is; nothing where it is not known."""
    return {
        Certainty.EXACT: f"{count.value:,}",
        Certainty.AT_LEAST: f"at least {count.value:,}",
        Certainty.UNKNOWN: "",
    }[count.certainty]


def _bounded(seconds: float) -> float:
    return 0.0 if isnan(seconds) else min(max(seconds, 0.0), LONGEST_PAUSE)


class KgnavError(Exception):
    """Base of all errors raised on purpose: what failed, and what to do about it."""

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


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
        known = ", ".join(f"{_in_words(size.count)} for {size.part}" for size in sizes if _in_words(size.count))
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


class StoreError(KgnavError):
    """The store failed; the call was fine."""


class StoreUnavailable(StoreError):
    """The store does not answer, or the graph file is not there."""


class StoreTimeout(StoreError):
    """The store did not answer within `seconds`, or, as `message` then says, gave up on the query or did not begin.

    `seconds` is the time that was too short, None where it is not known.
    """

    def __init__(self, seconds: float | None, message: str = "", *, next_step: str = "") -> None:
        time = "in time" if seconds is None else f"within {seconds:g} s"
        super().__init__(message or f"the store did not answer {time}", next_step=next_step)
        self.seconds = seconds


class RateLimited(StoreError):
    """The store refuses more calls for now.

    `retry_after` is in seconds, from 0 to LONGEST_PAUSE whatever the store said, None where it did not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        pause = "a minute" if retry_after is None else in_words(retry_after)
        super().__init__(message, next_step=f"Try again in {pause}.")
        self.retry_after = None if retry_after is None else _bounded(retry_after)


class TrailStoreUnavailable(StoreError):
    """What keeps the trails does not answer, or cannot be written to. The graph may be well."""


class InvalidStore(StoreError):
    """The store answers, but what it holds cannot be read: damaged, of another version, or no graph at all."""


class ConfigurationError(KgnavError):
    """Settings, files or packages of this installation are wrong."""


class MissingDriver(ConfigurationError):
    """A package that a store or a ranker needs is not installed; `requirement` brings it, as pip reads it."""

    def __init__(self, needed_by: str, requirement: str) -> None:
        super().__init__(
            f"a package that {needed_by} needs is not installed", next_step=f"Run: pip install '{requirement}'"
        )
        self.requirement = requirement


class LoadError(KgnavError):
    """A source could not be loaded."""


_LONGEST_REASON = 200
"""Characters of what a parser says of a line."""


class BadLine(LoadError):
    """One line of a source is wrong. `line` counts from 1; None where the parser did not say."""

    def __init__(self, source: str, line: int | None, reason: str, *, next_step: str = "") -> None:
        reason = " ".join(reason.split())  # a parser quotes what it did not expect, which may go on for pages
        reason = reason if len(reason) <= _LONGEST_REASON else f"{reason[:_LONGEST_REASON]} ..."
        place = f"{source}:{line}" if line is not None else source
        super().__init__(f"{place}: {reason}", next_step=next_step)
        self.source = source
        self.line = line
        self.reason = reason

    def __reduce__(self) -> tuple[object, ...]:
        """It comes from a process of its own where that parses, and must arrive as it was raised."""
        return type(self), (self.source, self.line, self.reason), self.__dict__
