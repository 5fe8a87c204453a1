"""Ids of Freebase as the server prints them: `m.07_m2`, `people.person.place_of_birth`."""

from __future__ import annotations

_PREFIXES = ("http://rdf.freebase.com/ns/", "www.freebase.com/", "/", "ns:")


def freebase_id(written: str) -> str:
    """An id or a relation of any published form, such as `/m/07_m2` or `www.freebase.com/m/07_m2`."""
    for prefix in _PREFIXES:
        written = written.removeprefix(prefix)
    return written.replace("/", ".")
