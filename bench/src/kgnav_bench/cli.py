"""`kgnav-bench`: measures every figure that this project claims, on the current machine.

Compared calls alternate within one run, because machines are noisy and runs differ.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from pathlib import Path

import click

from kgnav_bench.arguments import FILE, FOLDER
from kgnav_bench.graphwalk.commands import graphwalk, maze
from kgnav_bench.trails.commands import proof, trails


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Measure the server as a client sees it: started as a child process, spoken to over stdio or HTTP."""


@main.command()
@click.argument("graph", type=FILE)
@click.option("--rounds", default=10, show_default=True, type=click.IntRange(1), help="Of forty calls each.")
def overhead(graph: Path, rounds: int) -> None:
    """A tool call over stdio and over HTTP, beside a bare server's idle tool and the same queries made directly."""
    from kgnav_bench import overhead as benchmark  # noqa: PLC0415 - `--help` needs no benchmark

    click.echo(benchmark.run(graph, rounds))


@main.command()
@click.argument("graph", type=FILE)
@click.option("--rounds", default=5, show_default=True, type=click.IntRange(1))
@click.option("--calls", default=1280, show_default=True, type=click.IntRange(64), help="Of all clients in a round.")
def clients(graph: Path, rounds: int, calls: int) -> None:
    """1, 8 and 64 clients at once over HTTP, beside a bare server with as many."""
    from kgnav_bench import clients as benchmark  # noqa: PLC0415 - as above

    click.echo(benchmark.run(graph, rounds, calls))


@main.command()
@click.argument("graph", type=FILE)
@click.option("--hub", "hub_id", help="Id of the hub; the largest one when left out.")
@click.option("--leaf", "leaf_id", help="Id of an entity of degree 50; some of degree 45 to 50 when left out.")
@click.option("--direction", default="incoming", type=click.Choice(["outgoing", "incoming"]), show_default=True)
@click.option("--rounds", default=200, show_default=True, type=click.IntRange(1))
@click.option("--fetches", default=3, show_default=True, type=click.IntRange(1), help="Times the hub is fetched whole.")
def hub(graph: Path, *, hub_id: str | None, leaf_id: str | None, direction: str, rounds: int, fetches: int) -> None:
    """A search on a hub beside one on a leaf, and beside fetching all to collapse it. --direction is of both ids."""
    from kgnav_bench import hub as benchmark  # noqa: PLC0415 - as above

    places = [benchmark.Place(name, direction) if name is not None else None for name in (hub_id, leaf_id)]
    try:
        click.echo(benchmark.run(graph, *places, rounds=rounds, fetches=min(fetches, rounds)))
    except benchmark.NoHubError as error:
        raise click.ClickException(str(error)) from error


@main.command()
@click.argument("graph", type=FILE)
@click.option("--sample", type=click.IntRange(1), help="Names to ask for; all of them when left out.")
@click.option("--seed", default=1, show_default=True, help="Of the sample and the typos.")
@click.option("--misses", default=0, show_default=True, type=click.IntRange(0), help="Of each kind that are shown.")
def names(graph: Path, *, sample: int | None, seed: int, misses: int) -> None:
    """Each name of GRAPH, its singular, its plural and it with one typo: whether find_node has it first."""
    from kgnav_bench import names as benchmark  # noqa: PLC0415 - as above

    click.echo(benchmark.run(graph, sample, seed, misses))


@main.command()
@click.argument("graph", type=FILE, required=False)
@click.option("--pairs", default=10, show_default=True, type=click.IntRange(1))
def start(graph: Path | None, pairs: int) -> None:
    """Process start to first answer, beside a bare server. Without GRAPH on the demo graph."""
    from kgnav_bench import start as benchmark  # noqa: PLC0415 - as above

    click.echo(benchmark.run(graph, pairs))


