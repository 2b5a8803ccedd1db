"""What the benchmarks share: timing, memory, a table of ratios."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any


def best_of(n: int, function: Callable[[], Any]) -> float:
    """Shortest of ``n`` wall clock times of a call, in seconds."""
    times = []
    for _ in range(n):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def anonymous_bytes() -> int:
    """Memory of this process that no file backs (Linux)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("this system does not tell RssAnon")


def peak_growth(function: Callable[[], Any]) -> tuple[Any, int]:
    """Result of a call and the largest growth of anonymous memory while it ran, looked at every millisecond."""
    done = threading.Event()
    peak = before = anonymous_bytes()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.001):
            peak = max(peak, anonymous_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        result = function()
    finally:
        done.set()
        watcher.join()
    return result, max(peak, anonymous_bytes()) - before


def print_table(header: str, rows: dict[str, float], unit: str, *, larger_is_better: bool = True) -> None:
    """Print one figure per tool and its ratio to the first one, which is ours (above 1: ours is better)."""
    ours = next(iter(rows.values()))
    print(header)
    for name, value in rows.items():
        ratio = ours / value if larger_is_better else value / ours
        print(f"  {name:<28} {value:>12,.2f} {unit:<8} ratio {ratio:>7.2f}")
