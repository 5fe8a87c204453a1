"""`kgnav-bench`: measures every figure that this project claims, on the current machine.

Compared calls alternate within one run, because machines are noisy and runs differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path

import click

from kgnav_bench.agents.commands import ask
from kgnav_bench.commands import FILE, FOLDER, NEW_FILE, NEW_FOLDER, example, measurement
from kgnav_bench.datasets.commands import dataset
from kgnav_bench.graphwalk.commands import graphwalk, maze
from kgnav_bench.runs import Run
from kgnav_bench.scores.commands import score
from kgnav_bench.trails.commands import proof, trails
from kgnav_bench.training.commands import train
from kgnav_bench.walks.commands import walks


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure the server as a client sees it: started as a child process, over stdio or HTTP."""


@main.command(epilog=example("kgnav-bench overhead films.kg --rounds 3"))
@click.argument("graph", type=FILE)
@click.option("--rounds", default=10, show_default=True, type=click.IntRange(1), help="Rounds of forty calls each.")
@measurement
def overhead(record: Run, graph: Path, rounds: int) -> str:
    """Time of a tool call over stdio and over HTTP, compared with a no-op call and with direct queries."""
    from kgnav_bench import overhead as benchmark  # noqa: PLC0415 - `--help` needs no benchmark

    return benchmark.run(record, graph, rounds)


@main.command(epilog=example("kgnav-bench clients films.kg --rounds 3 --calls 640"))
@click.argument("graph", type=FILE)
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1))
@click.option(
    "--calls", default=1280, show_default=True, type=click.IntRange(64), help="Calls of all clients in a round."
)
@measurement
def clients(record: Run, graph: Path, rounds: int, calls: int) -> str:
    """Throughput of 1, 8 and 64 concurrent clients over HTTP, compared with a bare server."""
    from kgnav_bench import clients as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, graph, rounds, calls)


@main.command(epilog=example("kgnav-bench hub films.kg --rounds 50"))
@click.argument("graph", type=FILE)
@click.option("--hub", "hub_id", help="Id of the hub. [default: the largest]")
@click.option("--leaf", "leaf_id", help="Id of an entity of degree 50. [default: one of degree 45 to 50]")
@click.option("--direction", default="incoming", type=click.Choice(["outgoing", "incoming"]), show_default=True)
@click.option("--rounds", default=200, show_default=True, type=click.IntRange(1))
@click.option(
    "--fetches",
    default=3,
    show_default=True,
    type=click.IntRange(1),
    help="Number of times that the whole hub is fetched.",
)
@measurement
def hub(
    record: Run, graph: Path, *, hub_id: str | None, leaf_id: str | None, direction: str, rounds: int, fetches: int
) -> str:
    """Time of a search on a hub, compared with one on a leaf and with fetching the whole hub to summarize it.

    --direction is that of both entities.
    """
    from kgnav_bench import hub as benchmark  # noqa: PLC0415 - as above

    places = [benchmark.Place(name, direction) if name is not None else None for name in (hub_id, leaf_id)]
    try:
        return benchmark.run(record, graph, *places, rounds=rounds, fetches=min(fetches, rounds))
    except benchmark.NoHubError as error:
        raise click.ClickException(str(error)) from error


@main.command(epilog=example("kgnav-bench names films.kg --sample 500 --misses 10"))
@click.argument("graph", type=FILE)
@click.option("--sample", type=click.IntRange(1), help="Number of names. [default: all]")
@click.option("--seed", default=1, show_default=True, help="Seed of the sample and the typos.")
@click.option(
    "--misses", default=0, show_default=True, type=click.IntRange(0), help="Wrong results shown of each kind."
)
@measurement
def names(record: Run, graph: Path, *, sample: int | None, seed: int, misses: int) -> str:
    """Whether find_node ranks each name of GRAPH first: as it is, in the singular, in the plural, and with one typo."""
    from kgnav_bench import names as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, graph, sample, seed, misses)


@main.command(epilog=example("kgnav-bench start --pairs 5"))
@click.argument("graph", type=FILE, required=False)
@click.option("--pairs", default=10, show_default=True, type=click.IntRange(1))
@measurement
def start(record: Run, graph: Path | None, pairs: int) -> str:
    """Time from process start to the first answer, compared with a bare server. Default: the demo graph."""
    from kgnav_bench import start as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, graph, pairs)


@main.command(epilog=example("kgnav-bench sets films.kg --rounds 10"))
@click.argument("graph", type=FILE)
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(1))
@measurement
def sets(record: Run, graph: Path, rounds: int) -> str:
    """Time of a search for 1,000 entities of GRAPH in one call, compared with one for a single entity."""
    from kgnav_bench import sets as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, graph, rounds)


