"""Jars downloaded once with Maven to a folder outside the source tree, for stores that run on Java."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import packages
from .failure import ServiceError
from .instance import exclusive, shared_folder

_PROJECT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kgnav</groupId><artifactId>{name}</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = """
    <dependency>
      <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
      <type>{type}</type>{more}
    </dependency>"""
_ALONE = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
_SHOWN = 15
"""Lines of a failed program's output that are shown."""


@dataclass(frozen=True)
class Artifact:
    """One artifact of a Maven repository. `transitive`: whether its own dependencies are downloaded, too."""

    group: str
    name: str
    version: str
    type: str = "jar"
    classifier: str = ""
    transitive: bool = True

    def dependency(self) -> str:
        """The XML element that names it in a Maven project."""
        classifier = f"<classifier>{self.classifier}</classifier>" if self.classifier else ""
        more = classifier + ("" if self.transitive else _ALONE)
        return _DEPENDENCY.format(group=self.group, artifact=self.name, version=self.version, type=self.type, more=more)


def cache(store: str, version: str) -> Path:
    """The folder for what is downloaded or compiled for one version of a store."""
    return shared_folder(f"{store}-{version}")


def ensure(folder: Path, artifacts: Sequence[Artifact]) -> Path:
    """The folder with the files of these artifacts, downloaded if it does not exist yet.

    It is created only when it is complete. All instances of a store share it, so that only the first start needs
    the network. It is a child of `cache`, and its name says which part of the store it holds.

    Raises:
        ServiceError: Java or Maven cannot be installed, or a file cannot be downloaded.
    """
    packages.ensure(("java", "javac"), "openjdk-17-jdk-headless")
    with exclusive(folder.parent):
        if not folder.is_dir():
            packages.ensure(("mvn",), "maven")
            sys.stderr.write(f"fetching {folder.parent.name}: {folder.name}\n")
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                project = Path(scratch) / "pom.xml"
                dependencies = "".join(artifact.dependency() for artifact in artifacts)
                project.write_text(_PROJECT.format(name=folder.name, dependencies=dependencies), encoding="utf-8")
                part = Path(scratch) / "jars"
                _download(project, part)
                part.rename(folder)
    return folder


def run(failure: str, program: str, *arguments: str) -> str:
    """Run a program and return its output.

    Raises:
        ServiceError: it fails; the message begins with `failure`.
    """
    done = subprocess.run(  # noqa: S603 - the arguments are those of this package
        [shutil.which(program) or program, *arguments],
        env=dict(os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise _failed(failure, done.stdout)
    return done.stdout


def _download(project: Path, target: Path) -> None:
    failure = "Maven could not fetch the jars"
    options = ("dependency:copy-dependencies", f"-DoutputDirectory={target}", "-DincludeScope=runtime")
    output = run(failure, "mvn", "--batch-mode", f"--file={project}", *options)
    if not target.is_dir():
        raise _failed(failure, output)


def _failed(failure: str, output: str) -> ServiceError:
    return ServiceError(f"{failure}:\n" + "\n".join(output.splitlines()[-_SHOWN:]))
