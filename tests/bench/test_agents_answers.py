"""Final answers and calls written as text: what is read, and what is not guessed."""

from __future__ import annotations

import pytest

from kgnav_bench.agents.answers import block, final_answers, text_call, until_first_call
from kgnav_bench.agents.arms import Protocol
from kgnav_bench.records import AnswerKind

ENTITIES, BOOLEAN, TEXT = AnswerKind.ENTITIES, AnswerKind.BOOLEAN, AnswerKind.TEXT


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ('Final answer: ["Jaws"]', ("Jaws",)),
        ('I looked.\n\n**Final answer:** ["Jaws, the film", "Alien"]', ("Jaws, the film", "Alien")),
        ('**Final answer: ["Jaws"]**', ("Jaws",)),
        ('final answer:\n["Jaws",\n "Alien"]', ("Jaws", "Alien")),
        ('Final answer: `["Jaws"]`.\nI hope that helps.', ("Jaws",)),
        ('Final answer: ["Alien"]\nNo, wait.\nFinal answer: ["Jaws"]', ("Jaws",)),
        ('Final answer: ["Jaws", "Jaws"]', ("Jaws",)),
        ("Final answer: [1990, 1.50, true]", ("1990", "1.50", "True")),
        ("Final answer: []", ()),
        ("Final answer: [null]", ()),
        ('Final answer: ["None"]', ("None",)),
        ('<think>Final answer: ["Alien"]</think>\nFinal answer: ["Jaws"]', ("Jaws",)),
    ],
)
def test_a_final_line_with_a_json_list_is_read(text: str, answers: tuple[str, ...]):
    assert final_answers(text, ENTITIES, Protocol.NATIVE) == answers


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Jaws",
        '["Jaws"]',
        "Final answer: Jaws",
        "Final answer: {Jaws}",
        'Final answer: ["Jaws"',
        'Final answer: ["Jaws"] or ["Alien"]',
        'Final answer: ["Jaws"], perhaps',
        "Final answer: ['Jaws']",
        'Final answer: [["Jaws"]]',
        'Final answer: [{"name": "Jaws"}]',
        'Final answer: ["Jaws", null]',
        'Final answer: ["Jaws", " "]',
        'Final answer: ["Jaws"]\nFinal answer: I do not know',
        'My final answer is ["Jaws"]',
        '<think>Final answer: ["Jaws"]</think>',
    ],
)
def test_anything_else_is_unreadable(text: str):
    assert final_answers(text, ENTITIES, Protocol.NATIVE) is None


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ('<think>It is.</think><answer>["Jaws"]</answer>', ("Jaws",)),
        ('<answer> ["Jaws"]\n', ("Jaws",)),  # the closing tag is a stop sequence
        ("<answer>[]", ()),
        ('<think>Or <answer>["Alien"]</answer>?</think><answer>["Jaws"]', ("Jaws",)),
        ('<answer>["Jaws"', None),
        ("<answer>Jaws</answer>", None),
        ('<answer>["Jaws"] I think</answer>', None),
        ('Final answer: ["Jaws"]', None),
        ('<kg-query>get_relations("Jaws")</kg-query><information>...</information><answer>["Jaws"]', None),
    ],
)
def test_an_answer_in_tags_is_the_whole_list(text: str, answers: tuple[str, ...] | None):
    assert final_answers(text, ENTITIES, Protocol.TAGS) == answers


@pytest.mark.parametrize(
    ("written", "answers"),
    [
        ('["True"]', ("True",)),
        ("[false]", ("False",)),
        ('["none"]', ()),
        ("[null]", ()),
        ("[]", ()),
        ('["yes"]', None),
        ('["True", "False"]', None),
        ("True", None),
    ],
)
def test_true_and_false_and_none_are_told_apart(written: str, answers: tuple[str, ...] | None):
    assert final_answers(f"Final answer: {written}", BOOLEAN, Protocol.NATIVE) == answers


def test_a_free_text_is_one_text():
    assert final_answers('Final answer: ["A shark, hunted."]', TEXT, Protocol.NATIVE) == ("A shark, hunted.",)
    assert final_answers('Final answer: ["A shark", "hunted"]', TEXT, Protocol.NATIVE) is None


@pytest.mark.parametrize(
    ("written", "tool", "positional", "named"),
    [
        (
            'get_triples("Jaws", ["directed_by", "has_genre"])',
            "get_triples",
            ["Jaws", ["directed_by", "has_genre"]],
            {},
        ),
        ('get_relations(entity="Jaws")', "get_relations", [], {"entity": "Jaws"}),
        ("get_relations(\u201cJaws\u201d)", "get_relations", ["Jaws"], {}),
        ('get_relations("The \u201cJaws\u201d")', "get_relations", ["The \u201cJaws\u201d"], {}),
        ("directors of Jaws", "", [], {}),
        ("get_relations(Jaws)", "", [], {}),
        ("get_relations({1, 2})", "", [], {}),
        ('__import__("os").system("ls")', "", [], {}),
        ('get_relations(**{"entity": "Jaws"})', "", [], {}),
        ("get_relations(1e999)", "", [], {}),
    ],
)
def test_a_query_in_tags_is_a_call_with_literals(written: str, tool: str, positional: list[object], named: object):
    call = text_call(f"<think>Hm.</think><kg-query>{written}</kg-query>")
    assert call is not None
    assert (call.written, call.tool, list(call.positional), call.named) == (written, tool, positional, named)


def test_the_first_query_counts_if_no_answer_is_before_it():
    text = '<kg-query>f("a")</kg-query><information>x</information><kg-query>f("b")</kg-query><answer>["b"]</answer>'
    call = text_call(text)
    assert call is not None
    assert call.positional == ["a"]
    assert until_first_call(text) == '<kg-query>f("a")</kg-query>'
    assert text_call('<answer>["a"]</answer><kg-query>f("b")</kg-query>') is None
    assert text_call('<think>Shall I write <kg-query>f("a")</kg-query>?</think>') is None


def test_a_plan_is_the_last_block_or_the_whole_text():
    assert block("First:\n```json\n[1]\n```\nBetter:\n```\n[2]\n```\nDone.") == "[2]"
    assert block("<think>```\n[3]\n```</think>  MATCH (n) RETURN n ") == "MATCH (n) RETURN n"
