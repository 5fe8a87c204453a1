"""The jars of Neo4j and APOC, and the compiled class that starts the server."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from . import maven_jars
from .instance import exclusive
from .maven_jars import Artifact

VERSION = "5.26.30"
"""The newest patch of the long-term release. It needs Java 17."""

_SERVER = (Artifact("org.neo4j", "neo4j", VERSION),)
_PLUGINS = (
    # The newest APOC published as a Maven dependency. It runs on every 5.26.
    Artifact("org.neo4j.procedure", "apoc-core", "5.26.5", classifier="core", transitive=False),
    Artifact("com.google.guava", "guava", "33.4.8-jre"),  # APOC needs it but does not include it
)
_FOR = ("--release", "17")
"""The oldest Java that the server runs on: whichever is there later can run what was compiled."""


def server() -> Path:
    """The folder with the server's jars.

    Raises:
        ServiceError: the jars cannot be downloaded, or Java or Maven cannot be installed.
    """
    return maven_jars.ensure(_cache() / "server", _SERVER)


def apoc() -> Path:
    """The folder with APOC and its dependencies.

    Raises:
        ServiceError: as above.
    """
    return maven_jars.ensure(_cache() / "apoc", _PLUGINS)


def entry_point(source: Path) -> Path:
    """The folder with the class of this source, compiled once: at every start that would take as long as the start.

    Raises:
        ServiceError: as above, or it does not compile.
    """
    jars, cache = server(), _cache()
    compiled = cache / f"{source.stem}-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    with exclusive(cache):
        if not compiled.is_dir():
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                part = Path(scratch) / "classes"
                javac = ("javac", *_FOR, "-cp", f"{jars}/*", "-d", str(part), str(source))
                maven_jars.run("javac could not compile", *javac)
                part.rename(compiled)
    return compiled


def _cache() -> Path:
    return maven_jars.cache("neo4j", VERSION)
