"""Every adapter has a contract class."""

from __future__ import annotations

import importlib
from importlib.metadata import entry_points
from pathlib import Path

from kgnav_mcp.adapters import GROUP
from tests.contract.suite import GraphAdapterContract


def test_every_entry_point_has_a_contract_class():
    for path in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.contract.{path.stem}")
    proved = {scheme for contract in GraphAdapterContract.__subclasses__() for scheme in contract.schemes}
    assert {point.name for point in entry_points(group=GROUP)} <= proved
