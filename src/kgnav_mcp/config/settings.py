"""All settings, with defaults, bounds and meaning. Flags and documentation are generated from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, cast
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, StringConstraints

from kgnav_mcp.config.relation_lists import RelationLists
from kgnav_mcp.config.toolsets import ToolsetName, default_toolsets

DEMO_LOCATION: Final = "demo"
"""Location and name of the demo graph, which is part of the package."""

PREFIX: Final = "KGNAV_"
"""Prefix of all environment variables of this package."""


def split_commas(value: object) -> object:
    """A text split at commas, without blanks and empty parts. Any other value is returned unchanged."""
    return [part for part in (part.strip() for part in value.split(",")) if part] if isinstance(value, str) else value


def _upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


TextList = Annotated[tuple[str, ...], BeforeValidator(split_commas)]
RankerName = Literal["bm25", "semantic", "llm"]
LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
GraphName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]*$")]


def _without_credentials(location: str) -> str:
    parts = urlsplit(location) if "://" in location else None
    if parts is None or "@" not in parts.netloc:
        return location
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


class GraphSettings(BaseModel):
    """One graph: its location, and its own values of some settings (None: the value for all graphs)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    location: str = Field(min_length=1, description="the path of a graph file, the URL of a store, or demo")
    languages: TextList | None = Field(default=None, description="languages of names, in order of preference")
    timeout: float | None = Field(
        default=None, gt=0, description="maximum seconds for a query of the store, and for a plan"
    )
    options: dict[str, Any] = Field(default_factory=dict[str, Any], description="settings of this one kind of store")

    @property
    def shown_location(self) -> str:
        """The location without user and password, safe to print."""
        return _without_credentials(self.location)

    def __repr_args__(self) -> Sequence[tuple[str | None, Any]]:
        """Keep secrets in the location and the options out of logs and tracebacks."""
        return [("location", self.shown_location), ("languages", self.languages), ("timeout", self.timeout)]


class HttpSettings(BaseModel):
    """Where `serve --http` listens, and which hosts and origins it accepts."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(default="127.0.0.1", min_length=1, description="address to listen on")
    port: int = Field(default=8365, ge=0, le=65535, description="port to listen on; 0 takes any free one")
    allowed_hosts: TextList = Field(
        default=(), description="values of the Host header to accept besides those of this machine"
    )
    allowed_origins: TextList = Field(
        default=(), description="values of the Origin header to accept besides this machine's"
    )
    connections: int = Field(
        default=0, ge=0, description="maximum concurrent connections; 0: as many as the limit of open files allows"
    )


class LlmSettings(BaseModel):
    """The language model that ranks relations if `ranker` is `llm`: any API with OpenAI's chat completions."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(
        default="",
        pattern=r"^(https?://\S+)?$",
        description="base URL of the model's API, without /chat/completions",
    )
    model: str = Field(default="", description="name of the model, as its API knows it")
    api_key: SecretStr = Field(default=SecretStr(""), description="key of the API, if it needs one")
    timeout: float = Field(default=10.0, gt=0, description="seconds to wait for the model; then BM25 ranks")


