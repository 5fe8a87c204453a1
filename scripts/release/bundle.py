"""The bundle that desktop clients install with a double click (.mcpb): the wheel, a manifest and an icon.

The client runs it with uv, which brings Python and the dependencies at the first start. The bundle's own
pyproject.toml names the wheel beside it, so that what is bundled is what was tested.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from scripts.release.distributions import ROOT, Project
from scripts.release.icon import icon_png

_MAIN = """\
from kgnav_mcp.cli import serve_stdio

serve_stdio()
"""
_PYPROJECT = """\
[project]
name = "kgnav-bundle"
version = "{version}"
requires-python = "{requires_python}"
dependencies = ["{name}"]

[tool.uv]
package = false

[tool.uv.sources]
{name} = {{ path = "{wheel}" }}
"""
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every member, so that the same sources make the same bundle."""


def manifest(project: Project) -> dict[str, Any]:
    """The manifest, version 0.4: the first that knows the runtime uv."""
    return {
        "manifest_version": "0.4",
        "name": project.name,
        "display_name": "Knowledge graph navigator",
        "version": project.version,
        "description": project.description,
        "author": {"name": "the kgnav-mcp authors", "url": project.url},
        "repository": {"type": "git", "url": project.url},
        "license": "MIT",
        "keywords": [*project.keywords],
        "icon": "icon.png",
        "server": {
            "type": "uv",
            "entry_point": "main.py",
            "mcp_config": {
                "command": "uv",
                "args": ["run", "--directory", "${__dirname}", "main.py", "--graph", "${user_config.graph}"],
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project.requires_python},
        },
        "user_config": {
            "graph": {
                "type": "file",
                "title": "Graph file",
                "description": "The .kg file to walk. `kgnav load` makes one from your data.",
                "required": True,
            }
        },
    }


def bundle_files(project: Project, wheel: Path) -> dict[str, bytes]:
    """The members of the bundle."""
    pyproject = _PYPROJECT.format(
        name=project.name, version=project.version, requires_python=project.requires_python, wheel=wheel.name
    )
    return {
        "manifest.json": json.dumps(manifest(project), indent=2).encode(),
        "pyproject.toml": pyproject.encode(),
        "main.py": _MAIN.encode(),
        "icon.png": icon_png(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        wheel.name: wheel.read_bytes(),
    }


def write_bundle(project: Project, wheel: Path, target: Path) -> Path:
    """Write the bundle into a folder. Returns its path."""
    path = target / f"{project.name}-{project.version}.mcpb"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, content in bundle_files(project, wheel).items():
            bundle.writestr(zipfile.ZipInfo(name, _EPOCH), content, zipfile.ZIP_DEFLATED)
    return path
