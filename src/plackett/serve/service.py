"""What requests are answered from, and the routes: functions of the service and a request."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from plackett._base.errors import DataError
from plackett.serve.http import Deferred, Request, Response
from plackett.serve.logs import event
from plackett.serve.metrics import Metrics
from plackett.serve.numbers import warm_up
from plackett.serve.settings import Settings
from plackett.serve.store import ModelStore
from plackett.serve.worker import Worker

_LEVELS = {"failed": logging.ERROR, "skipped": logging.WARNING}


@dataclass(frozen=True)
class Route:
    """A path and a method, the function that answers, and its description for ``/openapi.json``.

    Parts of the path in braces are handed over in `Request.values`.
    """

    method: str
    path: str
    handle: Callable[[Service, Request], Response | Deferred]
    summary: str
    #: Whether it is answered without a key, and before the models are ready.
    open: bool = False
    #: Whether the answer waits for the models.
    needs_models: bool = False
    #: Media type to schema, of the body and of the answer.
    body: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=lambda: {"application/json": {"type": "object"}})
    query: dict[str, str] = field(default_factory=dict)
    #: Error statuses besides those of every route.
    statuses: tuple[int, ...] = ()


class Service:
    """Models, settings and counts, whatever the requests come in by."""

    def __init__(
        self, models: ModelStore, settings: Settings | None, routes: Iterable[Route], worker: Worker | None
    ) -> None:
        self.models, self.settings, self.routes, self.worker = models, settings or Settings(), list(routes), worker
        #: Whether the service is about to stop, and whether every answer is the last one of its connection.
        self.draining = self.stopping = False
        #: Whether the process serves and does nothing else; see `settle`.
        self.owns_process = False
        self.metrics = Metrics(frozenset(route.path for route in self.routes if route.open))
        if worker is not None:
            self.metrics.resume(worker)

    @property
    def ready(self) -> bool:
        """Whether there are models, loaded and warm, in all workers, and the service is not about to stop."""
        if not self.models.ready or self.draining:
            return False
        if self.worker is None:
            return True
        published = self.worker.published()
        return len(published) == self.worker.workers and all(counted["ready"] for counted in published.values())

    def refresh(self) -> None:
        """Check the model files once; called at intervals, and in tests."""
        ready = self.models.ready
        try:
            if not ready:
                warm_up()
            changes = self.models.refresh()
        except (OSError, DataError) as error:
            event("model files cannot be listed", logging.ERROR, reason=str(error))
            self.metrics.reloads["failed"] += 1
            return
        for change in changes:
            self.metrics.reloads[change.what] += 1
            level = _LEVELS.get(change.what, logging.INFO)
            source, fields = change.source, dict[str, Any]()
            fields |= {"model": source.name, "version": source.version, "path": str(source.path)}
            fields |= {"reason": change.reason}
            event(f"model {change.what}", level, **{name: value for name, value in fields.items() if value})
        served = sorted({model.name for model in self.models.all()} | {*self.models.engines})
        if served and not ready and self.owns_process:
            settle()
        self.models.looked = True
        if served and not ready:
            event("ready", models=served, missing=sorted({source.name for source in self.models.failed} - {*served}))


def settle() -> None:
    """Tell the garbage collector that what is loaded stays: libraries, kernels, models.

    A full collection looks at some 70,000 objects and takes tens of milliseconds, during which no request is answered.
    It happens every few thousand requests. Frozen objects are skipped; models are freed by their reference count.
    """
    gc.collect()
    gc.freeze()
