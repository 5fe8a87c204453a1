"""Settings: the only reader of the environment and of kgnav.toml.

The precedence is the same for every setting:

    flags  >  KGNAV_* variables  >  kgnav.toml  >  defaults

The file is the one named by `--config`, else by KGNAV_CONFIG, else ./kgnav.toml, else kgnav/kgnav.toml in the user's
configuration folder ($XDG_CONFIG_HOME, else ~/.config). Only the first that exists is read.

A setting `hub_threshold` is the key `hub_threshold` of the file, the variable KGNAV_HUB_THRESHOLD and the flag
`--hub-threshold`; a nested setting `http.port` is KGNAV_HTTP__PORT and `--http-port`. A secret has no flag. In
variables and flags the items of a list are separated by commas.

Graphs are the tables `[graphs.NAME]` of the file. `--graph` (repeatable) or KGNAV_GRAPH (separated by commas) chooses
the graphs to serve instead: a NAME of the file, a LOCATION, or NAME=LOCATION. Without any, the demo graph is served.
"""

from kgnav_mcp.config.relation_lists import RELATION_LISTS, RelationList, RelationLists
from kgnav_mcp.config.settings import (
    DEMO_LOCATION,
    GraphSettings,
    HttpSettings,
    LlmSettings,
    LogLevel,
    RankerName,
    SettingFacts,
    Settings,
    TrailSettings,
    describe_settings,
)
from kgnav_mcp.config.sources import (
    configured_graph_names,
    debugging,
    environment_without_settings,
    find_config_file,
    graphs_from_environment,
    load_settings,
    user_cache_folder,
)
from kgnav_mcp.config.toolsets import TOOLSETS, ToolsetEntry

__all__ = [
    "DEMO_LOCATION",
    "RELATION_LISTS",
    "TOOLSETS",
    "GraphSettings",
    "HttpSettings",
    "LlmSettings",
    "LogLevel",
    "RankerName",
    "RelationList",
    "RelationLists",
    "SettingFacts",
    "Settings",
    "ToolsetEntry",
    "TrailSettings",
    "configured_graph_names",
    "debugging",
    "describe_settings",
    "environment_without_settings",
    "find_config_file",
    "graphs_from_environment",
    "load_settings",
    "user_cache_folder",
]
