"""A complete adapter over a Python dict: read it before you write your own. It has no mediators, typos or own plans."""

from __future__ import annotations

import asyncio
import importlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from operator import itemgetter
from typing import Any

from kgnav_mcp import model
from kgnav_mcp.adapters import candidates as hints
from kgnav_mcp.adapters.candidates import ALIAS, DESCRIPTION, NAME, Candidates, first_page, plural_variants, words
from kgnav_mcp.adapters.naming import language_rank, readable
from kgnav_mcp.errors import StoreTimeout, StoreUnavailable, UnknownName, Unsupported
from kgnav_mcp.model import AnchoredPage, Candidate, Count, Direction, Entity, Link, Literal, Page, Relation, Triple
from kgnav_mcp.port import AdapterOptions, Capability, FarEndKind, GraphAdapter
from kgnav_mcp.port.defaults import find_relation
from kgnav_mcp.port.lists import page_of
from kgnav_mcp.values.comparison import WantedValue

TEXTS = {"name": NAME, "aka": ALIAS, "description": DESCRIPTION}


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """The entry point `example`: `example://package.module` names the module with the dict `GRAPH`."""
    return DictAdapter(location.partition("://")[2], options)


class DictAdapter(GraphAdapter):
    """GRAPH: nodes {id: labels}, rows (head, relation, tail, qualifiers); a tail is an id or (text, type, language)."""

    capabilities = frozenset({Capability.EXACT_COUNTS, Capability.LABELS, Capability.QUALIFIERS})

    def __init__(self, module: str, options: AdapterOptions) -> None:
        self._module, self._options = module, options
        self._labels: Mapping[str, Sequence[str]] | None = None
        self._texts: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
        self._at: dict[tuple[Direction, str], list[Triple]] = defaultdict(list)

    async def open(self) -> None:
        graph = importlib.import_module(self._module).GRAPH
        self._labels, rows = graph["nodes"], sorted(graph["rows"], key=itemgetter(1))
        for head, relation, tail, _ in rows:
            if relation in TEXTS:
                self._texts[head].append((TEXTS[relation], language_rank(tail[2], self._options.languages), tail[0]))
        for head, relation, tail, facts in rows:
            own = tuple(model.Qualifier(Relation(name, readable(name)), self._node(value)) for name, value in facts)
            row = Triple(self._entity(head), Relation(relation, readable(relation)), self._node(tail), own)
            for side in Direction:
                if isinstance(end := row.far_end(side.opposite), Entity):
                    self._at[side, end.id].append(row)

    @property
    def revision(self) -> str:
        return "it never changes"

    async def close(self) -> None:
        self._labels = None

    async def describe(self, ids: Sequence[str]) -> Mapping[str, Entity]:
        return await self._run(lambda nodes: {each: self._entity(each) for each in ids if each in nodes})

    async def find(self, hint: str, *, label: str | None = None, limit: int) -> Page[Candidate]:
        def work(nodes: Mapping[str, Sequence[str]]) -> Page[Candidate]:
            found: Candidates[str] = Candidates(hint)
            ways = [set(words(way)) for way in (hint, *plural_variants(hint)) if words(way)]
            for node in self._labelled(label):
                for kind, _, text in self._texts[node]:
                    if kind != DESCRIPTION and (text == hint or any(way <= set(words(text)) for way in ways)):
                        found.add(node, text, kind)
            if hint in nodes:
                found.add_by_id(hint, hint)
            degrees = {node: Count(sum(len(self._at[side, node]) for side in Direction)) for node in found}
            order = found.best_first(lambda node: (-degrees[node].value, node))
            best = [Candidate(self._entity(node), *found[node], degrees[node]) for node in order[:limit]]
            said = "" if found.has_exact_match else hints.EXACT_WORDS_NOTE
            return first_page([(one.entity.id, one) for one in best], len(order), limit, model.Stop.COMPLETE, said)

        return await self._run(work)

    async def neighbours(
        self,
        ids: Sequence[str],
        direction: Direction | None,
        *,
        relation_paths: Sequence[tuple[str, ...]] | None = None,
        far_end_kind: FarEndKind | None = None,
        limit: int,
        after: str | None = None,
        all_or_none: bool = False,
    ) -> AnchoredPage[Link]:
        if any(len(path) > 1 for path in relation_paths or ()):
            raise Unsupported("two-hop relations are not supported", next_step="Follow one relation after the other.")

        def work(nodes: Mapping[str, Sequence[str]]) -> AnchoredPage[Link]:
            sides, each = Direction if direction is None else [direction], dict.fromkeys(ids)
            links = (Link(side, row) for side in sides for one in each for row in self._at.get((side, one), ()))
            if relation_paths is not None:
                links = (link for link in links if (link.triple.relation.id,) in relation_paths)
            if far_end_kind is not None:
                links = (one for one in links if (far_end_kind is FarEndKind.ENTITY) is isinstance(one.far_end, Entity))
            page = page_of(list(links), limit, after, all_or_none=all_or_none)
            return model.anchored(page, {one: self._entity(one) for one in each if one in nodes})

        return await self._run(work)

    async def nodes(
        self, label: str | None, property_name: str | None, value: str | None, *, limit: int, after: str | None = None
    ) -> Page[Entity]:
        def work(_: object) -> Page[Entity]:
            having = self._labelled(label)
            if property_name is not None:
                rows = [row for (side, _), own in self._at.items() if side is Direction.OUTGOING for row in own]
                name = find_relation("property", property_name, {row.relation for row in rows})
                facts = [(row.head.id, row.tail) for row in rows if row.relation.id == name]
                wanted = WantedValue.read(value or "")
                heads = {head for head, tail in facts if value is None or wanted.equals(tail)}
                having = [node for node in having if node in heads]
            return page_of([self._entity(node) for node in having], limit, after)

        return await self._run(work)

    def _labelled(self, label: str | None) -> list[str]:
        nodes = self._labels or {}
        found = [node for node, labels in nodes.items() if label is None or label in labels]
        if not found:
            near = get_close_matches(str(label), {one for labels in nodes.values() for one in labels})
            raise UnknownName("label", str(label), near)
        return found

    def _entity(self, node: str) -> Entity:
        texts = {kind: text for kind, _, text in sorted(self._texts[node], reverse=True)}
        return Entity(node, texts.get(NAME), tuple((self._labels or {})[node]), texts.get(DESCRIPTION))

    def _node(self, tail: Any) -> model.Node:
        return self._entity(tail) if isinstance(tail, str) else Literal(*tail)

    async def _run(self, work: Callable[[Mapping[str, Sequence[str]]], model.T]) -> model.T:
        if self._labels is None:
            raise StoreUnavailable("the graph is not open", next_step="Open it first.")
        try:
            async with asyncio.timeout(self._options.timeout):
                return await asyncio.to_thread(work, self._labels)
        except TimeoutError as error:
            raise StoreTimeout(self._options.timeout, next_step="Ask for less.") from error
