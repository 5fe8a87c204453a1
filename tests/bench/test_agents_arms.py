"""Each arm with a scripted model, the real server and the demo graph: the calls are made, and the answer is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kgnav_bench.agents.arms import ArmError, arm_names, arm_path, read_arm
from kgnav_bench.cli import main
from kgnav_bench.client import script as command_path
from kgnav_bench.http_client import serving
from kgnav_bench.records import Answer, AnswerKind, Attempt, Entity, Outcome, Question, read_records, write_records
from tests.bench.model_server import ModelServer, Play, Script, model_server
from tests.sampling import sampled

NIGHT_WATCH = Question(
    id="q1",
    text="Who painted The Night Watch?",
    answers=(Answer(names=("Rembrandt van Rijn",), id="rembrandt_van_rijn"),),
    topics=(Entity(id="the_night_watch", name="The Night Watch"),),
    kind="1-hop",
)
DONE = Play('It shows him.\nFinal answer: ["Rembrandt van Rijn"]')
TITLE = "The Night Watch"
STEPS = [
    {"as": "a", "find_node": {"name": TITLE}},
    {"as": "b", "fetch_neighbors": {"from": "a", "edge_type": "painted_by"}},
    {"return": ["b"]},
]
PLAN = f"Its painter.\n```json\n{json.dumps(STEPS)}\n```"
CYPHER = f"MATCH (a {{name: '{TITLE}'}})-[:painted_by]->(b) RETURN b"
SCRIPTS: Mapping[str, Sequence[Play]] = {
    "io": [DONE],
    "cot": [DONE],
    "search-on-graph": [Play(calls=[("search", {"entity": "the_night_watch", "direction": "outgoing"})]), DONE],
    "graphwalk": [
        Play(calls=[("think", {"thought": "Its neighbours."})]),
        Play(
            calls=[
                (
                    "get_all_nearest_neighbors",
                    {"label": "Painting", "property_name": "name", "property_value": TITLE},
                )
            ]
        ),
        DONE,
    ],
    "graphwalker": [
        Play(f'<think>Relations first.</think>\n<kg-query>get_relations("{TITLE}", "who painted it")'),
        Play(f'<think>painted_by.</think>\n<kg-query>get_triples("{TITLE}", ["painted_by"])'),
        Play('<think>Found.</think>\n<answer>["Rembrandt van Rijn"]'),
    ],
    "graphrunner": [Play(PLAN.replace("painted_by", "was_painted_by")), Play(PLAN), DONE],
    "default": [Play(calls=[("run_plan", {"plan": CYPHER})]), DONE],
    "raw-query": [Play(calls=[("run_plan", {"plan": CYPHER})]), DONE],
}


def ask(
    server: ModelServer, folder: Path, arm: str, *options: str, questions: Sequence[Question] = (NIGHT_WATCH,)
) -> Result:
    """The command's result with the demo graph."""
    data = folder / "questions.jsonl"
    if not data.exists():
        write_records(data, questions)
    endpoint = ["--model", "scripted", "--url", server.url, "--data", str(data), "-o", str(folder / "run.jsonl")]
    return CliRunner().invoke(main, ["ask", "--arm", arm, *endpoint, *options])


def attempts(folder: Path) -> list[Attempt]:
    """The attempts that were written."""
    return list(read_records(folder / "run.attempts.jsonl", Attempt))


def attempted(script: Sequence[Play] | Script, folder: Path, arm: str, *options: str) -> tuple[Attempt, ModelServer]:
    """The only attempt at the question."""
    with model_server(script) as server:
        result = ask(server, folder, arm, *options)
    assert result.exit_code == 0, result.output
    (attempt,) = attempts(folder)
    return attempt, server


