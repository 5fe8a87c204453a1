"""The suite that every adapter inherits, one module for each group of verbs."""

from tests.contract.suite.base import AdapterContract
from tests.contract.suite.checking import CheckContract
from tests.contract.suite.entities import EntityContract
from tests.contract.suite.life import HostileContract, LifeContract
from tests.contract.suite.lists import NodeContract, SchemaContract, ValueContract
from tests.contract.suite.matching import MatchingContract
from tests.contract.suite.neighbours import NeighbourContract
from tests.contract.suite.plans import PlanContract
from tests.contract.suite.relations import RelationContract
from tests.contract.suite.sets import SetContract, VastSetContract
from tests.contract.suite.trails import TrailContract

__all__ = ["AdapterContract", "GraphAdapterContract", "NameAndCountContract", "StoreContract"]


class NameAndCountContract(EntityContract, RelationContract, HostileContract):
    """What another way to find names and to count changes in a store that has passed everything without it.

    Pages and sets are made of the counts alone.
    """


class StoreContract(
    NameAndCountContract,
    NeighbourContract,
    MatchingContract,
    SetContract,
    NodeContract,
    ValueContract,
    SchemaContract,
    PlanContract,
    CheckContract,
    TrailContract,
):
    """What another store, or another form of the graph, changes for an adapter that has passed everything on one."""


class GraphAdapterContract(StoreContract, VastSetContract, LifeContract):
    """Everything that an adapter must do."""
