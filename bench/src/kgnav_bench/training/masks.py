"""Decides which tokens of a conversation carry loss: only those that the model itself must write.

TRL makes such masks only for chat templates with `{% generation %}` marks: those of the models it knows, for which it
has its own template. Here the masks are derived from the rendered text, so that any chat template works, and TRL
receives the tokens with their labels, which it does not change. Each answer is located by rendering the messages before
it as a prompt: the model starts to write at its end, in training as in use. A template that renders an answer in
another way than the model would write it is refused.

The answer's tokens carry loss, and so does the special token that ends it, since without it a model would not learn to
stop and wait for the tool. White space between that token and the next message carries none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from kgnav_bench.training.conversations import Conversation

NO_LOSS: Final = -100
"""The label of a token without loss, as PyTorch defines it."""


class UnusableTemplateError(Exception):
    """The model's chat template or tokenizer cannot be used for these conversations. The message says why."""


class Tokenizer(Protocol):
    """The part of a transformers tokenizer that is needed."""

    @property
    def is_fast(self) -> bool:
        """Whether it returns the positions of tokens in the text."""
        ...

    @property
    def all_special_ids(self) -> Sequence[int]:
        """The ids of special tokens."""
        ...

    def apply_chat_template(self, conversation: Any, *, tokenize: bool, add_generation_prompt: bool) -> Any:  # noqa: ANN401
        """The text of a conversation."""
        ...

    def __call__(self, text: str, *, add_special_tokens: bool, return_offsets_mapping: bool) -> Mapping[str, Any]:
        """The tokens of a text: `input_ids`, and `offset_mapping` with the characters of each."""
        ...

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Example:
    """The tokens of a conversation."""

    ids: list[int]
    spans: list[tuple[int, int]]
    """For each answer, the index of its first token and of the one after its last. The last token ends the answer."""
    answers: list[str]
    """The texts of the answers."""

    @property
    def labels(self) -> list[int]:
        """The id of each token that carries loss, and NO_LOSS for the others."""
        labels = [NO_LOSS] * len(self.ids)
        for start, end in self.spans:
            labels[start:end] = self.ids[start:end]
        return labels

    @property
    def loss_tokens(self) -> int:
        """Number of tokens that carry loss."""
        return sum(end - start for start, end in self.spans)

    def unlike_answers(self, tokenizer: Tokenizer) -> Iterator[tuple[str, str]]:
        """Answers that differ from the text of the tokens with their loss, each with that text."""
        for (start, end), answer in zip(self.spans, self.answers, strict=True):
            if (text := tokenizer.decode(self.ids[start : end - 1])).strip() != answer.strip():
                yield answer, text


def tokenize(conversation: Conversation, tokenizer: Tokenizer) -> Example:
    """The tokens of a conversation, and which of them carry loss.

    Raises:
        UnusableTemplateError: the tokenizer has no chat template or no positions, or its template changes an answer,
            what precedes it, or ends it without a special token.
    """
    if not tokenizer.is_fast:
        raise UnusableTemplateError(
            "this model's tokenizer does not tell where its tokens are in the text. Choose a model with a fast "
            "tokenizer (a file tokenizer.json)."
        )
    text = render(conversation, tokenizer)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids: list[int] = encoded["input_ids"]
    offsets: list[tuple[int, int]] = encoded["offset_mapping"]
    special = frozenset(tokenizer.all_special_ids)
    spans: list[tuple[int, int]] = []
    answers: list[str] = []
    place = 0
    for number, message in enumerate(conversation):
        if message["role"] == "assistant":
            start, end = _answer(conversation, number, text, tokenizer)
            first, place = _tokens(offsets, text, start, end, place)
            while place < len(ids) and ids[place] not in special and not text[slice(*offsets[place])].strip():
                place += 1  # white space that a template has before the token that ends an answer
            if place == len(ids) or ids[place] not in special:
                raise UnusableTemplateError(
                    "this model's chat template ends an answer without a special token, so that no model can learn "
                    "to stop. Choose another model, or add the token to the file chat_template.jinja in its folder."
                )
            place += 1
            spans.append((first, place))
            answers.append(text[start:end])
    return Example(ids, spans, answers)


def render(conversation: Conversation, tokenizer: Tokenizer, *, prompt: bool = False) -> str:
    """The text of a conversation by the model's chat template, with `prompt` up to where the model begins to write.

    Raises:
        UnusableTemplateError: there is no template, or it refuses the conversation.
    """
    try:
        return str(tokenizer.apply_chat_template(list(conversation), tokenize=False, add_generation_prompt=prompt))
    except Exception as error:  # templates raise errors of jinja2 and of their own
        raise UnusableTemplateError(f"this model's chat template refuses the conversation: {error}") from error


def _answer(conversation: Conversation, number: int, text: str, tokenizer: Tokenizer) -> tuple[int, int]:
    """Where the answer with this number is in the text of the conversation: its first character, and past its last.

    Some templates strip the white space around answers.
    """
    before = render(conversation[:number], tokenizer, prompt=True)
    whole = conversation[number]["content"]
    for answer in (whole, whole.strip()):
        # After the prompt's end a template may have one more space in front of the answer.
        for start in (len(before), len(text) - len(text[len(before) :].lstrip())):
            if text.startswith(before) and text.startswith(answer, start):
                return start, start + len(answer)
    shown = whole.strip()[:60].replace("\n", " ")
    raise UnusableTemplateError(
        f"this model's chat template changes the answer {shown!r} or what precedes it, as templates do that drop "
        "reasoning from earlier answers: training would differ from use. Choose an instruct model without it, or "
        "edit the file chat_template.jinja in its folder."
    )


def _tokens(offsets: Sequence[tuple[int, int]], text: str, start: int, end: int, place: int) -> tuple[int, int]:
    """The tokens of these characters: the first one, and the one after the last, sought from `place` on.

    The first may begin with white space before the answer: some tokenizers join a space with the word that follows.
    """
    while offsets[place][1] <= start:
        place += 1
    first = place
    while place < len(offsets) and offsets[place][0] < end:
        place += 1
    if text[offsets[first][0] : start].strip() or offsets[place - 1][1] > end:
        raise UnusableTemplateError(
            f"this model's tokenizer joins the answer {text[start:end][:60]!r} with the text around it. Choose a "
            "model whose chat template has special tokens around answers."
        )
    return first, place
