"""Who asks: public hosts want to know who runs a program, and Wikimedia's policy requires it."""

from __future__ import annotations

import re

from kgnav_mcp.errors import ConfigurationError

_CONTACT = re.compile(r"\S+@\S+\.\S+|https?://\S+|User:\S+", re.IGNORECASE)
_WIKIMEDIA = ("wikidata.org", "wikimedia.org", "wikipedia.org", "wmcloud.org", "wikibase.cloud")


def is_wikimedia(host: str) -> bool:
    """Whether Wikimedia runs the host, whose policy asks of every client to name who operates it."""
    return any(host.lower() == domain or host.lower().endswith(f".{domain}") for domain in _WIKIMEDIA)


def checked_contact(host: str, contact: str) -> str:
    """The contact to name to a host; empty where nobody is named.

    Raises:
        ConfigurationError: it is no way to reach anybody, or Wikimedia would be asked in nobody's name.
    """
    if contact and _CONTACT.search(contact) is None:
        raise ConfigurationError(
            f"the contact {contact!r} is no way to reach anybody",
            next_step="Give an e-mail address, or the address of a web page about your use.",
        )
    if is_wikimedia(host) and not contact:
        raise ConfigurationError(
            f"{host} is asked in nobody's name: Wikimedia's User-Agent policy wants a contact",
            next_step="Set KGNAV_CONTACT, --contact or contact in kgnav.toml to your e-mail address or web page.",
        )
    return contact
