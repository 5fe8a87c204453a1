"""Proposes a graph's configuration from its schema: name and description relations, type relations, keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgnav_mcp.adapters.wellknown import DESCRIPTION_RELATIONS, NAME_RELATIONS, PREFIXES
from kgnav_mcp.app import App
from kgnav_mcp.config import Settings
from kgnav_mcp.errors import KgnavError
from kgnav_mcp.model import Health, Schema
from kgnav_mcp.model.ids import local_name

_LISTED = 200
"""Maximum properties and labels that are examined, the most frequent first."""
_LABELS = 8
_NAME_WORDS = re.compile(r"(?i)(?:^|[_\W])(?:pref)?(?:name|label|title|caption|heading)$|[a-z](?:Name|Label|Title)$")
_DESCRIPTION_WORDS = re.compile(r"(?i)(?:description|abstract|comment|definition|summary)$")
_KEY_WORDS = re.compile(r"^(?:id|key|uuid|code|slug|isbn|iata|icao)$|[a-z](?:Id|ID|Key|Code)$|_(?:id|key|code)$")


@dataclass(frozen=True, slots=True)
class Proposals:
    """Proposals from a graph's schema. Ids are as answers print them.

    `keys` are the properties of each label that look like keys by their name; they may not be unique.
    """

    health: Health
    problem: str = ""
    names: tuple[str, ...] = ()
    usual_names: bool = False
    """Whether the adapter uses these name relations by default."""
    descriptions: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    labels: tuple[str, ...] = ()


async def examine(settings: Settings, name: str) -> Proposals:
    """Test a graph and look at its schema.

    Raises:
        StoreError: the store does not answer.
        ConfigurationError: the location or the credentials are wrong.
    """
    async with App(settings) as app, app.graphs[name].adapter() as adapter:
        health = await adapter.health()
        try:
            schema = await adapter.schema(limit=_LISTED)
        except KgnavError as error:  # the graph answers nevertheless; the user gets the error as a message
            return Proposals(health, problem=error.message)
        return _proposals(health, schema, sorted(adapter.class_relations))


def _proposals(health: Health, schema: Schema, types: Sequence[str]) -> Proposals:
    properties = [facts.relation.id for facts in schema.properties]
    usual = [name for name in properties if _expanded(name) in NAME_RELATIONS]
    likely = [name for name in properties if _NAME_WORDS.search(local_name(name))]
    descriptions = [name for name in properties if _expanded(name) in DESCRIPTION_RELATIONS]
    keys = {
        facts.id: key
        for facts in schema.labels[:_LABELS]
        if (key := next((name for name in facts.properties if _KEY_WORDS.search(local_name(name))), None))
    }
    return Proposals(
        health,
        names=tuple(usual or likely[:3]),
        usual_names=bool(usual),
        descriptions=tuple(
            descriptions or [name for name in properties if _DESCRIPTION_WORDS.search(local_name(name))][:3]
        ),
        types=tuple(types),
        keys=keys,
        labels=tuple(f"{facts.id} ({facts.count.value:,})" for facts in schema.labels[:_LABELS]),
    )


def _expanded(short: str) -> str:
    prefix, colon, local = short.partition(":")
    return PREFIXES[prefix] + local if colon and prefix in PREFIXES else short
