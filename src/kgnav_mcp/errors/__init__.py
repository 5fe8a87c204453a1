"""Every error that this package raises on purpose.

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
    |   |-- PlanOverBudget        a plan that makes or compares more values than one plan may; carries the expression
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
    |   |   `-- StepLimitReached  the store stopped a query for its steps, whatever time they took
    |   |-- RateLimited           the store refuses more calls for now; carries when to try again
    |   |-- TrailStoreUnavailable the store of the trails does not answer; the graph may be fine
    |   `-- InvalidStore          the store answers, but it is damaged, of another version or not a graph
    |-- ConfigurationError        settings, files or packages of this installation are wrong
    |   `-- MissingDriver         a package is missing; carries the requirement for pip
    `-- LoadError                 a source could not be loaded
        `-- BadLine               one line of a source is wrong; carries file and line number

`message` says what failed. `next_step` says what to do now, with a call or a command that works. A driver's error is
always the `__cause__`; its text alone is never the message.
"""

from __future__ import annotations

from kgnav_mcp.errors.base import (
    LONGEST_PAUSE,
    KgnavError,
    in_words,
)
from kgnav_mcp.errors.installation import (
    BadLine,
    ConfigurationError,
    LoadError,
    MissingDriver,
)
from kgnav_mcp.errors.requests import (
    AmbiguousEntity,
    AnswerTooLarge,
    InvalidArgument,
    InvalidCursor,
    InvalidPlan,
    InvalidRequest,
    InvalidStep,
    PlanOverBudget,
    PlanTooLarge,
    TrailFull,
    UnknownEntity,
    UnknownGraph,
    UnknownName,
    UnknownRelation,
    UnknownTrail,
    UnresolvedEntities,
    Unsupported,
)
from kgnav_mcp.errors.stores import (
    InvalidStore,
    RateLimited,
    StepLimitReached,
    StoreError,
    StoreTimeout,
    StoreUnavailable,
    TrailStoreUnavailable,
)

__all__ = [
    "LONGEST_PAUSE",
    "AmbiguousEntity",
    "AnswerTooLarge",
    "BadLine",
    "ConfigurationError",
    "InvalidArgument",
    "InvalidCursor",
    "InvalidPlan",
    "InvalidRequest",
    "InvalidStep",
    "InvalidStore",
    "KgnavError",
    "LoadError",
    "MissingDriver",
    "PlanOverBudget",
    "PlanTooLarge",
    "RateLimited",
    "StepLimitReached",
    "StoreError",
    "StoreTimeout",
    "StoreUnavailable",
    "TrailFull",
    "TrailStoreUnavailable",
    "UnknownEntity",
    "UnknownGraph",
    "UnknownName",
    "UnknownRelation",
    "UnknownTrail",
    "UnresolvedEntities",
    "Unsupported",
    "in_words",
]
