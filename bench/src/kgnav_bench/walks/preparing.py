"""The commands of `kgnav-bench walks` that need no random walk: `questions`, `roll` and `overlap`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack, aclosing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from kgnav_bench.commands import FILE, NEW_FILE, described, example
from kgnav_bench.records import Question, UnreadableRecordsError, write_records
from kgnav_bench.walks.options import AGAIN, CONCURRENCY, GRAPH, PROGRESS, explained, model_options, place_of
from kgnav_bench.walks.sharegpt import read_conversations, write_conversations


@click.command(epilog=example("kgnav-bench walks questions walks.jsonl -o heldout.jsonl"))
@click.argument("file", type=FILE)
@click.option("-o", "--output", required=True, type=NEW_FILE, help="JSON Lines file of questions.")
@explained
def questions(file: Path, output: Path) -> None:
    """Write the questions of FILE with their complete answers, as a test set for other commands."""
    from kgnav_bench.walks.rolling import questions_of  # noqa: PLC0415 - `--help` needs none of it

    count = write_records(output, questions_of(list(read_conversations(file))))
    click.echo(f"Written: {output}, {count:,} questions")


@click.command(epilog=example("kgnav-bench walks overlap walks.jsonl --against questions.jsonl -o clean.jsonl"))
@click.argument("file", type=FILE)
@click.option("--against", multiple=True, required=True, type=FILE, help="Test questions, as `walks questions` writes.")
@click.option("--encoder", metavar="MODEL", help="Compare meanings with this sentence model too, such as BAAI/bge-m3.")
@click.option("--threshold", default=0.85, show_default=True, type=click.FloatRange(0, 1), help="Cosine similarity.")
@click.option("-o", "--output", required=True, type=NEW_FILE, help="The conversations that do not overlap.")
@explained
def overlap(file: Path, against: tuple[Path, ...], encoder: str | None, threshold: float, output: Path) -> None:
    """Remove the conversations of FILE whose questions overlap with test questions.

    Two questions overlap if they have the same words, the same topics and relations, or the same topics and answers;
    with --encoder also if the similarity of their meanings reaches the threshold.
    """
    from kgnav_bench import report  # noqa: PLC0415 - `--help` needs none of it
    from kgnav_bench.walks.overlap import THRESHOLDS, overlaps  # noqa: PLC0415 - as above
    from kgnav_bench.walks.rolling import questions_of, read_questions  # noqa: PLC0415 - as above

    conversations = list(read_conversations(file))
    tests = [question for each in against for question in read_questions(each)]
    if not conversations or not tests:
        raise UnreadableRecordsError(f"{', '.join(map(str, against)) if conversations else file} is empty.")
    found = overlaps(list(questions_of(conversations)), tests, encoder)
    kept = [one for one, each in zip(conversations, found, strict=True) if not each.flagged(threshold)]
    total = len(conversations)
    rows = [
        ("same words", report.share(sum(each.text for each in found), total)),
        ("same topics and relations", report.share(sum(each.path for each in found), total)),
        ("same topics and answers", report.share(sum(each.entities for each in found), total)),
    ]
    rows += [
        (f"similarity from {least:.2f}", report.share(sum(each.similarity >= least for each in found), total))
        for least in (THRESHOLDS if encoder else ())
    ]
    write_conversations(output, kept)
    click.echo(report.table(("overlap", "conversations"), [*rows, ("kept", report.share(len(kept), total))]))
    click.echo(f"Written: {output}", err=True)


@click.command(
    epilog=example(
        "kgnav-bench walks roll questions.jsonl --graph films.kg --model-url http://localhost:8000/v1 --model m "
        "-o rollouts.jsonl"
    )
)
@click.argument("file", type=FILE)
@GRAPH
@model_options(required=True)
@click.option("--turns", default=10, show_default=True, type=click.IntRange(1), help="Maximum turns of an attempt.")
@CONCURRENCY
@click.option("-o", "--output", required=True, type=NEW_FILE, help="JSON Lines file of conversations.")
@AGAIN
@PROGRESS
@explained
def roll(file: Path, output: Path, *, again: bool, progress: bool | None, **options: Any) -> None:  # noqa: ANN401
    """Let a model answer the questions of FILE with the tools, and keep the right attempts (GraphRoll).

    An attempt is kept if its answer is exactly the complete one, and every name in it was shown before.
    """
    from kgnav_bench.runs import Run  # noqa: PLC0415 - `--help` needs none of it
    from kgnav_bench.walks.rolling import TITLE, read_questions  # noqa: PLC0415 - as above
    from kgnav_bench.walks.writing import WalkFile, discard, progress_file, summary  # noqa: PLC0415 - as above

    place = place_of(options["graph"], options["server"])
    asked = read_questions(file)
    if not asked:
        raise UnreadableRecordsError(f"{file} is empty. Write questions with: kgnav-bench walks questions")
    if again:
        discard(output)
    parameters: dict[str, object] = {
        "command": "walks roll",
        "questions": described(file),
        "graph": described(place[0] or place[1]),
        "model": options["model_name"],
        "turns": options["turns"],
        **{name: version(name) for name in ("kgnav-bench", "kgnav-mcp")},
    }
    shown = sys.stderr.isatty() if progress is None else progress
    with Run(progress_file(output), parameters) as run, WalkFile(output, run, TITLE) as written:
        try:
            if written.state.numbers < len(asked):
                asyncio.run(_roll(written, asked, place, options, progress=shown))
        finally:
            text = summary(written.state, parameters, output)
            output.with_suffix(".md").write_text(text + "\n", "utf-8")
    click.echo(text)


async def _roll(
    written: Any,  # noqa: ANN401 - imported where it is used
    asked: list[Question],
    place: tuple[str | None, str | None],
    options: dict[str, Any],
    *,
    progress: bool,
) -> None:
    from kgnav_bench.endpoints import connect  # noqa: PLC0415 - `--help` needs none of it
    from kgnav_bench.walks.order import in_order  # noqa: PLC0415 - as above
    from kgnav_bench.walks.rolling import Roller  # noqa: PLC0415 - as above
    from kgnav_bench.walks.session import connected  # noqa: PLC0415 - as above

    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(connect(options["model_url"], options["model_name"]))
        session = await stack.enter_async_context(connected(*place))
        roller = Roller(session, await session.tools(), model, turns=options["turns"])
        first = written.state.numbers
        work = (roller.roll(number, question) for number, question in enumerate(asked[first:], first))
        made = await stack.enter_async_context(aclosing(in_order(work, options["concurrency"])))
        await written.fill(made, len(asked), progress=progress, fruitless_limit=len(asked) + 1)