@main.command()
@click.argument("graph", type=FILE)
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(1))
def sets(graph: Path, rounds: int) -> None:
    """A search for 1,000 entities of GRAPH in one call, beside one for a single entity."""
    from kgnav_bench import sets as benchmark  # noqa: PLC0415 - as above

    click.echo(benchmark.run(graph, rounds))


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


@main.command()
@_questions("metaqa", "freebase", "wikidata")
@click.option("--endpoint", help="freebase, wikidata: URL of the SPARQL endpoint that `convert` was loaded into.")
@click.option("--graph", "location", help="metaqa: URL of the Neo4j that the files of `neo4j films` were loaded into.")
@click.option("--plans", is_flag=True, help="metaqa, wikidata: ask each question by one plan, instead of walking.")
@click.option("--clients", default=1, show_default=True, type=click.IntRange(1, 16), help="metaqa: that ask at once.")
def reach(
    dataset: str,
    data: Path,
    sample: int,
    *,
    everything: bool,
    endpoint: str | None,
    location: str | None,
    plans: bool,
    clients: int,
) -> None:
    """Gold paths replayed: whether every gold relation is offered and every gold answer shown."""
    if dataset == "freebase":
        from kgnav_bench import freebase_reach  # noqa: PLC0415 - as above

        if endpoint is None:
            raise click.UsageError("freebase is walked on a live store: name it with --endpoint URL.")
        report = freebase_reach.run(data, endpoint)
    elif dataset == "wikidata":
        from kgnav_bench import wikidata_reach  # noqa: PLC0415 - as above

        if endpoint is None:
            raise click.UsageError("wikidata is walked on a live store: name it with --endpoint URL.")
        report = wikidata_reach.run(data, endpoint, None if everything else sample, plans=plans)
    else:
        from kgnav_bench import reach as benchmark  # noqa: PLC0415 - as above

        report = benchmark.run(data, None if everything else sample, location, plans=plans, clients=clients)
    click.echo(f"{dataset}\n\n{report}")


@main.command()
@click.option("--dataset", type=click.Choice(["freebase", "wikidata"]), default="freebase", show_default=True)
@click.argument("data", type=FOLDER)
@click.argument("target", type=click.Path(dir_okay=False, writable=True, path_type=Path))
def convert(dataset: str, data: Path, target: Path) -> None:
    """Write the files of folder DATA to TARGET in their source's own RDF, as gzipped N-Triples.

    freebase is FB15k-237, with mediators; wikidata is WD50K and CoDEx-M, with statements and their qualifiers.
    """
    from kgnav_bench import freebase, wikidata  # noqa: PLC0415 - as above

    written = freebase.convert(data, target) if dataset == "freebase" else wikidata.convert(data, target)
    click.echo(f"{written:,} triples")


@main.command()
@click.option("--endpoint", required=True, help="URL of a SPARQL endpoint with Freebase in it.")
@click.option("--hubs", default=10, show_default=True, type=click.IntRange(1), help="As many of the largest.")
@click.option("--rounds", default=6, show_default=True, type=click.IntRange(1))
def collapse(endpoint: str, hubs: int, rounds: int) -> None:
    """A search on hubs of a live Freebase beside the bare queries that list and count their relations."""
    from kgnav_bench import freebase_collapse as benchmark  # noqa: PLC0415 - as above

    click.echo(benchmark.run(endpoint, hubs, rounds))


_NODES = click.option(
    "--nodes", default=100, show_default=True, type=click.IntRange(100), help="Of the generated graph."
)


@main.group()
def templates() -> None:
    """GraphWalk's twelve templates on generated graphs: 120 questions, each by one plan."""


@templates.command("make")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@_NODES
def templates_make(folder: Path, nodes: int) -> None:
    """Write the graph to FOLDER as a node and an edge file, a graph file, and N-Triples."""
    from kgnav_bench.templates import asking  # noqa: PLC0415 - as above

    click.echo("\n".join(map(str, asking.make(folder, nodes))))


