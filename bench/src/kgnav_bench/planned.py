"""Replays gold paths by plans: one `run_plan` in Cypher for each question, where `replay` walks with many calls."""

from __future__ import annotations

from kgnav_bench.metaqa import Question
from kgnav_bench.replay import COUNTERS, Caller, Result
from kgnav_bench.tables import parse

PLANS = ("--toolsets", "plans")
"""The options of a server that offers `run_plan`."""


class PlanReplay:
    """Asks questions over one client, one plan for each. Each further page of a long answer is another call."""

    def __init__(self, client: Caller, prefix: str = "") -> None:
        """`prefix` is the part of the store's ids before the names in the questions."""
        self._client = client
        self._prefix = prefix

    def question(self, question: Question) -> Result:
        """Run the question's gold path as a plan. The plan names the relations, so none can be missing."""
        result = Result(question)
        arguments: dict[str, object] = {"plan": gold_plan(question, self._prefix)}
        found: set[str] = set()
        while True:
            text = self._client.call("run_plan", arguments)
            result.calls += 1
            result.tokens = [
                sum(pair) for pair in zip(result.tokens, (n(text) for n in COUNTERS.values()), strict=True)
            ]
            page = parse(text)
            found |= {identity.removeprefix(self._prefix) for identity in page.column("id")}
            if page.cursor is None:
                break
            arguments = arguments | {"cursor": page.cursor}
        result.sent = result.calls
        result.missing_answers = question.answers - found
        result.surplus_answers = frozenset(found) - question.answers
        return result


def gold_plan(question: Question, prefix: str = "") -> str:
    """The gold path in Cypher. As in the gold answers, no hop leads to the topic; other nodes may be revisited."""
    clauses = [f"MATCH (n0) WHERE elementId(n0) = {_quoted(prefix + question.topic)}"]
    for number, step in enumerate(question.path, 1):
        edge = f"-[:`{step.relation}`]-"
        way = f"{edge}>" if step.direction == "outgoing" else f"<{edge}"
        here = f"n{number}"
        clauses.append(f"MATCH (n{number - 1}){way}({here}) WHERE {here} <> n0 WITH DISTINCT n0, {here}")
    clauses.append(f"RETURN elementId(n{len(question.path)}) AS id")
    return " ".join(clauses)


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
