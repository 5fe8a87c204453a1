"""The algebra of plans: questions about patterns of the graph, independent of any language and any store.

A plan is a pipeline of clauses over a table of rows, like the reading half of Cypher: `Match` matches a pattern for
each row, `Unwind` turns a list into rows, `Project` selects, aggregates, sorts and limits. `kgnav_mcp.spelling` parses
plans, `kgnav_mcp.navigation.plans` checks and evaluates them over any adapter, and an adapter compiles them to its
store's language. Source: GraphRunner (plans of `Find_Node`, `Fetch_Neighbors`, `Find_Common_Nodes`), extended to what
GQL and Cypher can ask.

Names are as the user wrote them. In a checked plan, relations, labels and properties are ids.
"""

from __future__ import annotations

from kgnav_mcp.plan.clauses import (
    UNNAMED,
    Clause,
    Column,
    EdgePattern,
    GivenNodes,
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
    HINT,
    NAME,
    Aggregate,
    AggregateFunction,
    Arithmetic,
    ArithmeticOperator,
    Call,
    Compare,
    Comparison,
    ComparisonChain,
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
    "HINT",
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
    "ComparisonChain",
    "Connective",
    "Constant",
    "CountOf",
    "During",
    "EdgePattern",
    "Exists",
    "Expression",
    "Function",
    "GivenNodes",
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