def _questions(*datasets: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add the arguments of a replay to a command."""
    decorators = (
        click.option("--all", "everything", is_flag=True, help="Every question instead of a sample."),
        click.option(
            "--sample", default=200, show_default=True, type=click.IntRange(1), help="Questions for each hop."
        ),
        click.option("--data", required=True, type=FOLDER, help="Folder with the files of the benchmark."),
        click.argument("dataset", type=click.Choice(datasets)),
    )
    return lambda command: reduce(lambda decorated, decorate: decorate(decorated), decorators, command)


@main.command(epilog=example("kgnav-bench reach metaqa --data metaqa --sample 50 -o reach.jsonl"))
@_questions("metaqa", "freebase", "wikidata")
@click.option("--endpoint", help="freebase, wikidata: URL of the SPARQL endpoint that `convert` was loaded into.")
@click.option("--graph", "location", help="metaqa: URL of the Neo4j that the files of `neo4j films` were loaded into.")
@click.option("--plans", is_flag=True, help="metaqa, wikidata: ask each question by one plan, instead of walking.")
@click.option("--clients", default=1, show_default=True, type=click.IntRange(1, 16), help="metaqa: concurrent clients.")
@measurement
def reach(
    record: Run,
    dataset: str,
    data: Path,
    sample: int,
    *,
    everything: bool,
    endpoint: str | None,
    location: str | None,
    plans: bool,
    clients: int,
) -> str:
    """Replay gold paths, and check that every gold relation is offered and every gold answer shown."""
    if dataset == "freebase":
        from kgnav_bench import freebase_reach  # noqa: PLC0415 - as above

        if endpoint is None:
            raise click.UsageError("freebase needs a live store: --endpoint URL.")
        report = freebase_reach.run(record, data, endpoint)
    elif dataset == "wikidata":
        from kgnav_bench import wikidata_reach  # noqa: PLC0415 - as above

        if endpoint is None:
            raise click.UsageError("wikidata needs a live store: --endpoint URL.")
        report = wikidata_reach.run(record, data, endpoint, None if everything else sample, plans=plans)
    else:
        from kgnav_bench import reach as benchmark  # noqa: PLC0415 - as above

        report = benchmark.run(record, data, None if everything else sample, location, plans=plans, clients=clients)
    return f"{dataset}\n\n{report}"


@main.command(epilog=example("kgnav-bench convert fb15k237 freebase.nt.gz"))
@click.option("--dataset", type=click.Choice(["freebase", "wikidata"]), default="freebase", show_default=True)
@click.argument("data", type=FOLDER)
@click.argument("target", type=NEW_FILE)
def convert(dataset: str, data: Path, target: Path) -> None:
    """Convert the files of folder DATA to the RDF of their source, as gzipped N-Triples in TARGET.

    freebase is FB15k-237, with mediators; wikidata is WD50K and CoDEx-M, with statements and their qualifiers.
    """
    from kgnav_bench import freebase, wikidata  # noqa: PLC0415 - as above

    try:
        written = freebase.convert(data, target) if dataset == "freebase" else wikidata.convert(data, target)
    except FileNotFoundError as error:
        target.unlink(missing_ok=True)
        raise click.ClickException(f"{error.filename} does not exist: {data} is not a folder of {dataset}.") from error
    click.echo(f"{written:,} triples")


@main.command(epilog=example("kgnav-bench collapse --endpoint http://localhost:8890/sparql --hubs 5"))
@click.option("--endpoint", required=True, help="URL of a SPARQL endpoint with Freebase in it.")
@click.option(
    "--hubs", default=10, show_default=True, type=click.IntRange(1), help="Number of hubs, the largest first."
)
@click.option("--rounds", default=6, show_default=True, type=click.IntRange(1))
@measurement
def collapse(record: Run, endpoint: str, hubs: int, rounds: int) -> str:
    """Time of a search on hubs of a live Freebase, compared with direct queries for their relations and counts."""
    from kgnav_bench import freebase_collapse as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, endpoint, hubs, rounds)


_NODES = click.option(
    "--nodes", default=100, show_default=True, type=click.IntRange(100), help="Number of nodes of the generated graph."
)


@main.group()
def plans() -> None:
    """Time of twelve kinds of plans, compared with the same questions written by hand in SQL, Cypher or SPARQL."""


@plans.command("make", epilog=example("kgnav-bench plans make synthetic --nodes 1000"))
@click.argument("folder", type=NEW_FOLDER)
@_NODES
def plans_make(folder: Path, nodes: int) -> None:
    """Write the graph to FOLDER as a node and an edge file, a graph file, and N-Triples."""
    from kgnav_bench.plans import files  # noqa: PLC0415 - as above

    click.echo("\n".join(map(str, files.make(folder, nodes))))


@plans.command("run", epilog=example("kgnav-bench plans run synthetic/graph.kg --nodes 1000"))
@click.argument("location", metavar="GRAPH")
@_NODES
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(1), help="Questions of each kind.")
@measurement
def plans_run(record: Run, location: str, nodes: int, rounds: int) -> str:
    """Measure plans on GRAPH, which contains the graph that `plans make` wrote.

    GRAPH is a graph file, the URL of a Neo4j, or sparql+http://...#graph=IRI.
    """
    from kgnav_bench.client import ToolFailedError  # noqa: PLC0415 - as above
    from kgnav_bench.plans import measuring  # noqa: PLC0415 - as above

    try:
        return measuring.run(record, location, nodes, rounds)
    except ToolFailedError as error:
        raise click.ClickException(f"{location} does not have the graph of {nodes:,} nodes: {error}") from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error


@main.group()
def neo4j() -> None:
    """Time of the server on a live Neo4j, compared with its driver, at a hub and at leaves."""


@neo4j.command("make", epilog=example("kgnav-bench neo4j make hub --size 100000"))
@click.argument("folder", type=NEW_FOLDER)
@click.option(
    "--size",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(10_000),
    help="Number of relationships of the hub.",
)
def neo4j_make(folder: Path, size: int) -> None:
    """Write the graph to FOLDER as the node and edge file that `scripts/service neo4j load` takes."""
    from kgnav_bench import neo4j_hub as benchmark  # noqa: PLC0415 - as above

    click.echo(" ".join(map(str, benchmark.make(folder, size))))


@neo4j.command("films", epilog=example("kgnav-bench neo4j films metaqa films"))
@click.argument("data", type=FOLDER)
@click.argument("folder", type=NEW_FOLDER)
def neo4j_films(data: Path, folder: Path) -> None:
    """Write the film graph of MetaQA, a file of folder DATA, to FOLDER as a node and an edge file."""
    from kgnav_bench.metaqa import write_property_graph  # noqa: PLC0415 - as above

    click.echo(" ".join(map(str, write_property_graph(data, folder))))


@neo4j.command("run", epilog=example("kgnav-bench neo4j run bolt://localhost:7687 --rounds 5"))
@click.argument("url")
@click.option("--rounds", default=10, show_default=True, type=click.IntRange(1), help="Rounds of forty calls each.")
@measurement
def neo4j_run(record: Run, url: str, rounds: int) -> str:
    """Measure the Neo4j at URL, which contains the graph that `neo4j make` wrote."""
    from kgnav_bench import neo4j_hub as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, url, rounds)


@main.command(epilog=example("kgnav-bench tokens metaqa --data metaqa --sample 50"))
@_questions("metaqa")
@measurement
def tokens(record: Run, dataset: str, data: Path, sample: int, everything: bool) -> str:
    """Observation tokens of the replay of `reach`, compared with SPARQL results in JSON and SoG's tables."""
    from kgnav_bench import tokens as benchmark  # noqa: PLC0415 - as above

    return f"{dataset}\n\n{benchmark.run(record, data, None if everything else sample)}"


@main.command(epilog=example("kgnav-bench economy metaqa --data metaqa --sample 50"))
@_questions("metaqa")
@measurement
def economy(record: Run, dataset: str, data: Path, sample: int, everything: bool) -> str:
    """Calls and tokens of the replay of `reach` by plans, compared with walking and a store's own JSON."""
    from kgnav_bench import economy as benchmark  # noqa: PLC0415 - as above

    return f"{dataset}\n\n{benchmark.run(record, data, None if everything else sample)}"


@main.command(epilog=example("kgnav-bench load 1000000 loads"))
@click.argument("triples", type=click.IntRange(1000))
@click.argument("folder", type=NEW_FOLDER)
@measurement
def load(record: Run, triples: int, folder: Path) -> str:
    """Create a graph of TRIPLES triples with a hub in FOLDER and load it, compared with pyoxigraph's bulk load."""
    from kgnav_bench import load as benchmark  # noqa: PLC0415 - as above

    return benchmark.run(record, triples, folder)


@main.command(epilog=example("kgnav-bench formats 100000 formats --format csv --format graphml"))
@click.argument("edges", type=click.IntRange(10))
@click.argument("folder", type=NEW_FOLDER)
@click.option("--format", "suffixes", multiple=True, metavar="SUFFIX", help="A suffix, such as csv. [default: all]")
@measurement
def formats(record: Run, edges: int, folder: Path, suffixes: tuple[str, ...]) -> str:
    """Write EDGES edges in each format to FOLDER and load each, to measure seconds and peak memory."""
    from kgnav_bench import formats as benchmark  # noqa: PLC0415 - as above

    unknown = set(suffixes) - set(benchmark.SUFFIXES)
    if unknown:
        raise click.UsageError(f"unknown suffix {unknown.pop()!r}; known: {', '.join(benchmark.SUFFIXES)}")
    return benchmark.run(record, edges, folder, suffixes or benchmark.SUFFIXES)


main.add_command(ask)
main.add_command(dataset)
main.add_command(graphwalk)
main.add_command(maze)
main.add_command(proof)
main.add_command(score)
main.add_command(trails)
main.add_command(train)
main.add_command(walks)
