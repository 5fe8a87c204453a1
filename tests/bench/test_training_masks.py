"""Loss is on the model's own tokens only, whatever the chat template."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from kgnav_bench.training.conversations import Conversation
from kgnav_bench.training.masks import NO_LOSS, UnusableTemplateError, tokenize

CONVERSATION: Conversation = [
    {"role": "system", "content": "Answer from the graph."},
    {"role": "user", "content": "Who directed Up?"},
    {"role": "assistant", "content": '<think>Look.</think>\n<kg-query>get_relations("Up")</kg-query>'},
    {"role": "user", "content": "<information>directed_by</information>"},
    {"role": "assistant", "content": '<answer>["Ann Lee"]</answer>'},
]
MODEL_TEXT = [message["content"] for message in CONVERSATION if message["role"] == "assistant"]

Template = Callable[[Conversation, bool], str]


def chatml(messages: Conversation, prompt: bool) -> str:
    text = "".join(f"<|{message['role']}|>\n{message['content']}<|end|>\n" for message in messages)
    return text + ("<|assistant|>\n" if prompt else "")


def stripping_with_spaces(messages: Conversation, prompt: bool) -> str:
    """As Llama 2's: no special token before an answer, a space on either side."""
    parts = [
        f" {message['content'].strip()} <|end|>"
        if message["role"] == "assistant"
        else f"<|start|>[INST] {message['content']} [/INST]"
        for message in messages
    ]
    del prompt
    return "".join(parts)


def without_earlier_thoughts(messages: Conversation, prompt: bool) -> str:
    """As templates of reasoning models."""
    shown: Conversation = [
        {**message, "content": re.sub(r"<think>.*?</think>\n", "", message["content"])}
        if message["role"] == "assistant" and place < len(messages) - 1
        else message
        for place, message in enumerate(messages)
    ]
    return chatml(shown, prompt)


def without_end(messages: Conversation, prompt: bool) -> str:
    return chatml(messages, prompt).replace("<|end|>", "")


def in_capitals(messages: Conversation, prompt: bool) -> str:
    return chatml(messages, prompt).upper()


class Words:
    """A tokenizer of special tokens in <| |>, words with the space before them, and single other characters."""

    def __init__(self, template: Template, *, is_fast: bool = True) -> None:
        self.is_fast = is_fast
        self._template = template
        self._texts: list[str] = []

    @property
    def all_special_ids(self) -> Sequence[int]:
        return [place for place, text in enumerate(self._texts) if text.startswith("<|")]

    def apply_chat_template(self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool) -> Any:
        assert not tokenize
        return self._template(conversation, add_generation_prompt)

    def __call__(self, text: str, *, add_special_tokens: bool, return_offsets_mapping: bool) -> Mapping[str, Any]:
        assert not add_special_tokens
        found = list(re.finditer(r"<\|\w+\|>| ?\w+|\s|.", text))
        for match in found:
            if match[0] not in self._texts:
                self._texts.append(match[0])
        return {
            "input_ids": [self._texts.index(match[0]) for match in found],
            "offset_mapping": [match.span() for match in found] if return_offsets_mapping else None,
        }

    def decode(self, token_ids: Sequence[int]) -> str:
        return "".join(self._texts[token] for token in token_ids)


@pytest.mark.parametrize("template", [chatml, stripping_with_spaces])
def test_the_tokens_with_loss_are_the_answers_and_the_token_that_ends_each(template: Template):
    tokenizer = Words(template)
    example = tokenize(CONVERSATION, tokenizer)
    spans = [tokenizer.decode(example.ids[start:end]).strip() for start, end in example.spans]
    assert [span.replace(" <|end|>", "<|end|>") for span in spans] == [f"{text}<|end|>" for text in MODEL_TEXT]
    assert not list(example.unlike_answers(tokenizer))
    labelled = [token for token in example.labels if token != NO_LOSS]
    assert len(labelled) == example.loss_tokens
    assert "directed_by" not in tokenizer.decode(labelled)
    assert tokenizer.decode(example.ids) == template(CONVERSATION, False)


def test_other_observations_change_no_label():
    other: Conversation = [
        *CONVERSATION[:3],
        {"role": "user", "content": "<information>x y z</information>"},
        CONVERSATION[4],
    ]
    tokenizer = Words(chatml)
    labels = [
        [token for token in tokenize(each, tokenizer).labels if token != NO_LOSS] for each in (CONVERSATION, other)
    ]
    assert labels[0] == labels[1]


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        (without_earlier_thoughts, "chat template changes the answer '<think>Look.</think> <kg-query>"),
        (without_end, "ends an answer without a special token"),
        (in_capitals, "changes the answer"),
    ],
    ids=["thoughts are dropped", "no end", "answers are changed"],
)
def test_a_template_that_makes_training_differ_from_use_is_refused(template: Template, reason: str):
    with pytest.raises(UnusableTemplateError, match=re.escape(reason)):
        tokenize(CONVERSATION, Words(template))


def test_a_tokenizer_without_positions_is_refused():
    with pytest.raises(UnusableTemplateError, match="fast tokenizer"):
        tokenize(CONVERSATION, Words(chatml, is_fast=False))


def test_a_template_that_refuses_a_conversation_is_quoted():
    def refusing(messages: Conversation, prompt: bool) -> str:
        raise ValueError(f"roles must alternate: {len(messages)}, {prompt}")

    with pytest.raises(UnusableTemplateError, match="refuses the conversation: roles must alternate: 5, False"):
        tokenize(CONVERSATION, Words(refusing))
