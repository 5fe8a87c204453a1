"""`python -m scripts.release [FOLDER]` makes everything; `--check` tries the wheel on every Python as well.

`--dry-run` also reports what does not agree yet: versions, changelog, tag, contents of the wheel. Nothing is published.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from scripts.release.bundle import write_bundle
from scripts.release.check import try_wheel
from scripts.release.consistency import content_problems, tags_of_commit, version_problems
from scripts.release.distributions import ROOT, build_distributions, read_project
from scripts.release.registry import problems, server_json, write_server_json


def main() -> None:
    """Make the folder anew, and print what is in it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--repository", metavar="OWNER/NAME", help="fail if pyproject.toml names another one")
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    project = read_project()
    if options.repository and options.repository != project.repository:
        sys.exit(
            f"pyproject.toml names the repository {project.repository}, and this is {options.repository}. "
            "docs/releasing.md says what to set."
        )
    wheel = build_distributions(options.folder)
    bundle = write_bundle(project, wheel, options.folder)
    write_server_json(project, bundle, options.folder)
    for path in sorted(options.folder.iterdir()):
        sys.stdout.write(f"{path.name}: {path.stat().st_size:,} bytes\n")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = [*problems(server_json(project, bundle), readme), *content_problems(wheel)]
    if options.check and not try_wheel(wheel):
        found.append(f"{wheel.name} does not answer on every Python, see above.")
    if options.dry_run:
        changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        found += version_problems(project, changelog, tags_of_commit())
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
