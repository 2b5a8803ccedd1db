"""Work that ends badly, or says where it is. Every process that does it imports this file, which imports little."""

from __future__ import annotations

import os
import signal
import time

from plackett._base.errors import DataError


def dies(shard, number):
    """Wait for the others, but for one that is killed."""
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def fails_as_another_died(shard, number):
    if number == 1:
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    raise ConnectionError("the other one is gone")


def fails(shard, number):
    if number == 0:
        raise DataError("a bad label")
    time.sleep(60)


def kills_the_worker(shard, number):
    """Kill the worker that this process belongs to."""
    if number:
        os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def rows_and_worker(shard, number):
    """Size of the shard, and the worker that this process belongs to."""
    return shard.n_rows, os.getppid()
