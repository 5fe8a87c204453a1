"""The documented commands as they are printed, on a machine that has a clone and nothing else of this project."""

from __future__ import annotations

import gzip
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping

import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters

from kgnav_mcp.cli import main
from tests.install.machine import ROOT, Machine
from tests.neo4j_service import Neo4j
from tests.sampling import extended
from tests.server.clients import text_of

NOT_RUN = {
    "make demo    # answers a question with the demo graph, through a real MCP client": "CI begins with it",
    "make test    # runs the quick tests, in 3 minutes": "it is what runs this test",
    "kgnav serve --http 127.0.0.1:8365": "it runs until it is stopped; the tests of HTTP start it",
}
"""Commands that are not run, with the reason."""

PRINTED = {'kgnav call find_node hint="Quentin Tarrantino" --graph films.kg': "Quentin Tarantino"}
"""What a command finds, though it has a typo."""

STORES = {
    "http://localhost:8890/sparql": "freebase",
    "https://example.org/sparql": "sparql",
    "http://localhost:7878/query": "sparql",
    "https://query.wikidata.org/sparql": "sparql",
    "https://qlever.dev/api/wikidata": "sparql",
    "bolt://localhost:7687/movies": "movies",
    "neo4j+s://xxxx.databases.neo4j.io": "movies",
}
"""Addresses of stores, with the fixture that gives the one asked in its place: none of them is on a test's machine."""


FILES: Mapping[str, bytes] = {
    "films.tsv": b"Pulp Fiction\tdirected_by\tQuentin Tarantino\n",
    "movies.csv": (
        b"Movie,Director,Year,Genre\n"
        b'Jaws,Steven Spielberg,1975,"Thriller, Horror"\nUp,Pete Docter,2009,"Animation, Comedy"\n'
    ),
    "people.nt.gz": gzip.compress(b"<http://p.example/ann> <http://p.example/knows> <http://p.example/bob> .\n"),
    "schema.ttl": b"<http://p.example/knows> <http://www.w3.org/2000/01/rdf-schema#label> 'knows' .\n",
    "diseases.obo": b"format-version: 1.2\nontology: doid\n\n[Term]\nid: DOID:162\nname: cancer\n",
    "genes.csv": b"gene,disease,score\nTP53,DOID:162,0.9\n",
    "nodes.csv": b"id:ID,:LABEL,name\n1,Shop,Corner\n2,Ware,Tea\n",
    "edges.csv": b":START_ID,:TYPE,:END_ID\n1,SELLS,2\n",
    "network.graphml": b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"><node id="a"/><node id="b"/>
<edge source="a" target="b"/></graph></graphml>""",
}
"""What a reader has of their own, by the names that the pages use."""

PAGES = {
    name: (ROOT / name).read_text(encoding="utf-8")
    for name in (
        "README.md",
        "docs/stores.md",
        "docs/tools.md",
        "docs/plans.md",
        "docs/trails.md",
        "docs/settings.md",
        "docs/tables.md",
        "docs/formats.md",
    )
}
BLOCKS = {
    f"{name} line {page[: found.start()].count(chr(10)) + 2}": found[1]
    for name, page in PAGES.items()
    for found in re.finditer(r"(?ms)^```sh\n(.*?)^```", page)
}


@pytest.fixture(scope="session")
def movies(neo4j: Neo4j) -> str:
    """The address of a Neo4j, whatever is in it."""
    return neo4j.url


@pytest.fixture(scope="module")
def at_home(installed: Machine) -> Machine:
    """The machine with an environment as `make demo` leaves one, a reader's own files, and a graph made of one."""
    (installed.clone / ".venv").symlink_to(sys.prefix)
    for name, content in FILES.items():
        (installed.clone / name).write_bytes(content)
    assert installed.run("kgnav load films.tsv -o films.kg").returncode == 0
    return installed


@pytest.mark.slow
@pytest.mark.parametrize(
    "block", [block if name.startswith("README") else extended(block) for name, block in BLOCKS.items()], ids=BLOCKS
)
async def test_documented_commands_work_as_they_are_printed(
    block: str, at_home: Machine, request: pytest.FixtureRequest
):
    for printed, fixture in STORES.items():
        if printed in block:
            block = block.replace(printed, request.getfixturevalue(fixture))
    before: list[str] = []
    for command in block.replace("\\\n", "").splitlines():
        if command in NOT_RUN:
            continue
        if command.startswith(("export ", ". ")):
            before.append(command)
        script = "\n".join((*before, command))
        if re.match(r"\S*kgnav-mcp ", script.splitlines()[-1]):
            await _serves(script, at_home)
            continue
        done = at_home.run(script)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert PRINTED.get(command, "") in done.stdout


async def _serves(script: str, machine: Machine) -> None:
    """The server starts, and answers from its graph."""
    started = StdioServerParameters(command="bash", args=["-euc", script], env=machine.environment, cwd=machine.clone)
    async with Client(started) as client:
        result = await client.call_tool("describe_graph", {})
    assert not result.is_error, f"{script}\n{text_of(result)}"


INLINE = sorted(
    {command for page in PAGES.values() for command in re.findall(r"`(kgnav [^`\n|]*|scripts/[^`\n|]*)`", page)}
)


@pytest.mark.parametrize("command", INLINE)
def test_a_command_within_a_sentence_is_one_that_there_is(command: str):
    """It is read and not carried out: some of them name what stands for a reader's own (FILE, NAME=VALUE)."""
    program, *arguments = shlex.split(f"{command} --help")
    if program == "kgnav":
        read = CliRunner().invoke(main, arguments)
        assert read.exit_code == 0, read.output
    else:
        done = subprocess.run([ROOT / program, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_each_exception_and_each_replaced_address_is_printed_in_a_page():
    printed = "".join(BLOCKS.values())
    assert [text for text in (*NOT_RUN, *PRINTED, *STORES) if text not in printed] == []
    assert [name for name in FILES if name not in shlex.split(printed, comments=True)] == []
