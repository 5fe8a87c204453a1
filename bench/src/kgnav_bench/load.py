"""Time and memory of a load, compared with pyoxigraph's bulk load of the same file in the same run."""

from __future__ import annotations

import itertools
import random
import shutil
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from kgnav_bench import report
from kgnav_bench.client import load_command
from kgnav_bench.runs import Run

BASE = "http://example.org/"
RELATIONS = 97
HUB = f"{BASE}entity/0"
"""The hub: the tail of a tenth of all triples."""
LEAF = f"{BASE}entity/leaf"
"""A node with 50 neighbours, to compare with the hub."""
LEAF_DEGREE = 50
TRIPLES_PER_NODE = 10
_SAMPLING = 0.05
"""Seconds between two looks at the memory of a load."""
SYLLABLES = ("ka", "lo", "mi", "ner", "dus", "ta", "vel", "sor", "qui", "ban", "ze", "phi", "gro", "lan", "tur", "wes")


@dataclass(frozen=True, slots=True)
class Loaded:
    """One load in a separate process.

    The peak, in bytes, is the resident memory of that process and of all processes that it starts.
    """

    name: str
    seconds: float
    peak: int
    disk: int


def statements(triples: int, seed: int = 7) -> Iterator[str]:
    """N-Triples lines: a label for every node, a hub, a node of degree 50, and tails with Zipf degrees."""
    chance = random.Random(seed)  # noqa: S311 - data for measuring, not a secret
    nodes = max(triples // TRIPLES_PER_NODE, LEAF_DEGREE + 1)
    label = "<http://www.w3.org/2000/01/rdf-schema#label>"
    for node in range(nodes):
        name = " ".join("".join(chance.choices(SYLLABLES, k=3)).capitalize() for _ in range(2))
        yield f'<{BASE}entity/{node}> {label} "{name} {node}"@en .\n'
    yield f'<{LEAF}> {label} "Leaf"@en .\n'
    for number in range(LEAF_DEGREE):
        yield f"<{BASE}entity/{number + 1}> <{BASE}relation/{number % 5}> <{LEAF}> .\n"
    neighbours = triples // 10
    for number in range(neighbours):
        yield f"<{BASE}entity/{number % nodes}> <{BASE}relation/{number % RELATIONS}> <{HUB}> .\n"
    for _ in range(triples - nodes - 1 - LEAF_DEGREE - neighbours):
        head, tail = chance.randrange(nodes), int(nodes ** chance.random())
        relation = int(RELATIONS ** chance.random())
        yield f"<{BASE}entity/{head}> <{BASE}relation/{relation}> <{BASE}entity/{tail}> .\n"


def write_source(path: Path, triples: int) -> None:
    """Write the N-Triples file unless it exists."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", buffering=1 << 20) as file:
        file.writelines(itertools.islice(statements(triples), triples))
    part.replace(path)


def load_oxigraph(source: Path, target: Path) -> None:
    """Load the source into a pyoxigraph store on disk."""
    from pyoxigraph import Store  # noqa: PLC0415 - only the child that measures it needs it

    shutil.rmtree(target, ignore_errors=True)
    Store(target).bulk_load(path=source)


Loader = Callable[[Path, Path], Sequence[str]]
"""The command that loads a source into a target."""

LOADERS: Mapping[str, tuple[Loader, str]] = {
    "graph file": (lambda source, target: load_command([source], target), ".kg"),
    "pyoxigraph bulk_load": (
        lambda source, target: [sys.executable, "-m", "kgnav_bench.load", str(source), str(target)],
        ".oxigraph",
    ),
}
"""For each kind of load, its command and the suffix of its target."""


def measure(name: str, source: Path) -> Loaded:
    """Load in a new process, so that memory and caches of one load do not affect the other.

    Raises:
        RuntimeError: the load failed. Its own message is on stderr.
    """
    command, suffix = LOADERS[name]
    target = source.with_suffix(suffix)
    return measure_command(name, command(source, target), target)


def measure_command(name: str, command: Sequence[str], target: Path) -> Loaded:
    """Run a command that writes a target, in a new process.

    Raises:
        RuntimeError: it failed. Its own message is on stderr.
    """
    begin = time.perf_counter()
    child = psutil.Popen(command)
    peak = 0
    while child.poll() is None:
        peak = max(peak, _resident(child))
        time.sleep(_SAMPLING)
    seconds = time.perf_counter() - begin
    if child.returncode:
        raise RuntimeError(f"{name} ended with exit code {child.returncode}")
    files = target.rglob("*") if target.is_dir() else [target]
    disk = sum(file.stat().st_size for file in files if file.is_file())
    return Loaded(name, seconds, peak, disk)


def _resident(process: psutil.Process) -> int:
    """Resident bytes of a process and its descendants. Pages that they share count for each."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                total += each.memory_info().rss
    return total


def run(record: Run, triples: int, folder: Path) -> str:
    """Write the source once, load it both ways in turn, and return the report."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"zipf-{triples}.nt"

    @contextmanager
    def written() -> Generator[Sequence[Callable[[str], Loaded]]]:
        write_source(source, triples)
        yield [lambda name: measure(name, source)]

    loads = record.measured("loads", Loaded, {name: name for name in LOADERS}, written)
    rows = [(each.name, f"{each.seconds:.1f}", f"{each.peak / 1e9:.2f}", f"{each.disk / 1e6:.0f}") for each in loads]
    return "\n".join(
        (
            f"{triples:,} triples",
            "",
            report.table(("load", "seconds", "peak, GB", "on disk, MB"), rows),
            "",
            f"ratio of times: {loads[0].seconds / loads[1].seconds:.2f}",
            f"hub: {HUB} ({triples // 10} incoming); degree {LEAF_DEGREE}: {LEAF}",
        )
    )


if __name__ == "__main__":
    load_oxigraph(*map(Path, sys.argv[1:]))
