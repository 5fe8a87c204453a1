"""The algebra of plans: what a question about a pattern of the graph is, known to no language and to no store.

A plan is a pipeline of clauses over a table of rows, as Cypher's reading half is: `Match` fits a pattern around each
row, `Unwind` spreads a list, `Project` picks, counts, sorts and cuts. `kgnav_mcp.spelling` makes plans of what users
write, `kgnav_mcp.navigation.plans` checks and evaluates them over any adapter, and an adapter compiles them to what
its store speaks. Source: GraphRunner (plans of `Find_Node`, `Fetch_Neighbors`, `Find_Common_Nodes`), widened to what
GQL and Cypher ask.

Names are as a user wrote them; once a plan was checked, relations, labels and properties are ids.
"""

from __future__ import annotations

from kgnav_mcp.plan.clauses import (
    UNNAMED,
    Clause,
    Column,
    EdgePattern,
    Match,
    NodePattern,
    Order,
    PathKind,
    PathLength,
    PathPattern,
    Pipeline,
    Plan,
    Project,
    Unwind,
    is_named,
)
from kgnav_mcp.plan.expressions import (
    NAME,
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Compare,
    Comparison,
    Connective,
    Constant,
    CountOf,
    During,
    Exists,
    Expression,
    Function,
    HasLabel,
    IsNull,
    Joined,
    ListOf,
    Not,
    Property,
    Scalar,
    Variable,
)
from kgnav_mcp.plan.problems import PlanProblem

__all__ = [
    "NAME",
    "UNNAMED",
    "Aggregate",
    "AggregateFunction",
    "Arithmetic",
    "ArithmeticOperator",
    "Call",
    "Clause",
    "Column",
    "Compare",
    "Comparison",
    "Connective",
    "Constant",
    "CountOf",
    "During",
    "EdgePattern",
    "Exists",
    "Expression",
    "Function",
    "HasLabel",
    "IsNull",
    "Joined",
    "ListOf",
    "Match",
    "NodePattern",
    "Not",
    "Order",
    "PathKind",
    "PathLength",
    "PathPattern",
    "Pipeline",
    "Plan",
    "PlanProblem",
    "Project",
    "Property",
    "Scalar",
    "Unwind",
    "Variable",
    "is_named",
]
