"""The command line: a thin skin over the library, one file per command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run ``plackett``: data errors print one line on stderr and exit with code 1, misuse with 2, Ctrl-C with 130."""
    from plackett import DataError, LossError, MeasureError, MissingExtraError
    from plackett.cli.app import app
    from plackett.cli.encoding import replace_unencodable
    from plackett.cli.lean import own_process
    from plackett.cli.messages import messages_on_stderr, open_streams

    own_process()
    open_streams()
    replace_unencodable()
    try:
        with messages_on_stderr():
            app()
    except (DataError, LossError, MeasureError, MissingExtraError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"error: {name}{error.strerror or error}", file=sys.stderr)
        sys.exit(1)