@templates.command("run")
@click.argument("locations", nargs=-1, required=True, metavar="GRAPH...")
@_NODES
@click.option("--instances", default=10, show_default=True, type=click.IntRange(1), help="Questions of each template.")
def templates_run(locations: tuple[str, ...], nodes: int, instances: int) -> None:
    """Ask each GRAPH, a file or the URL of a store which has that graph, all questions.

    Ids of the N-Triples begin with http://synthetic.example/.
    """
    from kgnav_bench.templates import asking  # noqa: PLC0415 - as above

    for location in locations:
        click.echo(f"{asking.run(location, nodes, instances)}\n")


@main.command()
@click.argument("location", metavar="GRAPH")
@_NODES
@click.option("--rounds", default=20, show_default=True, type=click.IntRange(1), help="Questions of each kind.")
def plans(location: str, nodes: int, rounds: int) -> None:
    """Twelve kinds of plan beside the same questions by hand: in SQL, Cypher or SPARQL.

    GRAPH has what `templates make` wrote: a graph file, the URL of a Neo4j, or sparql+http://...#graph=IRI.
    """
    from kgnav_bench.client import ToolFailedError  # noqa: PLC0415 - as above
    from kgnav_bench.plans import measuring  # noqa: PLC0415 - as above

    try:
        click.echo(measuring.run(location, nodes, rounds))
    except ToolFailedError as error:
        raise click.ClickException(f"{location} has not the graph of {nodes:,} nodes: {error}") from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error


@main.group()
def neo4j() -> None:
    """The server on a live Neo4j beside the bare driver, at a hub and at leaves."""


@neo4j.command("make")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--size", default=1_000_000, show_default=True, type=click.IntRange(10_000), help="Of the hub.")
def neo4j_make(folder: Path, size: int) -> None:
    """Write the graph to FOLDER as the node and edge file that `scripts/service neo4j load` takes."""
    from kgnav_bench import neo4j_hub as benchmark  # noqa: PLC0415 - as above

    click.echo(" ".join(map(str, benchmark.make(folder, size))))


@neo4j.command("films")
@click.argument("data", type=FOLDER)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def neo4j_films(data: Path, folder: Path) -> None:
    """Write the film graph of MetaQA, a file of folder DATA, to FOLDER as a node and an edge file."""
    from kgnav_bench.metaqa import write_property_graph  # noqa: PLC0415 - as above

    click.echo(" ".join(map(str, write_property_graph(data, folder))))


@neo4j.command("run")
@click.argument("url")
@click.option("--rounds", default=10, show_default=True, type=click.IntRange(1), help="Of forty calls each.")
def neo4j_run(url: str, rounds: int) -> None:
    """Measure on the store at URL, which has that graph."""
    from kgnav_bench import neo4j_hub as benchmark  # noqa: PLC0415 - as above

    click.echo(benchmark.run(url, rounds))


@main.command()
@_questions("metaqa")
def tokens(dataset: str, data: Path, sample: int, everything: bool) -> None:
    """Observation tokens of that replay, beside SPARQL results in JSON and SoG's tables."""
    from kgnav_bench import tokens as benchmark  # noqa: PLC0415 - as above

    click.echo(f"{dataset}\n")
    click.echo(benchmark.run(data, None if everything else sample))


@main.command()
@_questions("metaqa")
def economy(dataset: str, data: Path, sample: int, everything: bool) -> None:
    """Calls and tokens of that replay by plans, beside walking and a store's own JSON."""
    from kgnav_bench import economy as benchmark  # noqa: PLC0415 - as above

    click.echo(f"{dataset}\n\n{benchmark.run(data, None if everything else sample)}")


@main.command()
@click.argument("triples", type=click.IntRange(1000))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def load(triples: int, folder: Path) -> None:
    """Make a graph of so many TRIPLES with a large hub in FOLDER and load it, beside pyoxigraph's bulk load."""
    from kgnav_bench import load as benchmark  # noqa: PLC0415 - as above

    benchmark.run(triples, folder)


main.add_command(graphwalk)
main.add_command(maze)
main.add_command(proof)
main.add_command(trails)
