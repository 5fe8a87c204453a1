"""`kgnav doctor` names the command that adds an extra to the very installation that it is run from.

pipx is in `install/test_plain_install`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pip
import pytest

from kgnav_mcp.cli import installation

pytestmark = pytest.mark.slow

EXTRA = "redis"
PROGRAM = f"import runpy; print(runpy.run_path({installation.__file__!r})['extra_command']({EXTRA!r}))"
"""The module alone, which needs nothing but Python: the layout of an environment is tested, not what is in it."""


PYTHON = Path(sys.base_prefix) / "bin" / "python3"
"""The interpreter that this run's environment was made with."""


@dataclass(frozen=True)
class Packages:
    """A folder with two packages: one with our name and an extra, and the one that the extra brings."""

    folder: Path

    @classmethod
    def made_in(cls, folder: Path) -> Packages:
        packages = cls(folder)
        packages._add("kgnav_mcp", f"Provides-Extra: {EXTRA}", f"Requires-Dist: kgnav_extra; extra == '{EXTRA}'")
        packages._add("kgnav_extra")
        return packages

    @property
    def wheel(self) -> Path:
        return self.folder / "kgnav_mcp-1.0-py3-none-any.whl"

    @property
    def environment(self) -> dict[str, str]:
        """Variables with which installers find these packages and no others."""
        folder = str(self.folder)
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        uv = {"UV_NO_INDEX": "1", "UV_FIND_LINKS": folder, "UV_CACHE_DIR": f"{folder}/cache"}
        return {**os.environ, **pip, **uv, "UV_TOOL_DIR": f"{folder}/tools", "UV_TOOL_BIN_DIR": f"{folder}/bin"}

    def run(self, *command: str | Path, **variables: str) -> str:
        done = subprocess.run(
            command, env={**self.environment, **variables}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _add(self, module: str, *fields: str) -> None:
        name, info = module.replace("_", "-"), f"{module}-1.0.dist-info"
        with zipfile.ZipFile(self.folder / f"{module}-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{module}.py", "main = print\n")
            wheel.writestr(
                f"{info}/METADATA", "\n".join(["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *fields])
            )
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/entry_points.txt", f"[console_scripts]\n{name} = {module}:main\n")
            wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def packages(tmp_path: Path) -> Packages:
    return Packages.made_in(tmp_path)


def assert_installs_extra(packages: Packages, python: Path, command: str, **variables: str) -> None:
    """Run the command that is named in this environment, and see that the extra is there."""
    assert packages.run(python, "-c", PROGRAM, **variables) == command
    packages.run("sh", "-c", command, **variables)
    packages.run(python, "-c", "import kgnav_extra", **variables)


@pytest.mark.extended
def test_in_a_virtual_environment_its_own_pip_is_named(packages: Packages, tmp_path: Path):
    python = tmp_path / "an env" / "bin" / "python"
    packages.run(sys.executable, "-m", "venv", tmp_path / "an env")
    packages.run(python, "-m", "pip", "install", packages.wheel)
    assert_installs_extra(packages, python, f"'{python}' -m pip install 'kgnav-mcp[redis]'")


@pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not installed: pip install uv")
def test_in_a_tool_of_uv_and_in_an_environment_without_pip_uv_is_named(packages: Packages, tmp_path: Path):
    packages.run("uv", "tool", "install", "--python", sys.executable, packages.wheel)
    packages.run("uv", "venv", "--python", sys.executable, tmp_path / "bare")
    packages.run("uv", "pip", "install", "--python", tmp_path / "bare", packages.wheel)
    for prefix in (tmp_path / "tools" / "kgnav-mcp", tmp_path / "bare"):
        command = f"uv pip install --python {prefix} 'kgnav-mcp[redis]'"
        assert_installs_extra(packages, prefix / "bin" / "python", command)


@pytest.fixture
def system_python(packages: Packages, tmp_path: Path) -> dict[str, str]:
    """Variables that give this interpreter a standard library of its own, with pip and our package beside it."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    library = tmp_path / stdlib.relative_to(sys.base_prefix)
    library.mkdir(parents=True)
    for entry in stdlib.iterdir():
        if entry.name not in {"site-packages", "EXTERNALLY-MANAGED"}:
            (library / entry.name).symlink_to(entry)
    variables = {"PYTHONHOME": str(tmp_path)}
    site = packages.run(PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", **variables)
    packages.run(sys.executable, "-m", "pip", "install", "--target", site, packages.wheel)
    Path(site, "pip").symlink_to(Path(pip.__file__).parent)
    return variables


def test_in_a_system_python_that_packages_may_be_added_to_its_pip_is_named(
    packages: Packages, system_python: dict[str, str]
):
    command = f"{PYTHON} -m pip install 'kgnav-mcp[redis]'"
    assert_installs_extra(packages, PYTHON, command, **system_python)


def test_in_a_system_python_where_pip_refuses_pipx_is_named_with_the_source(
    packages: Packages, system_python: dict[str, str]
):
    library = packages.run(PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))", **system_python)
    (Path(library) / "EXTERNALLY-MANAGED").write_text("[externally-managed]\nError=Use apt.\n", encoding="utf-8")
    requirement = f"kgnav-mcp[redis] @ {packages.wheel.as_uri()}"
    assert packages.run(PYTHON, "-c", PROGRAM, **system_python) == f"pipx install '{requirement}'"
    target = packages.folder / "elsewhere"
    packages.run(sys.executable, "-m", "pip", "install", "--target", target, requirement)
    assert (target / "kgnav_extra.py").is_file()
