"""JSON-LD on its way to its parser: bounded, and the prefixes of its contexts taken."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from itertools import islice
from typing import cast

from kgnav_mcp.adapters.embedded.loading.guard import LONGEST_TEXT, BracketGuard, Tokens
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader

MOST_CONTEXTS = 100
"""Contexts that are looked at for prefixes: where each item of a list has one, they are all alike."""

_TOKENS = Tokens(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', b'"')
_CONTEXT = re.compile(rb'"@context"\s*:\s*(?=[{\[])')
_NAMESPACE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*[/#]")


class JsonLdGuard(BracketGuard):
    """The bytes of a JSON-LD source. Its parser tells the prefixes only of contexts that are open where it ends."""

    longest = LONGEST_TEXT // 2  # as its parser has it
    deepest = 200  # every level may copy a context of any size

    def __init__(self, source: Source, reader: SourceReader) -> None:
        super().__init__(source, reader)
        self.tokens = _TOKENS
        self._contexts = MOST_CONTEXTS

    def look_at(self, text: bytes) -> None:
        for place in islice(_CONTEXT.finditer(text), self._contexts):
            self._contexts -= 1
            with suppress(ValueError):  # it is cut off, or no JSON, which the parser says better
                self._take(json.JSONDecoder().raw_decode(text[place.end() :].decode(errors="replace"))[0])

    def _take(self, context: object) -> None:
        """Take the terms of a context that stand for a namespace; the first one counts."""
        for part in cast("list[object]", context) if isinstance(context, list) else (context,):
            terms = cast("dict[str, object]", part) if isinstance(part, dict) else {}
            for term, iri in terms.items():
                if isinstance(iri, str) and _NAMESPACE.fullmatch(iri) and not term.startswith("@"):
                    self.prefixes.setdefault(term, iri)
