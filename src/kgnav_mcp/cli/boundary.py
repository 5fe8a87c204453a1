"""Turns errors into a message and an exit code. A traceback is printed only with KGNAV_DEBUG."""

from __future__ import annotations

import signal
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Final, Never

import click

from kgnav_mcp.config import debugging
from kgnav_mcp.errors import ConfigurationError, KgnavError

SUCCEEDED = 0
FAILED = 1
WRONG_USAGE = 2
INCOMPLETE = 3
INTERNAL_ERROR = 70
INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
EXIT_CODES: Final[Mapping[int, str]] = {
    SUCCEEDED: "success",
    FAILED: "failure: an error answer, a store that does not answer, an invalid source file",
    WRONG_USAGE: "invalid command line or configuration",
    INCOMPLETE: "`kgnav call --csv` or `--json` wrote an incomplete list of rows",
    INTERNAL_ERROR: "a bug in kgnav-mcp",
    INTERRUPTED: "stopped by Ctrl-C",
    TERMINATED: "ended by a termination signal",
}
"""Every exit code of every command, as docs/commands.md lists them."""


class Command(click.Command):
    """A command whose errors become a message and an exit code."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command. An error becomes a message on stderr and an exit code."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except KgnavError as error:
            print_error(error)
            ctx.exit(WRONG_USAGE if isinstance(error, ConfigurationError) else FAILED)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except Exception as error:  # the outermost boundary: users get no traceback
            if debugging():
                raise
            click.echo(f"Unexpected {type(error).__name__}: {error}", err=True)
            click.echo("This is a bug in kgnav-mcp. Set KGNAV_DEBUG=1 to print the traceback.", err=True)
            ctx.exit(INTERNAL_ERROR)


def print_error(error: KgnavError) -> None:
    """Print an error and its next step on stderr."""
    click.echo(f"Error: {error.message}", err=True)
    if error.next_step:
        click.echo(error.next_step, err=True)


class Terminated(KeyboardInterrupt):
    """Raised by a termination signal. It unwinds as Ctrl-C does, so that unfinished work is cleaned up."""


@contextmanager
def terminable() -> Generator[None]:
    """Within the block a termination signal raises Terminated instead of ending the process."""

    def terminate(_signal: int, _frame: FrameType | None) -> Never:
        raise Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
