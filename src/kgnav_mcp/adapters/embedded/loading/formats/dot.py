"""Reads DOT, the language of Graphviz, in the variants that people and programs write.

Defaults (`node [...]`, `edge [...]`) are attributes of the nodes and edges after them, as in Graphviz. The property
`subgraph` of a node has the labels, or else the names, of the named subgraphs that contain it.
"""

from __future__ import annotations

import html
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import NamedTuple, NoReturn

from kgnav_mcp.adapters.embedded.loading.formats.beginnings import text
from kgnav_mcp.adapters.embedded.loading.guard import LONGEST_TEXT
from kgnav_mcp.adapters.embedded.loading.network import Edge, Node, Subgraph, network_format, number_or_text
from kgnav_mcp.adapters.embedded.loading.options import LoadProblems
from kgnav_mcp.adapters.embedded.loading.sources import Source, SourceReader, lines
from kgnav_mcp.errors import BadLine, LoadError

_SKIPPED = re.compile(r"(?:[ \t\r\n\f\v]|//[^\n]*|/\*.*?\*/|\#[^\n]*|(?!))*+", re.DOTALL)
"""Matches white space and comments. `(?!)` never matches; `Tokens` in `guard` has the reason for it."""
_LETTER = r"A-Za-z_\x80-\U0010ffff"
_TOKEN = re.compile(
    r'"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<number>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))'
    rf"|(?P<word>[{_LETTER}][{_LETTER}0-9]*)|(?P<mark>->|--|[<{{}}\[\];,=:+])",
    re.DOTALL,
)
_GLUED = re.compile(rf"[{_LETTER}0-9.]|-[0-9.]")
"""Characters that cannot follow an unquoted id: Graphviz reads two ids in `10a` and in `a-1`, never intended."""
_BRACKET = re.compile(r"<!--.*?-->|[<>]", re.DOTALL)
_ESCAPED = re.compile(r"\\(\r?\n|.)", re.DOTALL)
_BETWEEN_TEXTS = re.compile(r"<(?:br|hr|vr|/td|/tr)\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_PORT = re.compile(r"(?<!\\)<[^>]*>")
_FIELD_END = re.compile(r"(?<!\\)[|{}]")
_KEYWORDS = frozenset({"strict", "graph", "digraph", "subgraph", "node", "edge"})
_BREAKS = {"n": " ", "l": " ", "r": " "}
_LABELS = frozenset({"label", "xlabel", "headlabel", "taillabel"})
_RECORDS = frozenset({"record", "Mrecord"})
_MAX_DEPTH = 100
"""Subgraphs within each other, at most."""
_LARGEST = 3 * LONGEST_TEXT
"""Characters of a file, at most: it is read as a whole, since a later statement may change any node."""

Attributes = dict[str, object]
_End = tuple[str, str]
"""A node at the end of an edge, and its port or an empty text."""


class _Token(NamedTuple):
    """A token. Its kind is `quoted`, `number`, `word` or `html` for an id; for a mark, or the end (""), its text."""

    kind: str
    text: str
    line: int

    @property
    def keyword(self) -> str:
        """The word in lower case, if it is a keyword; else empty."""
        word = self.text.lower() if self.kind == "word" else ""
        return word if word in _KEYWORDS else ""

    @property
    def is_id(self) -> bool:
        return self.kind in {"quoted", "number", "word", "html"} and not self.keyword

    @property
    def value(self) -> object:
        """The value that it stands for as an attribute's."""
        if self.kind == "number":
            return number_or_text(self.text)
        return _text_of_html(self.text) if self.kind == "html" else self.text


class _Tokens:
    """The tokens of a text, of which the next one is known."""

    def __init__(self, source: str, content: str) -> None:
        self._source = source
        self._content = content
        self._end = 0
        self._line = 1
        self.next = self._read()

    def take(self) -> _Token:
        """Returns the next token and moves on."""
        token, self.next = self.next, self._read()
        return token

    def accept(self, *kinds: str) -> bool:
        """Moves on if the next token is of one of these kinds, and returns whether it is."""
        accepted = self.next.kind in kinds
        if accepted:
            self.take()
        return accepted

    def expect(self, kind: str) -> None:
        """Moves on over this mark, which must be next."""
        if not self.accept(kind):
            self.refuse(f"{kind!r} is expected")

    def take_id(self) -> _Token:
        """Returns the next token, which must be an id; texts joined by + are one."""
        if not self.next.is_id:
            self.refuse("a name is expected")
        token = self.take()
        while token.kind == "quoted" and self.accept("+"):
            if self.next.kind != "quoted":
                self.refuse("a quoted text is expected after +")
            token = _Token(token.kind, token.text + self.take().text, token.line)
        return token

    def refuse(self, reason: str) -> NoReturn:
        """Refuses the file at the next token."""
        actual = repr(self.next.text[:40]) if self.next.kind else "the end; the file may be cut short"
        raise BadLine(self._source, self.next.line, f"{reason}, not {actual}", next_step="Correct the line.")

    def _read(self) -> _Token:
        skipped = _SKIPPED.match(self._content, self._end)
        self._move(skipped.end() if skipped else self._end)
        line = self._line
        if self._end == len(self._content):
            return _Token("", "", line)
        match = _TOKEN.match(self._content, self._end)
        if match is None:
            self._bad(f"this is not DOT: {self._content[self._end : self._end + 40]!r}")
        self._move(match.end())
        kind = match.lastgroup or ""
        if kind == "quoted":
            return _Token(kind, _ESCAPED.sub(_unquoted, match[kind]), line)
        if match[0] == "<":
            return _Token("html", self._html(), line)
        if kind != "mark" and _GLUED.match(self._content, self._end):
            beginning = self._content[match.start() : self._end + 1]
            self._bad(f"{beginning!r} is not the start of a name: put the name in quotation marks")
        return _Token(match[0] if kind == "mark" else kind, match[0], line)

    def _html(self) -> str:
        begin, depth = self._end, 1
        for bracket in _BRACKET.finditer(self._content, begin):
            depth += {"<": 1, ">": -1}.get(bracket[0], 0)
            if not depth:
                break
        else:
            self._bad("a text in angle brackets has no end")
        self._move(bracket.end())
        return self._content[begin : bracket.start()]

    def _move(self, end: int) -> None:
        self._line += self._content.count("\n", self._end, end)
        self._end = end

    def _bad(self, reason: str) -> NoReturn:
        raise BadLine(self._source, self._line, reason, next_step="Correct the line.")


def _unquoted(escape: re.Match[str]) -> str:
    """An escape as a text between quotation marks has it: only the mark and the end of a line are escaped there."""
    return {'"': '"', "\n": "", "\r\n": ""}.get(escape[1], escape[0])


@dataclass(eq=False, slots=True)
class _Scope:
    """A graph or subgraph: its defaults, followed by those of the graph around it, its attributes, and its nodes."""

    name: str | None
    parent: _Scope | None = None
    defaults: Mapping[str, ChainMap[str, object]] = field(
        default_factory=lambda: {"node": ChainMap(), "edge": ChainMap()}
    )
    attributes: Attributes = field(default_factory=Attributes)
    nodes: dict[str, None] = field(default_factory=dict[str, None])
    named: dict[str, _Scope] = field(default_factory=dict[str, "_Scope"])

    def subgraph(self, name: str | None) -> _Scope:
        """The subgraph of this name, or a new one."""
        if name is not None and name in self.named:
            return self.named[name]
        new = _Scope(name, self, {kind: values.new_child() for kind, values in self.defaults.items()})
        if name is not None:
            self.named[name] = new
        return new

    def add(self, node: str) -> None:
        """Adds a node to it, and so to all that it is in."""
        self.nodes[node] = None
        if self.parent is not None:
            self.parent.add(node)

    @property
    def title(self) -> str:
        """Its label, else its name, if it is a subgraph with a name; else empty."""
        if self.parent is None or self.name is None:
            return ""
        return _label(str(self.attributes.get("label", "")), {}) or self.name


@dataclass(slots=True)
class _Element:
    """A node or an edge, as far as it is read: its ends are empty texts for a node."""

    line: int
    attributes: Attributes
    start: str = ""
    end: str = ""


class _Graph:
    """Reads a graph of a file, statement by statement. Nodes and edges are complete at its end."""

    def __init__(self, tokens: _Tokens) -> None:
        self._tokens = tokens
        self._strict = self._accept_word("strict")
        self._directed = self._accept_word("digraph")
        if not self._directed and not self._accept_word("graph"):
            tokens.refuse("graph or digraph is expected")
        self.name = "" if tokens.next.kind == "{" else tokens.take_id().text
        self._scope = _Scope(self.name)
        self._scopes = list[_Scope]()
        self._nodes: dict[str, _Element] = {}
        self._edges: dict[object, _Element] = {}
        self._statements(self._scope, 0)

    def entries(self, graph: Subgraph) -> Iterator[tuple[int, Node | Edge]]:
        """The nodes, then the edges."""
        titles: dict[str, dict[str, None]] = {}
        for scope in self._scopes:
            for node in scope.nodes if scope.title else ():
                titles.setdefault(node, {})[scope.title] = None
        for key, node in self._nodes.items():
            names = {"N": key, "G": self.name}
            within = {"subgraph": [*titles[key]]} if key in titles else {}
            yield node.line, Node(key, within | _with_plain_labels(node.attributes, names), graph=graph)
        for edge in self._edges.values():
            arrow = "->" if self._directed else "--"
            names = {"T": edge.start, "H": edge.end, "G": self.name, "E": f"{edge.start}{arrow}{edge.end}"}
            attributes = _with_plain_labels(edge.attributes, names)
            yield edge.line, Edge(edge.start, edge.end, attributes, self._directed)

    def _accept_word(self, keyword: str) -> bool:
        return self._tokens.next.keyword == keyword and bool(self._tokens.take())

    def _statements(self, scope: _Scope, depth: int) -> None:
        tokens = self._tokens
        if depth > _MAX_DEPTH:
            tokens.refuse(f"at most {_MAX_DEPTH} subgraphs within each other are expected")
        tokens.expect("{")
        while not tokens.accept("}"):
            keyword = tokens.next.keyword
            if keyword in {"node", "edge", "graph"}:
                tokens.take()
                if tokens.next.kind != "[":
                    tokens.refuse("attributes in brackets are expected")
                (scope.attributes if keyword == "graph" else scope.defaults[keyword]).update(self._attributes())
            else:
                self._statement(scope, depth)
            tokens.accept(";")

    def _statement(self, scope: _Scope, depth: int) -> None:
        """Reads an attribute of the graph, nodes, a subgraph, or edges."""
        tokens, line = self._tokens, self._tokens.next.line
        first = tokens.take_id() if tokens.next.is_id else None
        if first is not None and tokens.accept("="):
            scope.attributes[first.text] = tokens.take_id().value
            return
        groups = [self._group(scope, depth, first)]
        while tokens.next.kind in {"->", "--"}:
            if (tokens.next.kind == "->") != self._directed:
                tokens.refuse("edges of a digraph are ->, those of a graph --")
            tokens.take()
            groups.append(self._group(scope, depth))
        attributes = self._attributes()
        if len(groups) == 1:
            for node in groups[0]:
                if not isinstance(node, _Scope):  # attributes behind a subgraph are nobody's
                    self._nodes[node[0]].attributes.update(attributes)
        for starts, ends in pairwise(map(_ends, groups)):  # a later group may add to a subgraph of an earlier one
            for start, end in product(starts, ends):
                self._add_edge(scope, line, start, end, attributes)

    def _group(self, scope: _Scope, depth: int, first: _Token | None = None) -> list[_End | _Scope]:
        """What is at one end of edges: nodes, each with its port or an empty text, and subgraphs."""
        members: list[_End | _Scope] = []
        while True:
            if first is None and (self._tokens.next.kind == "{" or self._tokens.next.keyword == "subgraph"):
                members.append(self._subgraph(scope, depth))
            else:
                node = first or self._tokens.take_id()
                self._add_node(scope, node)
                members.append((node.text, self._port()))
            first = None
            if not self._tokens.accept(","):
                return members

    def _subgraph(self, scope: _Scope, depth: int) -> _Scope:
        has_name = self._accept_word("subgraph") and self._tokens.next.is_id
        new = scope.subgraph(self._tokens.take_id().text if has_name else None)
        self._scopes.append(new)
        self._statements(new, depth + 1)
        return new

    def _port(self) -> str:
        names: list[str] = []
        while len(names) < 2 and self._tokens.accept(":"):
            names.append(self._tokens.take_id().text)
        return ":".join(names)

    def _attributes(self) -> Attributes:
        tokens, attributes = self._tokens, Attributes()
        while tokens.accept("["):
            while not tokens.accept("]"):
                name = tokens.take_id().text
                tokens.expect("=")
                attributes[name] = tokens.take_id().value
                tokens.accept(";", ",")
        return attributes

    def _add_node(self, scope: _Scope, node: _Token) -> None:
        if node.text not in self._nodes:
            self._nodes[node.text] = _Element(node.line, {**scope.defaults["node"]})
        scope.add(node.text)

    def _add_edge(self, scope: _Scope, line: int, start: _End, end: _End, attributes: Attributes) -> None:
        """Adds an edge, or attributes to the one that a strict graph has already, or that has the same `key`."""
        ends = (start[0], end[0]) if self._directed else tuple(sorted((start[0], end[0])))
        is_one_of_many = not self._strict and "key" not in attributes
        key = (*ends, len(self._edges)) if is_one_of_many else (*ends, "" if self._strict else str(attributes["key"]))
        edge = self._edges.setdefault(key, _Element(line, {**scope.defaults["edge"]}, start[0], end[0]))
        if edge.start != start[0]:  # an undirected edge that was written from its other end before
            start, end = end, start
        ports = {name: port for name, port in (("tailport", start[1]), ("headport", end[1])) if port}
        edge.attributes.update(ports | attributes)


def _ends(group: Sequence[_End | _Scope]) -> list[_End]:
    """The nodes of a group, with those of its subgraphs."""
    ends: list[_End] = []
    for member in group:
        ends += [(node, "") for node in member.nodes] if isinstance(member, _Scope) else [member]
    return ends


def _with_plain_labels(attributes: Attributes, names: Mapping[str, str]) -> Attributes:
    """The attributes, of which labels are plain texts. `names` has the texts that their escapes stand for."""
    plain = {
        name: _label(value, names) if name in _LABELS and isinstance(value, str) else value
        for name, value in attributes.items()
    }
    if attributes.get("shape") in _RECORDS and isinstance(label := attributes.get("label"), str):
        fields = [_label(field, names) for field in _FIELD_END.split(_PORT.sub("", label))]
        plain["label"] = " | ".join(filter(None, fields))
    return plain


def _label(text: str, names: Mapping[str, str]) -> str:
    """A label without escapes, entities and line breaks."""
    plain = _ESCAPED.sub(lambda escape: _BREAKS.get(escape[1]) or names.get(escape[1], escape[1]), text)
    return " ".join(html.unescape(plain).split())


def _text_of_html(markup: str) -> str:
    """The text of a label with tags, in which entities are left."""
    return " ".join(_TAG.sub("", _BETWEEN_TEXTS.sub(" ", markup)).split())


def _entries(source: Source, reader: SourceReader, problems: LoadProblems) -> Iterator[tuple[int, Node | Edge]]:
    text_lines: list[str] = []
    size = 0
    for number, line in lines(source, reader, problems):
        text_lines += [""] * (number - 1 - len(text_lines))
        text_lines.append(line)
        size += len(line)
        if size > _LARGEST:
            raise LoadError(
                f"{source.name} is longer than {_LARGEST // 2**20} MB, and DOT is read as a whole",
                next_step="Write its edges as a table with the columns source, target and type.",
            )
    tokens = _Tokens(source.name, "\n".join(text_lines))
    text_lines.clear()
    count = 0
    while tokens.next.kind:
        count += 1
        graph = _Graph(tokens)
        yield from graph.entries(Subgraph(count, graph.name))


DOT = network_format(
    "dot",
    "a DOT (Graphviz) graph",
    (".dot", ".gv"),
    text(
        rb"(?:(?://|#)[^\n]*\n\s*|(?s:/\*.*?\*/)\s*)*(?:strict\s+)?(?:di)?graph\b\s*"
        rb'(?:"(?:[^"\\]|\\.)*"|[\w.\-\x80-\xff]+)?\s*\{'
    ),
    _entries,
    other_encoding="latin-1",
)
