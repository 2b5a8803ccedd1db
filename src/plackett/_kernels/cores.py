"""How many threads this process should use."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np

#: Variables that lower the number of threads: ours, and OpenMP's, which LightGBM, NumPy and PyTorch follow too.
_VARIABLES = ("PLACKETT_NUM_THREADS", "OMP_NUM_THREADS", "OMP_THREAD_LIMIT")


def n_threads(n_jobs: int | None = None) -> int:
    """Number of threads meant by ``n_jobs``: None or -1 means every core this process may use, -2 all but one.

    The cores are those that the system lets the process run on (affinity), no more than its share of processor time
    (the limit of a container), and no more than the environment variables ``PLACKETT_NUM_THREADS``,
    ``OMP_NUM_THREADS`` and ``OMP_THREAD_LIMIT`` say. A positive ``n_jobs`` is used unchanged.

    >>> n_threads(3)
    3
    """
    if n_jobs is not None and (not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None, a positive number or a negative one (-1 is all cores), got {n_jobs!r}")
    if n_jobs is not None and n_jobs > 0:
        return int(n_jobs)
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        cores = os.cpu_count() or 1
    cores = min(cores, _container_cores() or cores)
    for name in _VARIABLES:
        bound = os.environ.get(name, "").split(",")[0].strip()  # OMP_NUM_THREADS may list a number for each level
        if bound.isascii() and bound.isdigit() and len(bound) < 10 and int(bound) > 0:
            cores = min(cores, int(bound))
    return cores if n_jobs is None else max(1, cores + 1 + int(n_jobs))


@cache
def _container_cores(proc: str = "/proc/self/cgroup", root: str = "/sys/fs/cgroup") -> int | None:
    """Cores' worth of processor time that Linux's control groups grant, rounded up; None without a limit."""
    try:
        lines = Path(proc).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return None
    limits: list[float] = []
    for line in lines:
        _, kinds, path = [*line.split(":", 2), "", ""][:3]
        if kinds == "":  # version 2: one tree
            limits += [_quota_2(folder) for folder in _folders(Path(root), path)]
        elif "cpu" in kinds.split(","):
            for tree in ("cpu", kinds):
                limits += [_quota_1(folder) for folder in _folders(Path(root) / tree, path)]
    least = min(limits, default=np.inf)
    return max(1, int(np.ceil(least))) if np.isfinite(least) else None


def _folders(root: Path, path: str) -> list[Path]:
    """A group's folder and those above it: each may have a limit. In a container the root is the group itself."""
    group = root / path.strip("/")
    return [group, *(parent for parent in group.parents if parent.is_relative_to(root))]


def _quota_2(folder: Path) -> float:
    fields = _fields(folder / "cpu.max")
    return _cores(fields[0], fields[1]) if len(fields) == 2 else np.inf


def _quota_1(folder: Path) -> float:
    quota, period = _fields(folder / "cpu.cfs_quota_us"), _fields(folder / "cpu.cfs_period_us")
    return _cores(quota[0], period[0]) if quota and period else np.inf


def _fields(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except (OSError, UnicodeDecodeError):
        return []


def _cores(quota: str, period: str) -> float:
    """The limit; ``max`` or -1 means none."""
    if not (quota.isdigit() and period.isdigit()) or int(quota) == 0 or int(period) == 0:
        return np.inf
    return int(quota) / int(period)
