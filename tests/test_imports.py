"""Each module can be imported, also by a Python that is newer than the one it was written with."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import importlib, pkgutil
for package in ("kgnav_mcp", "kgnav_bench"):
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
            print(module.name)
"""


def test_every_module_is_imported_without_a_warning():
    warnings = ["-W", "error::SyntaxWarning", "-W", "error::DeprecationWarning:kgnav_mcp"]
    done = subprocess.run([sys.executable, *warnings, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.split()) > 300
