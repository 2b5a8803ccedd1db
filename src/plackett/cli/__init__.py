"""The command line: a thin skin over the library, one file per command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

__all__ = ["main", "run"]


def main() -> None:
    """Run ``plackett`` in the process that was started for it; see `run`."""
    from plackett._base.process import own_process

    own_process()
    run()


def run(app: Callable[[], Any] | None = None) -> None:
    """Run ``plackett``, or another command line in the same way, in a process that may do other things as well.

    The exit code is 2 if the command line is wrong (an unknown option, ranker or measure, a value that is not allowed)
    or would overwrite something: nothing was done. It is 1 if a file is missing, damaged or does not fit, something is
    not installed, or the work failed. Ctrl-C gives 130. A message on stderr says what is wrong.
    """
    try:
        _run(app)
    except KeyboardInterrupt:  # outside of a command: while modules are imported
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _run(app: Callable[[], Any] | None) -> None:
    from plackett._base.errors import MissingExtraError
    from plackett._names.nearest import printable
    from plackett.cli.app import app as plackett
    from plackett.cli.encoding import replace_unencodable
    from plackett.cli.messages import messages_on_stderr, open_streams

    open_streams()
    replace_unencodable()
    try:
        with messages_on_stderr():
            (app or plackett)()
    except (ValueError, MissingExtraError) as error:  # the errors of data, losses and measures are among the first
        print(f"error: {printable(str(error))}", file=sys.stderr)
        sys.exit(1)
    except MemoryError as error:
        said = f" ({error})" if str(error) else ""
        print(f"error: not enough memory{printable(said)}; use less data or smaller parameters", file=sys.stderr)
        sys.exit(1)
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"error: {printable(f'{name}{error.strerror or error}')}", file=sys.stderr)
        sys.exit(1)
