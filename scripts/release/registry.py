"""server.json: the entry of this server in the MCP registry, and the rules that the registry has for one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.release.distributions import Project

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
LONGEST_DESCRIPTION = 100
_DESCRIPTION = "Walk a knowledge graph: a graph file, Neo4j, Wikidata, Freebase or any SPARQL endpoint."
_NAME = re.compile(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
_VERSION = re.compile(r"\d+\.\d+\.\d+([-+.a-z0-9]+)?")


def server_json(project: Project, bundle: Path) -> dict[str, Any]:
    """The entry: the package for uvx, and the bundle of the release with its checksum."""
    return {
        "$schema": SCHEMA,
        "name": project.registry_name,
        "title": "Knowledge graph navigator",
        "description": _DESCRIPTION,
        "version": project.version,
        "repository": {"url": project.url, "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": project.name,
                "version": project.version,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [
                    {
                        "type": "named",
                        "name": "--graph",
                        "description": "A graph file, the URL of a store, or demo",
                        "format": "string",
                        "default": "demo",
                        "isRepeated": True,
                    }
                ],
            },
            {
                "registryType": "mcpb",
                "identifier": f"{project.url}/releases/download/v{project.version}/{bundle.name}",
                "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
                "transport": {"type": "stdio"},
            },
        ],
    }


def problems(entry: dict[str, Any], readme: str) -> Iterator[str]:
    """What the registry would refuse in an entry. `readme` is the description of the package, which must name it."""
    if not _NAME.fullmatch(entry["name"]):
        yield f"the name {entry['name']!r} is not NAMESPACE/NAME"
    if not 1 <= len(entry["description"]) <= LONGEST_DESCRIPTION:
        yield f"the description has {len(entry['description'])} characters, of {LONGEST_DESCRIPTION}"
    if not _VERSION.fullmatch(entry["version"]):
        yield f"the version {entry['version']!r} is not a specific one"
    if f"mcp-name: {entry['name']} " not in readme:
        yield f"README.md does not have the marker 'mcp-name: {entry['name']}', which proves who owns the package"
    for package in entry["packages"]:
        if package["registryType"] == "mcpb" and not re.fullmatch(r"[a-f0-9]{64}", package["fileSha256"]):
            yield "the bundle has no checksum"
        if package["registryType"] == "pypi" and package["version"] != entry["version"]:
            yield "the package has another version than the entry"


def write_server_json(project: Project, bundle: Path, target: Path) -> Path:
    """Write server.json into a folder. Returns its path."""
    path = target / "server.json"
    path.write_text(json.dumps(server_json(project, bundle), indent=2) + "\n", encoding="utf-8")
    return path
