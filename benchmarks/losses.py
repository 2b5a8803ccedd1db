"""Value and gradient of losses against PyTorch and Rax: ``python benchmarks/losses.py``.

128 queries of 120 documents with 5 grades, on the processor. PyTorch gets the padded form that its users write (tensors
of queries × documents, pairs as queries × documents × documents, autograd); Rax runs under ``jax.jit``. Both compute in
float32, as is their custom; ours is float64 but for the lambdas. The tools take turns, so that a busy machine slows all
of them, and the best time of each counts. Gradients are compared before.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from _common import best_of, print_table

from plackett import RankingDataset
from plackett.losses import ApproxNDCGLoss, Lambda, ListNetLoss, Logistic

QUERIES, DOCUMENTS, GRADES = 128, 120, 5
TURNS = 5

Timed = Callable[[], np.ndarray]


def torch_losses(scores: np.ndarray, labels: np.ndarray) -> dict[str, Timed]:
    import torch

    y = torch.tensor(labels, dtype=torch.float32)
    better = (y[:, :, None] > y[:, None, :]).float()
    gains = 2.0**y - 1.0
    discount = 1.0 / torch.log2(torch.arange(DOCUMENTS, dtype=torch.float32) + 2.0)
    ideal = (gains.sort(dim=1, descending=True).values * discount).sum(dim=1)
    target = torch.softmax(y, dim=1)

    def pairs(s: Any) -> Any:
        return torch.nn.functional.softplus(-(s[:, :, None] - s[:, None, :]))

    def ranknet(s: Any) -> Any:
        return (better * pairs(s)).sum()

    def lambdarank(s: Any) -> Any:
        with torch.no_grad():
            rank = s.argsort(dim=1, descending=True).argsort(dim=1)
            d = discount[rank]
            delta = (gains[:, :, None] - gains[:, None, :]).abs() * (d[:, :, None] - d[:, None, :]).abs()
            weight = better * delta / ideal[:, None, None]
        return (weight * pairs(s)).sum()

    def approx_ndcg(s: Any) -> Any:
        ranks = 0.5 + torch.sigmoid(s[:, None, :] - s[:, :, None]).sum(dim=2)
        return (1.0 - (gains / torch.log2(1.0 + ranks)).sum(dim=1) / ideal).sum()

    def listnet(s: Any) -> Any:
        return -(target * torch.log_softmax(s, dim=1)).sum()

    def timed(loss: Any) -> Timed:
        s = torch.tensor(scores, dtype=torch.float32, requires_grad=True)

        def run() -> np.ndarray:
            value = loss(s)
            return torch.autograd.grad(value, s)[0].numpy()

        return run

    return {
        "RankNet": timed(ranknet),
        "LambdaRank": timed(lambdarank),
        "ApproxNDCG": timed(approx_ndcg),
        "ListNet": timed(listnet),
    }


def rax_losses(scores: np.ndarray, labels: np.ndarray) -> dict[str, Timed]:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    import jax
    import jax.numpy as jnp
    import rax

    y = jnp.asarray(labels, jnp.float32)
    s = jnp.asarray(scores, jnp.float32)

    def timed(loss: Any) -> Timed:
        step = jax.jit(jax.value_and_grad(loss))

        def run() -> np.ndarray:
            value, gradient = step(s, y)
            value.block_until_ready()
            return np.asarray(gradient.block_until_ready())

        return run

    change = partial(rax.dcg_lambdaweight, normalize=True)  # times the length of the list
    smooth = partial(rax.ndcg_metric, rank_fn=rax.utils.approx_ranks)  # what `rax.approx_t12n` makes of it
    pairs = partial(rax.pairwise_logistic_loss, reduce_fn=jnp.sum)
    return {
        "RankNet": timed(pairs),
        "LambdaRank": timed(lambda s, y: pairs(s, y, lambdaweight_fn=change) / DOCUMENTS),
        "ApproxNDCG": timed(lambda s, y: -smooth(s, y, reduce_fn=jnp.sum)),
        "ListNet": timed(lambda s, y: rax.softmax_loss(s, jax.nn.softmax(y, axis=1), reduce_fn=jnp.sum)),
    }


def our_losses(scores: np.ndarray, labels: np.ndarray, n_jobs: int | None) -> dict[str, Timed]:
    data = RankingDataset.from_arrays(None, labels.ravel(), np.repeat(np.arange(QUERIES), DOCUMENTS))
    flat = scores.ravel()

    def timed(loss: Any) -> Timed:
        bound = loss.bind(data, n_jobs=n_jobs)
        return lambda: bound.evaluate(flat)[1].reshape(scores.shape)

    return {
        "RankNet": timed(Logistic()),
        "LambdaRank": timed(Lambda(truncation=None, normalize=False)),
        "ApproxNDCG": timed(ApproxNDCGLoss()),
        "ListNet": timed(ListNetLoss()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to measure each loss with each tool")
    parser.add_argument("--threads", type=int, help="threads of plackett and PyTorch; all by default, as JAX has it")
    options = parser.parse_args()

    import torch

    if options.threads is not None:
        torch.set_num_threads(options.threads)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, GRADES, (QUERIES, DOCUMENTS)).astype(np.float64)
    scores = rng.normal(size=labels.shape)
    tools = {
        "plackett": our_losses(scores, labels, options.threads),
        "PyTorch": torch_losses(scores, labels),
        "Rax (jit)": rax_losses(scores, labels),
    }
    for name in tools["plackett"]:
        ours = tools["plackett"][name]()
        for tool, losses in tools.items():
            found = losses[name]()
            worst = np.abs(found - ours).max() / np.abs(ours).max()
            if worst > 1e-3:
                print(f"note: the gradient of {name} in {tool} differs by {worst:.1e} of the largest entry")
        best = dict.fromkeys(tools, np.inf)
        for _ in range(TURNS):
            for tool, losses in tools.items():
                time.sleep(0.05)  # until the threads of the tool before have stopped waiting for more
                end = time.perf_counter() + options.seconds / TURNS
                while time.perf_counter() < end:
                    best[tool] = min(best[tool], best_of(1, losses[name]))
        print_table(name, {tool: 1e3 * t for tool, t in best.items()}, "ms", larger_is_better=False)


if __name__ == "__main__":
    main()
