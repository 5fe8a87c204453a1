"""Edges are found by the name of a node that qualifies them, on stores of each notation for statements about triples.

The expected edges are found here, in Python, over the statements of the graph.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgnav_mcp.languages import parse_plan
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.port import GraphAdapter
from tests.services import Oxigraph, Virtuoso

EX, RDF = "http://ex.example/", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
CLUBS = [("Ajax", "@en"), ("Ajax", ""), ("Зенит", "@ru"), ("Nancy", "@fr"), ("Idle", ""), ("ex:odd", "")]
"""Names of clubs. Two have the same, and two have theirs only in a language that is not asked for."""
SECOND = (1, "Second", "@ru")
"""Another name of a club, which is not shown."""
LITERALS = ['"Ajax"', '"Ajax"@en', f'"Nancy"^^<{EX}code>', '"Lens"', "42", '"42"', "true"]
PLAYERS = 40
USED = [n for n in range(len(CLUBS)) if n != CLUBS.index(("Idle", ""))]


def _values(player: int) -> list[str]:
    """What a transfer of a player leads to: a club, a literal, or both."""
    club, literal = f"<{EX}club{USED[player % len(USED)]}>", LITERALS[player % len(LITERALS)]
    return [club, literal] if player % 11 == 0 else [literal] if player % 3 == 0 else [club]


def _turtle(notation: str) -> str:
    lines = [f'<{EX}club{n}> <{LABEL}> "{name}"{language} .' for n, (name, language) in enumerate(CLUBS)]
    lines.append(f'<{EX}club{SECOND[0]}> <{LABEL}> "{SECOND[1]}"{SECOND[2]} .')
    for player in range(PLAYERS):
        edge = f"<{EX}p{player}>", f"<{EX}joins>", f"<{EX}p{(player * 7 + 1) % PLAYERS}>"
        about = zip(("subject", "predicate", "object"), edge, strict=True)
        stated = " ; ".join(f"<{RDF}{part}> {term}" for part, term in about)
        if notation == "reifies":
            stated = f"<{RDF}reifies> <<( {' '.join(edge)} )>>"
        club = f"<{EX}club{USED[player % len(USED)]}>"
        lines.append(f"{' '.join(edge)} .")
        lines.append(f"[] {stated} ; <{EX}to> {', '.join(_values(player))} ; <{EX}from> {club} .")
    return "\n".join(lines)


def _is_called(value: str, name: str) -> bool:
    if not value.startswith(f"<{EX}club"):
        return value.startswith(f'"{name}"')
    return CLUBS[int(value[len(EX) + 5 : -1])][0] == name or f"<{EX}{name.removeprefix('ex:')}>" == value


def _players(name: str, qualifier: str) -> list[str]:
    of: dict[str, Callable[[int], list[str]]] = {
        "to": _values,
        "from": lambda one: [f"<{EX}club{USED[one % len(USED)]}>"],
    }
    return sorted(
        f"ex:p{player}" for player in range(PLAYERS) if any(_is_called(one, name) for one in of[qualifier](player))
    )


class QualifiersByName:
    """What holds on each store."""

    pytestmark = pytest.mark.asyncio(loop_scope="class")

    @pytest.mark.parametrize("qualifier", ["to", "from"])
    @pytest.mark.parametrize("name", ["Ajax", "Зенит", "Nancy", "Idle", "Second", "Lens", "ex:club3", "ex:odd"])
    @pytest.mark.parametrize(
        "pattern",
        ["(a)-[r:joins {$: '_'}]->(b)", "(a)-[r:joins]->(b) WHERE r.$ IN ['_', 'Metz']", "(a)-[r {$: '_'}]->()"],
    )
    async def test_edges_are_found_by_the_name_or_id_of_their_qualifier(
        self, adapter: GraphAdapter, qualifier: str, name: str, pattern: str
    ):
        runner = PlanRunner(adapter)
        text = f"MATCH {pattern.replace('$', f'`{qualifier}`').replace('_', name)} RETURN a"
        checked = await runner.check(parse_plan(text).plan)
        assert not checked.problems
        page = await runner.run(checked.plan, limit=100)
        assert sorted(getattr(row.cells[0], "id", "") for row in page.items) == _players(name, qualifier)


class TestStatementsOnOxigraph(QualifiersByName):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("names-statement", _turtle("statement"))


class TestReifiersOnOxigraph(QualifiersByName):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, oxigraph: Oxigraph) -> str:
        return oxigraph.load_text("names-reifies", _turtle("reifies"))


class TestStatementsOnVirtuoso(QualifiersByName):
    @pytest.fixture(scope="class")
    @classmethod
    def location(cls, virtuoso: Virtuoso) -> str:
        return virtuoso.load_text("names-statement", _turtle("statement"))
