"""The time that a request may take."""

from __future__ import annotations

import math
import time

from plackett.serve.http import RefusedError

#: Header of an answer that may be different a little later.
RETRY = ((b"retry-after", b"1"),)


class Deadline:
    """The end of a request's time.

    Parameters
    ----------
    seconds
        From now on; infinity for no end.

    Examples
    --------
    >>> deadline = Deadline(30)
    >>> deadline.check()
    >>> deadline.end()
    >>> deadline.check()
    Traceback (most recent call last):
        ...
    plackett.serve.http.RefusedError: the answer was not ready within 30 seconds
    """

    __slots__ = ("_end", "seconds")

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds, self._end = seconds, time.monotonic() + seconds

    def check(self) -> None:
        """Raise the refusal (503) that the client gets, once the time is up."""
        if time.monotonic() >= self._end:
            raise self.refusal()

    def end(self) -> None:
        """The time is up now: nobody waits for the answer any more."""
        self._end = -math.inf

    def refusal(self) -> RefusedError:
        """What the client is told."""
        return RefusedError(503, f"the answer was not ready within {self.seconds:g} seconds", RETRY)
