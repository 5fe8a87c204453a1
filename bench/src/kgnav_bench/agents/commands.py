"""The command that runs a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kgnav_bench.agents.arms import ArmError, arm_names, arm_path, read_arm
from kgnav_bench.commands import FILE, example, measurement
from kgnav_bench.models import EndpointError, ServerFailedError
from kgnav_bench.records import UnreadableRecordsError
from kgnav_bench.runs import Run


def _arm_file(_: click.Context, __: click.Parameter, value: str) -> Path:
    try:
        return arm_path(value)
    except ArmError as error:
        raise click.BadParameter(str(error)) from error


@click.command(
    epilog=example(
        "kgnav-bench ask --arm graphwalker --model gpt-5-mini --url https://api.openai.com/v1 "
        "--data questions.jsonl --graph films.kg --sample 100"
    )
)
@click.option("--arm", required=True, callback=_arm_file, help=f"{', '.join(arm_names())}, or your own TOML file.")
@click.option("--model", required=True, help="Name of the model at the endpoint.")
@click.option("--url", required=True, help="Base URL of the API, without /chat/completions or /v1/messages.")
@click.option(
    "--provider", type=click.Choice(["openai", "anthropic"]), help="Kind of API. [default: by the host of the URL]"
)
@click.option("--data", required=True, type=FILE, help="JSON Lines file of questions.")
@click.option("--graph", help="Graph to serve: a graph file or a store's URL. [default: the demo graph]")
@click.option("--server", help="URL of a running server, instead of --graph.")
@click.option("--sample", type=click.IntRange(1), help="Questions chosen at random. [default: all]")
@click.option("--seed", default=1, show_default=True, help="Seed of the sample.")
@click.option("--repeats", default=1, show_default=True, type=click.IntRange(1), help="Attempts per question.")
@click.option("--concurrency", default=1, show_default=True, type=click.IntRange(1, 64), help="Concurrent attempts.")
@click.option("--temperature", type=click.FloatRange(0), help="[default: the endpoint's]")
@click.option(
    "--max-turns", type=click.IntRange(1), help="Maximum requests to the model per phase. [default: the arm's]"
)
@click.option(
    "--max-calls", default=100, show_default=True, type=click.IntRange(1), help="Maximum tool calls per attempt."
)
@click.option("--max-tokens", type=click.IntRange(1), help="Maximum tokens of one reply. [default: the endpoint's]")
@click.option(
    "--token-budget", type=click.IntRange(1), help="Maximum tokens of all requests and replies of an attempt."
)
@click.option(
    "--timeout", default=300.0, show_default=True, type=click.FloatRange(1), help="Maximum seconds for one request."
)
@click.option(
    "--stop-after", default=5, show_default=True, type=click.IntRange(1), help="Stop after this many failures in a row."
)
@click.option("--price-prompt", type=click.FloatRange(0), help="US dollars for a million tokens of prompts.")
@click.option("--price-completion", type=click.FloatRange(0), help="US dollars for a million tokens of replies.")
@click.option(
    "--price-cached",
    type=click.FloatRange(0),
    help="US dollars for a million cached prompt tokens. [default: as other prompt tokens]",
)
@measurement
def ask(record: Run, arm: Path, data: Path, **options: Any) -> str:  # noqa: ANN401 - of several types
    """Let a model answer questions with one method, and keep each attempt with all its turns.

    Beside the run's file, FILE.attempts.jsonl has only the attempts, for `kgnav-bench score`. The API's key is read
    from OPENAI_API_KEY or ANTHROPIC_API_KEY. The same command continues a run that was stopped, and repeats the
    attempts at which the endpoint or the server failed.
    """
    from kgnav_bench.agents import benchmark  # noqa: PLC0415 - `--help` needs no model
    from kgnav_bench.agents.loop import Limits  # noqa: PLC0415 - as above
    from kgnav_bench.endpoints import Provider  # noqa: PLC0415 - as above
    from kgnav_bench.prices import Prices  # noqa: PLC0415 - as above

    if options["graph"] and options["server"]:
        raise click.UsageError(
            "--graph and --server cannot be combined: --graph is served by this command, --server is a running server."
        )
    prompt, completion = options["price_prompt"], options["price_completion"]
    if (prompt is None) != (completion is None):
        raise click.UsageError("--price-prompt and --price-completion must be given together.")
    limits = Limits(**{name: options[name] for name in Limits.__dataclass_fields__})
    prices = None if prompt is None else Prices(prompt, completion, options["price_cached"])
    provider = Provider(options["provider"]) if options["provider"] else None
    try:
        questions = benchmark.chosen(data, options["sample"], options["seed"])
        experiment = benchmark.Experiment(
            read_arm(arm),
            benchmark.Endpoint(options["url"], options["model"], provider, options["timeout"]),
            benchmark.Place(options["graph"], options["server"]),
            limits,
            options["repeats"],
            options["concurrency"],
            options["stop_after"],
            prices,
        )
        return benchmark.run(record, experiment, questions)
    except benchmark.TooManyFailuresError as error:
        message = f"{options['stop_after']} attempts in a row failed, the last one because: {error}\n"
        kept = (
            f"Finished attempts are kept and reported in {record.path.with_suffix('.md')}: the same command continues."
        )
        raise click.ClickException(message + kept) from error
    except (ArmError, EndpointError, ServerFailedError, UnreadableRecordsError, ValueError) as error:
        raise click.ClickException(str(error)) from error
