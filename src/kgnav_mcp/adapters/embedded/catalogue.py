"""The catalogue of a graph file: its relations and labels with their names, read on first use and kept in memory."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from kgnav_mcp.adapters.embedded import queries
from kgnav_mcp.adapters.embedded.session import Session, checked_count, mapping, text, text_or_none, texts
from kgnav_mcp.adapters.ids.prefixes import Prefixes
from kgnav_mcp.adapters.naming import readable
from kgnav_mcp.errors import UnknownName
from kgnav_mcp.model import Relation
from kgnav_mcp.model.ids import local_name

_MAX_CORRECTIONS = 24
"""Corrections of one misspelt word, at most."""


class Vocabulary:
    """All words that occur in names of the graph, by length and first letter."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for term in terms:
            self._terms[len(term)][term[:1]].append(term)

    def near(self, word: str, *, misspelt: bool = True) -> list[str]:
        """Returns the words within edit distance 2 (1 for short words), nearest first. A swap of letters counts as 1.

        If the word is not `misspelt`, because some name has it, only words with the same first letter are compared.
        """
        from rapidfuzz import process  # noqa: PLC0415 - an exactly matching name does not need it
        from rapidfuzz.distance import OSA  # noqa: PLC0415

        first = word[:1]
        max_distance = 0 if len(word) < 3 else 1 if len(word) < 5 else 2
        corrections: list[tuple[float, bool, str]] = []
        for length in range(len(word) - max_distance, len(word) + max_distance + 1):
            groups = self._terms.get(length, {})
            for initial in groups if misspelt else (first,):
                hits = process.extract(
                    word, groups.get(initial, ()), scorer=OSA.distance, score_cutoff=max_distance, limit=None
                )
                corrections += [(distance, initial != first, term) for term, distance, _ in hits if term != word]
        return [term for _, _, term in sorted(corrections)[:_MAX_CORRECTIONS]]


_MAX_COMPARED_LENGTH = 200
"""Characters of names that are compared for similarity. The cost is the product of both lengths."""
_MAX_SUGGESTIONS = 3
_MAX_HUBS = 2_000
"""Nodes with most rows whose names are compared with a word that very many names have."""
_MAX_LABEL_SETS = 10_000
"""Combinations of several labels that are kept in memory, at most."""
_UNDIRECTED = "{} edges are undirected, and each is stored once: follow them in both directions"


@dataclass(frozen=True, slots=True)
class RelationEntry:
    """A relation with its counts: `edges` are its triples with an entity as tail, `attributes` those with a literal.

    `is_array`: all literals are items of arrays. `multivalued`: a node has several literals.
    """

    id: int
    key: str
    relation: Relation
    edges: int
    attributes: int
    is_array: bool
    multivalued: bool

    @property
    def references(self) -> tuple[str, ...]:
        """The texts that name it, ids first."""
        return self.key, self.relation.id, self.relation.label

    @property
    def size(self) -> int:
        return self.edges + self.attributes


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """A label (class) of the file. `printed` is the form in which entities list it as their type."""

    id: int
    key: str
    short: str
    name: str
    printed: str
    size: int

    @property
    def references(self) -> tuple[str, ...]:
        """The texts that name it, ids first."""
        return self.key, self.short, self.printed, self.name


Entry = TypeVar("Entry", RelationEntry, LabelEntry)
Accepts = Callable[[Entry], bool]
"""A predicate that accepts the entries that may be returned."""


def _accept_any(_: RelationEntry | LabelEntry) -> bool:
    return True


