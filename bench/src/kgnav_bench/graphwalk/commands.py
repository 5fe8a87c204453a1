"""The commands `kgnav-bench graphwalk` and `kgnav-bench maze`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from pathlib import Path

import click

from kgnav_bench.commands import NEW_FOLDER, example, measurement
from kgnav_bench.graphwalk.graphs import Shape
from kgnav_bench.runs import Run

_COUNT = click.IntRange(1)
_SHAPE = (
    ("node_classes", "--node-classes", _COUNT, "Node classes."),
    ("relationship_classes", "--relationship-classes", _COUNT, "Relationship classes."),
    ("node_properties", "--node-properties", _COUNT, "Properties of a node class, on average."),
    ("relationship_properties", "--relationship-properties", _COUNT, "Properties of a relationship class, on average."),
    ("values", "--values", _COUNT, "Values in the pool of a property."),
    ("class_pairs", "--class-pairs", _COUNT, "Pairs of node classes that a relationship class joins."),
    ("density", "--density", click.FloatRange(0, 1, min_open=True), "Share of the node pairs that are joined."),
    ("text_share", "--text-share", click.FloatRange(0, 1), "Share of properties with strings; others have numbers."),
)
"""The parameters of a graph besides its size, which has a preset for each of them."""


def _shape_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option(flag, name, type=kind, help=f"{text} [default: the paper's for --nodes]")
        for name, flag, kind, text in _SHAPE
    ]
    size = click.option(
        "--nodes",
        default=100,
        show_default=True,
        type=_COUNT,
        help="Nodes of a graph. Up to 100 the paper's first shape is the default, beyond it that of 150 to 500.",
    )
    return reduce(lambda decorated, decorate: decorate(decorated), reversed([size, *options]), command)


@click.group()
def graphwalk() -> None:
    """GraphWalk's benchmark: twelve templates of questions on random graphs of meaningless names."""


@graphwalk.command(epilog=example("kgnav-bench graphwalk make graph --nodes 500 --seed 3"))
@click.argument("folder", type=NEW_FOLDER)
@_shape_options
@click.option("--seed", default=1, show_default=True, help="The same seed makes the same graph.")
def make(folder: Path, nodes: int, seed: int, **shape: int | float | None) -> None:
    """Write a graph to FOLDER as a node and an edge file, and its questions with their answers as JSON lines."""
    from kgnav_bench.graphwalk import questions, stores  # noqa: PLC0415 - `--help` needs no benchmark
    from kgnav_bench.graphwalk.graphs import generate  # noqa: PLC0415 - as above

    graph = generate(_shape(nodes, shape), seed)
    try:
        asked = list(questions.questions(graph))
    except questions.NoInstanceError as error:
        raise click.ClickException(str(error)) from error
    written = [*stores.write_files(graph, folder), folder / "questions.jsonl"]
    written[-1].write_text("".join(f"{question.as_json()}\n" for question in asked), encoding="utf-8")
    click.echo("\n".join(map(str, written)))


@graphwalk.command(
    epilog=example("kgnav-bench graphwalk run --nodes 10000 --neo4j bolt://localhost:7687 --store both -o large.jsonl")
)
@click.option(
    "--arm",
    default="script",
    show_default=True,
    type=click.Choice(["script", "primitives"]),
    help="The arm without a model: one plan for each question, or GraphWalk's four tools alone.",
)
@click.option("--neo4j", "neo4j_url", metavar="URL", help="An empty Neo4j, whose Cypher confirms the true answers.")
@click.option("--clear", is_flag=True, help="Allow the graphs to replace the content of that Neo4j.")
@click.option(
    "--store",
    default="file",
    show_default=True,
    type=click.Choice(["file", "neo4j", "both"]),
    help="The store of the server: a graph file, or that Neo4j.",
)
@click.option(
    "--graphs",
    default=10,
    show_default=True,
    type=_COUNT,
    help="Number of graphs, each with a question of each template.",
)
@_shape_options
@click.option(
    "--seed", default=1, show_default=True, help="Seed of the first graph; each further graph has the next seed."
)
@measurement
def run(
    record: Run,
    *,
    arm: str,
    neo4j_url: str | None,
    clear: bool,
    store: str,
    graphs: int,
    nodes: int,
    seed: int,
    **shape: int | float | None,
) -> str:
    """Ask the twelve questions about each graph. A Neo4j that was used is empty afterwards."""
    from kgnav_bench.graphwalk import arms, benchmark, primitives, questions, reports, stores  # noqa: PLC0415 - as above

    if store != "file" and neo4j_url is None:
        raise click.UsageError("--store neo4j and --store both need an empty Neo4j: name it with --neo4j URL.")
    read = {"file": (benchmark.FILE,), "neo4j": (benchmark.NEO4J,), "both": (benchmark.FILE, benchmark.NEO4J)}[store]
    settings = benchmark.Settings(_shape(nodes, shape), graphs, seed, read, neo4j_url)
    answering = {"script": arms.PlanArm, "primitives": primitives.PrimitivesArm}[arm]()
    try:
        results = benchmark.Benchmark(settings, answering).complete(record, clear=clear)
    except (
        benchmark.NotEmptyError,
        stores.StoreError,
        questions.NoInstanceError,
        questions.TruthDiffersError,
    ) as error:
        raise click.ClickException(str(error)) from error
    return reports.write_report(settings, answering.name, results)


@click.command(epilog=example("kgnav-bench maze --mazes 3 --seed 7"))
@click.option("--mazes", default=10, show_default=True, type=_COUNT, help="Number of mazes.")
@click.option(
    "--seed", default=0, show_default=True, help="Seed of the first maze; each further maze has the next seed."
)
@click.option("--size", default=10, show_default=True, type=click.IntRange(8, 40), help="Cells per side.")
@measurement
def maze(record: Run, *, mazes: int, seed: int, size: int) -> str:
    """GraphWalk's mazes, solved by scripts: with the maze tools, and with the maze as text in the prompt."""
    from kgnav_bench.graphwalk import maze_arms, maze_benchmark  # noqa: PLC0415 - as above
    from kgnav_bench.graphwalk.mazes import MazeError  # noqa: PLC0415 - as above

    try:
        return maze_benchmark.run(record, (maze_arms.ToolScript(), maze_arms.GridScript()), mazes, seed, size)
    except MazeError as error:
        raise click.ClickException(str(error)) from error


def _shape(nodes: int, given: dict[str, int | float | None]) -> Shape:
    chosen = {name: value for name, value in given.items() if value is not None}
    try:
        return replace(Shape.of(nodes), **chosen)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
