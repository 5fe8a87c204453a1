"""The forms of ids: IRIs, ids of the OBO Foundry, and the local name of either."""

from __future__ import annotations

import re

ID_SPACE = r"(?=[a-z_]*[A-Z])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z][A-Za-z0-9]*)*?"
"""An id space, such as `DOID` and `NCBITaxon`. It has a capital letter, unlike a scheme such as `tel`."""
ID_NUMBER = r"[A-Za-z]{0,2}\d[A-Za-z0-9.-]*"
"""What is behind it: a number, or the code of another database, as in `NCIT:C3262`."""
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S*")
_OBO_ID = re.compile(f"{ID_SPACE}:{ID_NUMBER}")
_PREFIXED = re.compile(r"[\w.-]*:[^\s/:][^\s:]*")
"""A prefixed name such as `dbo:birthPlace`."""


def is_iri(text: str) -> bool:
    """Whether an id has the form of an absolute IRI (`http://...`, `urn:...`)."""
    return _IRI.fullmatch(text) is not None


def is_obo_id(text: str) -> bool:
    """Whether an id has the form of one of the OBO Foundry, such as `DOID:734`."""
    return _OBO_ID.fullmatch(text) is not None


def local_name(reference: str) -> str:
    """The last part of an IRI, a prefixed name or a path: the text after its last `#`, `/` or `:`.

    For `DOID:734` it is `DOID_734`, as in the IRI. An id without these characters, or with nothing after them, is
    returned whole.
    """
    if is_obo_id(reference):
        return reference.replace(":", "_")
    if is_iri(reference) or reference.startswith("/"):
        tail = re.split(r"[#/]", reference)[-1]
        if tail == reference or (":" in tail and not tail.startswith(":")):
            tail = tail.rsplit(":", 1)[-1]
    elif _PREFIXED.fullmatch(reference):
        tail = reference.rsplit(":", 1)[-1]
    else:
        return reference
    return tail or reference
