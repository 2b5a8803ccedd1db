"""What commands print besides their output: warnings, log messages, progress. All on stderr."""

from __future__ import annotations

import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from threading import Event, Thread
from typing import Any, TextIO

from plackett._base.errors import PlackettWarning
from plackett._names.nearest import printable

#: Seconds of work before progress is shown.
PATIENCE = 2.0


def open_streams() -> None:
    """Discard output to a stdout or stderr that was closed (``plackett list >&-``)."""
    for name in ("stdin", "stdout", "stderr"):  # an opened file takes the lowest free descriptor, 0 first
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


@contextmanager
def messages_on_stderr() -> Iterator[None]:
    """Show our warnings and log messages (which columns were read from tables) as plain lines."""
    usual, logger, handler = warnings.showwarning, logging.getLogger("plackett"), logging.StreamHandler()

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, PlackettWarning):
            print(f"warning: {printable(str(message))}", file=sys.stderr)
        else:
            usual(message, category, filename, lineno, file, line)

    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = usual
        logger.setLevel(level)
        logger.removeHandler(handler)


def interruptible(command: Callable[..., Any]) -> Callable[..., Any]:
    """Make Ctrl-C end a command with the exit code that shells expect, 130; messages name the command's options."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> Any:
        import typer

        from plackett._base.errors import shell_options
        from plackett.cli.arguments import SHELL_OPTIONS

        try:
            with shell_options(SHELL_OPTIONS):
                return command(*args, **options)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(130) from None

    return run


def without_repeats(compute: Callable[[], Any]) -> Any:
    """Compute a result with ``doubts``, which its table shows, without warnings that say the same."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PlackettWarning)
        result = compute()
    for warning in caught:
        if str(warning.message) not in result.doubts.values():
            warnings.warn(warning.message, warning.category, stacklevel=2)
    return result


@contextmanager
def waiting(description: str) -> Iterator[None]:
    """On a terminal, show after two seconds what is running, and for how long."""
    if not sys.stderr.isatty():
        yield
        return
    ended, start = Event(), time.perf_counter()

    def show() -> None:
        if ended.wait(PATIENCE):
            return
        from rich.console import Console

        with Console(stderr=True).status(description) as status:
            while not ended.wait(0.5):
                minutes, seconds = divmod(int(time.perf_counter() - start), 60)
                status.update(f"{description} … {minutes}:{seconds:02d}")

    thread = Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