@pytest.mark.slow
@pytest.mark.parametrize("arm", sampled(SCRIPTS, 2))
def test_an_arm_answers_a_question(arm: str, tmp_path: Path):
    attempt, _ = attempted(SCRIPTS[arm], tmp_path, arm, "--price-prompt", "1", "--price-completion", "2")
    assert (attempt.outcome, attempt.answers, attempt.arm) == (Outcome.ANSWERED, ("Rembrandt van Rijn",), arm)
    asked = [turn for turn in attempt.turns if turn.finish]
    assert len(asked) == len(SCRIPTS[arm])
    assert attempt.price == pytest.approx(len(asked) * (100 * 1 + 10 * 2) / 1e6)
    calls = [call for turn in attempt.turns for call in turn.calls]
    if arm in {"io", "cot"}:
        assert calls == []
    else:
        assert "Rembrandt van Rijn" in calls[-1].result
        assert [call.is_error for call in calls].count(True) == (1 if arm == "graphrunner" else 0)


@pytest.mark.slow
def test_graphrunner_checks_the_plan_before_it_runs_and_plans_again(tmp_path: Path):
    attempt, server = attempted(SCRIPTS["graphrunner"], tmp_path, "graphrunner")
    phases = [(turn.phase, [call.tool for call in turn.calls]) for turn in attempt.turns]
    verified: list[tuple[str, list[str]]] = [("plan", []), ("verify", ["check_plan"])]
    assert phases == [*verified, *verified, ("execute", ["run_plan"]), ("answer", [])]
    assert "was_painted_by" in server.requests[1]["messages"][-1]["content"]  # the problem, told to the planner
    assert "Rembrandt van Rijn" in server.requests[2]["messages"][-1]["content"]  # the result, without the planning
    assert "was_painted_by" not in json.dumps(server.requests[2])


@pytest.mark.slow
def test_graphrunner_stops_when_no_plan_passes(tmp_path: Path):
    attempt, server = attempted([Play("no plan")], tmp_path, "graphrunner")
    assert (attempt.outcome, len(server.requests)) == (Outcome.EXHAUSTED, 4)
    assert attempt.error.startswith("verify: refused after all retries: Invalid plan")


@pytest.mark.slow
def test_ark_cuts_the_context_back_after_each_step_and_answers_true_false_or_none(tmp_path: Path):
    question = NIGHT_WATCH.model_copy(
        update={
            "text": "Was it painted by Rembrandt?",
            "answers": (Answer(names=("True",)),),
            "answer_kind": AnswerKind.BOOLEAN,
        }
    )
    write_records(tmp_path / "questions.jsonl", [question])

    def script(body: Mapping[str, Any]) -> Play:
        last = body["messages"][-1]
        if last["role"] == "user":
            return Play(calls=[("start_trail", {"question": "Who?", "topic_entities": ["the_night_watch"]})])
        trail = last["content"].partition("trail-")[2].split()[0]
        if last["content"].startswith("trail: ") and "Next" in last["content"] and len(body["messages"]) == 3:
            step = {"anchor": "the_night_watch", "relation": "painted_by", "inference": "It is by Rembrandt."}
            triples = [["the_night_watch", "painted_by", "rembrandt_van_rijn"]]
            return Play(calls=[("add_step", {"trail": f"trail-{trail}", **step, "triples": triples, "done": True})])
        return Play('Final answer: ["True"]')

    attempt, server = attempted(script, tmp_path, "ark-v1")
    assert [call.tool for turn in attempt.turns for call in turn.calls] == ["start_trail", "add_step"]
    assert not any(call.is_error for turn in attempt.turns for call in turn.calls)
    assert (attempt.outcome, attempt.answers) == (Outcome.ANSWERED, ("True",))
    sent = server.requests[-1]["messages"]
    assert [each["role"] for each in sent] == ["user", "assistant", "tool"]
    assert [call["function"]["name"] for call in sent[1]["tool_calls"]] == ["add_step"]


def test_every_arm_is_tried_here():
    assert {*SCRIPTS, "ark-v1"} == set(arm_names())
    assert all(read_arm(arm_path(name)).source for name in arm_names())


