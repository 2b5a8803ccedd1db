"""PageRank of a graph of ten million links, next to a plain power iteration with SciPy.

python benchmarks/links.py [--links 10000000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from plackett.graph import LinkGraph, pagerank


def plain(source: np.ndarray, target: np.ndarray, n: int, tol: float) -> np.ndarray:
    """What one would write with SciPy alone."""
    links = sp.csr_array((np.ones(source.size), (source, target)), (n, n))
    links.data[:] = 1.0
    out = links.sum(axis=1)
    dangling = out == 0
    walk = (sp.diags_array(np.where(dangling, 0.0, 1.0 / np.where(dangling, 1.0, out))) @ links).T.tocsr()
    x = np.full(n, 1.0 / n)
    while True:
        new = 0.85 * (walk @ x + x[dangling].sum() / n) + 0.15 / n
        if np.abs(new - x).sum() < tol:
            return new
        x = new


def cpu(function: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU seconds, seconds on the clock, result."""
    start, clock = time.process_time(), time.perf_counter()
    found = function()
    return time.process_time() - start, time.perf_counter() - clock, found


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=10_000_000)
    options = parser.parse_args()
    n = options.links // 10
    rng = np.random.default_rng(0)
    source = (n * rng.random(options.links) ** 2).astype(np.int32)
    target = (n * rng.random(options.links) ** 3).astype(np.int32)
    pagerank(LinkGraph.from_arrays(source[:1000], target[:1000], n))  # compiles
    theirs = cpu(lambda: plain(source, target, n, 1e-10))
    print(f"{options.links} links, {n} pages, to 1e-10, graph built from arrays of edges")
    print(f"plain SciPy: CPU {theirs[0]:.2f} s, {theirs[1]:.2f} s")
    for solver in ("power", "extrapolation", "gauss-seidel"):
        ours = cpu(lambda s=solver: pagerank(LinkGraph.from_arrays(source, target, n), solver=s, n_jobs=1))
        print(
            f"{solver}: CPU {ours[0]:.2f} s ({ours[0] / theirs[0]:.2f} × SciPy), {ours[1]:.2f} s, "
            f"largest difference {np.abs(ours[2] - theirs[2]).max():.1e}"
        )


if __name__ == "__main__":
    main()
