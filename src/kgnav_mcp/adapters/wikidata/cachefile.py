"""The property catalogue cached on disk: one file for each endpoint, replaced atomically."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, cast

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class CachedCatalogue:
    """The content of a cache file: datatype and labels by language of each property, and its age in seconds."""

    base: str
    properties: Mapping[str, tuple[str, Mapping[str, str]]]
    age: float


@dataclass(frozen=True, slots=True)
class CacheFile:
    """The cache file of one endpoint, one concept base and one list of languages."""

    path: Path

    @classmethod
    def of(cls, folder: Path | None, *key: str) -> CacheFile | None:
        """The cache file for a key in a folder; None without a folder, which turns the cache off."""
        if folder is None:
            return None
        return cls(folder / f"wikidata-{blake2b(chr(0).join(key).encode(), digest_size=8).hexdigest()}.json")

    def read(self) -> CachedCatalogue | None:
        """The cached catalogue; None if there is none, or it cannot be read. Then the endpoint is asked."""
        try:
            content = cast("dict[str, Any]", json.loads(self.path.read_text(encoding="utf-8")))
            if content["format"] != _FORMAT:
                return None
            properties = {
                str(name): (str(kind), {str(language): str(text) for language, text in labels.items()})
                for name, (kind, labels) in content["properties"].items()
            }
            return CachedCatalogue(str(content["base"]), properties, max(0.0, time.time() - float(content["read"])))
        except (OSError, ValueError, TypeError, LookupError, AttributeError):
            return None

    def write(self, base: str, properties: Mapping[str, tuple[str, Mapping[str, str]]]) -> bool:
        """Store a catalogue for the next start. Returns False if the folder cannot be written to, which is no error."""
        content = {"format": _FORMAT, "base": base, "read": time.time(), "properties": properties}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.stem, suffix=".part")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    json.dump(content, file, ensure_ascii=False, separators=(",", ":"))
                Path(temporary).replace(self.path)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
        except OSError:
            return False
        return True
