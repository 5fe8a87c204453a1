"""`python -m scripts.audit`: see `--help`."""

import sys

from .cli import main

sys.exit(main())
