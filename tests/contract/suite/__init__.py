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

__all__ = ["AdapterContract", "GraphAdapterContract", "GraphFormContract", "NameAndCountContract", "StoreContract"]


class NameAndCountContract(EntityContract, RelationContract, HostileContract):
    """The tests that depend on how a store finds names and counts, for a second variant of a fully tested store.

    Pages and sets depend only on the counts.
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
):
    """The tests that depend on the store, for an adapter that passes all others on the same form of graph elsewhere.

    Checks of plans and proofs of answers see a store only through the calls that are tested here.
    """


class GraphFormContract(StoreContract, CheckContract, TrailContract):
    """The tests that depend on the form of the graph too, for another form of graph than the fully tested one."""


class GraphAdapterContract(GraphFormContract, VastSetContract, LifeContract):
    """All tests that an adapter must pass."""
