"""Logs of the service: one JSON object per line on stderr."""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from typing import Any, TextIO

LOGGER = logging.getLogger("plackett.serve")


class JsonLines(logging.Formatter):
    """A record as one line of JSON: time, level, message, and what was given as ``extra={"fields": …}``.

    ``always`` is in every line.
    """

    def __init__(self, **always: Any) -> None:
        super().__init__()
        self.always = always

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        entry: dict[str, Any] = {
            "time": f"{now}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        entry |= self.always | getattr(record, "fields", {})
        if record.exc_info:
            entry["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(entry, ensure_ascii=False, default=str)


def event(message: str, level: int = logging.INFO, *, error: bool = False, **fields: Any) -> None:
    """Log what happened."""
    LOGGER.log(level, message, extra={"fields": fields}, exc_info=error)


def log_to(stream: TextIO | None = None, **always: Any) -> None:
    """Send the service's log, and that of the HTTP server below it, to a stream as JSON; see `JsonLines`."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines(**always))
    for name, level in (
        ("plackett.serve", logging.INFO),
        ("uvicorn", logging.WARNING),
        ("uvicorn.error", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = ([handler] if name != "uvicorn.error" else []), name == "uvicorn.error"
        logger.setLevel(level)
