"""Installs Debian packages on first use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from .failure import ServiceError

_QUIET = ("-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300")
_ROOTS_OWN = ("/usr/local/sbin", "/usr/sbin", "/sbin")
_SHOWN = 15
"""Lines of a failed command's output that are shown."""


def ensure(programs: Sequence[str], package: str) -> None:
    """Install a package unless all its programs are present.

    Raises:
        ServiceError: the package cannot be installed.
    """
    missing = [program for program in programs if shutil.which(program) is None]
    if not missing:
        return
    by_hand = f"install it by hand: apt-get update && apt-get install {' '.join(_QUIET[:2])} {package}"
    if shutil.which("apt-get") is None:
        raise ServiceError(f"{', '.join(missing)} is not installed and there is no apt-get to install {package} with")
    if os.geteuid() != 0:
        raise ServiceError(f"{', '.join(missing)} is not installed and only root can install it; as root, {by_hand}")
    sys.stderr.write(f"installing {package}\n")
    failed = _apt("install", *_QUIET, package)
    if failed:  # the package lists may be missing or outdated
        outdated = _apt("update")  # a failing source does not prevent reading the others
        failed = _apt("install", *_QUIET, package)
        if failed:
            raise ServiceError(f"apt-get could not install {package}:\n" + "\n".join(filter(None, (outdated, failed))))
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise ServiceError(f"{package} is installed but brought no {', '.join(missing)}")


def _apt(*arguments: str) -> str:
    """Run apt-get. Returns the end of its output if it fails, else an empty text."""
    done = subprocess.run(  # noqa: S603 - the arguments are this module's
        ["apt-get", *arguments],  # noqa: S607
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "PATH": _path()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    return "" if done.returncode == 0 else "\n".join(done.stdout.splitlines()[-_SHOWN:]) or "(no output)"


def _path() -> str:
    """The search path with root's program folders, which packages need and `su` omits."""
    return os.pathsep.join(filter(None, (os.environ.get("PATH"), *_ROOTS_OWN)))
