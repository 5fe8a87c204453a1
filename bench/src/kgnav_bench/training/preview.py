"""The text that `--dry-run` prints: the settings, the number of tokens with loss, and a marked first conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import click

from kgnav_bench import report
from kgnav_bench.training.conversations import read_conversations
from kgnav_bench.training.masks import NO_LOSS, Example, Tokenizer, tokenize
from kgnav_bench.training.settings import Settings, SftSettings

BEGIN, END = "⟦", "⟧"
"""The marks around tokens with loss. On a terminal these are also green."""


class UnusableDataError(Exception):
    """The data cannot be trained on with these settings. The message has the counts and what to change."""


class Examples(list[Example]):
    """The conversations of a file as tokens."""

    dropped = 0
    """Number of conversations that were omitted because they are too long."""

    @property
    def tokens(self) -> int:
        """Number of all tokens."""
        return sum(len(example.ids) for example in self)

    @property
    def loss_tokens(self) -> int:
        """Number of tokens with loss."""
        return sum(example.loss_tokens for example in self)


def read_examples(path: Path, settings: SftSettings, tokenizer: Tokenizer, *, drop_long: bool) -> Examples:
    """The conversations of a file as tokens. None of them is ever cut.

    Raises:
        UnreadableConversationsError: a line is not a conversation.
        UnusableTemplateError: the model's chat template cannot be used.
        UnusableDataError: the file is empty, a conversation is longer than `max_length` and not to be dropped, or the
            tokens with loss do not read as the answers.
    """
    examples = Examples()
    lengths: list[int] = []
    for conversation in read_conversations(path, settings.observation_role):
        example = tokenize(conversation, tokenizer)
        for answer, text in example.unlike_answers(tokenizer):
            raise UnusableDataError(
                f"the tokens of the answer {answer[:60]!r} read as {text[:60]!r}: this model's tokenizer does not "
                "keep the text. Choose another model."
            )
        lengths.append(len(example.ids))
        if len(example.ids) <= settings.max_length:
            examples.append(example)
    long = len(lengths) - len(examples)
    if not lengths:
        raise UnusableDataError(f"{path} has no conversations. Make some: kgnav-bench walks --help")
    if not examples or (long and not drop_long):
        raise UnusableDataError(
            f"{long:,} of {len(lengths):,} conversations are longer than {settings.max_length:,} tokens, the longest "
            f"has {max(lengths):,}. None is cut: drop them with --drop-long, or raise --max-length."
        )
    examples.dropped = long
    return examples


def preview(settings: Settings, examples: Examples, tokenizer: Tokenizer, *, colour: bool) -> str:
    """The text that a dry run prints."""
    lines = (
        settings_table(settings),
        "",
        token_table(examples),
        "",
        f"The first conversation. Loss is on what {BEGIN}{END} enclose:",
        "",
        "".join(marked(examples[0], tokenizer, colour=colour)),
    )
    return "\n".join(lines)


def settings_table(settings: Settings) -> str:
    """All settings as a table."""
    return report.table(("setting", "value"), [(name, str(value)) for name, value in settings])


def token_table(examples: Examples) -> str:
    """The numbers of tokens of the conversations, and of those with loss, as a table."""
    lengths = [len(example.ids) for example in examples]
    answers = sum(len(example.spans) for example in examples)
    rows = [
        ("conversations", f"{len(examples):,}"),
        ("dropped, too long", f"{examples.dropped:,}"),
        ("tokens", f"{examples.tokens:,}"),
        ("tokens of the longest conversation", f"{max(lengths):,}"),
        ("tokens with loss", f"{examples.loss_tokens:,} ({examples.loss_tokens / examples.tokens:.1%})"),
        ("answers, each read back from its tokens", f"{answers:,}"),
    ]
    return report.table(("data", "count"), rows)


def marked(example: Example, tokenizer: Tokenizer, *, colour: bool) -> Iterator[str]:
    """The text of a conversation, in which tokens with loss are marked."""
    pairs = zip(example.ids, example.labels, strict=True)
    for with_loss, tokens in groupby(pairs, lambda pair: pair[1] != NO_LOSS):
        text = tokenizer.decode(_ids(list(tokens)))
        text = f"{BEGIN}{text}{END}" if with_loss else text
        yield click.style(text, fg="green") if with_loss and colour else text


def _ids(pairs: Sequence[tuple[int, int]]) -> list[int]:
    return [token for token, _ in pairs]
