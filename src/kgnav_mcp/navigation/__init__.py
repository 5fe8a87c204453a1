"""The papers' algorithms over the port, independent of protocol, store and markdown."""
