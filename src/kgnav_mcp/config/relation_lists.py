"""Built-in black-lists of administrative relations of well-known graphs.

The setting `relation_lists` chooses one. The user's own lists take precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

RelationLists = Literal["none", "freebase"]


@dataclass(frozen=True, slots=True)
class RelationList:
    """Glob patterns of relation ids: those that match `black_list` but not `exceptions` are not offered."""

    black_list: tuple[str, ...] = ()
    exceptions: tuple[str, ...] = ()


_FREEBASE = RelationList(
    black_list=(
        # The predicates of RDF itself: Freebase's dump repeats every type and name with them.
        "rdf:*",
        "rdfs:*",
        "owl:*",
        "http://www.w3.org/*",
        # Names, types, keys, creators and time stamps of objects. Answers show names and types of nodes anyway.
        # The second pattern covers the same relations reached through a mediator.
        "type.*",
        "*.type.object.*",
        # Ids in other catalogues, one predicate for each namespace.
        "key.*",
        # The editing site's own data: permissions, equivalences, hints for its pages, tasks of bulk loads.
        "freebase.*",
        "pipeline.*",
        # Provenance, and what became of topics that were split, merged or deleted.
        "dataworld.*",
        # Caches of other relations, made by the site's search.
        "topic_server.webref*",
        "topic_server.schemastaging*",
        # Web pages, articles and pictures of a topic: addresses and text ids, not facts.
        "common.topic.webpage*",
        "common.topic.topical_webpage*",
        "common.topic.topic_equivalent_webpage*",
        "common.topic.article*",
        "common.topic.image*",
        "common.document.*",
        "common.image.*",
        "common.licensed_object.*",
        "common.resource.*",
        "common.webpage.*",
        # Users' own data: unreviewed, each in its own schema, much of it copied from the commons.
        "base.*",
        "user.*",
    ),
    exceptions=(
        # Three bases on administrative geography, which questions over Freebase do ask for: capitals, states,
        # countries and continents of places.
        "base.aareas.*",
        "base.biblioness.*",
        "base.locations.*",
    ),
)

RELATION_LISTS: Mapping[RelationLists, RelationList] = MappingProxyType({"none": RelationList(), "freebase": _FREEBASE})
"""The lists by the value of the setting."""
