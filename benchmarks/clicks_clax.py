"""CLAX (`clax-models`) on the arrays of a log, epoch by epoch: called by ``benchmarks/clicks.py peers``.

    python benchmarks/clicks_clax.py ARRAYS.npz MODEL EPOCHS RATE

Runs in an environment with jax 0.7 and CLAX, without plackett. Prints one JSON object per epoch: CPU seconds of
training so far (compiling and scoring left out), and the held-out loss; it stops when the loss rises.
"""

from __future__ import annotations

import json
import sys
import time

import clax
import jax
import numpy as np
import optax
from flax import nnx

BATCH = 512


def batches(pairs: np.ndarray, clicks: np.ndarray, order: np.ndarray) -> list[dict[str, np.ndarray]]:
    positions = np.broadcast_to(np.arange(1, pairs.shape[1] + 1), (BATCH, pairs.shape[1]))
    mask = np.ones((BATCH, pairs.shape[1]), bool)
    clicks = clicks.astype(np.float32)
    parts = np.split(order[: order.size // BATCH * BATCH], order.size // BATCH)
    return [
        {"positions": positions, "query_doc_ids": pairs[part], "clicks": clicks[part].astype(np.float32), "mask": mask}
        for part in parts
    ]


def main() -> None:
    path, name, epochs, rate = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    arrays = np.load(path)
    n_pairs, positions = int(arrays["n_pairs"]), arrays["train_pairs"].shape[1]
    sizes = {"query_doc_pairs": n_pairs, "rngs": nnx.Rngs(42)}
    made = {
        "PBM": lambda: clax.PositionBasedModel(positions=positions, **sizes),
        "UBM": lambda: clax.UserBrowsingModel(positions=positions, **sizes),
        "DBN": lambda: clax.DynamicBayesianNetwork(**sizes),
    }
    model = made[name]()
    trainer = clax.Trainer(optimizer=optax.adamw(rate), epochs=1)
    optimizer = nnx.ModelAndOptimizer(model, trainer.optimizer)
    metrics = clax.trainer.MultiMetric({"loss": clax.trainer.Average("loss")})
    held_out = batches(arrays["test_pairs"], arrays["test_clicks"], np.arange(len(arrays["test_pairs"])))
    rng, seconds, best = np.random.default_rng(0), 0.0, np.inf

    @nnx.jit
    def loss_of(model: nnx.Module, batch: dict[str, np.ndarray]) -> jax.Array:
        return model.compute_loss(batch).mean()

    trainer._train_step(model, optimizer, metrics, held_out[0])  # compiles
    for epoch in range(1, epochs + 1):
        start = time.process_time()
        for batch in batches(
            arrays["train_pairs"], arrays["train_clicks"], rng.permutation(len(arrays["train_pairs"]))
        ):
            trainer._train_step(model, optimizer, metrics, batch)
        jax.block_until_ready(nnx.state(model))
        seconds += time.process_time() - start
        loss = float(np.mean([loss_of(model, batch) for batch in held_out]))
        print(json.dumps({"epoch": epoch, "seconds": seconds, "loss": loss}), flush=True)
        if loss > best:
            break
        best = loss


if __name__ == "__main__":
    main()
