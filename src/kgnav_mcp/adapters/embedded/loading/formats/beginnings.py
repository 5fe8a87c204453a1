"""Predicates that recognise a format by the first bytes of a file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from typing import cast

Begins = Callable[[bytes], object]

_PROLOG = rb"(?:<\?[^>]*\?>\s*|<!--.*?-->\s*|<!DOCTYPE[^>\[]*(?:\[.*?\]\s*)?>\s*)*"
_JSON = re.compile(r'\s*(?:\{\s*(?:"(?:[^"\\]|\\.)*+"\s*:|\})|\[)')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+"(\s*:)?|[\[\]{}]')


def binary(magic: bytes) -> Begins:
    """Returns the predicate for files that begin with this pattern of bytes."""
    return re.compile(magic, re.DOTALL).match


def text(pattern: bytes) -> Begins:
    """Returns the predicate for texts that begin with this pattern, ignoring letter case."""
    return re.compile(rb"\s*" + pattern, re.IGNORECASE).match


def xml_root(name: bytes) -> Begins:
    """Returns the predicate for XML documents whose root element has a name that matches the pattern."""
    return re.compile(rb"\s*" + _PROLOG + rb"<" + name + rb"[\s/>]", re.DOTALL).match


@lru_cache(maxsize=4)
def json_keys(start: bytes) -> frozenset[str]:
    """Returns the keys of the outermost JSON object as far as these bytes show it; empty for an array or other text."""
    text = start.decode("utf-8", "replace")
    if not _JSON.match(text) or not text.lstrip().startswith("{"):
        return frozenset()
    keys: set[str] = set()
    depth = 0
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first in "{[":
            depth += 1
        elif first in "}]":
            depth -= 1
        elif token[1] and depth == 1:
            keys.add(cast("str", json.loads(token[0][: -len(token[1])], strict=False)))
    return frozenset(keys)


def json_with(*required: str) -> Begins:
    """Returns the predicate for JSON whose outermost object has all these keys."""
    keys = frozenset(required)
    return lambda start: json_keys(start) >= keys
