"""The command line: a thin skin over the library, one file per command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``plackett``; data errors end with one line on stderr and exit code 1, misuse with 2."""
    from plackett import DataError, LossError, MeasureError
    from plackett.cli.app import app
    from plackett.cli.encoding import replace_unencodable

    replace_unencodable()
    try:
        app()
    except (DataError, LossError, MeasureError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except ImportError as error:
        if "pip install" not in str(error):  # not a missing extra
            raise
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"error: {name}{error.strerror or error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
