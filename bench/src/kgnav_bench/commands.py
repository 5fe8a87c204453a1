"""What all commands share: argument types, an example in the help, and a run that can be resumed."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from hashlib import blake2b
from importlib.metadata import version
from json import dumps
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, cast

import click

from kgnav_bench.runs import Run, UnusableFileError

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, writable=True, path_type=Path)

RESULTS = Path("bench-results")
"""Folder for the files of runs without --output."""

P = ParamSpec("P")

_WITHOUT_INFLUENCE: Final = frozenset(
    {"clear", "concurrency", "stop_after", "timeout", "price_prompt", "price_completion", "price_cached"}
)
"""Options that kept results do not depend on, such as `clear`: a run that was killed leaves a store to be cleared."""
_CREDENTIALS: Final = re.compile(r"://[^/?#\s]*@")


def example(command: str) -> str:
    """The last part of a command's help: an example on one line that can be pasted."""
    return f"\b\nExample:\n  {command}"


def measurement(function: Callable[Concatenate[Run, P], str]) -> Callable[..., None]:
    """Turn a function that returns a report into a command.

    The command keeps the measurements in a file, prints the report and writes it beside the file.
    """

    @click.option("-o", "--output", type=NEW_FILE, help=f"JSON Lines file of results. [default: one in {RESULTS}/]")
    @click.option("--again", is_flag=True, help="Discard the results in the file. [default: measure what is missing]")
    @click.option("--progress/--quiet", default=None, help="Show bars on stderr. [default: on a terminal]")
    @click.pass_context
    @wraps(function)
    def command(
        context: click.Context,
        output: Path | None,
        again: bool,
        progress: bool | None,
        *arguments: P.args,
        **options: P.kwargs,
    ) -> None:
        parameters = _parameters(context, options)
        path = _results(parameters) if output is None else output
        if path.suffix != ".jsonl":
            raise click.UsageError(f"{path} must end with .jsonl: the report is written beside it.")
        path.parent.mkdir(parents=True, exist_ok=True)
        if again:
            path.unlink(missing_ok=True)
        try:
            run = Run(path, parameters, progress=sys.stderr.isatty() if progress is None else progress)
        except UnusableFileError as error:
            raise click.ClickException(str(error)) from error
        with run:
            if run.finished:
                click.echo(f"{run.finished:,} items are reused from {path}; --again measures them again.", err=True)
            report = function(run, *arguments, **options)
        click.echo(report)
        click.echo(f"Written: {path}, {run.write_report(report)}", err=True)

    return command


def _parameters(context: click.Context, options: Mapping[str, object]) -> dict[str, object]:
    """Whatever the results depend on: the command, its arguments, its files, and what is measured."""
    names = context.command_path.split()[1:]
    given = {name: described(value) for name, value in options.items() if name not in _WITHOUT_INFLUENCE}
    return {"command": " ".join(names), **given, **{name: version(name) for name in ("kgnav-bench", "kgnav-mcp")}}


def described(value: object) -> object:
    """A parameter as JSON: a file by its path, size and time; an address without user and password."""
    if isinstance(value, tuple):
        return [described(each) for each in cast("tuple[object, ...]", value)]
    if isinstance(value, str):
        return _CREDENTIALS.sub("://", value)
    if not isinstance(value, Path):
        return value
    path = value.resolve()
    if not path.is_file():
        return str(path)
    facts = path.stat()
    return {"file": str(path), "bytes": facts.st_size, "modified": facts.st_mtime_ns}


def _results(parameters: Mapping[str, object]) -> Path:
    """The file of runs with these parameters."""
    name = str(parameters["command"]).replace(" ", "-")
    return RESULTS / f"{name}-{blake2b(dumps(parameters).encode(), digest_size=4).hexdigest()}.jsonl"
