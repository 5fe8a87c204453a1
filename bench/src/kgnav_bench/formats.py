"""Time and memory of a load of the same edges in each format that is used for large files."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

from kgnav_bench import report
from kgnav_bench.client import load_command
from kgnav_bench.load import Loaded, measure_command
from kgnav_bench.runs import Run

EDGES_PER_NODE = 4
_BATCH = 50_000

Edge = tuple[int, int, int]
"""Head, tail and the number of the edge."""


def edges(number: int, seed: int = 7) -> Iterator[Edge]:
    """Yield `number` edges between random nodes. A tenth of them lead to one node."""
    chance = random.Random(seed)  # noqa: S311 - data for measuring, not a secret
    nodes = len(_nodes(number))
    for _ in range(number):
        yield chance.randrange(nodes), 0 if chance.random() < 0.1 else chance.randrange(nodes), chance.randrange(1000)


def _nodes(number: int) -> range:
    return range(max(2, number // EDGES_PER_NODE))


def _n_triples(file: IO[str], number: int) -> None:
    file.writelines(
        f"<http://x.example/{h}> <http://x.example/r> <http://x.example/{t}> .\n" for h, t, _ in edges(number)
    )


def _turtle(file: IO[str], number: int) -> None:
    file.write("@prefix x: <http://x.example/> .\n")
    file.writelines(f"x:{h} x:r x:{t} .\n" for h, t, _ in edges(number))


def _csv(file: IO[str], number: int) -> None:
    file.write("source,target,weight\n")
    file.writelines(f"n{h},n{t},{w}\n" for h, t, w in edges(number))


def _graphml(file: IO[str], number: int) -> None:
    file.write('<?xml version="1.0"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
    file.write('<key id="w" for="edge" attr.name="weight" attr.type="int"/>\n<graph edgedefault="directed">\n')
    file.writelines(f'<node id="n{node}"/>\n' for node in _nodes(number))
    file.writelines(f'<edge source="n{h}" target="n{t}"><data key="w">{w}</data></edge>\n' for h, t, w in edges(number))
    file.write("</graph>\n</graphml>\n")


def _gexf(file: IO[str], number: int) -> None:
    file.write('<?xml version="1.0"?>\n<gexf xmlns="http://gexf.net/1.3" version="1.3">\n')
    file.write('<graph defaultedgetype="directed">\n<nodes>\n')
    file.writelines(f'<node id="n{node}" label="n{node}"/>\n' for node in _nodes(number))
    file.write("</nodes>\n<edges>\n")
    file.writelines(
        f'<edge id="{n}" source="n{h}" target="n{t}" weight="{w}"/>\n' for n, (h, t, w) in enumerate(edges(number))
    )
    file.write("</edges>\n</graph>\n</gexf>\n")


def _gml(file: IO[str], number: int) -> None:
    file.write("graph [\n  directed 1\n")
    file.writelines(f'  node [\n    id {node}\n    label "n{node}"\n  ]\n' for node in _nodes(number))
    file.writelines(f"  edge [\n    source {h}\n    target {t}\n    weight {w}\n  ]\n" for h, t, w in edges(number))
    file.write("]\n")


def _pajek(file: IO[str], number: int) -> None:
    file.write(f"*Vertices {len(_nodes(number))}\n")
    file.writelines(f'{node + 1} "n{node}"\n' for node in _nodes(number))
    file.write("*Arcs\n")
    file.writelines(f"{h + 1} {t + 1} {w}\n" for h, t, w in edges(number))


def _node_link(file: IO[str], number: int) -> None:
    file.write('{"directed": true, "multigraph": true, "graph": {}, "nodes": [')
    file.writelines(f'{", " if node else ""}{{"id": "n{node}"}}' for node in _nodes(number))
    file.write('], "edges": [')
    for n, (head, tail, weight) in enumerate(edges(number)):
        edge = {"weight": weight, "source": f"n{head}", "target": f"n{tail}", "key": n}
        file.write(f"{', ' if n else ''}{json.dumps(edge)}")
    file.write("]}\n")


def _apoc(file: IO[str], number: int) -> None:
    for node in _nodes(number):
        file.write(json.dumps({"type": "node", "id": str(node), "labels": ["N"], "properties": {"name": f"n{node}"}}))
        file.write("\n")
    for place, (head, tail, weight) in enumerate(edges(number)):
        ends = {"start": {"id": str(head)}, "end": {"id": str(tail)}, "properties": {"weight": weight}}
        file.write(json.dumps({"type": "relationship", "id": str(place), "label": "R", **ends}) + "\n")


def _tables(number: int) -> Iterator[Any]:
    """Arrow tables of a batch of edges each."""
    arrow = cast("Any", import_module("pyarrow"))
    some = edges(number)
    while batch := list(islice(some, _BATCH)):
        columns = {
            "source": [f"n{head}" for head, _, _ in batch],
            "target": [f"n{tail}" for _, tail, _ in batch],
            "weight": [weight for *_, weight in batch],
        }
        yield arrow.table(columns)


def _parquet(path: Path, number: int) -> None:
    tables = _tables(number)
    first = next(tables)
    with cast("Any", import_module("pyarrow.parquet")).ParquetWriter(path, first.schema) as writer:
        for table in (first, *tables):
            writer.write_table(table)


def _feather(path: Path, number: int) -> None:
    tables = _tables(number)
    first = next(tables)
    with cast("Any", import_module("pyarrow")).ipc.new_file(path, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)


def _sqlite(path: Path, number: int) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE node (id INTEGER PRIMARY KEY, name TEXT)")
        database.execute(
            "CREATE TABLE edge (head INTEGER REFERENCES node, tail INTEGER REFERENCES node, weight INTEGER)"
        )
        database.executemany("INSERT INTO node VALUES (?, ?)", ((node, f"n{node}") for node in _nodes(number)))
        database.executemany("INSERT INTO edge VALUES (?, ?, ?)", edges(number))
        database.commit()


TEXTS: Mapping[str, Callable[[IO[str], int], None]] = {
    "nt": _n_triples,
    "ttl": _turtle,
    "csv": _csv,
    "graphml": _graphml,
    "gexf": _gexf,
    "gml": _gml,
    "net": _pajek,
    "json": _node_link,
    "jsonl": _apoc,
}
BINARIES: Mapping[str, Callable[[Path, int], None]] = {"parquet": _parquet, "feather": _feather, "sqlite": _sqlite}
SUFFIXES = (*TEXTS, *BINARIES)


def write_source(path: Path, number: int) -> None:
    """Write `number` edges in the format of the file's suffix, unless the file exists."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    part.unlink(missing_ok=True)
    suffix = path.suffix.removeprefix(".")
    if suffix in BINARIES:
        BINARIES[suffix](part, number)
    else:
        with part.open("w", encoding="utf-8", buffering=1 << 20) as file:
            TEXTS[suffix](file, number)
    part.replace(path)


def run(record: Run, number: int, folder: Path, suffixes: Sequence[str]) -> str:
    """Write `number` edges in each format, load each in a separate process, and return the report."""
    folder.mkdir(parents=True, exist_ok=True)

    def load(suffix: str) -> Loaded:
        source = folder / f"edges-{number}.{suffix}"
        write_source(source, number)
        return measure_command(suffix, load_command([source], target := source.with_suffix(".kg")), target)

    @contextmanager
    def loads() -> Generator[Sequence[Callable[[str], Loaded]]]:
        yield [load]

    loaded = record.measured("loads", Loaded, {suffix: suffix for suffix in suffixes}, loads)
    rows = [(each.name, f"{each.seconds:.1f}", f"{each.peak / 1e9:.2f}", f"{each.disk / 1e6:.0f}") for each in loaded]
    return "\n".join(
        (f"{number:,} edges", "", report.table(("format", "seconds", "peak of all processes, GB", "on disk, MB"), rows))
    )
