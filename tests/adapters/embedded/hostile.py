"""Sources that would fill the memory or nest without end, small as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from kgnav_mcp.adapters.embedded.loading import guard

RDF = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">\n'
TURTLE = "@prefix : <http://x/> .\n:a :p "
LAUGHS = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
QUADRATIC = f'<!ENTITY a9 "{"x" * 80_000}">'
OUTSIDE = '<!ENTITY a9 SYSTEM "file:///etc/hostname">'
ENTITY = f"<!ENTITY b '{'x' * 100}'>"
IN_A_COMMENT = '<!-- <!ENTITY a9 "ha"> -->'


def rdf(declarations: str, content: str = "&a9;") -> str:
    description = f'<rdf:Description rdf:about="http://x/a"><x:p>{content}</x:p></rdf:Description></rdf:RDF>'
    return f"<!DOCTYPE rdf:RDF [\n{declarations}]>\n{RDF}{description}"


def nested(opening: str, closing: str, levels: int, core: str = "") -> str:
    return opening * levels + core + closing * levels


class Hostile(NamedTuple):
    """A file name, what makes its content, and the line and the reason of its refusal; None: any line."""

    name: str
    content: Callable[[], str]
    line: int | None
    reason: str


LONG = "x" * (guard.LONGEST_TEXT + 2**19)
HTML = "<b>x</b>" * (guard.LONGEST_TEXT // 7)
ATTRIBUTES = " ".join(f"x:a{n}='1'" for n in range(1001))
_CASES = {
    "entities in entities": ("g.rdf", lambda: rdf(LAUGHS), 2, "a3 stands for more than 1,024 characters"),
    "a long entity": ("g.owl", lambda: rdf(QUADRATIC), 2, "a9 stands for more than 1,024 characters"),
    "an entity of a file": ("g.rdf", lambda: rdf(OUTSIDE), 2, "only the sources are read"),
    "an entity of markup": ("g.rdf", lambda: rdf("<!ENTITY a9 '<x:q/>'>"), 2, "a9 stands for markup"),
    "an entity of itself": ("g.rdf", lambda: rdf("<!ENTITY a9 '&a9;'>"), 2, "needs a9, which has no value"),
    "an entity for the DOCTYPE": ("g.rdf", lambda: rdf("<!ENTITY % a9 'x'>"), 2, "for the DOCTYPE itself"),
    "an entity in a comment": ("g.rdf", lambda: rdf(IN_A_COMMENT), 4, "undefined entity"),
    "many entities": ("g.rdf", lambda: rdf("".join(f"<!ENTITY b{n} 'x'>" for n in range(1001))), 2, "more than 1,000"),
    "many uses of an entity": (
        "g.rdf", lambda: rdf(ENTITY, "&b;" * 200_000), 4, "a text here is longer than 16 MB",
    ),
    "many uses in an attribute": (
        "g.rdf", lambda: rdf(ENTITY, f"<x:A x:q='{'&b;' * 200_000}'/>"), 4, "a text here is longer than 16 MB",
    ),
    "elements": ("g.rdf", lambda: RDF + nested("<x:A><x:p>\n", "</x:p></x:A>", 50_000) + "</rdf:RDF>", 501, "1,000"),
    "blank nodes": ("g.ttl", lambda: TURTLE + nested("[ :p\n", "]", 50_000, ":b") + " .", 1002, "more than 1,000"),
    "collections": ("g.trig", lambda: TURTLE + nested("(", ")", 50_000) + " .", 2, "more than 1,000 levels"),
    "formulas": ("g.n3", lambda: TURTLE + nested("{", "}", 50_000) + " .", 2, "more than 1,000 levels"),
    "triples in triples": ("g.ttl", lambda: TURTLE + nested("<<( :a :p ", ")>>", 50_000, ":b") + " .", 2, "more than"),
    "triples in triples of a line": (
        "g.nt",
        lambda: f"<http://x/a> {nested('<http://x/p> <<( <http://x/a>', ')>>', 50_000, '<http://x/p> <http://x/b>')} .",
        1, "more than 1,000 levels",
    ),
    "objects": ("g.jsonld", lambda: "\n" + nested('{"http://x/p":', "}", 50_000, "1"), 2, "more than 200 levels"),
    "attributes": ("g.rdf", lambda: f"{RDF}<x:A {ATTRIBUTES}/></rdf:RDF>", 2, "more than 1,000 attributes"),
    "a literal of RDF/XML": ("g.rdf.gz", lambda: rdf("", LONG), None, "a text here is longer than 16 MB"),
    "an XML literal": (
        "g.rdf.gz",
        lambda: f'{RDF}<x:A><x:p rdf:parseType="Literal">{HTML}</x:p></x:A></rdf:RDF>',
        2, "a text here is longer than 16 MB",
    ),
    "a literal of Turtle": ("g.ttl.gz", lambda: f"{TURTLE}'''{LONG}''' .", 2, "a text here is longer than 16 MB"),
    "a comment": ("g.ttl.gz", lambda: f"{TURTLE} :b .\n# {LONG}", 3, "a text here is longer than 16 MB"),
    "a literal of JSON-LD": ("g.jsonld.gz", lambda: json.dumps({"http://x/p": LONG}), 1, "longer than 8 MB"),
    "a line of JSON": ("g.jsonl.gz", lambda: json.dumps({"type": "node", "id": LONG}), 1, "longer than 16 MB"),
}  # fmt: skip
HOSTILE = {kind: Hostile(*case) for kind, case in _CASES.items()}