class TrailSettings(BaseModel):
    """Where trails are stored, and their limits (toolsets trail, ark and maze)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    store: str = Field(
        default="memory", min_length=1, description="where trails are kept: memory, a file's path, or redis://HOST"
    )
    lifetime: float = Field(default=86_400.0, gt=0, description="seconds after its last use until a trail is deleted")
    number: int = Field(
        default=10_000, ge=1, description="maximum number of trails; the least recently used are deleted"
    )
    steps: int = Field(
        default=8,
        ge=1,
        description="K_max: maximum add_step calls on one trail (ARK-V1 gives no number)",
    )
    retries: int = Field(
        default=5,
        ge=1,
        description="C_max: refused add_step calls in a row after which a trail accepts no more (ARK-V1 gives no "
        "number)",
    )

    @property
    def shown_store(self) -> str:
        """The store without user and password, safe to print."""
        return _without_credentials(self.store)

    def __repr_args__(self) -> Sequence[tuple[str | None, Any]]:
        """Keep the password of the store out of logs and tracebacks."""
        return [(name, self.shown_store if name == "store" else value) for name, value in super().__repr_args__()]


class Settings(BaseModel):
    """All settings. `load_settings` reads them from flags, environment and file; this class itself reads nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    graphs: dict[GraphName, GraphSettings] = Field(
        default_factory=lambda: {DEMO_LOCATION: GraphSettings(location=DEMO_LOCATION)},
        min_length=1,
        description="graphs to serve, by name",
    )
    hub_threshold: int = Field(
        default=50,
        ge=1,
        description="k: an entity with more neighbours in one direction is summarized, one row per relation",
    )
    row_limit: int = Field(default=1000, ge=1, description="p: maximum triples in one answer")
    top_k: int = Field(default=20, ge=1, description="relations shown first when a question ranks them")
    examples: int = Field(default=2, ge=0, description="neighbours shown with each relation of a summarized entity")
    budget: int = Field(default=8000, ge=500, description="maximum tokens of one answer; a longer one is cut at a row")
    literal_limit: int = Field(
        default=300, ge=20, description="maximum characters of a literal; a longer one is clipped"
    )
    timeout: float = Field(default=30.0, gt=0, description="maximum seconds for a query of the store, and for a plan")
    languages: TextList = Field(default=("en",), min_length=1, description="languages of names, in order of preference")
    contact: str = Field(
        default="", description="your e-mail address or web page, sent to public stores as their policies ask"
    )
    white_list: TextList = Field(
        default=(), description="glob patterns of relation ids; if set, only matching relations are offered"
    )
    black_list: TextList = Field(default=(), description="glob patterns of relation ids that are never offered")
    relation_lists: RelationLists = Field(
        default="none", description="built-in list of administrative relations not to offer: none or freebase"
    )
    ranker: RankerName = Field(
        default="bm25", description="ranks relations by a question: bm25, semantic (an extra) or llm"
    )
    semantic: bool = Field(
        default=False,
        description="find nodes by meaning (an extra); builds a graph file's index at its first use",
    )
    similarity: float = Field(
        default=0.4, ge=-1, le=1, description="theta: minimum similarity, -1 to 1, of nodes that are found by meaning"
    )
    llm: LlmSettings = Field(default_factory=LlmSettings, description="the language model of the ranker llm")
    toolsets: Annotated[tuple[ToolsetName, ...], BeforeValidator(split_commas)] = Field(
        default=default_toolsets(), min_length=1, description="groups of tools to offer"
    )
    prompts: str = Field(
        default="", description="folder with your own texts of prompts, each named after a prompt: search_on_graph.md"
    )
    shots: int | None = Field(
        default=None,
        ge=0,
        le=5,
        description="worked examples in each prompt, 0 to 5, with real answers; none: one short example",
    )
    paper_format: bool = Field(
        default=False, description="answer in the formats of the Search-on-Graph, GraphWalker and GraphWalk papers"
    )
    structured: bool = Field(
        default=False, description="answer with structured content in place of markdown, for scripts"
    )
    log_level: Annotated[LogLevel, BeforeValidator(_upper)] = Field(
        default="WARNING", description="minimum level of log messages on stderr"
    )
    trail: TrailSettings = Field(default_factory=TrailSettings, description="where trails are kept, and their limits")
    http: HttpSettings = Field(default_factory=HttpSettings, description="address and limits of the HTTP server")


NESTED_SETTINGS: Final[Mapping[str, type[BaseModel]]] = {
    "http": HttpSettings,
    "llm": LlmSettings,
    "trail": TrailSettings,
}
"""The settings that are tables of settings, except the graphs."""


@dataclass(frozen=True, slots=True)
class SettingFacts:
    """One setting as the README and `--help` show it. `path` is its place in `Settings`, `kind` its Python type.

    A secret has no flag, since all users of a machine can read the arguments of its processes.
    """

    path: tuple[str, ...]
    env: str
    key: str
    flag: str
    default: str
    meaning: str
    kind: type


def describe_settings() -> tuple[SettingFacts, ...]:
    """All settings except the graphs, in the order of `Settings`."""
    facts: list[SettingFacts] = []
    for name in Settings.model_fields:
        if name in NESTED_SETTINGS:
            facts += [
                _setting_facts((name, inner), NESTED_SETTINGS[name]) for inner in NESTED_SETTINGS[name].model_fields
            ]
        elif name != "graphs":
            facts.append(_setting_facts((name,), Settings))
    return tuple(facts)


def value_text(value: object) -> str:
    """A value as written in an environment variable or after a flag."""
    if value is None:
        return "none"
    if isinstance(value, tuple):
        return ",".join(cast("tuple[str, ...]", value)) or "none"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value) or "none"


def _setting_facts(path: tuple[str, ...], model: type[BaseModel]) -> SettingFacts:
    field = model.model_fields[path[-1]]
    default: object = field.default
    return SettingFacts(
        path=path,
        env=PREFIX + "__".join(path).upper(),
        key=".".join(path),
        flag="" if isinstance(default, SecretStr) else "--" + "-".join(path).replace("_", "-"),
        default=value_text(default),
        meaning=field.description or "",
        kind=tuple if isinstance(default, tuple) else int if default is None else type(default),
    )
