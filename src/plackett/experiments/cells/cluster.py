"""Compute cells on the workers of a Dask cluster."""

from __future__ import annotations

import traceback
from collections.abc import Generator
from typing import Any

from plackett._names.optional import optional
from plackett.experiments.cells.task import CellTask
from plackett.experiments.cells.worker import Packed, define_measures
from plackett.experiments.cells.workers import custom_measures, packed

#: How often a cell is tried again after its worker was lost.
_RETRIES = 2


def run_on_cluster(
    tasks: list[CellTask], client: Any, n_jobs: int
) -> Generator[tuple[CellTask, tuple[Any, ...]], None, None]:
    """Run tasks on a cluster with ``n_jobs`` threads each, and yield how they ended, in any order.

    Messages are those of `run_in_processes`. A cell whose worker is lost is computed again on another one; one that
    keeps losing its workers has failed.
    """
    distributed = optional("distributed", "experiments on a cluster need")
    measures = packed(custom_measures())
    running = {
        client.submit(_compute, measures, packed(task), n_jobs, pure=False, retries=_RETRIES): task for task in tasks
    }
    try:
        for task in tasks:
            yield task, ("begun",)
        for future in distributed.as_completed(list(running)):
            yield running[future], _ending(future)
    finally:
        client.cancel(list(running))


def _ending(future: Any) -> tuple[Any, ...]:
    try:
        message: tuple[Any, ...] = future.result()
    except Exception as error:  # the worker died again and again, or cannot open the folder or import the ranker
        line = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return "failed", f"no worker of the cluster could compute the cell: {line}", ""
    return message


def _compute(measures: Packed, task: Packed, n_jobs: int) -> tuple[Any, ...]:
    """Compute a cell; its files are in the folder of the experiment then."""
    try:
        define_measures(measures())
        task().run(n_jobs, lambda number, best: None)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {' '.join(str(error).split())}", traceback.format_exc()
    return ("done",)
