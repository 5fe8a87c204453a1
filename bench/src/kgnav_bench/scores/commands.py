"""The command that scores attempts."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from kgnav_bench.commands import FILE, NEW_FOLDER, example

_SENSES = ("set_match", "hits_at_1", "exact_match", "judge")


@click.command(epilog=example("kgnav-bench score attempts.jsonl --data questions.jsonl -o scored"))
@click.argument("attempts", nargs=-1, required=True, type=FILE)
@click.option("--data", required=True, multiple=True, type=FILE, help="Questions with their true answers; repeatable.")
@click.option("-o", "--output", default=Path("scores"), show_default=True, type=NEW_FOLDER, help="Folder of results.")
@click.option(
    "--correct",
    type=click.Choice(_SENSES),
    help="What makes an attempt correct: all true answers and no other, the first answer, some answer, or the judge's "
    "verdict. [default: set_match, and judge with a judge]",
)
@click.option("--judge-url", help="Endpoint of a judge model, such as http://localhost:8000/v1.")
@click.option("--judge-model", help="Name of the judge model.")
@click.option(
    "--judge-price-prompt", type=click.FloatRange(0), help="US dollars for a million prompt tokens of the judge."
)
@click.option("--judge-price-completion", type=click.FloatRange(0), help="US dollars for a million tokens of replies.")
@click.option(
    "--judge-price-cached",
    type=click.FloatRange(0),
    help="US dollars for a million cached prompt tokens. [default: as other prompt tokens]",
)
@click.option(
    "--judge-concurrency", default=4, show_default=True, type=click.IntRange(1, 64), help="Concurrent requests."
)
@click.option("--resamples", default=10_000, show_default=True, type=click.IntRange(100), help="Bootstrap resamples.")
@click.option("--seed", default=0, show_default=True, help="Seed of the bootstrap.")
@click.option("--plots/--no-plots", default=None, help="Draw plots. [default: if matplotlib is installed]")
@click.option("--again", is_flag=True, help="Discard the judge's verdicts. [default: ask for missing ones]")
@click.option("--progress/--quiet", default=None, help="Show a bar of verdicts on stderr. [default: on a terminal]")
def score(
    attempts: tuple[Path, ...],
    data: tuple[Path, ...],
    output: Path,
    *,
    correct: str | None,
    judge_url: str | None,
    judge_model: str | None,
    judge_price_prompt: float | None,
    judge_price_completion: float | None,
    judge_price_cached: float | None,
    judge_concurrency: int,
    resamples: int,
    seed: int,
    plots: bool | None,
    again: bool,
    progress: bool | None,
) -> None:
    """Score ATTEMPTS, files that `ask` wrote, of one or several arms and models, with the metrics of the papers.

    The folder gets scores.jsonl (a record for each attempt), summary.json, report.md, plots and, with a judge,
    verdicts.jsonl. Attempts are averaged over repeats, compared by arm, and shown by kind of question.
    """
    from kgnav_bench.models import EndpointError  # noqa: PLC0415 - `--help` needs none of these
    from kgnav_bench.prices import Prices  # noqa: PLC0415
    from kgnav_bench.records import UnreadableRecordsError  # noqa: PLC0415
    from kgnav_bench.runs import UnusableFileError  # noqa: PLC0415
    from kgnav_bench.scores import run  # noqa: PLC0415
    from kgnav_bench.scores.inputs import UnscorableError  # noqa: PLC0415
    from kgnav_bench.scores.plots import PlotsMissingError  # noqa: PLC0415

    if (judge_url is None) != (judge_model is None):
        raise click.UsageError("a judge needs both --judge-url URL and --judge-model NAME.")
    if correct == "judge" and judge_url is None:
        raise click.UsageError("--correct judge needs --judge-url URL and --judge-model NAME.")
    if (judge_price_prompt is None) != (judge_price_completion is None):
        raise click.UsageError("--judge-price-prompt and --judge-price-completion must be given together.")
    judge = None
    if judge_url is not None and judge_model is not None:
        prices = None
        if judge_price_prompt is not None and judge_price_completion is not None:
            prices = Prices(judge_price_prompt, judge_price_completion, judge_price_cached)
        judge = run.Judge(judge_url, judge_model, prices, judge_concurrency, again=again)
    settings = run.Settings(
        output,
        run.Correct(correct or ("judge" if judge else "set_match")),
        resamples,
        seed,
        plots=plots,
        progress=sys.stderr.isatty() if progress is None else progress,
    )
    try:
        result = run.run(attempts, data, settings, judge)
    except (EndpointError, PlotsMissingError, UnreadableRecordsError, UnscorableError, UnusableFileError) as error:
        raise click.ClickException(str(error)) from error
    click.echo(result.report)
    for warning in result.warnings:
        click.echo(f"Note: {warning}", err=True)
    click.echo(f"Written: {', '.join(map(str, result.files))}", err=True)
