"""GPU memory of list-aware networks by the length of the lists, with a fixed number of lists per batch.

    python benchmarks/list_memory.py [--lengths 250 500 1000 2000] [--lists 16]

Memory that is linear in the length doubles from row to row; attention over all pairs of a list would be four times as
much. Needs numpy, scipy, numba, scikit-learn, rich and torch with CUDA.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.listnet import ListNetLoss
from plackett.models.networks.neural import Neural
from plackett.solvers.monitor import Monitor


def lists(n: int, length: int, d: int = 136) -> RankingDataset:
    """Lists of one length."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n * length, d)).astype(np.float32)
    return RankingDataset.from_arrays(X, rng.integers(0, 5, n * length), group=np.full(n, length))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", nargs="+", type=int, default=[250, 500, 1000, 2000])
    parser.add_argument("--lists", type=int, default=16, help="lists in all, and in each batch")
    parser.add_argument("--architectures", nargs="+", default=["mlp", "attention", "set"])
    parser.add_argument("--epochs", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{'architecture':<14}{'length':>8}{'peak MiB':>12}{'ratio':>8}{'documents/s':>14}")
    for name in arguments.architectures:
        before = 0.0
        for length in arguments.lengths:
            data = lists(arguments.lists, length)
            model = Neural(architecture=name, max_epochs=arguments.epochs, batch_size=arguments.lists, device="cuda")
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            start = time.perf_counter()
            model.train(ListNetLoss(), data, Monitor())
            torch.cuda.synchronize()
            seconds = time.perf_counter() - start
            peak = torch.cuda.max_memory_allocated() / 2**20
            ratio = f"{peak / before:.2f}" if before else "–"
            print(f"{name:<14}{length:>8}{peak:>12.0f}{ratio:>8}{arguments.epochs * data.n_rows / seconds:>14,.0f}")
            before = peak


if __name__ == "__main__":
    main()
