"""`kgnav init` for a SPARQL endpoint, which tells what names its nodes."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.services import Oxigraph

from kgnav_mcp.cli import main


def _kgnav(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments), prog_name="kgnav")


def test_relations_that_name_nodes_of_an_endpoint_are_proposed(
    own_oxigraph: Oxigraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "ships.ttl"
    source.write_text(
        '@prefix ex: <http://ex.example/> . ex:a a ex:Ship ; ex:shipTitle "Argo" ; ex:sails ex:b . '
        'ex:b a ex:Ship ; ex:shipTitle "Beagle" .',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    own_oxigraph.start()
    own_oxigraph.load(source)
    result = _kgnav("init", own_oxigraph.url, "--yes", "--name", "ships")
    assert result.exit_code == 0, result.output
    assert "No common name relation (such as rdfs:label) was found." in result.output
    graph = tomllib.loads((tmp_path / "kgnav.toml").read_text(encoding="utf-8"))["graphs"]["ships"]
    assert graph["location"] == f"sparql+{own_oxigraph.url}"
    assert graph["options"] == {"labels": ["http://ex.example/shipTitle"]}
    assert "Argo" in _kgnav("call", "find_node", "hint=argo").output
