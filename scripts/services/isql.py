"""Runs Virtuoso's own SQL shell, by which it is administered."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

from .failure import ServiceError

PROGRAM = "isql-vt"

_QUIET = ("BANNER=OFF", "VERBOSE=OFF", "PROMPT=OFF", "ECHO=OFF", "ERRORS=STDOUT")
_LITERALLY = "set MACRO_SUBSTITUTION OFF;"
"""Without it a $ begins the name of a macro, even in quotes."""

_ERROR = re.compile(r"^\*\*\* Error (.*)", re.MULTILINE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def run(address: str, password: str, statements: Sequence[str], patience: float | None = None) -> str:
    """Run statements in order as the administrator, and return their output.

    Raises:
        ServiceError: one of them failed, or they took more than `patience` seconds.
    """
    try:
        done = subprocess.run(  # noqa: S603 - loopback only; the password guards a store of test data
            [PROGRAM, address, "dba", password, *_QUIET],
            input="\n".join((_LITERALLY, *statements, "")),
            capture_output=True,
            text=True,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ServiceError(f"{PROGRAM} did not finish within {patience:g} s") from error
    failed = _ERROR.search(done.stdout)
    if failed or done.returncode:
        raise ServiceError(failed[1] if failed else f"{PROGRAM} ended with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def text(value: str) -> str:
    """A text as an SQL literal.

    Raises:
        ServiceError: it has line breaks or other control characters, which end a statement of the shell.
    """
    if _CONTROL.search(value):
        raise ServiceError(f"control characters in {value!r}")
    return "'" + value.replace("'", "''") + "'"
