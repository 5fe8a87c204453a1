"""Trails: walks that are kept under a handle between calls, and where they are kept.

A client passes the handle back as an argument; there is no session. `Trails` is what the server uses: it makes
handles, and reads and writes the values of `model.trails`. Below it stands a small port, `TrailStore`, which keeps
bytes under keys: in memory, in a file for several processes of one machine, or in Redis for several machines.
"""

from __future__ import annotations

from kgnav_mcp.trails.keeping import Trails
from kgnav_mcp.trails.locations import MEMORY, open_trail_store
from kgnav_mcp.trails.records import trail_json, trail_schema
from kgnav_mcp.trails.store import TrailLimits, TrailStore

__all__ = ["MEMORY", "TrailLimits", "TrailStore", "Trails", "open_trail_store", "trail_json", "trail_schema"]
