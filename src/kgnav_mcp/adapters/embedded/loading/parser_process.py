"""The process that parses a large source: `python -m ... SOURCE FORMAT INDEX SKIP_BAD`, run by `parsing` only.

It writes pickled batches to its standard output, then None and the prefixes, or the error that ended it.
"""

from __future__ import annotations

import gc
import pickle
import signal
import sys
import zlib
from pathlib import Path

from kgnav_mcp.adapters.embedded.loading import parsing
from kgnav_mcp.adapters.embedded.loading.sources import Format, Source
from kgnav_mcp.errors import LoadError


def main(path: str, form: str, index: str, skip_bad: str) -> None:
    """Parse one source. It ends, quietly, when nobody reads its output any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches both processes: the load decides what it means
    gc.disable()
    source = Source(Path(path), Path(path).name, Format(form), path.lower().endswith(".gz"), 0)
    prefixes: dict[str, str] = {}
    try:
        try:
            for batch in parsing.parse(source, int(index), prefixes, skip_bad=bool(int(skip_bad))):
                pickle.dump(batch, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
            pickle.dump(None, sys.stdout.buffer)
            pickle.dump(prefixes, sys.stdout.buffer)
        except (LoadError, SyntaxError, EOFError, zlib.error) as error:
            pickle.dump(error, sys.stdout.buffer)
        except BrokenPipeError:
            raise
        except OSError as error:
            pickle.dump(error, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        sys.stdout = None  # the interpreter would flush it once more, and complain


if __name__ == "__main__":
    main(*sys.argv[1:])
