"""What TRL does with the data: these need the extra `train`, and run in `make train-smoke`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("trl", reason="the extra train is not installed: make train-smoke")

from scripts import tiny_model, train_smoke

from kgnav_bench.records import Question, read_records
from kgnav_bench.training import grpo, sft
from kgnav_bench.training.conversations import read_conversations
from kgnav_bench.training.masks import NO_LOSS, tokenize
from kgnav_bench.training.outputs import Output
from kgnav_bench.training.packages import package
from kgnav_bench.training.preview import Examples, read_examples
from kgnav_bench.training.rollouts import Attempt, as_trl_takes_them
from kgnav_bench.training.settings import GrpoSettings, SftSettings

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smoke run's data, and a model with random weights in `tiny`."""
    folder = tmp_path_factory.mktemp("training")
    train_smoke.make_data(folder)
    tiny_model.make(folder / "tiny", (folder / "rolls.jsonl").read_text(encoding="utf-8").splitlines())
    return folder


def settings(folder: Path, **given: Any) -> SftSettings:
    return SftSettings(model=str(folder / "tiny"), batch_size=2, device_batch_size=2, **given)


def data(folder: Path) -> tuple[Any, Examples]:
    tokenizer: Any = sft.load_tokenizer(str(folder / "tiny"))
    return tokenizer, read_examples(folder / "rolls.jsonl", settings(folder), tokenizer, drop_long=False)


def model_texts(folder: Path) -> list[str]:
    lines = (folder / "rolls.jsonl").read_text(encoding="utf-8").splitlines()
    turns: list[dict[str, str]] = [turn for line in lines for turn in json.loads(line)["conversations"]]
    return [turn["value"] for turn in turns if turn["from"] == "gpt"]


def test_the_tokens_with_loss_are_as_many_as_the_answers_have_by_themselves(folder: Path):
    tokenizer, examples = data(folder)
    texts = model_texts(folder)
    assert examples.loss_tokens == sum(len(tokenizer(text)["input_ids"]) + 1 for text in texts)
    spans = [tokenizer.decode(example.ids[start:end]) for example in examples for start, end in example.spans]
    assert spans == [f"{text}<|im_end|>" for text in texts]


def test_trls_own_mask_for_a_template_that_it_knows_differs_by_line_breaks_only(folder: Path):
    templates = Path(package("trl").__file__).parent / "chat_templates"
    tokenizer, _ = data(folder)
    tokenizer.chat_template = (templates / "qwen2_5_training.jinja").read_text(encoding="utf-8")
    for conversation in read_conversations(folder / "rolls.jsonl"):
        marked = tokenizer.apply_chat_template(
            list(conversation), return_dict=True, return_assistant_tokens_mask=True, tokenize=True
        )
        example = tokenize(conversation, tokenizer)
        assert marked["input_ids"] == example.ids
        rows = zip(example.ids, example.labels, marked["assistant_masks"], strict=True)
        differing = [
            (tokenizer.decode([token]), label == NO_LOSS)
            for token, label, mask in rows
            if (label != NO_LOSS) != bool(mask)
        ]
        assert differing == [("\n", True)] * 2 * len(example.spans)


def test_the_gradient_of_the_loss_is_zero_but_where_the_model_writes(folder: Path, tmp_path: Path):
    tokenizer, examples = data(folder)
    trainer = sft.make_trainer(settings(folder), examples, tokenizer, Output(tmp_path), progress=False)
    batch = next(iter(trainer.get_train_dataloader()))
    labels = batch["labels"].clone()
    states: list[Any] = []

    def keep(_module: object, _inputs: object, state: Any) -> None:
        state.retain_grad()
        states.append(state)

    trainer.model.model.norm.register_forward_hook(keep)  # what each position is predicted from
    trainer.compute_loss(trainer.model, batch).backward()
    (state,) = states
    moved = state.grad.abs().sum(-1)[:, :-1] > 0  # a position predicts the token after it
    assert moved.tolist() == (labels[:, 1:] != NO_LOSS).tolist()
    assert 0 < moved.sum() < moved.numel() / 2


def test_training_lowers_the_loss_and_a_killed_one_continues(folder: Path, tmp_path: Path):
    tokenizer, examples = data(folder)
    shape = {"learning_rate": 5e-3, "epochs": 10, "save_steps": 2, "max_steps": 4, "schedule": "constant"}
    output = Output(tmp_path)
    report = sft.run(settings(folder, **shape), "graphsynth", examples, tokenizer, output, progress=False)
    assert "4 optimizer steps" in report
    losses = [entry["loss"] for entry in logged(tmp_path) if "loss" in entry]
    assert len(losses) == 4
    assert losses[-1] < losses[0] - 0.5
    (tmp_path / "report.md").unlink()  # as if it had been killed behind the last checkpoint
    longer = settings(folder, **{**shape, "max_steps": 6})
    continued = sft.run(longer, "graphsynth", examples, tokenizer, output, progress=False)
    assert "6 optimizer steps" in continued
    assert "continued from checkpoint-4" in continued
    assert [entry["loss"] for entry in logged(tmp_path) if "loss" in entry][:4] == losses


def logged(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def test_grpo_counts_only_what_the_model_wrote(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    given = GrpoSettings(
        model=str(folder / "tiny"),
        batch_size=4,
        device_batch_size=4,
        attempts=2,
        max_steps=1,
        max_turns=2,
        max_response_length=600,
        trl={"generation_kwargs": {"max_new_tokens": 8}},
    )
    made: list[Attempt] = []

    def kept(attempts: Sequence[Attempt], *, with_logprobs: bool) -> dict[str, Any]:
        made.extend(attempts)
        return as_trl_takes_them(attempts, with_logprobs=with_logprobs)

    monkeypatch.setattr(grpo, "as_trl_takes_them", kept)
    tokenizer, _ = data(folder)
    questions = list(read_records(folder / "questions.jsonl", Question))
    report = grpo.run(given, str(folder / "films.kg"), questions, tokenizer, Output(tmp_path), progress=False)
    assert "1 optimizer steps" in report
    assert len(made) == 4
    assert made[0].prompt_ids == made[1].prompt_ids != made[2].prompt_ids
    own = [sum(attempt.own) for attempt in made]
    assert all(len(attempt.ids) > 8 for attempt in made)  # the server's answer lies between the two turns
    assert all(count <= 16 for count in own)
    assert logged(tmp_path)[0]["completions/mean_length"] == pytest.approx(sum(own) / 4)
