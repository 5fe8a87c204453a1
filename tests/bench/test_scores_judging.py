"""A judge model grades answers; its verdicts are kept, and what is not a verdict is never correct."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kgnav_bench.models import EndpointError, Finish, Message, Reply, Tool
from kgnav_bench.prices import Prices
from kgnav_bench.records import Tokens
from kgnav_bench.runs import UnusableFileError
from kgnav_bench.scores.judging import Case, Judgement, judge, judge_use, open_verdicts, parse_verdict
from kgnav_bench.scores.scoring import Verdict
from tests.bench.scored import question


class Grader:
    """A model that finds the answer Up correct, and breaks down after some replies."""

    name = "grader"

    def __init__(self, replies: int = 100, finish: Finish = Finish.DONE) -> None:
        self.left = replies
        self.finish = finish
        self.shown: list[str] = []

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop: Sequence[str] = (),
    ) -> Reply:
        assert not tools
        assert not stop
        assert (temperature, max_tokens) == (0, None)
        if not self.left:
            raise EndpointError("the grader is gone")
        self.left -= 1
        self.shown.append(messages[-1].text)
        verdict = "correct" if json.loads(messages[-1].text)["answer"] == ["Up"] else "incorrect"
        return Reply(
            f"So it is.\nverdict: {verdict}", finish=self.finish, tokens=Tokens(prompt=100, completion=10), seconds=2
        )


CASES: Sequence[Case] = [
    (question("Up", name=each), (given,)) for each, given in (("1", "Up"), ("2", "no"), ("1", "Up"))
]


async def test_equal_cases_are_judged_once_and_the_judge_sees_the_names_of_each_true_answer(tmp_path: Path):
    grader = Grader()
    with open_verdicts(tmp_path / "verdicts.jsonl", "grader", "http://x") as record:
        judgements = await judge(grader, CASES, record)
    assert [each.verdict for each in judgements.values()] == [Verdict.CORRECT, Verdict.INCORRECT]
    assert len(grader.shown) == 2
    assert json.loads(grader.shown[0]) == {"question": "Which? (1)", "true_answers": [["Up"]], "answer": ["Up"]}


async def test_verdicts_until_the_judge_broke_down_are_kept(tmp_path: Path):
    path = tmp_path / "verdicts.jsonl"
    with open_verdicts(path, "grader", "http://x") as record:
        with pytest.raises(EndpointError, match="gone"):
            await judge(Grader(replies=1), CASES, record, concurrency=1)
        assert record.finished == 1
    again = Grader()
    with open_verdicts(path, "grader", "http://x") as record:
        assert len(await judge(again, CASES, record)) == 2
    assert len(again.shown) == 1


def test_verdicts_of_another_judge_are_refused(tmp_path: Path):
    open_verdicts(tmp_path / "verdicts.jsonl", "grader", "http://x").__exit__(None, None, None)
    with pytest.raises(UnusableFileError, match="judge 'grader', not 'other'"):
        open_verdicts(tmp_path / "verdicts.jsonl", "other", "http://x")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("verdict: correct", Verdict.CORRECT),
        ("It names Up.\n\n**Verdict: Incorrect.**\n", Verdict.INCORRECT),
        ("verdict: correct\nNo wait.", Verdict.UNREADABLE),
        ("verdict: partially correct", Verdict.UNREADABLE),
        ("The verdict: correct", Verdict.UNREADABLE),
        ("correct", Verdict.UNREADABLE),
        ("", Verdict.UNREADABLE),
    ],
)
def test_a_verdict_is_the_last_line_in_the_required_form(text: str, verdict: Verdict):
    assert parse_verdict(text) is verdict


async def test_a_reply_that_was_cut_is_no_verdict(tmp_path: Path):
    with open_verdicts(tmp_path / "verdicts.jsonl", "grader", "http://x") as record:
        judgements = await judge(Grader(finish=Finish.LENGTH), CASES, record)
    assert {each.verdict for each in judgements.values()} == {Verdict.UNREADABLE}


async def test_the_judges_cost_is_of_all_its_verdicts(tmp_path: Path):
    with open_verdicts(tmp_path / "verdicts.jsonl", "grader", "http://x") as record:
        judgements = await judge(Grader(), CASES, record)
    use = judge_use("grader", judgements.values(), Prices(prompt=30, completion=60))
    assert (use.verdicts, use.unreadable, use.tokens, use.seconds) == (2, 0, Tokens(prompt=200, completion=20), 4)
    # GraphRunner, 4.1: 30 dollars * 200 / 1M + 60 dollars * 20 / 1M.
    assert use.price == pytest.approx(0.0072)


def test_cached_tokens_of_the_judges_prompts_have_their_own_price():
    tokens = Tokens(prompt=1000, cached=600, completion=100)
    judgement = Judgement(verdict=Verdict.CORRECT, text="", tokens=tokens)
    # 400 * 30, 600 * 3 and 100 * 60 dollars for a million; without a price of cached tokens 1000 * 30 and 100 * 60.
    assert judge_use("grader", [judgement], Prices(30, 60, cached=3)).price == pytest.approx(0.0198)
    assert judge_use("grader", [judgement], Prices(30, 60)).price == pytest.approx(0.036)
