"""Tells formats apart by the first bytes of a file."""

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
    """A file that begins with this pattern of bytes."""
    return re.compile(magic, re.DOTALL).match


def text(pattern: bytes) -> Begins:
    """A text that begins with this pattern, whatever its case."""
    return re.compile(rb"\s*" + pattern, re.IGNORECASE).match


def xml_root(name: bytes) -> Begins:
    """An XML document whose outermost element has a name that this pattern fits."""
    return re.compile(rb"\s*" + _PROLOG + rb"<" + name + rb"[\s/>]", re.DOTALL).match


@lru_cache(maxsize=4)
def json_keys(start: bytes) -> frozenset[str]:
    """The keys of the outermost JSON object, as far as these bytes show them; none if it is an array or no JSON."""
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
    """JSON whose outermost object has these keys."""
    wanted = frozenset(required)
    return lambda start: json_keys(start) >= wanted
