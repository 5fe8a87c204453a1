"""The commands that measure trails."""

from __future__ import annotations

from pathlib import Path

import click

from kgnav_bench.commands import FILE, FOLDER, example, measurement
from kgnav_bench.runs import Run


@click.command(epilog=example("kgnav-bench proof --data metaqa --count 100"))
@click.option("--data", required=True, type=FOLDER, help="Folder with the files of MetaQA.")
@click.option(
    "--count",
    default=1000,
    show_default=True,
    type=click.IntRange(4),
    help="Number of right answers, and of invented ones.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the walks and the invented answers.")
@measurement
def proof(record: Run, data: Path, count: int, seed: int) -> str:
    """Check the server's proofs of right answers along gold paths, and of invented answers."""
    from kgnav_bench.trails import proof as benchmark  # noqa: PLC0415 - `--help` needs no benchmark

    return f"metaqa\n\n{benchmark.run(record, data, count, seed)}"


@click.command(epilog=example("kgnav-bench trails films.kg --rounds 3"))
@click.argument("graph", type=FILE)
@click.option("--rounds", default=10, show_default=True, type=click.IntRange(1), help="Rounds of forty calls each.")
@measurement
def trails(record: Run, graph: Path, rounds: int) -> str:
    """Time of calls recorded on a trail, in memory and in SQLite, compared with the same calls without one."""
    from kgnav_bench.trails import cost as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, graph, rounds)
