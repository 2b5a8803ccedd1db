"""``/metrics``: counts, latencies and drift for Prometheus."""

from __future__ import annotations

from plackett.serve.http import Deferred, Request, Response
from plackett.serve.service import Route, Service

_FORMAT = b"text/plain; version=0.0.4; charset=utf-8"


def metrics(service: Service, request: Request) -> Deferred:
    """The page that Prometheus reads."""
    return Deferred(lambda: Response(service.metrics.text(service.models, service.worker).encode(), _FORMAT))


ROUTES = [
    Route(
        "GET",
        "/metrics",
        metrics,
        "Counts, latencies, and drift of scores and features against training, for Prometheus.",
        answer={"text/plain": {"type": "string"}},
    )
]
