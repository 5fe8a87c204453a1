"""The domain model as frozen values: no I/O, no store, no protocol.

All facts of a store and all answers of a tool are made of these. A property graph and an RDF graph look the same in
this model: a node's own property is a triple with a literal tail, an RDF class is a label, and an edge's own properties
are the qualifiers of its triple.
"""

from __future__ import annotations

from kgnav_mcp.model.answers import (
    AbsentRelation,
    AtEntities,
    Cell,
    Completeness,
    EntitiesWithout,
    NearestNeighbours,
    Neighbourhood,
    NodeProperties,
    NodesByProperty,
    PartSize,
    Path,
    PlanPage,
    PlanRow,
    RowsOrRelations,
)
from kgnav_mcp.model.facts import (
    NODE_VALUES,
    Candidate,
    EdgeFacts,
    Health,
    LabelFacts,
    Listing,
    Namesake,
    PropertyFacts,
    QualifierFacts,
    RelationFacts,
    Schema,
    ValueFacts,
    ValueMatch,
)
from kgnav_mcp.model.pages import AnchoredPage, Certainty, Count, Page, Stop, T, anchored
from kgnav_mcp.model.subgraph import Role, Subgraph, SubgraphEdge, SubgraphNode
from kgnav_mcp.model.trails import Evidence, MazeCell, NextCells, ReasoningStep, Trail, TrailStep, Verdict
from kgnav_mcp.model.values import Direction, Entity, Link, Literal, Node, Qualifier, Relation, Triple

__all__ = [
    "NODE_VALUES",
    "AbsentRelation",
    "AnchoredPage",
    "AtEntities",
    "Candidate",
    "Cell",
    "Certainty",
    "Completeness",
    "Count",
    "Direction",
    "EdgeFacts",
    "EntitiesWithout",
    "Entity",
    "Evidence",
    "Health",
    "LabelFacts",
    "Link",
    "Listing",
    "Literal",
    "MazeCell",
    "Namesake",
    "NearestNeighbours",
    "Neighbourhood",
    "NextCells",
    "Node",
    "NodeProperties",
    "NodesByProperty",
    "Page",
    "PartSize",
    "Path",
    "PlanPage",
    "PlanRow",
    "PropertyFacts",
    "Qualifier",
    "QualifierFacts",
    "ReasoningStep",
    "Relation",
    "RelationFacts",
    "Role",
    "RowsOrRelations",
    "Schema",
    "Stop",
    "Subgraph",
    "SubgraphEdge",
    "SubgraphNode",
    "T",
    "Trail",
    "TrailStep",
    "Triple",
    "ValueFacts",
    "ValueMatch",
    "Verdict",
    "anchored",
]