class NameIndex(Generic[Entry]):
    """Finds an entry by id or name. Ids may lack their prefix, and letter case may differ."""

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
        """Returns the entry with this short or full id, or None."""
        for key in self._prefixes.preferred_keys(reference):
            if (entry := self._by_key.get(key)) is not None:
                return entry
        return None

    def all(self, reference: str) -> list[Entry]:
        """Returns all entries that a text may mean: the one with that id, else those of that name, largest first."""
        if (entry := self.by_key(reference)) is not None:
            return [entry]
        folded = reference.casefold()
        return (
            self._exact.get(reference)
            or self._folded.get(folded)
            or self._local.get(local_name(reference).casefold(), [])
        )

    def get(self, reference: str, is_accepted: Accepts[Entry] = _accept_any) -> Entry | None:
        """Returns the wanted entry that a text means, the largest of several with exactly this name.

        None if no wanted entry has that id or name, or if several match only with letter case or prefix aside. A name
        that was read from the id counts as a match with the prefix aside.
        """
        if (entry := self.by_key(reference)) is not None and is_accepted(entry):
            return entry
        exact = [entry for entry in self._exact.get(reference, ()) if is_accepted(entry)]
        if len(exact) == 1 or any(local_name(entry.key) != reference for entry in exact):
            return exact[0]
        inexact = self._matching(reference, is_accepted)
        return inexact[0] if len(inexact) == 1 else None

    def _matching(self, reference: str, is_accepted: Accepts[Entry]) -> list[Entry]:
        """Returns the wanted entries that match letter case aside or, if there are none, also prefix aside."""
        folded = reference.casefold()
        for candidates in (self._folded.get(folded, ()), self._local.get(local_name(reference).casefold(), ())):
            if entries := [entry for entry in candidates if is_accepted(entry)]:
                return entries
        return []

    def one(self, kind: str, reference: str, is_accepted: Accepts[Entry] = _accept_any) -> Entry:
        """Returns the same entry as `get`, but raises instead of returning None.

        Raises:
            UnknownName: no entry, or more than one, has this id or name. It carries the most similar names.
        """
        if (entry := self.get(reference, is_accepted)) is None:
            raise UnknownName(kind, reference, self.nearest(reference, is_accepted))
        return entry

    def nearest(self, reference: str, is_accepted: Accepts[Entry] = _accept_any) -> list[str]:
        """Returns the printed ids of the entries that a text may mean, else of those most similar to it, best first."""
        if matching := self._matching(reference, is_accepted):
            return [self._printed(entry) for entry in matching]
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - only a wrong name needs it

        entries = [entry for entry in self.entries.values() if is_accepted(entry)]
        names = [f"{entry.references[1]} {entry.references[-1]}"[:_MAX_COMPARED_LENGTH].casefold() for entry in entries]
        hits = process.extract(
            reference[:_MAX_COMPARED_LENGTH].casefold(), names, scorer=fuzz.WRatio, limit=_MAX_SUGGESTIONS
        )
        return [self._printed(entries[index]) for _, _, index in hits]

    def _printed(self, entry: Entry) -> str:
        """Returns the id that suggestions show; for a label with an opaque id, its name."""
        if isinstance(entry, LabelEntry) and self._prefixes.is_opaque(entry.key):
            return entry.printed
        return entry.references[1]


