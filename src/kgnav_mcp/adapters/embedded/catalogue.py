"""The small tables of a graph file, kept in memory from their first use: its relations and labels, and their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.ids import Prefixes
from kgnav_mcp.adapters.embedded.session import Session, counted, mapping, text, text_or_none, texts
from kgnav_mcp.adapters.embedded.vocabulary import Vocabulary
from kgnav_mcp.adapters.naming import local_name, readable
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Relation

_COMPARED = 200
"""Characters of names that are compared: comparing takes the product of both lengths."""
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class RelationEntry:
    """A relation of the file with its sizes: triples with an entity, and with a literal, as tail."""

    id: int
    key: str
    relation: Relation
    edges: int
    attributes: int

    @property
    def references(self) -> tuple[str, ...]:
        """What it may be called, the id first."""
        return self.key, self.relation.id, self.relation.label

    @property
    def size(self) -> int:
        return self.edges + self.attributes


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """A label (class) of the file; `printed` is how entities show it as their type."""

    id: int
    key: str
    short: str
    name: str
    printed: str
    size: int

    @property
    def references(self) -> tuple[str, ...]:
        """What it may be called, the id first."""
        return self.key, self.short, self.printed, self.name


Entry = TypeVar("Entry", RelationEntry, LabelEntry)
Wanted = Callable[[Entry], bool]
"""Which entries may be meant."""


def _any(_: RelationEntry | LabelEntry) -> bool:
    return True


class Names(Generic[Entry]):
    """Finds an entry by whatever it may be called: ids, names, both letter case aside, ids without their prefix."""

    def __init__(self, entries: dict[int, Entry], prefixes: Prefixes) -> None:
        self.entries = entries
        self._prefixes = prefixes

    @cached_property
    def _by_key(self) -> dict[str, Entry]:
        return {entry.key: entry for entry in self.entries.values()}

    @cached_property
    def _exact(self) -> dict[str, list[Entry]]:
        return _index(self.entries.values(), str)

    @cached_property
    def _folded(self) -> dict[str, list[Entry]]:
        return _index(self.entries.values(), str.casefold)

    @cached_property
    def _local(self) -> dict[str, list[Entry]]:
        return _index(self.entries.values(), lambda reference: local_name(reference).casefold())

    def by_key(self, reference: str) -> Entry | None:
        """The entry with this id, short or full."""
        for key in self._prefixes.keys(reference):
            if (entry := self._by_key.get(key)) is not None:
                return entry
        return None

    def all(self, reference: str) -> list[Entry]:
        """Every entry a text may mean: the one with that id, else those of that name, the largest first."""
        if (entry := self.by_key(reference)) is not None:
            return [entry]
        folded = reference.casefold()
        return self._exact.get(reference) or self._folded.get(folded) or self._local.get(local_name(folded), [])

    def get(self, reference: str, wanted: Wanted[Entry] = _any) -> Entry | None:
        """The entry a text means among the wanted ones, the largest where several have the same name.

        None: no entry has that id or name, or several have it only with letter case or the prefix aside; a name that
        was read from the id is no more than that.
        """
        if (entry := self.by_key(reference)) is not None and wanted(entry):
            return entry
        exact = [entry for entry in self._exact.get(reference, ()) if wanted(entry)]
        if len(exact) == 1 or any(local_name(entry.key) != reference for entry in exact):
            return exact[0]
        alike = self._alike(reference, wanted)
        return alike[0] if len(alike) == 1 else None

    def _alike(self, reference: str, wanted: Wanted[Entry]) -> list[Entry]:
        """The wanted entries of a text letter case aside, or else, where there are none, its prefix aside."""
        folded = reference.casefold()
        for found in (self._folded.get(folded, ()), self._local.get(local_name(folded), ())):
            if entries := [entry for entry in found if wanted(entry)]:
                return entries
        return []

    def one(self, kind: str, reference: str, wanted: Wanted[Entry] = _any) -> Entry:
        """As `get`, where an entry is needed.

        Raises:
            UnknownName: there is none; carries the nearest names.
        """
        if (entry := self.get(reference, wanted)) is None:
            raise UnknownName(kind, reference, self.nearest(reference, wanted))
        return entry

    def nearest(self, reference: str, wanted: Wanted[Entry] = _any) -> list[str]:
        """The printed ids of the entries that a text may mean, or whose id or name is most like it, best first."""
        if alike := self._alike(reference, wanted):
            return [entry.references[1] for entry in alike]
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong name needs it

        entries = [entry for entry in self.entries.values() if wanted(entry)]
        names = [f"{entry.references[1]} {entry.references[-1]}"[:_COMPARED].casefold() for entry in entries]
        hits = process.extract(reference[:_COMPARED].casefold(), names, scorer=fuzz.WRatio, limit=_NEAREST)
        return [entries[index].references[1] for _, _, index in hits]


class Catalogue:
    """Relations and labels of one open file. Filling it twice from two threads gives the same, and does no harm."""

    def __init__(self, meta: Mapping[str, str], configured: Mapping[str, str], subclass_keys: Iterable[str]) -> None:
        """Read the file's table `meta`; `configured` prefixes go before those of the file.

        `subclass_keys` are those of the relations that lead from classes to classes above them.

        This is part of a job: the pool translates what goes wrong where the table is not as the loader wrote it.
        """
        self.revision = text(meta["revision"])
        own = {name: text(namespace) for name, namespace in mapping(meta["prefixes"]).items()}
        self.prefixes = Prefixes({**configured, **{name: own[name] for name in own if name not in configured}})
        self.coined_prefixes = self.prefixes.printed(texts(meta.get("coined_prefixes", "[]")))
        self.class_relations = frozenset(map(self.prefixes.short, texts(meta["type_relations"])))
        self.subclass_relations = frozenset(map(self.prefixes.short, subclass_keys))
        self.entities = int(meta["entities"])
        self.triples = int(meta["triples"])
        self.languages = texts(meta["languages"])
        self.sampled = meta["sampled"] == "yes"
        self._relations: Names[RelationEntry] | None = None
        self._labels: Names[LabelEntry] | None = None
        self._mediators: bool | None = None
        self._vocabulary: Vocabulary | None = None
        self._qualifier_keys: tuple[str, ...] | None = None
        self.texts_of_numbers: dict[int, Mapping[float, list[str]] | None] = {}
        """By property how values begin that are a number; None where they are too many. Filled as plans ask for it."""

    def has_mediators(self, session: Session) -> bool:
        """Whether any entity is a mediator: without one nobody need look for two-hop relations."""
        if self._mediators is None:
            row = session.one(queries.entities.HAS_MEDIATORS)
            self._mediators = row is not None and bool(row[0])
        return self._mediators

    def vocabulary(self, session: Session) -> Vocabulary:
        """All words of all names, read when near words are first looked for."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(term for (term,) in session.all(queries.names.VOCABULARY))
        return self._vocabulary

    def qualifier_keys(self, session: Session) -> tuple[str, ...]:
        """What the qualifiers of edges are called in the file."""
        if self._qualifier_keys is None:
            self._qualifier_keys = tuple(text(key) for (key,) in session.all(queries.lists.QUALIFIER_KEYS))
        return self._qualifier_keys

    def relations(self, session: Session) -> Names[RelationEntry]:
        """Every predicate, relationship type and property name."""
        if self._relations is None:
            entries: dict[int, RelationEntry] = {}
            for row, key, label, edges, attributes in session.all(queries.entities.RELATIONS):
                short = self.prefixes.short(key)
                relation = Relation(short, text_or_none(label) or readable(short))
                entries[row] = RelationEntry(row, key, relation, counted(edges), counted(attributes))
            self._relations = Names(entries, self.prefixes)
        return self._relations

    def labels(self, session: Session) -> Names[LabelEntry]:
        """Every label. An entity shows a label by its name, or by its id where that name would mean two things."""
        if self._labels is None:
            rows = session.all(queries.entities.LABELS)
            taken: dict[str | None, int] = defaultdict(int)
            for _, key, name, _ in rows:
                taken[text_or_none(name)] += 1
                taken[key] += name != key
            entries: dict[int, LabelEntry] = {}
            for row, key, name, nodes in rows:
                short = self.prefixes.short(key)
                printed = name if name and taken[name] == 1 else short
                entries[row] = LabelEntry(row, key, short, name or readable(short), printed, counted(nodes))
            self._labels = Names(entries, self.prefixes)
        return self._labels


def _index(entries: Iterable[Entry], form: Callable[[str], str]) -> dict[str, list[Entry]]:
    """Entries by their names, those of one name by size and then by id."""
    index: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: (-entry.size, entry.key)):
        for name in dict.fromkeys(form(reference) for reference in entry.references):
            index[name].append(entry)
    return dict(index)
