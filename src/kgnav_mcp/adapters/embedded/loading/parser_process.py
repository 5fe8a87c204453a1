"""The process that parses a large source: `python -m ... SOURCE FORMAT INDEX SKIP_BAD`, started by `rdf_parser` only.

It writes pickled batches to its standard output, then None and the prefixes, or the error that ended it.
"""

from __future__ import annotations

import gc
import pickle
import signal
import sys
from contextlib import suppress
from pathlib import Path

from kgnav_mcp.adapters.embedded.loading import rdf_parser
from kgnav_mcp.adapters.embedded.loading.formats import format_named
from kgnav_mcp.adapters.embedded.loading.sources import Source, split_suffix


def main(path: str, form: str, index: str, skip_bad: str) -> None:
    """Parses one source. Ends quietly when its output is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes; the load decides what to do
    gc.disable()
    limit_memory()
    source = Source(Path(path), Path(path).name, format_named(form), split_suffix(Path(path))[1], 0)
    prefixes: dict[str, str] = {}
    try:
        try:
            for batch in rdf_parser.parse(source, int(index), prefixes, skip_bad=bool(int(skip_bad))):
                pickle.dump(batch, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
            pickle.dump(None, sys.stdout.buffer)
            pickle.dump(prefixes, sys.stdout.buffer)
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - passed on to the load, which reports it
            pickle.dump(error, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        sys.stdout = None  # else the interpreter flushes it again at exit and fails


def limit_memory() -> None:
    """Sets a memory limit for this process. Has no effect on Windows and macOS."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - only where there is one

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = rdf_parser.PARSER_MEMORY if hard == resource.RLIM_INFINITY else min(hard, rdf_parser.PARSER_MEMORY)
        resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


if __name__ == "__main__":
    main(*sys.argv[1:])
