"""``python -m plackett``: the command line."""

from __future__ import annotations

from plackett.cli import main

if __name__ == "__main__":
    main()
