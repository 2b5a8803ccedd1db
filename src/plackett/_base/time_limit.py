"""A limit on the time of long work, set by whoever asks for it.

Work that lasts calls `check_time` now and then. Nothing happens there, unless the caller set a limit: then what the
limit raises ends the work. Threads that the work starts know the limit only if they run in a copy of its context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("plackett_time_limit", default=None)


@contextmanager
def time_limit(check: Callable[[], None]) -> Iterator[None]:
    """Have `check_time` call this function, which raises an error when the time is up.

    >>> def up():
    ...     raise TimeoutError("too late")
    >>> with time_limit(up):
    ...     check_time()
    Traceback (most recent call last):
        ...
    TimeoutError: too late
    """
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_time() -> None:
    """End the work, by an error, if its time is up."""
    check = _check.get()
    if check is not None:
        check()