class Catalogue:
    """Relations and labels of one open file. Two threads may fill it at the same time; both get the same result."""

    def __init__(
        self,
        meta: Mapping[str, str],
        configured: Mapping[str, str],
        subclass_keys: Iterable[str],
        *,
        hides_identifiers: bool = True,
        bracketed: bool = False,
    ) -> None:
        """Reads the file's table `meta`. The `configured` prefixes take precedence over those of the file.

        `subclass_keys` are the relations from a class to its superclasses. `hides_identifiers`: relations to
        identifiers of other databases are shown only if asked for. `bracketed`: as in `Prefixes`, also if the file says
        so.

        Runs within a job: the pool translates the errors that a damaged table causes.
        """
        self.revision = text(meta["revision"])
        file_prefixes = {name: text(namespace) for name, namespace in mapping(meta["prefixes"]).items()}
        self.prefixes = Prefixes(
            configured,
            file_prefixes,
            unprefixed=texts(meta.get("unprefixed", "[]")),
            bracketed=bracketed or meta.get("bracketed") == "yes",
        )
        self._hidden_keys = frozenset(texts(meta.get("hidden_relations", "[]")) if hides_identifiers else ())
        self.coined_prefixes = self.prefixes.printed(texts(meta.get("coined_prefixes", "[]")))
        self.class_relations = frozenset(map(self.prefixes.short, texts(meta["type_relations"])))
        self.subclass_relations = frozenset(map(self.prefixes.short, subclass_keys))
        self.entities = int(meta["entities"])
        self.triples = int(meta["triples"])
        self.languages = texts(meta["languages"])
        self.sampled = meta["sampled"] == "yes"
        undirected = text(meta.get("undirected", ""))
        self.remarks = (_UNDIRECTED.format(undirected),) if undirected else ()
        """What every reader of the graph should know."""
        self._relations: NameIndex[RelationEntry] | None = None
        self._labels: NameIndex[LabelEntry] | None = None
        self._mediators: bool | None = None
        self._vocabulary: Vocabulary | None = None
        self._qualifier_keys: tuple[str, ...] | None = None
        self._hub_names: str | None = None
        self._label_sets: tuple[tuple[tuple[int, ...], int], ...] | None = None
        self.texts_of_numbers: dict[int, Mapping[float, list[str]] | None] = {}
        """By property: the texts of its numeric values by number; None if there are too many. Filled by plans."""
        self.may_have_dates: dict[int, bool] = {}
        """By property: whether values of it may be dates. Filled by plans."""

    def hub_names(self, session: Session) -> str:
        """Returns the node numbers of the entities with most rows, as a JSON list."""
        if self._hub_names is None:
            self._hub_names = json.dumps([number for (number,) in session.all(queries.entities.HUB_NAMES, _MAX_HUBS)])
        return self._hub_names

    def has_mediators(self, session: Session) -> bool:
        """Whether any entity is a mediator. Without one there are no two-hop relations."""
        if self._mediators is None:
            row = session.one(queries.entities.HAS_MEDIATORS)
            self._mediators = row is not None and bool(row[0])
        return self._mediators

    def vocabulary(self, session: Session) -> Vocabulary:
        """Returns all words of all names, read when similar words are first wanted."""
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(term for (term,) in session.all(queries.entities.VOCABULARY))
        return self._vocabulary

    def qualifier_keys(self, session: Session) -> tuple[str, ...]:
        """Returns the stored keys of all qualifiers."""
        if self._qualifier_keys is None:
            self._qualifier_keys = tuple(text(key) for (key,) in session.all(queries.lists.QUALIFIER_KEYS))
        return self._qualifier_keys

    def relations(self, session: Session) -> NameIndex[RelationEntry]:
        """Returns all relations: predicates, relationship types and property names."""
        if self._relations is None:
            entries: dict[int, RelationEntry] = {}
            for row, key, label, edges, attributes, items, multivalued in session.all(queries.entities.RELATIONS):
                short = self.prefixes.short(key)
                stated = text_or_none(label)
                relation = Relation(short, stated or readable(short), label_from_id=not stated)
                is_array = 0 < checked_count(items) == attributes
                entries[row] = RelationEntry(
                    row, key, relation, checked_count(edges), checked_count(attributes), is_array, multivalued != 0
                )
            self._relations = NameIndex(entries, self.prefixes)
        return self._relations

    def hidden_relations(self, session: Session) -> frozenset[int]:
        """Returns the relations to identifiers of other databases, which are shown only if a request names them."""
        if not self._hidden_keys:
            return frozenset()
        entries = self.relations(session).entries
        return frozenset(number for number, entry in entries.items() if entry.key in self._hidden_keys)

    def labels(self, session: Session) -> NameIndex[LabelEntry]:
        """Returns all labels. A label is printed as its name, or as its id if the name is ambiguous."""
        if self._labels is None:
            rows = session.all(queries.entities.LABELS)
            uses: dict[str | None, int] = defaultdict(int)
            for _, key, name, _ in rows:
                uses[text_or_none(name)] += 1
                uses[key] += name != key
            entries: dict[int, LabelEntry] = {}
            for row, key, name, nodes in rows:
                short = self.prefixes.short(key)
                printed = name if name and uses[name] == 1 else short
                entries[row] = LabelEntry(row, key, short, name or readable(short), printed, checked_count(nodes))
            self._labels = NameIndex(entries, self.prefixes)
        return self._labels

    def label_sets(self, session: Session) -> tuple[tuple[tuple[int, ...], int], ...] | None:
        """Returns each combination of labels that nodes have, with its number of nodes; None if there are too many.

        Read on first use from the labels of each node: two seconds for 30 million nodes.
        """
        if self._label_sets is None:
            rows = session.all(queries.entities.SETS_OF_LABELS, _MAX_LABEL_SETS + 1)
            several = {
                tuple(sorted(map(int, text(labels).split(",")))): checked_count(number) for labels, number in rows
            }
            in_sets = Counter[int]()
            for labels, number in several.items():
                in_sets.update(dict.fromkeys(labels, number))
            single = {(entry.id,): entry.size - in_sets[entry.id] for entry in self.labels(session).entries.values()}
            unlabelled = {(): self.entities - sum(several.values()) - sum(single.values())}
            nodes_by_labels = {**several, **single, **unlabelled} if len(several) <= _MAX_LABEL_SETS else {}
            self._label_sets = tuple((labels, number) for labels, number in nodes_by_labels.items() if number)
        return self._label_sets or None


def _index(entries: Iterable[Entry], normalise: Callable[[str], str]) -> dict[str, list[Entry]]:
    """Returns entries by each of their names; entries of one name are sorted by size, then by id."""
    index: dict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: (-entry.size, entry.key)):
        for name in dict.fromkeys(normalise(reference) for reference in entry.references):
            index[name].append(entry)
    return dict(index)
