"""Refuse Python files of more than 500 lines, and functions of more than 60."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

LIMIT, FUNCTION_LIMIT = 500, 60
ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    """Print every file and function that is too long. The exit code is 1 if there is one."""
    problems = [
        problem
        for folder in ("src", "bench", "tests", "scripts")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for problem in _too_long(path)
    ]
    sys.stderr.writelines(f"{problem}\n" for problem in problems)
    return min(len(problems), 1)


def _too_long(path: Path) -> Iterator[str]:
    text, shown = path.read_text(encoding="utf-8"), path.relative_to(ROOT)
    if (lines := len(text.splitlines())) > LIMIT:
        yield f"{shown}: {lines} lines, {LIMIT} are allowed"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LIMIT:
                yield f"{shown}:{node.lineno} {node.name}: {lines} lines, {FUNCTION_LIMIT} are allowed"


if __name__ == "__main__":
    sys.exit(main())
