"""Trails: walks that are stored under a handle between calls, and their stores.

A client passes the handle as an argument; there is no session. The server uses `Trails`, which makes handles, and reads
and writes the values of `model.trails`. Below it is a small interface, `TrailStore`, which stores bytes under keys: in
memory, in a file for several processes of one machine, or in Redis for several machines.
"""

from __future__ import annotations

from kgnav_mcp.trails.locations import MEMORY, open_trail_store
from kgnav_mcp.trails.pages import trail_json, trail_page_json, trail_schema
from kgnav_mcp.trails.store import TrailLimits, TrailStore
from kgnav_mcp.trails.trail_keeper import Trails

__all__ = [
    "MEMORY",
    "TrailLimits",
    "TrailStore",
    "Trails",
    "open_trail_store",
    "trail_json",
    "trail_page_json",
    "trail_schema",
]
