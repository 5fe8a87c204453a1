"""The verbs by which a store runs plans, or matches their patterns. A graph without them is read edge by edge."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgnav_mcp.errors import Unsupported
from kgnav_mcp.model import PlanPage

if TYPE_CHECKING:
    from kgnav_mcp.plan import Plan
    from kgnav_mcp.port.pattern_queries import PatternMatch, PatternQuery


class PlanVerbs(ABC):  # noqa: B024 - each verb has a default: the store does not have it
    """What a store can do of plans. By default nothing; an adapter that overrides a verb declares its capability."""

    async def run(self, plan: Plan, *, limit: int, after: str | None = None) -> PlanPage:
        """One page of a plan's rows, with the graph's own ids. The plan is compiled to one query if possible.

        The order is that of the algebra. A position is the number of rows up to it; a dot and more text may follow.
        Cells of the same edge are the same triple, so that edges that are equal in all their facts can be told apart.

        Where a store refuses a plan, it is asked for parts of it: for the clauses up to a projection, or for one
        pattern around nodes that are given, with `in_any_order`. The rest is evaluated over their rows.

        Raises:
            Unsupported: the store's language or this adapter cannot express a part of the plan.
        """
        del plan, limit, after
        raise Unsupported("this store runs no plans", next_step="Walk with search or get_triples.")

    async def match_pattern(self, asked: PatternQuery, *, limit: int) -> Sequence[PatternMatch]:
        """Matches of a plan's pattern, found by one query or a few; each combination of nodes once.

        At most `limit`, in any order; exactly `limit` means that there may be more. Edges and labels are those that
        `neighbours` and `describe` show. An incomplete answer of the store is an error, never a partial result.

        Raises:
            Unsupported: the store's language or this adapter cannot express a part of the pattern.
            StoreTimeout: the store did not answer in time.
        """
        del asked, limit
        raise Unsupported("this store cannot match patterns", next_step="Walk with search or get_triples.")

    async def has_more_matches(self, asked: PatternQuery, than: int) -> bool:
        """Whether a pattern certainly has more matches than this, each combination of nodes counted once.

        Found without reading them, at the first match too many. False also if the store cannot tell, as by default.

        Raises:
            Unsupported, StoreTimeout: as `match_pattern`.
        """
        del asked, than
        return False
