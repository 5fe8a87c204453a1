"""The suite that every adapter inherits, one module for each group of verbs."""

from tests.contract.suite.base import AdapterContract
from tests.contract.suite.entities import EntityContract
from tests.contract.suite.life import HostileContract, LifeContract
from tests.contract.suite.lists import NodeContract, SchemaContract, ValueContract
from tests.contract.suite.neighbours import NeighbourContract
from tests.contract.suite.relations import RelationContract
from tests.contract.suite.sets import SetContract

__all__ = ["AdapterContract", "GraphAdapterContract"]


class GraphAdapterContract(
    EntityContract,
    RelationContract,
    NeighbourContract,
    SetContract,
    NodeContract,
    ValueContract,
    SchemaContract,
    HostileContract,
    LifeContract,
):
    """Everything that an adapter must do."""
