"""``/metrics``: counts, latencies and drift for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett.serve.http import Deferred, Request, Response, Route

if TYPE_CHECKING:
    from plackett.serve.application import Application

_FORMAT = b"text/plain; version=0.0.4; charset=utf-8"


def metrics(app: Application, request: Request) -> Deferred:
    """The page that Prometheus reads."""
    return Deferred(lambda: Response(app.metrics.text(app.models, app.worker).encode(), _FORMAT))


ROUTES = [
    Route(
        "GET",
        "/metrics",
        metrics,
        "Counts, latencies, and drift of scores and features against training, for Prometheus.",
        answer={"text/plain": {"type": "string"}},
    )
]
