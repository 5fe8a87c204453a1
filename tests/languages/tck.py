"""Counts which queries of openCypher's TCK become plans, which are refused on purpose, and which fail, by reason.

The TCK (Technology Compatibility Kit) is a folder of `.feature` files in the language Gherkin; no answer is compared.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kgnav_mcp.errors import InvalidPlan
from kgnav_mcp.languages.cypher import parse_cypher

SCENARIO = re.compile(r"(?m)^\s*Scenario(?: Outline)?: (.*)$")
ERROR = re.compile(r"^\s*Then an? (\w+) should be raised at [\w ]+: (\S+)")
ON_PURPOSE = re.compile(
    "procedures|of packages|hints to the store|DISTINCT, SKIP|k shortest|read-only|no parameters|maps are not"
    "|unknown function|choose the graph|one pattern with its|the upper bound is below|characters|levels"
)
NAMED = re.compile(
    r"'.*?'|^\S+(?= (?:is taken|is not a|is used|is already|does not take))|(?<=variable )\S+|(?<=function )\S+"
)


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a scenario, and the error that it should raise, if it should."""

    feature: str
    scenario: str
    text: str
    error: str | None


def queries(folder: Path) -> Iterator[Query]:
    """All queries under test; a scenario outline gives one for each row of its examples."""
    for file in sorted(folder.rglob("*.feature")):
        for scenario in re.split(r"(?m)^(?=\s*Scenario)", file.read_text(encoding="utf-8"))[1:]:
            name = SCENARIO.match(scenario)
            error = next((match for line in scenario.splitlines() if (match := ERROR.match(line))), None)
            text = re.search(r'When executing query:\s*"""\n(.*?)"""', scenario, re.DOTALL)
            if text is None or name is None:
                continue
            for example in examples(scenario):
                query = text[1]
                for key, value in example.items():
                    query = query.replace(f"<{key}>", value)
                yield Query(file.stem, name[1], query.strip(), error[2] if error else None)


def examples(scenario: str) -> list[dict[str, str]]:
    """The rows of the examples of an outline; one without anything where there are none."""
    _, found, table = scenario.partition("Examples:")
    rows = [
        [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        for line in table.splitlines()
        if line.strip().startswith("|")
    ]
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]] if found and rows else [{}]


def main() -> int:
    """Print the numbers, and with --show the queries of a kind."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--show", metavar="WORDS", help="print the queries whose kind or reason has these words")
    options = arguments.parse_args()
    kinds: Counter[str] = Counter()
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for query in queries(options.folder):
        kind, reason = judged(query)
        kinds[kind] += 1
        reasons[kind][reason] += 1
        if options.show and options.show in f"{kind}: {reason}":
            sys.stdout.write(f"--- {query.feature} {query.scenario} ({query.error})\n{query.text}\n    {reason}\n")
    for kind, number in kinds.most_common():
        sys.stdout.write(f"{number:6,} {kind}\n")
        for reason, times in reasons[kind].most_common(40):
            sys.stdout.write(f"       {times:6,} {reason}\n")
    return 0


def judged(query: Query) -> tuple[str, str]:
    """What became of a query, and why."""
    try:
        parse_cypher(query.text)
    except InvalidPlan as error:
        reason = NAMED.sub("...", error.problems[0].reason)
        purposes = [problem.reason for problem in error.problems if ON_PURPOSE.search(problem.reason)]
        if purposes:
            return "refused on purpose", NAMED.sub("...", purposes[0])
        return ("refused, as the TCK wants" if query.error else "fails"), reason
    if query.error:
        return "read, though the TCK wants an error", query.error
    return "read", ""


if __name__ == "__main__":
    sys.exit(main())
