"""The adapter for LadybugDB: property graphs in a file, opened read-only in this process."""

from __future__ import annotations

from urllib.parse import unquote

from kgnav_mcp.errors import MissingDriver
from kgnav_mcp.port import AdapterOptions, GraphAdapter


def open_adapter(location: str, options: AdapterOptions) -> GraphAdapter:
    """Make the adapter for a location `ladybug+file:PATH`. No I/O happens before `open`.

    Raises:
        MissingDriver: the package `ladybug` is not installed.
        ConfigurationError: an option is unknown or of the wrong type.
    """
    try:
        from kgnav_mcp.adapters.ladybug.adapter import LadybugAdapter  # noqa: PLC0415 - the driver is an extra
    except ImportError as error:
        if error.name != "ladybug":
            raise
        raise MissingDriver("a LadybugDB graph", "kgnav-mcp[ladybug]") from error
    path = unquote(location.partition(":")[2])
    return LadybugAdapter(path.removeprefix("//") if path.startswith("///") else path, options)
