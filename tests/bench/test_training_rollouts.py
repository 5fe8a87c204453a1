"""Attempts of a model in training: their tokens, which of them are its own, and what the server answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kgnav_bench.client import load
from kgnav_bench.records import Question, write_records
from kgnav_bench.training.conversations import Message
from kgnav_bench.training.environment import Environment, Reaction, prompt
from kgnav_bench.training.grpo import draw, reward
from kgnav_bench.training.preview import UnusableDataError
from kgnav_bench.training.rollouts import Attempt, Rollouts, as_trl_takes_them
from kgnav_bench.training.settings import GrpoSettings
from tests.bench.test_training_masks import Words, chatml

PROMPT: list[Message] = [{"role": "user", "content": "Who directed Up?"}]
END = "<|end|>"


def question(name: str = "q", *answers: str) -> Question:
    record = {
        "id": name,
        "text": "Who directed Up?",
        "topics": [{"id": "up"}],
        "answers": [{"names": [each]} for each in answers],
    }
    return Question.model_validate_json(json.dumps(record))


def react(messages: Sequence[Message], turn: str) -> Reaction:
    assert messages == PROMPT
    return Reaction(answers=("Ann",)) if turn == "Ann" else Reaction(observation=f"saw {turn}", called=True)


def attempts(script: Sequence[str], **settings: int) -> tuple[Words, list[Attempt], list[int]]:
    """Two attempts by a model that writes these turns, and how many it continued at a time."""
    tokenizer = Words(chatml)
    turns, sizes = iter(script), list[int]()

    def generate(prompts: list[list[int]]) -> tuple[list[list[int]], None]:
        sizes.append(len(prompts))
        text = next(turns)
        ids = tokenizer(text, add_special_tokens=False, return_offsets_mapping=False)["input_ids"]
        return [ids] * len(prompts), None

    rollouts = Rollouts(tokenizer, react, GrpoSettings.model_validate({"model": "base", **settings}))
    return tokenizer, rollouts.run([PROMPT, PROMPT], generate), sizes


def own(tokenizer: Words, attempt: Attempt) -> str:
    pairs = zip(attempt.ids, attempt.own, strict=True)
    return tokenizer.decode([token for token, mine in pairs if mine])


def test_what_the_template_and_the_server_add_is_not_the_models_own():
    tokenizer, (first, second), sizes = attempts([f"one{END}", f"two{END}", f"Ann{END}"])
    assert tokenizer.decode(first.prompt_ids + first.ids) == chatml(
        [
            *PROMPT,
            {"role": "assistant", "content": "one"},
            {"role": "user", "content": "saw one"},
            {"role": "assistant", "content": "two"},
            {"role": "user", "content": "saw two"},
            {"role": "assistant", "content": "Ann"},
        ],
        False,
    ).removesuffix("\n")
    assert own(tokenizer, first) == f"one{END}two{END}Ann{END}"
    assert (first.answers, first.calls, sizes) == (("Ann",), 2, [2, 2, 2])
    assert first.ids == second.ids


def test_an_attempt_without_an_answer_ends_after_its_last_turn():
    tokenizer, (first, _), sizes = attempts([f"one{END}", f"two{END}"], max_turns=2)
    assert own(tokenizer, first) == f"one{END}two{END}"
    assert first.own[-1] == 1  # nothing follows the last turn
    assert (first.answers, len(sizes)) == (None, 2)


def test_an_attempt_is_cut_at_the_longest_response_and_has_no_answer_then():
    _, (first, _), _ = attempts([f"one two three four{END}"], max_response_length=3)
    assert (len(first.ids), first.answers, first.ended) == (3, None, True)


def test_trl_gets_a_list_for_each_attempt():
    _, made, _ = attempts([f"Ann{END}"])
    given = as_trl_takes_them(made, with_logprobs=False)
    assert given["logprobs"] is None
    assert given["predicted"] == [("Ann",), ("Ann",)]
    assert [len(mask) for mask in given["env_mask"]] == [len(ids) for ids in given["completion_ids"]]


@pytest.mark.slow
def test_the_environment_is_the_server(tmp_path: Path):
    edges, graph = tmp_path / "films.tsv", tmp_path / "films.kg"
    edges.write_text("up\tdirected_by\tann\nup\thas_genre\tdrama\n")
    load([edges], graph)
    asked = question()
    with Environment(str(graph), [asked], ranked=True) as environment:

        def observation(action: str) -> Reaction:
            return environment.react(prompt(asked), f"<think>So.</think>\n{action}")

        listed = observation('<kg-query>get_relations("up")</kg-query>')
        assert listed.called
        assert "directed_by" in str(listed.observation)
        assert "|ann|" in str(observation('<kg-query>get_triples("up", ["directed_by"])</kg-query>').observation)
        assert "nothing_like" in str(observation('<kg-query>get_relations("nothing_like")</kg-query>').observation)
        unreadable = observation("I do not know.")
        assert not unreadable.called
        assert str(unreadable.observation).startswith("<information>\nwrite one <kg-query>")
        assert observation('<answer>["ann"]</answer>') == Reaction(answers=("ann",))


def test_the_reward_is_that_of_the_scores():
    asked = question("q", "Ann", "Bob")
    for answers, some, exactly in (
        (("Ann",), 1, 0),
        (("Bob", "ann"), 1, 1),
        (("Cid",), 0, 0),
        ((), 0, 0),
        (None, 0, 0),
    ):
        assert reward(asked, answers, "exact_match") == some
        assert reward(asked, answers, "set_match") == exactly


def test_questions_without_answers_are_left_out_and_the_sample_is_the_same_each_time(tmp_path: Path):
    path = tmp_path / "questions.jsonl"
    write_records(path, [question(str(number), *(["Ann"] if number % 2 else [])) for number in range(40)])
    drawn = [draw(path, GrpoSettings(model="base", sample=5)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert all(each.answers for each in drawn[0])
    assert len(draw(path, GrpoSettings(model="base"))) == 20


@pytest.mark.parametrize(
    ("lines", "reason"),
    [([], "has no questions"), (["{}"], "line 1"), ([question("q", "Ann").model_dump_json()] * 2, "the same id")],
)
def test_unusable_questions_are_refused(lines: Sequence[str], reason: str, tmp_path: Path):
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(UnusableDataError, match=reason):
        draw(path, GrpoSettings(model="base"))
