"""Each module can be imported, also by a newer Python than it was written with, and none imports in a circle."""

from __future__ import annotations

import subprocess
import sys

import grimp
import pytest

PROGRAM = """
import importlib, pkgutil
for package in ("kgnav_mcp", "kgnav_bench"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
            print(module.name)
"""


@pytest.mark.slow
def test_every_module_is_imported_without_a_warning():
    warnings = ["-W", "error::SyntaxWarning", "-W", "error::DeprecationWarning:kgnav_mcp"]
    done = subprocess.run([sys.executable, *warnings, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) > 300


ALGEBRA = {"kgnav_mcp.plan.clauses", "kgnav_mcp.plan.expressions"}
"""A condition may hold a pattern, which may hold conditions."""


@pytest.mark.parametrize("package", ["kgnav_mcp", "kgnav_bench"])
def test_no_modules_import_each_other_not_even_for_types_or_within_functions(package: str):
    graph = grimp.build_graph(package, cache_dir=None)
    circles = {
        (module, imported)
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
        if graph.chain_exists(importer=imported, imported=module)
    }
    assert [circle for circle in circles if not ALGEBRA.issuperset(circle)] == []
