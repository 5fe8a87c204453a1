"""What agents write is read strictly, and what they name is compared with what they have seen."""

from __future__ import annotations

import json

import pytest

from kgnav_bench.walks.actions import Call, UnreadableActionError, observed, read_turn, written
from kgnav_bench.walks.grounding import ungrounded
from kgnav_bench.walks.patterns import pattern, plan
from kgnav_bench.walks.sharegpt import Conversation, Message, Metadata, NamedEntity, PathHop, Sender, Shape, Source

RELATIONS = "1 relation\nrelation|relationLabel|direction|rows\n--|--|--|--\ndirected_by|directed by|outgoing|1"
TRIPLES = "1 triple\nhead|headLabel|relation|tail|tailLabel\n--|--|--|--|--\nm.1|Up|directed_by|m.2|Ann Lee"


def conversation(*agent: str) -> Conversation:
    """A conversation about one hop, with these messages of the agent."""
    seen = [RELATIONS, TRIPLES]
    messages = [Message(sender=Sender.SYSTEM, value="s"), Message(sender=Sender.HUMAN, value="q")]
    for place, text in enumerate(agent):
        messages.append(Message(sender=Sender.GPT, value=text))
        if place < len(agent) - 1:
            messages.append(Message(sender=Sender.OBSERVATION, value=observed(seen[place])))
    hop = PathHop(start="m.1", relation="directed_by", direction="outgoing", end="m.2")
    metadata = Metadata(
        source=Source.WALK,
        shape=Shape.CHAIN_2,
        question="q",
        topics=(NamedEntity(id="m.1", name="Up"),),
        path=(hop,),
        answers=(NamedEntity(id="m.2", name="Ann Lee"),),
        ranked=False,
        seed=1,
        number=0,
        model="",
        scores=None,
    )
    return Conversation(id="x", conversations=tuple(messages), tools="[]", metadata=metadata)


LOOK, FOLLOW = Call("get_relations", ("m.1",)), Call("get_triples", ("m.1",), ("directed_by",))


@pytest.mark.parametrize(
    "call",
    [LOOK, FOLLOW, Call("get_triples", ('Say "Hi"', "a\\b, (c)"), ("x", "y"))],
    ids=["relations", "triples", "several with quotes and brackets"],
)
def test_a_call_is_read_as_it_was_written(call: Call):
    turn = read_turn(written("Because.", call))
    assert (turn.thought, turn.call, turn.answer) == ("Because.", call, None)


@pytest.mark.parametrize(
    "text",
    [
        "<think>only</think>",
        "<kg-query>get_triples(Up)</kg-query>",
        '<kg-query>get_triples("Up")</kg-query>',
        '<kg-query>search("Up")</kg-query>',
        "<answer>Ann Lee</answer>",
        "<answer>[]</answer>",
    ],
)
def test_a_message_without_a_readable_action_is_refused(text: str):
    with pytest.raises(UnreadableActionError):
        read_turn(text)


def test_an_agent_that_names_only_what_it_saw_is_grounded():
    agent = written('"Up" first.', LOOK), written('Now "directed_by".', FOLLOW), written("Ann Lee.", ["Ann Lee"])
    assert list(ungrounded(conversation(*agent))) == []


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        ((written("x", Call("get_relations", ("m.9",))),), "the call names the entity 'm.9'"),
        ((written("x", FOLLOW),), "the call names the relation 'directed_by'"),
        ((written("x", ["Ann Lee"]),), "the answer names 'Ann Lee'"),
        ((written('It is "Bob".', LOOK),), "the thought names 'Bob'"),
        (
            (written("I guess Ann Lee.", LOOK), written("x", FOLLOW), written("x", ["Ann Lee"])),
            "the thought names 'Ann Lee'",
        ),
    ],
    ids=["entity", "relation", "answer", "quoted in a thought", "later name in a thought"],
)
def test_what_is_named_before_it_was_shown_is_reported(agent: tuple[str, ...], fault: str):
    assert list(ungrounded(conversation(*agent))) == [fault]


def test_a_line_has_every_field_so_that_columns_have_one_type():
    line = json.loads(conversation(written("x", LOOK)).model_dump_json())
    assert line["conversations"][0] == {"from": "system", "value": "s"}
    assert set(line["metadata"]) == set(Metadata.model_fields)
    assert Conversation.model_validate(line).id == "x"


def test_a_plan_quotes_what_the_graph_names():
    hops = [
        PathHop(start='a"b', relation="r`s", direction="outgoing", end="c"),
        PathHop(start="c", relation="t", direction="incoming", end="d"),
    ]
    text = plan(pattern(Shape.CHAIN_2, hops))
    assert 'elementId(a0) = "a\\"b"' in text
    assert "(a0)-[:`r``s`]->(a1)" in text
    assert "(a1)<-[:`t`]-(a2)" in text
