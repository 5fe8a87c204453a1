"""Time from process start to a tool's first answer, compared with a bare server of the `mcp` package."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

from kgnav_bench import report
from kgnav_bench.client import BareClient, noop_command, server_command
from kgnav_bench.direct import Store
from kgnav_bench.noop import TOOL
from kgnav_bench.runs import Run

ALLOWED = 1.1
"""Maximum time to the first answer, relative to the bare server's start."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Seconds to the answer to `initialize` and to the first answer of a tool, of a bare server and of ours."""

    bare: tuple[float, float]
    ours: tuple[float, float]


def run(record: Run, graph: Path | None, pairs: int) -> str:
    """Start both servers in turn, after one start of each that is not counted. Returns the report."""
    tool, arguments = _first_call(graph)

    def pair(_: int) -> Pair:
        return Pair(_start(noop_command(), TOOL, {"text": "a"}), _start(server_command(graph), tool, arguments))

    @contextmanager
    def warm() -> Generator[Sequence[Callable[[int], Pair]]]:
        pair(0)
        yield [pair]

    measured = record.measured("pairs", Pair, {str(n): n for n in range(1, pairs + 1)}, warm)
    ours, floor = [each.ours for each in measured], [each.bare for each in measured]
    rows = [
        ("kgnav-mcp", *_timings(ours)),
        ("bare mcp server, one tool that does nothing", *_timings(floor)),
    ]
    # Ratios within each pair of starts, since a machine's speed changes over time.
    ratio = median(end / bare for (_, end), (_, bare) in zip(ours, floor, strict=True))
    columns = ("server", "to `initialize`, median", "p95", f"to the first answer ({tool}), median", "p95")
    return "\n".join(
        (
            f"{graph.name if graph else 'the demo graph'}: {pairs} pairs of starts, ms",
            "",
            report.table(columns, rows),
            "",
            report.verdict(ratio <= ALLOWED, f"{ratio:.2f} x the start of a bare server (at most {ALLOWED:g} x)"),
        )
    )


def _first_call(graph: Path | None) -> tuple[str, Mapping[str, object]]:
    if graph is None:
        return "find_node", {"hint": "Rembrandt"}
    store = Store(graph)
    key = store.first_key()
    store.close()
    return "search", {"entity": key, "direction": "outgoing"}


def _start(command: Sequence[str], tool: str, arguments: Mapping[str, object]) -> tuple[float, float]:
    """Seconds from before the process starts to the answer to `initialize`, and to the tool's answer."""
    begin = perf_counter()
    with BareClient(command) as client:
        initialized = perf_counter() - begin
        client.call(tool, arguments)
        return initialized, perf_counter() - begin


def _timings(measured: Sequence[tuple[float, float]]) -> tuple[str, ...]:
    return (*report.timing([first for first, _ in measured]), *report.timing([last for _, last in measured]))
