"""The size of an answer in tokens, counted offline.

Clients use different tokenisers and none may be fetched at run time. So tokens are counted by the rule that public
byte-pair vocabularies of 100,000 to 200,000 entries share: words come apart about every five letters, numbers every
three digits, and other characters stand alone. Against two such vocabularies the count is 0.95 to 1.4 times the true
one for Latin text, ids and tables, and up to twice the true one for other scripts: it errs towards short answers.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"[A-Z]?[a-z]{1,5}|[A-Z]{1,3}|\d{1,3}|[^\sA-Za-z\d]|\n")


def count_tokens(text: str) -> int:
    """About how many tokens a language model reads this text as."""
    return len(_TOKEN.findall(text))
