"""An installation without any extra walks every kind of store, and says what it lacks where something is optional."""

from __future__ import annotations

import pytest

from tests.install.conftest import FILMS
from tests.install.machine import Machine

pytestmark = pytest.mark.slow


def test_no_extra_is_there_and_doctor_says_what_brings_each_that_has_packages(installed: Machine):
    lines = installed.run("kgnav doctor").stdout.splitlines()
    assert lines[1].startswith("drivers: SPARQLWrapper 2.")
    assert "neo4j 6." in lines[1]
    extras = ("columns", "duckdb", "excel", "ladybug", "pictures", "redis", "semantic")
    commands = {name: f"pipx runpip kgnav-mcp install 'kgnav-mcp[{name}]'" for name in extras}
    assert (
        lines[2] == f"extras: {', '.join(f'{name} (not installed: {command})' for name, command in commands.items())}"
    )
    would_install = installed.run(f"{commands['redis']} --dry-run")
    assert "Would install redis-" in would_install.stdout, would_install.stderr


def test_the_names_of_extras_that_are_no_longer_needed_still_install(installed: Machine):
    done = installed.run("pipx runpip kgnav-mcp install --no-index --dry-run 'kgnav-mcp[neo4j,sparql,llm]'")
    assert (done.returncode, "does not provide the extra" in done.stdout + done.stderr) == (0, False), done.stderr


def test_the_benchmarks_are_no_part_of_what_is_installed(installed: Machine):
    files = installed.run("pipx runpip kgnav-mcp show --files kgnav-mcp").stdout.partition("Files:\n")[2].splitlines()
    assert any(file.strip() == "kgnav_mcp/server/__init__.py" for file in files)
    assert [file for file in files if "bench" in file] == []


def test_a_graph_file_is_made_and_walked(installed: Machine):
    made = installed.run(
        "printf 'Alien\\tdirected_by\\tRidley Scott\\n' > alien.tsv && kgnav load alien.tsv -o alien.kg"
    )
    assert made.returncode == 0, made.stderr
    said = walked(installed, "entity=Alien", "alien.kg")
    assert "directed_by|directed by|Ridley Scott" in said


def test_any_sparql_endpoint_is_walked(installed: Machine, sparql: str):
    location = f"sparql+{sparql}?default-graph-uri={FILMS}#prefix.ex=http://example.org/"
    assert "ex:knows|knows|ex:charles" in walked(installed, "entity=ex:ada", location)


def test_wikidata_is_walked(installed: Machine, sparql: str):
    assert "wdt:P31|instance of|wd:Q5|human" in walked(installed, "entity=Q42", f"wikidata+{sparql}")


@pytest.mark.extended  # by the same packages as any SPARQL endpoint
def test_freebase_is_walked(installed: Machine, freebase: str):
    assert "location.country.capital|capital|m.01914|Beijing" in walked(
        installed, "entity=m.0d05w3", f"freebase+{freebase}"
    )


def test_a_neo4j_that_does_not_answer_is_reported(installed: Machine):
    done = installed.run("kgnav call find_node hint=x --graph bolt://127.0.0.1:1")
    assert done.stdout.startswith("Store down: Neo4j does not answer at 127.0.0.1:1.\n"), done.stderr
    assert done.stderr == ""


def test_the_ranker_that_needs_an_extra_names_it(installed: Machine):
    done = installed.run("kgnav call search entity=zundert direction=outgoing --ranker semantic")
    assert (done.returncode, done.stderr) == (
        2,
        "Error: a package that the sentence model needs is not installed\nRun: pip install 'kgnav-mcp[semantic]'\n",
    )


def walked(machine: Machine, entity: str, location: str) -> str:
    """The answer to a search of all that leaves an entity."""
    done = machine.run(f"kgnav call search {entity} direction=outgoing --graph '{location}'")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return done.stdout
