"""Options that the commands of `kgnav-bench walks` share, and the messages for their errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce, wraps
from typing import ParamSpec, cast

import click

from kgnav_bench.records import UnreadableRecordsError

P = ParamSpec("P")

CONCURRENCY = click.option(
    "--concurrency",
    default=4,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Maximum number of concurrent walks.",
)
PROGRESS = click.option("--progress/--quiet", default=None, help="Show bars on stderr. [default: on a terminal]")


Decorator = Callable[[Callable[..., None]], Callable[..., None]]


def options(*each: Decorator) -> Decorator:
    """Combine several options into one decorator, in their order."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        return reduce(lambda inner, decorate: decorate(inner), reversed(each), command)

    return decorated


GRAPH = options(
    click.option("-g", "--graph", help="A graph file, or the URL of a store: `kgnav-mcp --graph` is started on it."),
    click.option("--server", help="URL of a running server instead, such as http://127.0.0.1:8365/mcp."),
)
AGAIN = click.option("--again", is_flag=True, help="Discard what the file has. [default: make what is missing]")


def model_options(*, required: bool) -> Decorator:
    """The options that name a model."""
    url = "API of a model that writes, such as http://localhost:8000/v1."
    return options(
        click.option("--model-url", required=required, help=url),
        click.option("--model", "model_name", required=required, help="The model's name there."),
    )


def explained(function: Callable[P, None]) -> Callable[P, None]:
    """Convert errors that users can correct to messages."""

    @wraps(function)
    def command(*arguments: P.args, **options: P.kwargs) -> None:
        from kgnav_bench.models import EndpointError  # noqa: PLC0415 - `--help` needs neither
        from kgnav_bench.runs import UnusableFileError  # noqa: PLC0415 - as above
        from kgnav_bench.walks.overlap import NoEncoderError  # noqa: PLC0415 - as above
        from kgnav_bench.walks.session import UnusableServerError  # noqa: PLC0415 - as above
        from kgnav_bench.walks.writing import OutOfWalksError  # noqa: PLC0415 - as above

        expected = (
            EndpointError,
            NoEncoderError,
            OutOfWalksError,
            UnreadableRecordsError,
            UnusableFileError,
            UnusableServerError,
        )
        try:
            function(*arguments, **options)
        except expected as error:
            raise click.ClickException(str(error)) from error
        except BaseExceptionGroup as group:
            first = _first(group)
            if not isinstance(first, expected):
                raise
            raise click.ClickException(str(first)) from group

    return command


def _first(error: BaseException) -> BaseException:
    """The first exception in nested groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("tuple[BaseException, ...]", error.exceptions)[0]
    return error


def place_of(graph: str | None, server: str | None) -> tuple[str | None, str | None]:
    """The graph or the server of a command.

    Raises:
        click.UsageError: not exactly one of both is given.
    """
    if (graph is None) == (server is None):
        raise click.UsageError("Name the graph: either --graph FILE|URL or --server URL.")
    return graph, server