@pytest.mark.slow
def test_an_own_arm_is_a_file(tmp_path: Path):
    arm = tmp_path / "mine.toml"
    arm.write_text('[[phases]]\nprompt = "{question} {form}"\ntools = ["search"]\n', encoding="utf-8")
    attempt, server = attempted(SCRIPTS["search-on-graph"], tmp_path, str(arm))
    assert (attempt.arm, attempt.answers) == ("mine", ("Rembrandt van Rijn",))
    assert [tool["function"]["name"] for tool in server.requests[0]["tools"]] == ["search"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("phases = []", "phases: .*at least 1"),
        ("[[phases]]\n", "a phase needs prompt, server_prompt or call"),
        ('[[phases]]\nprompt = "x"\ntool = ["search"]', "phases.0.tool: Extra inputs"),
        ('[[phases]]\nprompt = "x"\noutput = "text"', "the last phase must end with the answer"),
        ('[[phases]]\nprompt = "x"\noutput = "text"\n[[phases]]\nprompt = "y"', "two phases have the name ''"),
        ("phases = ", "cannot be read"),
    ],
)
def test_a_file_that_is_no_arm_is_refused_with_the_place(text: str, message: str, tmp_path: Path):
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ArmError, match=message):
        read_arm(path)


def test_placeholders_in_values_are_text(tmp_path: Path):
    question = NIGHT_WATCH.model_copy(update={"text": "What is {schema} or {form} {x}?"})
    write_records(tmp_path / "questions.jsonl", [question])
    _, server = attempted([DONE], tmp_path, "io")
    assert "Question: What is {schema} or {form} {x}?" in server.requests[0]["messages"][0]["content"]


def test_an_arm_of_unknown_name_is_refused_with_the_names(tmp_path: Path):
    with model_server([DONE]) as server:
        result = ask(server, tmp_path, "graphwalking")
    assert result.exit_code == 2
    assert "unknown arm 'graphwalking'. Use one of ark-v1, cot, default" in result.output


@pytest.mark.slow
def test_a_server_without_the_tools_of_an_arm_is_refused(tmp_path: Path):
    arm = tmp_path / "mine.toml"
    arm.write_text('toolsets = "sog"\n[[phases]]\nprompt = "{question}"\ntools = ["run_plan"]\n', encoding="utf-8")
    with model_server([DONE]) as server:
        result = ask(server, tmp_path, str(arm))
    assert result.exit_code == 1
    assert "the server has no run_plan, which arm mine needs" in result.output


@pytest.mark.slow
def test_an_arm_works_with_anthropics_api(tmp_path: Path):
    attempt, server = attempted(SCRIPTS["search-on-graph"], tmp_path, "search-on-graph", "--provider", "anthropic")
    assert (attempt.outcome, attempt.answers) == (Outcome.ANSWERED, ("Rembrandt van Rijn",))
    assert "Rembrandt van Rijn" in server.requests[1]["messages"][-1]["content"][0]["content"]


@pytest.mark.slow
def test_an_arm_asks_a_server_that_runs(tmp_path: Path):
    command = [command_path("kgnav-mcp"), "--http", "127.0.0.1:0", "--graph", "demo", "--toolsets", "sog,linking"]
    with serving(command) as running, model_server(SCRIPTS["search-on-graph"]) as server:
        assert ask(server, tmp_path, "search-on-graph", "--server", running.url).exit_code == 0
        (attempt,) = attempts(tmp_path)
        assert attempt.answers == ("Rembrandt van Rijn",)
        assert "Rembrandt van Rijn" in attempt.turns[0].calls[0].result
        refused = ask(server, tmp_path, "raw-query", "--server", running.url, "--again")
    assert refused.exit_code == 1
    assert "the server has no run_plan, which arm raw-query needs" in refused.output


def test_a_graph_that_cannot_be_served_is_named_with_the_servers_reason(tmp_path: Path):
    with model_server([DONE]) as server:
        result = ask(server, tmp_path, "default", "--graph", str(tmp_path / "films.kg"))
    assert result.exit_code == 1
    assert "films.kg" in result.output
    assert "Traceback" not in result.output
    assert "Connection closed" not in result.output
