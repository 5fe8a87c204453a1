"""Refuse Python files of more than 500 lines."""

from __future__ import annotations

import sys
from pathlib import Path

LIMIT = 500
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print every file that is too long. The exit code is 1 if there is one."""
    long = 0
    for path in sorted(path for folder in ("src", "tests", "scripts") for path in (ROOT / folder).rglob("*.py")):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > LIMIT:
            long += 1
            sys.stderr.write(f"{path.relative_to(ROOT)}: {lines} lines, {LIMIT} are allowed\n")
    return min(long, 1)


if __name__ == "__main__":
    sys.exit(main())
