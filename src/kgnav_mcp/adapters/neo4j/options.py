"""What can be set for a Neo4j graph: in its location, and in the options of its table in kgnav.toml."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from neo4j import Auth, basic_auth, bearer_auth

from kgnav_mcp.adapters.cypher.options import OPTIONS, PropertyOptions
from kgnav_mcp.adapters.options import refuse_unknown
from kgnav_mcp.errors import ConfigurationError
from kgnav_mcp.port import AdapterOptions

_TEXTS = ("database", "user", "password", "password_file", "token", "token_file", "ca_file")


@dataclass(frozen=True, slots=True)
class Neo4jOptions:
    """A Neo4j graph: where it is, who asks, and which of its properties have a meaning.

    `ca_file` is a file of certificates to trust instead of the system's.
    """

    uri: str
    place: str
    """Host and port, as errors name them."""
    database: str | None
    auth: Auth | None = field(repr=False)
    ca_file: str | None
    properties: PropertyOptions

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Neo4jOptions:
        """The graph that a location and its options name.

        Options: `database`; `user` with `password` or `password_file`, or a bearer `token` or `token_file`; `ca_file`
        (certificates to trust, PEM); and those of `PropertyOptions`. A user and a password may stand in the location
        as well, and the database as its path or as `?database=`.

        Raises:
            ConfigurationError: the location has no host, or an option is unknown, of the wrong kind or names no file.
        """
        extra = dict(options.extra)
        refuse_unknown("a Neo4j graph", extra, (*_TEXTS, *OPTIONS))
        texts = {key: _text(extra, key) for key in _TEXTS}
        try:
            parts = urlsplit(location)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ConfigurationError("the location is no URL", next_step="Write it as bolt://HOST:7687.") from error
        if not host:
            raise ConfigurationError("the location names no host", next_step="Write it as bolt://HOST:7687.")
        asked = dict(parse_qsl(parts.query))
        in_url = asked.pop("database", None) or unquote(parts.path.strip("/"))
        netloc = parts.netloc.rpartition("@")[2]
        scheme = parts.scheme.lower()
        if texts["ca_file"] is not None:
            _readable(texts["ca_file"], "ca_file")
            scheme = scheme.partition("+")[0]
        return cls(
            uri=urlunsplit((scheme, netloc, "", urlencode(asked), "")),
            place=f"{host}:{port or 7687}",
            database=texts["database"] or in_url or None,
            auth=_auth(texts, unquote(parts.username or ""), unquote(parts.password or "")),
            ca_file=texts["ca_file"],
            properties=PropertyOptions.read(extra),
        )


def _auth(texts: Mapping[str, str | None], user: str, password: str) -> Auth | None:
    user = texts["user"] or user
    password = texts["password"] or _content(texts, "password_file") or password
    token = texts["token"] or _content(texts, "token_file")
    if token:
        return bearer_auth(token)
    if user or password:
        return basic_auth(user or "neo4j", password)
    return None


def _content(texts: Mapping[str, str | None], key: str) -> str:
    """The secret that a file holds; nothing where no file is named."""
    name = texts[key]
    return _readable(name, key).strip() if name is not None else ""


def _readable(name: str, key: str) -> str:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the file that the option {key!r} names cannot be read: {name}", next_step="Check its path and its rights."
        ) from error


def _text(extra: Mapping[str, object], key: str) -> str | None:
    value = extra.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigurationError(f"the option {key!r} is a text", next_step=f'Write it as {key} = "...".')
    return value
