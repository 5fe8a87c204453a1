"""ROUGE-L: the overlap of two texts by their longest common subsequence of words (GraphRunner, 4.1; Lin 2004)."""

from __future__ import annotations

import re
from typing import Final

from rapidfuzz.distance import LCSseq

_WORD: Final = re.compile(r"\w+")


def rouge_l(text: str, reference: str) -> float:
    """F1 of the words of the longest common subsequence: its share of the text's words, and of the reference's.

    Words are of letters and digits, in any letter case and script; they are not stemmed. Two texts without words are
    equal.
    """
    words, wanted = _WORD.findall(text.casefold()), _WORD.findall(reference.casefold())
    if not words and not wanted:
        return 1.0
    common = LCSseq.similarity(words, wanted)
    return 2 * common / (len(words) + len(wanted))
