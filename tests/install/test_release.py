"""What `make dist` makes is complete, and works for one who has nothing else: the wheel, the bundle, the entry."""

from __future__ import annotations

import hashlib
import json
import struct
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from scripts.release.bundle import write_bundle
from scripts.release.check import ANSWER, QUESTION, empty_home, install, run, uv
from scripts.release.distributions import ROOT, Project, build_distributions, read_project
from scripts.release.icon import SIZE
from scripts.release.registry import problems, server_json

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("release")]  # built once

WANTED = {
    "kgnav_mcp/py.typed",
    "kgnav_mcp/__init__.py",
    "kgnav_mcp/cli/__init__.py",
    "kgnav_mcp/demo/README.md",
    "kgnav_mcp-0.1.0.dist-info/entry_points.txt",
    "kgnav_mcp-0.1.0.dist-info/licenses/LICENSE",
}


@pytest.fixture(scope="session")
def project() -> Project:
    return read_project()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_distributions(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def bundle(project: Project, wheel: Path) -> Path:
    return write_bundle(project, wheel, wheel.parent)


@pytest.fixture(scope="session")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return empty_home(tmp_path_factory.mktemp("empty_home"))


@pytest.fixture(scope="session")
def commands(wheel: Path, variables: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The commands of an environment that has the wheel and what it requires, installed without a compiler."""
    return install(wheel, sys.executable, tmp_path_factory.mktemp("venv") / "v", variables)


async def capital(command: str, *arguments: str, variables: Mapping[str, str]) -> str:
    """The answer to a question about the demo graph over stdio."""
    server = StdioServerParameters(command=command, args=[*arguments], env={**variables})
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool(
            "search",
            {"entity": "the_netherlands", "direction": "outgoing", "properties_to_filter_for": ["capital"]},
        )
    return "\n".join(block.text for block in result.content if block.type == "text")


def test_the_wheel_has_what_is_needed_at_run_time_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert names >= WANTED
    assert {name.split("/")[0] for name in names} == {"kgnav_mcp", "kgnav_mcp-0.1.0.dist-info"}
    assert [name for name in names if "test" in name.lower() or "bench" in name.lower()] == []
    sources = [path for path in (ROOT / "src/kgnav_mcp/demo").rglob("*.*") if path.suffix != ".pyc"]
    assert {f"kgnav_mcp/demo/{path.relative_to(ROOT / 'src/kgnav_mcp/demo').as_posix()}" for path in sources} == {
        name for name in names if name.startswith("kgnav_mcp/demo/")
    }


def test_both_distributions_have_a_wheel_and_a_source_distribution(wheel: Path) -> None:
    names = {path.name for path in wheel.parent.iterdir() if path.suffix in {".whl", ".gz"}}
    assert names == {
        "kgnav_mcp-0.1.0-py3-none-any.whl",
        "kgnav_mcp-0.1.0.tar.gz",
        "kgnav_bench-0.1.0-py3-none-any.whl",
        "kgnav_bench-0.1.0.tar.gz",
    }
    with tarfile.open(wheel.parent / "kgnav_mcp-0.1.0.tar.gz") as source:
        assert "kgnav_mcp-0.1.0/src/kgnav_mcp/py.typed" in source.getnames()


async def test_the_wheel_answers_in_an_empty_environment_and_home(commands: Path, variables: Mapping[str, str]) -> None:
    assert run([str(commands / "kgnav"), "--version"], variables) == "kgnav, version 0.1.0\n"
    assert ANSWER in run([str(commands / "kgnav"), *QUESTION], variables)
    assert ANSWER in await capital(str(commands / "kgnav-mcp"), variables=variables)


@pytest.mark.extended
async def test_uvx_runs_the_wheel(wheel: Path, variables: Mapping[str, str]) -> None:
    uvx = ("tool", "run", "--quiet", "--from", str(wheel))
    assert ANSWER in await capital(uv(), *uvx, "kgnav-mcp", variables=variables)


async def test_the_bundle_runs_as_its_manifest_says(
    bundle: Path, commands: Path, variables: Mapping[str, str], tmp_path: Path
) -> None:
    """A client unpacks the bundle, asks for the file, and starts the command with both filled in."""
    triples = tmp_path / "countries.tsv"
    triples.write_text("the_netherlands\tcapital\tamsterdam\n", encoding="utf-8")
    run([str(commands / "kgnav"), "load", str(triples), "-o", str(tmp_path / "countries.kg")], variables)
    with zipfile.ZipFile(bundle) as packed:
        packed.extractall(tmp_path / "unpacked")  # noqa: S202 - our own
    manifest = json.loads((tmp_path / "unpacked/manifest.json").read_text(encoding="utf-8"))
    filled = {"${__dirname}": str(tmp_path / "unpacked"), "${user_config.graph}": str(tmp_path / "countries.kg")}
    started = manifest["server"]["mcp_config"]
    assert started["command"] == "uv"
    arguments = [str(filled.get(argument, argument)) for argument in started["args"]]
    assert "capital|amsterdam" in await capital(uv(), *arguments, variables=variables)


def test_the_bundle_has_what_its_manifest_names(bundle: Path, wheel: Path) -> None:
    with zipfile.ZipFile(bundle) as packed:
        manifest = json.loads(packed.read("manifest.json"))
        icon = packed.read(manifest["icon"])
        assert {manifest["server"]["entry_point"], "pyproject.toml", "LICENSE"} <= set(packed.namelist())
        assert packed.read(wheel.name) == wheel.read_bytes()
    assert (manifest["manifest_version"], manifest["server"]["type"]) == ("0.4", "uv")
    assert manifest["user_config"]["graph"]["type"] == "file"
    assert icon.startswith(b"\x89PNG\r\n\x1a\n")
    assert struct.unpack(">II", icon[16:24]) == (SIZE, SIZE)


def test_the_same_sources_make_the_same_bundle(project: Project, bundle: Path, wheel: Path, tmp_path: Path) -> None:
    assert write_bundle(project, wheel, tmp_path).read_bytes() == bundle.read_bytes()


def test_the_registry_accepts_the_entry(project: Project, bundle: Path) -> None:
    entry = server_json(project, bundle)
    assert [*problems(entry, (ROOT / "README.md").read_text(encoding="utf-8"))] == []
    assert entry["packages"][1]["fileSha256"] == hashlib.sha256(bundle.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"description": "x" * 101}, "101 characters"),
        ({"version": "^1.0"}, "not a specific one"),
        ({"name": "kgnav"}, "not NAMESPACE/NAME"),
        ({"name": "io.github.another/kgnav-mcp"}, "README.md does not have the marker"),
    ],
)
def test_what_the_registry_refuses_is_named(
    change: dict[str, Any], problem: str, project: Project, bundle: Path
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert problem in "\n".join(problems({**server_json(project, bundle), **change}, readme))


def test_the_two_distributions_have_one_version(wheel: Path) -> None:
    versions = {path.name.split("-")[1] for path in wheel.parent.glob("*.whl")}
    assert versions == {read_project().version}
