"""The paper's hyperparameters, replaced by a file and then by flags; files and folders that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kgnav_bench.cli import main
from kgnav_bench.training.conversations import UnreadableConversationsError, read_conversations
from kgnav_bench.training.outputs import Output, UnusableFolderError
from kgnav_bench.training.settings import (
    GrpoSettings,
    SftSettings,
    UnusableSettingsError,
    accumulation_steps,
    resolve,
)

TURNS = [("system", "s"), ("human", "h"), ("gpt", "g"), ("observation", "o"), ("gpt", "a")]


def conversation(*turns: tuple[str, str]) -> str:
    return json.dumps({"conversations": [{"from": role, "value": text} for role, text in turns]})


def sft(file: Path | None = None, stage: str = "graphsynth", **flags: object) -> SftSettings:
    return resolve(SftSettings, ("sft", stage), file, flags, "base")


def test_the_defaults_are_those_of_the_papers_table_12():
    settings = sft()
    assert (settings.batch_size, settings.learning_rate, settings.max_length, settings.epochs) == (32, 1e-5, 4096, 2)
    assert settings.schedule == "cosine"
    grpo = resolve(GrpoSettings, ("grpo",), None, {}, "base")
    assert (grpo.batch_size, grpo.attempts, grpo.learning_rate, grpo.kl) == (64 * 8, 8, 1e-6, 0.001)
    assert (grpo.max_prompt_length, grpo.max_response_length, grpo.max_steps, grpo.temperature) == (4096, 8192, 100, 1)
    assert (grpo.sample, grpo.max_turns) == (6400, 10)


def test_a_stages_table_wins_over_that_of_both_and_a_flag_over_the_file(tmp_path: Path):
    file = tmp_path / "training.toml"
    file.write_text("[sft]\nepochs = 3\nseed = 5\n[sft.graphroll]\nepochs = 1\n[sft.trl]\npacking = true\n")
    assert (sft(file).epochs, sft(file).seed, sft(file).trl) == (3, 5, {"packing": True})
    assert (sft(file, "graphroll").epochs, sft(file, "graphroll").seed) == (1, 5)
    assert sft(file, "graphroll", epochs=4.0, seed=None).epochs == 4
    assert sft(file, "graphroll", model="other").model == "other"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[sft]\nbatch = 3", "unknown setting 'batch'; known: model, learning_rate"),
        ("[sft]\nepochs = 0", "setting epochs: Input should be greater than 0, not 0."),
        ("epochs = 2", "has 'epochs' outside of its tables"),
        ("[sft", "is not TOML"),
    ],
)
def test_an_unusable_file_is_refused(text: str, reason: str, tmp_path: Path):
    file = tmp_path / "training.toml"
    file.write_text(text)
    with pytest.raises(UnusableSettingsError) as refused:
        sft(file)
    assert reason in str(refused.value)


def test_a_batch_is_made_of_what_all_devices_process_at_a_time(monkeypatch: pytest.MonkeyPatch):
    assert accumulation_steps(sft(device_batch_size=4)) == 8
    monkeypatch.setenv("WORLD_SIZE", "4")
    assert accumulation_steps(sft(device_batch_size=4)) == 2
    with pytest.raises(UnusableSettingsError, match="32 is not a multiple of device_batch_size x processes = 3 x 4"):
        accumulation_steps(sft(device_batch_size=3))


def test_conversations_are_read_as_messages(tmp_path: Path):
    path = tmp_path / "walks.jsonl"
    path.write_text(f"{conversation(*TURNS)}\n\n")
    for role in ("user", "tool"):
        (messages,) = read_conversations(path, role)
        assert [message["role"] for message in messages] == ["system", "user", "assistant", role, "assistant"]
        assert "".join(message["content"] for message in messages) == "shgoa"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"conversations": [', "it is not JSON"),
        ("[]", "it has no list 'conversations'"),
        (conversation(*TURNS[:4]), "gpt must end it"),
        (conversation(*TURNS[:2], *TURNS[3:]), "must take turns"),
        (conversation(("user", "h"), ("gpt", "a")), "'from', one of system, human, gpt, observation"),
        (conversation(("human", "h"), ("gpt", " ")), "a turn of gpt is empty"),
    ],
)
def test_a_line_that_is_no_conversation_is_named(line: str, reason: str, tmp_path: Path):
    path = tmp_path / "walks.jsonl"
    path.write_text(f"{conversation(*TURNS)}\n{line}\n")
    with pytest.raises(UnreadableConversationsError) as refused:
        list(read_conversations(path))
    assert f"line 2 of {path} is not a conversation" in str(refused.value)
    assert reason in str(refused.value)


def test_a_folder_is_continued_with_the_same_parameters_only(tmp_path: Path):
    folder = tmp_path / "model"
    output = Output.open(folder, {"stage": "graphsynth", "seed": 1}, again=False)
    for step in (50, 100):
        (folder / f"checkpoint-{step}").mkdir()
        (folder / f"checkpoint-{step}" / "trainer_state.json").touch()
    (folder / "checkpoint-150").mkdir()  # killed while it was written
    assert output.checkpoint == folder / "checkpoint-100"
    assert Output.open(folder, {"stage": "graphsynth", "seed": 1}, again=False).checkpoint == output.checkpoint
    with pytest.raises(UnusableFolderError, match="seed 1, not 2"):
        Output.open(folder, {"stage": "graphsynth", "seed": 2}, again=False)
    assert Output.open(folder, {"stage": "graphsynth", "seed": 2}, again=True).checkpoint is None


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path):
    (tmp_path / "thesis.txt").touch()
    for again in (False, True):
        with pytest.raises(UnusableFolderError, match="not of a training"):
            Output.open(tmp_path, {}, again=again)
    assert (tmp_path / "thesis.txt").exists()


def test_a_stage_without_the_one_before_names_the_command_that_trains_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("rolls.jsonl").write_text(conversation(*TURNS))
    second = CliRunner().invoke(main, ["train", "sft", "rolls.jsonl", "--stage", "graphroll"])
    assert second.exit_code == 1
    assert "kgnav-bench train sft walks.jsonl --stage graphsynth" in second.stderr
    third = CliRunner().invoke(main, ["train", "grpo", "rolls.jsonl", "--graph", "films.kg"])
    assert third.exit_code == 1
    assert "kgnav-bench train sft rolls.jsonl --stage graphroll" in third.stderr


def test_without_the_extra_its_name_is_in_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    path = tmp_path / "walks.jsonl"
    path.write_text(conversation(*TURNS))
    result = CliRunner().invoke(main, ["train", "sft", str(path), "--dry-run"])
    assert result.exit_code == 1
    assert (
        result.stderr
        == 'Error: transformers is not installed. Training needs the extra train: pip install "./bench[train]"\n'
    )
