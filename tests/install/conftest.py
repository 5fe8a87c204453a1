"""What an installation is tried on: one machine for the session, and small copies of what the README names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kgnav_bench.wikibase import Value, Wikibase
from tests.install.machine import Machine
from tests.services import Oxigraph, Virtuoso, need_oxigraph, need_virtuoso, running

FREEBASE = "http://freebase.com"
FILMS = "http://example.org/films"

_FREEBASE = """\
<http://rdf.freebase.com/ns/m.0d05w3> <http://rdf.freebase.com/ns/type.object.name> "China"@en .
<http://rdf.freebase.com/ns/m.0d05w3> <http://rdf.freebase.com/ns/location.country.capital> \
<http://rdf.freebase.com/ns/m.01914> .
<http://rdf.freebase.com/ns/m.01914> <http://rdf.freebase.com/ns/type.object.name> "Beijing"@en .
"""
_ADA = """\
<http://example.org/ada> <http://www.w3.org/2000/01/rdf-schema#label> "Ada Lovelace" .
<http://example.org/ada> <http://example.org/knows> <http://example.org/charles> .
"""


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """A machine with the clone and nothing installed."""
    return Machine.new(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def installed(machine: Machine) -> Machine:
    """The same, with the wheel of the clone installed by pipx: no extra, in an environment of its own."""
    done = machine.run("pipx install .")
    assert done.returncode == 0, done.stderr
    return machine


@pytest.fixture(scope="session")
def sparql(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an Oxigraph with Ada, some of Wikidata, and a graph with a name."""
    need_oxigraph()
    folder = tmp_path_factory.mktemp("sparql")
    wikibase = Wikibase()
    (folder / "wikidata.nt").write_text(
        "".join(
            (
                *wikibase.property("P31", "item", [("instance of", "en")]),
                *wikibase.item("Q42", [("Douglas Adams", "en")]),
                *wikibase.item("Q5", [("human", "en")]),
                *wikibase.statement("Q42", "P31", Value("item", "Q5"), number=1),
            )
        ),
        encoding="utf-8",
    )
    (folder / "ada.nt").write_text(_ADA, encoding="utf-8")
    with running(Oxigraph(folder / "store")) as service:
        service.load(folder / "wikidata.nt")
        service.load(folder / "ada.nt")
        service.load(folder / "ada.nt", FILMS)
        yield service.url


@pytest.fixture(scope="session")
def freebase(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Virtuoso with a little of Freebase, and nothing else: no graph is named in its address."""
    need_virtuoso()
    folder = tmp_path_factory.mktemp("freebase")
    (folder / "china.nt").write_text(_FREEBASE, encoding="utf-8")
    with running(Virtuoso(folder / "store")) as service:
        service.load(folder / "china.nt", FREEBASE)
        yield service.url
