"""Texts by templates, without a model: instructions, questions and thoughts.

A question names the topics and the relations, never an entity between them (section 2.2.1, phase 2). A thought names
only what earlier messages show; names and ids in it are in double quotes.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence

from kgnav_bench.walks.exploration import Exploration, Step
from kgnav_bench.walks.patterns import Pattern
from kgnav_bench.walks.session import GET_RELATIONS
from kgnav_bench.walks.sharegpt import NamedEntity, PathHop

INSTRUCTIONS = """\
You answer a question from a knowledge graph, which you read with two tools. Write one of the calls in each turn:
<kg-query>get_relations("entity")</kg-query> lists the relations of an entity, with their directions.
<kg-query>get_triples("entity", ["relation"])</kg-query> shows the triples of relations that were listed.
An entity is an id as printed, or a list of ids: all of them are read in one call. Strings are written as in JSON.

Before each call or answer, write what you think in <think></think>. The graph answers in
<information></information>.
Begin with the initial entities. Use only what the graph has shown. When it has shown the answer, write the names of all
entities that answer the question as a JSON list, and nothing behind it:
<answer>["name", "name"]</answer>
An initial entity is never an answer, and no step of the way leads back to one."""
"""The system message: the agent's loop and its two tools (section 2.1)."""

_NESTED_HOPS = 3
"""Maximum hops of a question that is one nested phrase."""

Label = Callable[[str], str]


def quoted(text: str) -> str:
    """A name in double quotes, with quotes inside it escaped as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def human(question: str, topics: Sequence[NamedEntity]) -> str:
    """The human message: the question, and the topics with their ids where these differ from the names."""
    named = [quoted(topic.name) + (f" (id {quoted(topic.id)})" if topic.id != topic.name else "") for topic in topics]
    return f"Question: {question}\nInitial entities: {', '.join(named)}"


def question(found: Pattern, topics: Sequence[NamedEntity], label: Label, chance: random.Random) -> str:
    """A question by a template: nested phrases if it is short, otherwise one statement per hop with masked entities."""
    hops = sum(map(len, found.branches)) + len(found.tail)
    names = [quoted(topic.name) for topic in topics]
    if hops <= _NESTED_HOPS and chance.random() < 0.5:
        sides = [_nested(name, branch, label) for name, branch in zip(names, found.branches, strict=True)]
        meeting = sides[0] if len(sides) == 1 else f"what is both {sides[0]} and {sides[1]}"
        asked = _nested(meeting, found.tail, label)
        return f"{asked[0].upper()}{asked[1:]}?" if asked.startswith("what") else f"What is {asked}?"
    return _masked(found, names, label)


def _nested(inner: str, hops: Sequence[PathHop], label: Label) -> str:
    for hop in hops:
        name = quoted(label(hop.relation))
        inner = f"the {name} of {inner}" if hop.direction == "outgoing" else f"what has {inner} as its {name}"
    return inner


def _masked(found: Pattern, names: Sequence[str], label: Label) -> str:
    """One statement for each hop. The entities between topics and answers are `entity1`, `entity2` and so on."""
    statements: list[str] = []
    number = 0
    meeting = ""
    for name, branch in zip(names, found.branches, strict=True):
        here = name
        for place, hop in enumerate(branch):
            if meeting and place == len(branch) - 1:
                there = meeting
            else:
                number += 1
                there = f"entity{number}"
            statements.append(_statement(here, hop, there, label))
            here = there
        meeting = here
    for hop in found.tail:
        number += 1
        statements.append(_statement(meeting, hop, f"entity{number}", label))
        meeting = f"entity{number}"
    return f"What is {meeting}, if {'; '.join(statements)}?"


def _statement(here: str, hop: PathHop, there: str, label: Label) -> str:
    name = quoted(label(hop.relation))
    if hop.direction == "outgoing":
        return f"{here} has {there} as its {name}"
    return f"{there} has {here} as its {name}"


def thought(explored: Exploration, place: int, chance: random.Random) -> str:
    """The thought before a step, which uses only the steps before it. After the last step, it is that of the answer."""
    if place == len(explored.steps):
        return _last(explored, chance)
    step = explored.steps[place]
    if step.tool != GET_RELATIONS:
        return _follow(step, chance)
    return _look(step, explored, chance)


def _those(entities: Sequence[NamedEntity]) -> str:
    return quoted(entities[0].name) if len(entities) == 1 else f"these {len(entities)} entities"


def _look(step: Step, explored: Exploration, chance: random.Random) -> str:
    those = _those(step.entities)
    if step.place == "start":
        return chance.choice(
            (
                f"The question begins at {those}. I need to know which relations it has.",
                f"I begin at {those} and look at its relations before I follow one.",
            )
        )
    if step.place == "second topic":
        reached = len(explored.sides[0])
        return chance.choice(
            (
                f"One side of the question leads to {_entities(reached)}. The other side begins at {those}.",
                f"From the first initial entity I have {_entities(reached)}. Now I look at the other one, {those}.",
            )
        )
    if step.place == "meeting":
        return chance.choice(
            (
                f"Both sides share {those}. The question goes on from there, so I look at the relations.",
                f"What both initial entities lead to is {those}. Next I list the relations there.",
            )
        )
    return chance.choice(
        (
            f"The triples lead to {those}. The question goes on from there, so I look at the relations.",
            f"Now I have {those}, which the question does not name. I list the relations to go on.",
        )
    )


def _follow(step: Step, chance: random.Random) -> str:
    relation, count = quoted(step.relation), f"{step.listed} relations" if step.listed != 1 else "one relation"
    toward = "from the entity to its value" if step.direction == "outgoing" else "from the value back to the entity"
    return chance.choice(
        (
            f"The answer lists {count}. The question asks for {relation}, {step.direction}: I read its triples.",
            f"Among {count} there is {relation}, which the question means, {toward}. I follow it.",
        )
    )


def _last(explored: Exploration, chance: random.Random) -> str:
    found = _entities(len(explored.answers))
    if len(explored.sides) > 1 and explored.steps[-1].place != "meeting":
        return chance.choice(
            (
                f"I compare both sides: they share {found}. That is the answer.",
                f"Only {found} can be reached from both initial entities, which answers the question.",
            )
        )
    return chance.choice(
        (
            f"The last triples lead to {found} other than the initial ones, and they are complete. That is the answer.",
            f"There is nothing left to follow: the last relation leads to {found}, all of which answer the question.",
        )
    )


def _entities(count: int) -> str:
    return "one entity" if count == 1 else f"{count} entities"
