"""The operator's contact, for the User-Agent. Public hosts want one; Wikimedia's policy requires it."""

from __future__ import annotations

import re

from kgnav_mcp.errors import ConfigurationError

_CONTACT = re.compile(r"\S+@\S+\.\S+|https?://\S+|User:\S+", re.IGNORECASE)
_WIKIMEDIA = ("wikidata.org", "wikimedia.org", "wikipedia.org", "wmcloud.org", "wikibase.cloud")


def is_wikimedia(host: str) -> bool:
    """Whether Wikimedia runs the host; its policy requires every client to name its operator."""
    return any(host.lower() == domain or host.lower().endswith(f".{domain}") for domain in _WIKIMEDIA)


def checked_contact(host: str, contact: str) -> str:
    """Check the contact to send to a host. Empty: none is sent.

    Raises:
        ConfigurationError: it is neither an address nor a page, or it is empty and the host is Wikimedia's.
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
