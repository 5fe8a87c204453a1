"""Commands for published sets of questions: list, fetch and read them, and convert their graphs."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import click

from kgnav_bench import report
from kgnav_bench.commands import FILE, NEW_FILE, NEW_FOLDER, example

NAMES = (
    "simpleqa",
    "simplequestions",
    "simplequestions-wikidata",
    "webqsp",
    "cwq",
    "grailqa",
    "qald-9",
    "qald-9-plus",
    "qald-10",
    "colota",
    "grbench",
    "metaqa",
    "wd50k",
)
"""The names of the datasets. They are repeated here so that `--help` need not import the datasets."""
_NAME = click.argument("name", type=click.Choice(NAMES))
_SHOWN = 5
"""Maximum bad rows in a message."""


@click.group()
def dataset() -> None:
    """Published sets of questions, for `ask` and `score`."""


@dataset.command("list", epilog=example("kgnav-bench dataset list"))
def list_datasets() -> None:
    """List all datasets: questions, graph, files, licence, source, and the papers that evaluate on them."""
    from kgnav_bench.datasets.registry import DATASETS  # noqa: PLC0415 - `--help` needs none

    rows = [
        (
            each.name,
            f"{each.questions:,}",
            each.graph,
            ", ".join(file.split for file in each.files) or "by hand",
            each.licence,
            each.home,
            each.used_by,
        )
        for each in DATASETS.values()
    ]
    click.echo(report.table(("name", "questions", "graph", "can be fetched", "licence", "source", "used by"), rows))


@dataset.command("fetch", epilog=example("kgnav-bench dataset fetch qald-10"))
@_NAME
@click.option("--split", help="Only this file of `dataset list`. [default: all]")
@click.option("--cache", type=NEW_FOLDER, help="Folder for the files. [default: the user's cache folder]")
def fetch(name: str, split: str | None, cache: Path | None) -> None:
    """Fetch the files of a dataset from its publisher, and print where they are.

    The SHA-256 of each file is compared with the known one, or with that of the first fetch.
    """
    from kgnav_bench.datasets import fetching  # noqa: PLC0415 - as above
    from kgnav_bench.datasets.registry import DATASETS  # noqa: PLC0415 - as above

    found = DATASETS[name]
    click.echo(f"{found.title}: {found.home}\nLicence: {found.licence}", err=True)
    files = [file for file in found.files if split in {None, file.split}]
    if split is not None and not files:
        splits = ", ".join(file.split for file in found.files) or "none"
        raise click.UsageError(f"{name} has no file {split!r} to fetch; it has {splits}. {found.by_hand}".rstrip())
    for file in files:
        try:
            path = fetching.fetch(found, file, cache or fetching.default_cache(), progress=sys.stderr.isatty())
        except fetching.NotFetchedError as error:
            raise click.ClickException(str(error)) from error
        click.echo(path)
    if found.by_hand:
        click.echo(
            f"By hand: {found.home}\n{found.by_hand}\n"
            f"Save the files anywhere, then: kgnav-bench dataset read {name} FILE -o questions.jsonl",
            err=True,
        )
    if not files:
        raise click.ClickException(f"{name} has no file that can be fetched without a login.")


@dataset.command("read", epilog=example("kgnav-bench dataset read qald-10 questions.jsonl -o qald-10.jsonl"))
@_NAME
@click.argument("file", type=FILE)
@click.option("-o", "--output", type=NEW_FILE, required=True, help="JSON Lines file of questions.")
@click.option("--split", default="", help="Name of the split, stored with each question.")
@click.option(
    "--language", default="en", show_default=True, help="Language of the questions, if a dataset has several."
)
@click.option("--skip-bad", is_flag=True, help="Skip rows that are not questions, and count them.")
def read_dataset(name: str, file: Path, output: Path, split: str, language: str, *, skip_bad: bool) -> None:
    """Read a published file of a dataset as questions."""
    from kgnav_bench.datasets.dataset import read  # noqa: PLC0415 - as above
    from kgnav_bench.datasets.registry import DATASETS  # noqa: PLC0415 - as above
    from kgnav_bench.datasets.rows import UnreadableDatasetError  # noqa: PLC0415 - as above
    from kgnav_bench.records import write_records  # noqa: PLC0415 - as above

    try:
        result = read(DATASETS[name], file, split=split, language=language)
    except UnreadableDatasetError as error:
        raise click.ClickException(str(error)) from error
    if result.bad and not skip_bad:
        shown = "\n".join(result.bad[:_SHOWN])
        more = f"\nand {len(result.bad) - _SHOWN:,} more" if len(result.bad) > _SHOWN else ""
        raise click.ClickException(
            f"{len(result.bad):,} rows of {file} are not questions of {name}:\n{shown}{more}\n"
            "Correct them, or skip them with --skip-bad."
        )
    if not result.questions:
        raise click.ClickException(f"{file} has no questions of {name}.")
    write_records(output, result.questions)
    kinds = Counter(question.kind or "-" for question in result.questions)
    empty = sum(not question.answers for question in result.questions)
    click.echo(f"{len(result.questions):,} questions with {sum(len(q.answers) for q in result.questions):,} answers")
    click.echo(", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common(20)))
    notes = (
        (empty, "have no answer"),
        (result.renamed, "had the id of another question: a number was appended"),
        (len(result.bad), "rows were skipped"),
    )
    for count, note in notes:
        if count:
            click.echo(f"{count:,} {note}")


@dataset.command("graph", epilog=example("kgnav-bench dataset graph grbench questions.jsonl -o dblp.jsonl"))
@click.argument("name", type=click.Choice(["grbench"]), expose_value=False)
@click.argument("file", type=FILE)
@click.option("-o", "--output", type=NEW_FILE, required=True, help="JSON Lines file that `kgnav load` reads.")
def graph(file: Path, output: Path) -> None:
    """Convert a graph of GRBench (graph.json) to JSON Lines that `kgnav load` reads."""
    from kgnav_bench.datasets import grbench  # noqa: PLC0415 - as above
    from kgnav_bench.datasets.rows import UnreadableDatasetError  # noqa: PLC0415 - as above

    part = output.with_name(f"{output.name}.part")
    try:
        nodes, edges = grbench.convert(file, part)
        part.replace(output)
    except UnreadableDatasetError as error:
        raise click.ClickException(str(error)) from error
    finally:
        part.unlink(missing_ok=True)
    click.echo(f"{nodes:,} nodes, {edges:,} edges. Load it: kgnav load {output} -o {output.stem}.kg")
