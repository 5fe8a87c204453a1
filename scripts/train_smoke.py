"""Train a tiny model in all three stages with the real commands, on a processor: `make train-smoke`.

The model has random weights, the tokenizer is trained here, and the conversations come from the live server on a graph
of a few films. It shows that the recipes run, not that a model learns to answer questions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from scripts import tiny_model

from kgnav_bench.client import load, script
from kgnav_bench.records import Answer, Entity, Question, write_records
from kgnav_bench.training.environment import Environment, prompt
from kgnav_bench.walks.actions import Call, written

_FILMS = {"alien": "ann", "brazil": "bob", "cube": "cid", "dune": "ann", "elf": "bob", "fargo": "cid"}
_STEPS = 20
_PRACTICE = 150
"""Steps after which the model answers some questions rightly, so that GRPO has something to reward."""

_CONFIG = """\
[sft]
learning_rate = 5e-3
schedule = "constant"
epochs = 1000
batch_size = 6
device_batch_size = 6
[grpo]
learning_rate = 1e-5
batch_size = 8
device_batch_size = 8
attempts = 4
max_turns = 4
max_response_length = 400
[sft.trl]
gradient_checkpointing = false
[grpo.trl]
gradient_checkpointing = false
"""


def main() -> int:
    """Write the data into a folder, the first argument, and run the commands there. Returns the exit code."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    make_data(folder)
    texts = [turn["value"] for file in ("walks", "rolls") for turn in _turns(folder / f"{file}.jsonl")]
    tiny_model.make(folder / "tiny", texts)
    (folder / "tiny.toml").write_text(_CONFIG, encoding="utf-8")
    common = ("--config", "tiny.toml", "--again", "--quiet")
    steps = ("--max-steps", str(_STEPS))
    sft, first = ("train", "sft"), ("--model", "tiny", "--stage", "graphsynth")
    commands = (
        (*sft, "walks.jsonl", *first, "--config", "tiny.toml", "--dry-run"),
        (*sft, "walks.jsonl", *first, *common, *steps),
        (*sft, "rolls.jsonl", "--stage", "graphroll", *common, *steps),
        (*sft, "walks.jsonl", *first, *common, "--max-steps", str(_PRACTICE), "-o", "practised"),
        ("train", "grpo", "questions.jsonl", "--graph", "films.kg", "--model", "practised", *common, *steps),
    )
    return max(_run(folder, command) for command in commands)


def make_data(folder: Path) -> None:
    """Write films.kg, questions.jsonl, walks.jsonl, and rolls.jsonl with a wrong turn in each conversation."""
    edges = folder / "films.tsv"
    edges.write_text(
        "".join(f"{film}\tdirected_by\t{name}\n{film}\thas_genre\tdrama\n" for film, name in _FILMS.items()),
        encoding="utf-8",
    )
    load([edges], folder / "films.kg")
    questions = {film: _question(film, name) for film, name in _FILMS.items()}
    write_records(folder / "questions.jsonl", questions.values())
    with Environment(str(folder / "films.kg"), questions.values(), ranked=True) as environment:
        for file, wrong in (("walks", False), ("rolls", True)):
            lines = [_conversation(environment, question, wrong=wrong) for question in questions.values()]
            (folder / f"{file}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _question(film: str, name: str) -> Question:
    answers = (Answer(names=(name,)),)
    return Question(id=film, text=f"Who directed {film}?", topics=(Entity(id=film, name=film),), answers=answers)


def _conversation(environment: Environment, question: Question, *, wrong: bool) -> str:
    (film,), (answer,) = question.topics, question.answers
    calls = [Call("get_relations", (film.id,)), Call("get_triples", (film.id,), ("directed_by",))]
    if wrong:
        calls.insert(0, Call("get_relations", (f"{film.id} the film",)))
    system, human = prompt(question)
    turns = [("system", system["content"]), ("human", human["content"])]
    for call in calls:
        turn = written("I look it up.", call)
        turns += [("gpt", turn), ("observation", environment.react([system, human], turn).observation or "")]
    turns.append(("gpt", written("I have it.", answer.names)))
    return json.dumps({"conversations": [{"from": role, "value": text} for role, text in turns]})


def _turns(path: Path) -> list[dict[str, str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [turn for line in lines for turn in json.loads(line)["conversations"]]


def _run(folder: Path, arguments: Sequence[str]) -> int:
    print(f"\n$ kgnav-bench {' '.join(arguments)}", flush=True)  # noqa: T201 - this script's output
    # One thread: for so small a model more of them only wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    return subprocess.run([script("kgnav-bench"), *arguments], cwd=folder, env=environment, check=False).returncode  # noqa: S603 - our own command


if __name__ == "__main__":
    sys.exit(main())
