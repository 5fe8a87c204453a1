"""The commands `kgnav-bench train sft` and `kgnav-bench train grpo`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import click

from kgnav_bench.commands import FILE, NEW_FOLDER, example
from kgnav_bench.training.settings import (
    BASE_MODEL,
    OUTPUTS,
    GrpoSettings,
    Settings,
    SftSettings,
    Stage,
    UnusableSettingsError,
    resolve,
)

_COUNT = click.IntRange(1)
_RATE = click.FloatRange(0, min_open=True)


Setting = tuple[str, "click.ParamType[Any, Any]", str]
"""A setting, the type of its option, and what the help says."""


def _options(*settings: Setting, kind: type[Settings]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Options that set a setting, with its default in the help, and those that every training has."""
    options = [
        click.option(
            f"--{name.replace('_', '-')}", type=value, help=f"{text} [default: {kind.model_fields[name].default:g}]"
        )
        for name, value, text in settings
    ]
    common = [
        click.option("--config", type=FILE, help="TOML file of settings; flags win over it."),
        click.option(
            "-o", "--output", type=NEW_FOLDER, help=f"Folder of the model. [default: {OUTPUTS}/ and the stage]"
        ),
        click.option("--again", is_flag=True, help="Discard the training in the folder. [default: continue it]"),
        click.option("--progress/--quiet", default=None, help="Show a bar on stderr. [default: on a terminal]"),
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        return reduce(lambda decorated, option: option(decorated), reversed([*options, *common]), command)

    return decorate


_COMMON: Sequence[Setting] = (
    ("learning_rate", _RATE, "At the beginning."),
    ("device_batch_size", _COUNT, "Conversations that a device processes at a time. It decides memory, not results."),
    ("max_steps", click.IntRange(-1), "Optimizer steps; -1: all epochs."),
    ("save_steps", _COUNT, "Steps between checkpoints, from which a killed training continues."),
    ("seed", click.INT, "Seed of the order of the data."),
)


@click.group()
def train() -> None:
    """GraphWalker's training: fine-tuning on walks in two stages, then GRPO on the live server."""


@train.command(epilog=example("kgnav-bench train sft walks.jsonl --stage graphsynth --dry-run"))
@click.argument("data", type=FILE)
@click.option(
    "--stage", type=click.Choice([each.value for each in Stage]), default=Stage.GRAPHSYNTH.value, show_default=True
)
@click.option("--model", help=f"Folder or hub name. [default: {BASE_MODEL}; for graphroll the result of graphsynth]")
@_options(
    ("batch_size", _COUNT, "Conversations in an optimizer step."),
    ("epochs", _RATE, "Number of passes over the data."),
    ("max_length", _COUNT, "Maximum tokens of a conversation. None is cut."),
    *_COMMON,
    kind=SftSettings,
)
@click.option("--drop-long", is_flag=True, help="Leave out longer conversations, and count them. [default: refuse]")
@click.option("--dry-run", is_flag=True, help="Print the settings and which tokens carry loss; train nothing.")
def sft(
    data: Path,
    stage: str,
    config: Path | None,
    output: Path | None,
    *,
    again: bool,
    progress: bool | None,
    drop_long: bool,
    dry_run: bool,
    **flags: object,
) -> None:
    """Fine-tune a model on the conversations of DATA, with loss on the model's own tokens only.

    DATA has a conversation in ShareGPT's form on each line, as `kgnav-bench walks` writes them.
    """
    from kgnav_bench.training import outputs, preview, sft  # noqa: PLC0415 - `--help` needs no training

    model = str(OUTPUTS / Stage.GRAPHSYNTH) if stage == Stage.GRAPHROLL else BASE_MODEL
    with _reported():
        settings = resolve(SftSettings, ("sft", stage), config, flags, model)
        _check_order(settings, stage)
        tokenizer = sft.load_tokenizer(settings.model)
        examples = preview.read_examples(data, settings, tokenizer, drop_long=drop_long)
        if dry_run:
            colour = sys.stdout.isatty()
            click.echo(preview.preview(settings, examples, tokenizer, colour=colour))
            return
        parameters = {
            "stage": stage,
            **settings.model_dump(mode="json"),
            "data": outputs.fingerprint([data]),
            "drop_long": drop_long,
        }
        folder = outputs.Output.open(output or OUTPUTS / stage, parameters, again=again)
        click.echo(sft.run(settings, stage, examples, tokenizer, folder, progress=_progress(progress)))
        click.echo(f"Written: {folder.folder}", err=True)


@train.command(epilog=example("kgnav-bench train grpo questions.jsonl --graph films.kg --dry-run"))
@click.argument("questions", type=FILE)
@click.option("--graph", required=True, help="Graph file or URL of a store that the server reads.")
@click.option("--model", help=f"Folder or hub name. [default: {OUTPUTS / Stage.GRAPHROLL}]")
@_options(
    ("batch_size", _COUNT, "Attempts in an optimizer step."),
    ("attempts", click.IntRange(2), "Attempts at a question, between which the reward is normalized."),
    ("sample", _COUNT, "Questions that are drawn at random."),
    ("max_turns", _COUNT, "Turns of an attempt."),
    ("max_response_length", _COUNT, "Maximum tokens of an attempt, the server's answers included."),
    *_COMMON,
    kind=GrpoSettings,
)
@click.option("--dry-run", is_flag=True, help="Print the settings and the first prompt; train nothing.")
def grpo(
    questions: Path,
    graph: str,
    config: Path | None,
    output: Path | None,
    *,
    again: bool,
    progress: bool | None,
    dry_run: bool,
    **flags: object,
) -> None:
    """Train a model by GRPO: it attempts QUESTIONS on the live server, and exact matches are rewarded.

    QUESTIONS has a question on each line, as `kgnav-bench dataset` writes them.
    """
    from kgnav_bench.training import grpo, outputs, sft  # noqa: PLC0415 - as above

    with _reported():
        settings = resolve(GrpoSettings, ("grpo",), config, flags, str(OUTPUTS / Stage.GRAPHROLL))
        if settings.model == str(OUTPUTS / Stage.GRAPHROLL) and not Path(settings.model).exists():
            raise UnusableSettingsError(
                f"GRPO continues the second stage, whose result is not in {settings.model}. Train it: kgnav-bench "
                "train sft rolls.jsonl --stage graphroll, or name a model with --model."
            )
        drawn = grpo.draw(questions, settings)
        tokenizer = sft.load_tokenizer(settings.model)
        grpo.prompt_lengths(drawn, settings, tokenizer)
        if dry_run:
            click.echo(grpo.preview(drawn, settings, tokenizer))
            return
        data = [questions, *([Path(graph)] if Path(graph).is_file() else ())]
        parameters = {
            "stage": "grpo",
            **settings.model_dump(mode="json"),
            "data": outputs.fingerprint(data),
        }
        folder = outputs.Output.open(output or OUTPUTS / "grpo", parameters, again=again)
        click.echo(grpo.run(settings, graph, drawn, tokenizer, folder, progress=_progress(progress)))
        click.echo(f"Written: {folder.folder}", err=True)


def _progress(progress: bool | None) -> bool:
    return sys.stderr.isatty() if progress is None else progress


def _check_order(settings: Settings, stage: str) -> None:
    """Refuse a missing first stage, and warn of a model that is not its result."""
    from kgnav_bench.training import outputs  # noqa: PLC0415 - as above

    if stage != Stage.GRAPHROLL:
        return
    if settings.model == str(OUTPUTS / Stage.GRAPHSYNTH) and not Path(settings.model).exists():
        raise UnusableSettingsError(
            f"the second stage continues the first, whose result is not in {settings.model}. Train it: kgnav-bench "
            "train sft walks.jsonl --stage graphsynth, or name a model with --model."
        )
    if outputs.trained_stage(settings.model) != Stage.GRAPHSYNTH:
        click.echo(
            f"{settings.model} is not a result of the first stage, which the paper's second continues.", err=True
        )


@contextmanager
def _reported() -> Generator[None]:
    """Report an error that the user can correct as one line."""
    from kgnav_bench.client import ServerEndedError  # noqa: PLC0415 - as above
    from kgnav_bench.training.conversations import UnreadableConversationsError  # noqa: PLC0415 - as above
    from kgnav_bench.training.masks import UnusableTemplateError  # noqa: PLC0415 - as above
    from kgnav_bench.training.outputs import UnusableFolderError  # noqa: PLC0415 - as above
    from kgnav_bench.training.packages import MissingPackageError  # noqa: PLC0415 - as above
    from kgnav_bench.training.preview import UnusableDataError  # noqa: PLC0415 - as above

    try:
        yield
    except (
        MissingPackageError,
        UnreadableConversationsError,
        UnusableDataError,
        UnusableFolderError,
        UnusableSettingsError,
        UnusableTemplateError,
        ServerEndedError,
    ) as error:
        raise click.ClickException(str(error)) from error
