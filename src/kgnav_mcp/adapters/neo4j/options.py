"""Settings of a Neo4j graph, read from its location and from its table `options` in kgnav.toml."""

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

_TEXT_OPTIONS = ("database", "user", "password", "password_file", "token", "token_file", "ca_file")


@dataclass(frozen=True, slots=True)
class Neo4jOptions:
    """Settings of a Neo4j graph: its address, its credentials, and which properties are ids, names and so on.

    `ca_file` is a file of certificates to trust instead of the system's.
    """

    uri: str
    place: str
    """Host and port, for error messages."""
    database: str | None
    auth: Auth | None = field(repr=False)
    ca_file: str | None
    properties: PropertyOptions

    @classmethod
    def read(cls, location: str, options: AdapterOptions) -> Neo4jOptions:
        """Read the settings from a location and its options.

        Options: `database`; `user` with `password` or `password_file`, or a bearer `token` or `token_file`; `ca_file`
        (certificates to trust, PEM); and those of `PropertyOptions`. User and password may also be in the location, and
        the database as its path or as `?database=`.

        Raises:
            ConfigurationError: the location has no host, or an option is unknown, of the wrong type or names a missing
                file.
        """
        extra = dict(options.extra)
        refuse_unknown("a Neo4j graph", extra, (*_TEXT_OPTIONS, *OPTIONS))
        texts = {key: _text(extra, key) for key in _TEXT_OPTIONS}
        try:
            parts = urlsplit(location)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise ConfigurationError("the location is not a URL", next_step="Write it as bolt://HOST:7687.") from error
        if not host:
            raise ConfigurationError("the location has no host", next_step="Write it as bolt://HOST:7687.")
        query_parameters = dict(parse_qsl(parts.query))
        database_in_url = query_parameters.pop("database", None) or unquote(parts.path.strip("/"))
        netloc = parts.netloc.rpartition("@")[2]
        scheme = parts.scheme.lower()
        if texts["ca_file"] is not None:
            _read_file(texts["ca_file"], "ca_file")
            scheme = scheme.partition("+")[0]
        return cls(
            uri=urlunsplit((scheme, netloc, "", urlencode(query_parameters), "")),
            place=f"{host}:{port or 7687}",
            database=texts["database"] or database_in_url or None,
            auth=_auth(texts, unquote(parts.username or ""), unquote(parts.password or "")),
            ca_file=texts["ca_file"],
            properties=PropertyOptions.read(extra),
        )


def _auth(texts: Mapping[str, str | None], user: str, password: str) -> Auth | None:
    user = texts["user"] or user
    password = texts["password"] or _secret_from_file(texts, "password_file") or password
    token = texts["token"] or _secret_from_file(texts, "token_file")
    if token:
        return bearer_auth(token)
    if user or password:
        return basic_auth(user or "neo4j", password)
    return None


def _secret_from_file(texts: Mapping[str, str | None], key: str) -> str:
    """The secret in the file that an option names; empty where the option is not given."""
    name = texts[key]
    return _read_file(name, key).strip() if name is not None else ""


def _read_file(name: str, key: str) -> str:
    try:
        return Path(name).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"the file of the option {key!r} cannot be read: {name}",
            next_step="Check its path and permissions.",
        ) from error


def _text(extra: Mapping[str, object], key: str) -> str | None:
    value = extra.get(key)
    if value is not None and not isinstance(value, str):
        raise ConfigurationError(f"the option {key!r} must be a text", next_step=f'Write it as {key} = "...".')
    return value
