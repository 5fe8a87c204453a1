"""The interface of a store: async methods ("verbs") over sets of entities. Arguments and results are types of `model`.

To write an adapter, derive from `GraphAdapter` and implement four verbs: `describe`, `find`, `neighbours` and `nodes`.
The others have default implementations on top of these (`defaults`, `far_end_filters`); override those that the store
answers faster. `lists` cuts a list in memory into pages, `adapters.paging` plans the pages of longer ones. Name
`open_adapter` as an entry point of the group `kgnav.adapters`: the entry point's name is the URL scheme, its value a
callable `open_adapter(location: str, options: AdapterOptions) -> GraphAdapter` that does no I/O yet. Then derive a test
class from the contract suite (`tests/contract/suite`) and run it; `tests/contract/test_example.py` is an adapter over a
Python dict that passes it.

Rules for every verb:

- A verb that takes ids takes up to 10,000 of them, and costs a few queries, never one for each id. It must not block
  the event loop for longer than 20 ms: work on large sets goes to a thread.
- Ids are accepted as a user may write them (short, full, with a prefix) and returned in the one form that answers
  print. An unknown id is omitted, without an error. A repeated id counts once.
- Lists are bounded by `limit` and have the same order at every call. `after` is one of the positions that an earlier
  page of the same call gave; any other text raises InvalidCursor.
- An adapter returns facts. Summarizing, ranking, flattening and token budgets are the task of `navigation`.
- What an adapter can do beyond the basics is declared as a `Capability`; verbs that need an undeclared one raise
  Unsupported.
- Errors are those of `errors`, translated at one place in the adapter.
"""

from __future__ import annotations

from kgnav_mcp.port.adapter import GraphAdapter, OpenAdapter
from kgnav_mcp.port.terms import ANY_FAR_END, AdapterOptions, Capability, FarEndFilter, FarEndKind, ValueOwner

__all__ = [
    "ANY_FAR_END",
    "AdapterOptions",
    "Capability",
    "FarEndFilter",
    "FarEndKind",
    "GraphAdapter",
    "OpenAdapter",
    "ValueOwner",
]
