"""The jars of Neo4j and APOC, downloaded once with Maven to a folder outside the source tree, and what runs them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import packages
from .failure import ServiceError
from .instance import default_home, exclusive

VERSION = "5.26.30"
"""The newest patch of the long-term release. It needs Java 17."""

_APOC = "5.26.5"
"""The newest APOC published as a Maven dependency. It runs on every 5.26."""
_GUAVA = "33.4.8-jre"
"""A dependency that APOC needs but does not include."""

_PROJECT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kgnav</groupId><artifactId>{name}</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = """
    <dependency>
      <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>{more}
    </dependency>"""
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"

_SERVER = _DEPENDENCY.format(group="org.neo4j", artifact="neo4j", version=VERSION, more="")
_PLUGINS = _DEPENDENCY.format(
    group="org.neo4j.procedure", artifact="apoc-core", version=_APOC, more=f"<classifier>core</classifier>{_ALONE}"
) + _DEPENDENCY.format(group="com.google.guava", artifact="guava", version=_GUAVA, more="")
_FOR = ("--release", "17")
"""The oldest Java that the server runs on: whichever is there later can run what was compiled."""
_SHOWN = 15
"""Lines of Maven's output that are shown when it fails."""


def server() -> Path:
    """The folder with the server's jars.

    Raises:
        ServiceError: the jars cannot be downloaded, or Java or Maven cannot be installed.
    """
    packages.ensure(("java", "javac"), "openjdk-17-jdk-headless")
    return _download("server", _SERVER)


def apoc() -> Path:
    """The folder with APOC and its dependencies.

    Raises:
        ServiceError: as above.
    """
    return _download("apoc", _PLUGINS)


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
                _run("javac could not compile", "javac", *_FOR, "-cp", f"{jars}/*", "-d", str(part), str(source))
                part.rename(compiled)
    return compiled


def _cache() -> Path:
    return default_home(f"neo4j-{VERSION}")


def _download(name: str, dependencies: str) -> Path:
    """A folder of jars, created only when it is complete."""
    cache = _cache()
    jars = cache / name
    with exclusive(cache):
        if not jars.is_dir():
            packages.ensure(("mvn",), "maven")
            sys.stderr.write(f"fetching Neo4j {VERSION}: {name}\n")
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                project = Path(scratch) / "pom.xml"
                project.write_text(_PROJECT.format(name=name, dependencies=dependencies), encoding="utf-8")
                part = Path(scratch) / "jars"
                _maven(project, part)
                part.rename(jars)
    return jars


def _maven(project: Path, target: Path) -> None:
    wanted = ("dependency:copy-dependencies", f"-DoutputDirectory={target}", "-DincludeScope=runtime")
    said = _run("Maven could not fetch the jars", "mvn", "--batch-mode", f"--file={project}", *wanted)
    if not target.is_dir():
        raise _failure("Maven could not fetch the jars", said)


def _run(failure: str, program: str, *arguments: str) -> str:
    """What a program says.

    Raises:
        ServiceError: it fails.
    """
    done = subprocess.run(  # noqa: S603 - the arguments are this module's
        [shutil.which(program) or program, *arguments],
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise _failure(failure, done.stdout)
    return done.stdout


def _failure(reason: str, said: str) -> ServiceError:
    return ServiceError(f"{reason}:\n" + "\n".join(said.splitlines()[-_SHOWN:]))
