"""Refuse Python files of more than 300 lines: one that grows past that holds more than one thing."""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT = 300
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Name every file that is too long; the exit code says whether there is one."""
    long = 0
    for path in sorted(path for folder in ("src", "tests", "scripts") for path in (ROOT / folder).rglob("*.py")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LIMIT:
            long += 1
            sys.stderr.write(f"{path.relative_to(ROOT)}: {lines} lines, {LIMIT} are allowed\n")
    return min(long, 1)


if __name__ == "__main__":
    sys.exit(main())
