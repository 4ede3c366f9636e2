"""`python -m dexnb`."""

from __future__ import annotations

import sys

from dexnb.cli import main

if __name__ == "__main__":
    sys.exit(main())
