"""What is LadybugDB's own: typed tables, nested values, keys of any type, a file that is only read."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import ladybug
import pytest

from kgnav_mcp.adapters import open_adapter
from kgnav_mcp.adapters.ladybug.store import Store
from kgnav_mcp.errors import InvalidStore, MissingDriver, StoreTimeout, StoreUnavailable
from kgnav_mcp.languages.cypher import parse_cypher
from kgnav_mcp.model import Direction, Literal
from kgnav_mcp.navigation.plans.runner import PlanRunner
from kgnav_mcp.plan import Match
from kgnav_mcp.port import AdapterOptions, FarEndKind, GraphAdapter
from tests.contract.toy_views import as_row
from tests.navigation.plans.writing import matches_of, rows

_STATEMENTS = (
    """CREATE NODE TABLE Person(id STRING, name STRING, age INT64, born DATE, seen TIMESTAMP, zoned TIMESTAMP_TZ,
    tags STRING[], wait INTERVAL, price DECIMAL(10, 2), big INT128, code UUID, place STRUCT(x INT64, y STRING),
    sizes MAP(STRING, INT64), raw BLOB, embedding FLOAT[64], PRIMARY KEY(id))""",
    "CREATE NODE TABLE City(id INT64, name STRING, age STRING, PRIMARY KEY(id))",
    "CREATE NODE TABLE Day(day DATE, name STRING, PRIMARY KEY(day))",
    "CREATE REL TABLE knows(FROM Person TO Person, FROM Person TO City, since DATE)",
    "CREATE REL TABLE on_day(FROM Person TO Day, since STRING)",
    """CREATE (:Person {id: 'ada', name: 'Ada', age: 36, born: date('1815-12-10'),
    seen: timestamp('1842-01-05 08:30:00.5'), zoned: CAST('1842-01-05 09:30:00+01:00' AS TIMESTAMP_TZ),
    tags: ['x', 'y'], wait: interval('1 year 2 months 3 days'), price: 3.25,
    big: 170141183460469231731687303715884105727, code: UUID('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'),
    place: {x: 1, y: 'é'}, sizes: map(['s'], [1]), raw: BLOB('\\\\xAA\\\\xBB'), embedding: $vector})""",
    "CREATE (:Person {id: 'ben', name: 'Ben', age: 36}), (:City {id: 7, name: 'Seven', age: 'old'})",
    "CREATE (:Day {day: date('2001-02-03'), name: 'A day'})",
    "MATCH (a:Person {id: 'ada'}), (b:Person {id: 'ben'}) CREATE (a)-[:knows {since: date('1830-01-02')}]->(b)",
    "MATCH (a:Person {id: 'ada'}), (c:City) CREATE (a)-[:knows]->(c)",
    "MATCH (a:Person {id: 'ada'}), (d:Day) CREATE (a)-[:on_day {since: 'long ago'}]->(d)",
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ladybug") / "people.lbug"
    with ladybug.Database(str(made)) as database, ladybug.Connection(database) as connection:
        for statement in _STATEMENTS:
            given = {"vector": [0.5] * 64} if "$vector" in statement else {}
            connection.execute(statement, given)
    return made


def opened(path: Path, timeout: float = 30.0) -> GraphAdapter:
    return open_adapter(f"ladybug+file:{path}", AdapterOptions(timeout=timeout))


async def test_each_value_keeps_the_type_of_its_column(path: Path) -> None:
    async with opened(path) as graph:
        page = await graph.neighbours(["Person:id=ada"], Direction.OUTGOING, limit=100)
    values = {
        link.triple.relation.id: (link.triple.tail.text, link.triple.tail.datatype)
        for link in page.items
        if isinstance(link.triple.tail, Literal)
    }
    assert values == {
        "id": ("ada", None),
        "name": ("Ada", None),
        "age": ("36", "integer"),
        "born": ("1815-12-10", "date"),
        "seen": ("1842-01-05T08:30:00.5", "localdatetime"),
        "zoned": ("1842-01-05T08:30:00Z", "datetime"),
        "tags": ("y", None),
        "wait": ("1 year 2 months 3 days", "duration"),
        "price": ("3.25", "decimal"),
        "big": ("170141183460469231731687303715884105727", "integer"),
        "code": ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "uuid"),
        "place": ('{"x": 1, "y": "é"}', "struct"),
        "sizes": ('{"s": 1}', "map"),
        "raw": ("2 bytes", "bytes"),
        "embedding": ("vector of 64 numbers", "vector"),
    }


async def test_a_property_of_two_types_is_compared_in_each_table_by_its_own(path: Path) -> None:
    async with opened(path) as graph:
        found = [
            [entity.id for entity in (await graph.nodes(None, "age", value, limit=9)).items]
            for value in ("36", "36.0", "old", "1")
        ]
        page = await graph.neighbours(["Person:id=ada"], Direction.OUTGOING, far_end_kind=FarEndKind.ENTITY, limit=9)
    since = {as_row(link.triple)[2]: as_row(link.triple)[3] for link in page.items}
    assert found == [["Person:id=ada", "Person:id=ben"], ["Person:id=ada", "Person:id=ben"], ["City:id=7"], []]
    assert since == {
        "Person:id=ben": (("since", ("1830-01-02", "date", None)),),
        "City:id=7": (),
        "Day:day=2001-02-03": (("since", ("long ago", None, None)),),
    }


@pytest.mark.parametrize("node", ["City:id=7", "Day:day=2001-02-03", "Person:id=ben"])
async def test_a_node_is_known_by_a_key_of_any_type(path: Path, node: str) -> None:
    async with opened(path) as graph:
        assert list(await graph.describe([node])) == [node]
        page = await graph.neighbours([node], Direction.INCOMING, limit=9)
        assert [link.triple.head.id for link in page.items] == ["Person:id=ada"]
        assert (await graph.edges(["Person:id=ada"], [node], limit=9)).total.value == 1


async def test_a_date_is_found_by_its_precision(path: Path) -> None:
    async with opened(path) as graph:
        for name, value in (
            ("born", "1815"),
            ("seen", "1842-01"),
            ("zoned", "1842-01-05T09:30+01:00"),
            ("price", "3.250"),
        ):
            assert (await graph.nodes("Person", name, value, limit=9)).total.value == 1, name


async def test_two_edges_of_a_pattern_are_never_the_same(path: Path) -> None:
    plan = "MATCH (a:Person)-[:knows]->(b)<-[:knows]-(c) RETURN c"
    async with opened(path) as graph:
        runner = PlanRunner(graph)
        page = await runner.run((await runner.check(parse_cypher(plan))).plan, limit=9)
    assert page.items == ()


async def test_the_labels_inside_of_exists_do_not_narrow_the_pattern_around_it(path: Path) -> None:
    plan = "MATCH (a:Person)-[:knows|on_day]->(b) WHERE NOT EXISTS { MATCH (b:City) } RETURN b.name ORDER BY b.name"
    async with opened(path) as graph:
        runner = PlanRunner(graph)
        page = await runner.run((await runner.check(parse_cypher(plan))).plan, limit=9)
    assert [row.cells for row in page.items] == [("A day",), ("Ben",)]


async def test_a_pattern_counts_its_matches_in_the_store(path: Path) -> None:
    (pipeline,) = parse_cypher("MATCH (a:Person)-[:knows]->(b) RETURN a").pipelines
    (match,) = (clause for clause in pipeline.clauses if isinstance(clause, Match))
    async with opened(path) as graph:
        page = await graph.run(matches_of(match, ["a"]), limit=9)
    assert rows(page) == [("Person:id=ada", 2)]


@pytest.mark.slow
async def test_the_file_is_never_written_and_several_processes_read_it(path: Path) -> None:
    before = path.read_bytes(), sorted(path.parent.iterdir())
    script = (
        "import asyncio, sys\n"
        "from kgnav_mcp.adapters import open_adapter\n"
        "from kgnav_mcp.port import AdapterOptions\n"
        "async def main():\n"
        "    async with open_adapter(sys.argv[1], AdapterOptions()) as graph:\n"
        "        print((await graph.health()).entities.value)\n"
        "asyncio.run(main())\n"
    )
    async with opened(path) as graph:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", script, f"ladybug+file:{path}", stdout=asyncio.subprocess.PIPE
        )
        assert (await process.communicate())[0] == b"4\n"
        assert (await graph.health()).entities.value == 4
    assert (path.read_bytes(), sorted(path.parent.iterdir())) == before


async def test_a_file_that_was_written_to_is_stale(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.lbug"
    copy.write_bytes(path.read_bytes())
    async with opened(copy) as graph:
        assert not graph.stale
        with ladybug.Database(str(copy)) as database, ladybug.Connection(database) as connection:
            connection.execute("CREATE (:Person {id: 'new'})")
            assert graph.stale  # the log has it, not yet the file
        assert graph.stale


async def test_a_query_that_takes_too_long_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "numbers.lbug"
    with ladybug.Database(str(path)) as database, ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE N(id INT64, PRIMARY KEY(id))")
        connection.execute("UNWIND range(1, 20000) AS i CREATE (:N {id: i})")
    store = Store(str(path), timeout=0.3)
    await store.open()
    with pytest.raises(StoreTimeout):
        await store.in_time(store.rows("MATCH (a:N), (b:N) WHERE a.id * b.id = 7 RETURN count(*)"))
    assert await store.rows("MATCH (n:N) RETURN count(*)") == [[20_000]]
    await store.close()


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (None, StoreUnavailable, "does not exist"),
        (b"not a database", InvalidStore, "cannot be opened as a LadybugDB database"),
    ],
)
async def test_what_is_no_database_is_told(
    tmp_path: Path, content: bytes | None, error: type[Exception], words: str
) -> None:
    path = tmp_path / "x.lbug"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=words):
        await opened(path).open()


def test_a_missing_driver_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    names: Sequence[str] = [name for name in sys.modules if name.startswith("kgnav_mcp.adapters.ladybug.")]
    for name in names:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ladybug", None)
    with pytest.raises(MissingDriver) as caught:
        open_adapter("ladybug+file:x.lbug", AdapterOptions())
    assert "kgnav-mcp[ladybug]" in caught.value.next_step


async def test_a_graph_without_edges_has_nodes(tmp_path: Path) -> None:
    path = tmp_path / "lonely.lbug"
    with ladybug.Database(str(path)) as database, ladybug.Connection(database) as connection:
        connection.execute("CREATE NODE TABLE N(id STRING, PRIMARY KEY(id))")
        connection.execute("CREATE (:N {id: 'one'})")
    async with opened(path) as graph:
        assert (await graph.find("one", limit=5)).items[0].entity.id == "N:id=one"
        assert (await graph.neighbours(["N:id=one"], None, limit=5)).total.value == 1
