"""Edits of other programs' configuration files: JSON, JSON with comments, TOML and YAML.

Only the edited values change. Comments, the order of keys, indentation and everything else stay as they are.
"""

from kgnav_mcp.cli.config_files.file import ConfigFile, ConfigSyntax, KeyPath, SyntaxProblem
from kgnav_mcp.cli.config_files.json_text import JsonText, StrictJsonText
from kgnav_mcp.cli.config_files.toml_text import TomlText
from kgnav_mcp.cli.config_files.yaml_text import YamlText

__all__ = [
    "ConfigFile",
    "ConfigSyntax",
    "JsonText",
    "KeyPath",
    "StrictJsonText",
    "SyntaxProblem",
    "TomlText",
    "YamlText",
]
