"""What can be set about the service."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from plackett._base.arguments import number
from plackett.serve.http import RefusedError

#: A table as single-precision numbers may be this many times as large as the largest body.
_WIDER = 4


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Limits, keys and intervals of the service.

    Parameters
    ----------
    max_body, max_documents
        Largest request body in bytes, before and after it is decompressed, and largest number of documents in a
        request; more is answered with 413.
    max_list
        Largest number of documents of one list, for a model that looks at the whole list: its time, and the memory of
        some, go with the square of it.
    max_other_columns
        Largest number of columns that an Arrow table may have besides the features.
    body_timeout
        Seconds within which a body must have arrived; later is answered with 408.
    score_timeout
        Seconds within which a large request or an explanation must be answered; later is answered with 503.
    max_waiting
        Number of large requests and explanations that may wait for a thread; more are answered with 503.
    api_keys
        Accepted keys. With none, everybody may ask. Health checks never need one.
    reload_interval
        Seconds between two looks at the model files; 0 never looks again.
    threads
        Threads that score large requests, and threads that one large request may use.
    access_log
        Log every request, not only failed ones.
    """

    max_body: int = 16 * 1024 * 1024
    max_documents: int = 100_000
    max_list: int = 5_000
    max_other_columns: int = 100
    body_timeout: float = 10.0
    score_timeout: float = 30.0
    max_waiting: int = 64
    api_keys: tuple[str, ...] = ()
    reload_interval: float = 1.0
    threads: int = 2
    access_log: bool = False

    def __post_init__(self) -> None:
        for name in (
            "max_body",
            "max_documents",
            "max_list",
            "body_timeout",
            "score_timeout",
            "max_waiting",
            "threads",
        ):
            number(name, getattr(self, name), above=0, most=inf, error=ValueError)
        if self.reload_interval < 0:
            raise ValueError(f"reload_interval={self.reload_interval}; give seconds, or 0 to never look again")
        if any(not key for key in self.api_keys):
            raise ValueError("an API key is empty")

    def check_size(self, n_documents: int, n_features: int = 1) -> None:
        """Refuse more documents than are accepted, and tables that came in a short form and are long as numbers."""
        if n_documents > self.max_documents:
            raise RefusedError(413, f"{n_documents} documents; at most {self.max_documents} are accepted")
        size, most = 4 * n_documents * n_features, _WIDER * self.max_body
        if size > most:
            raise RefusedError(
                413, f"{n_documents} documents of {n_features} features take {size} bytes; {most} are accepted"
            )
