"""Training speed of neural models against the same networks in plain, padded PyTorch.

    python benchmarks/neural.py [--device cpu|cuda] [--lists 120 1000] [--rows 60000] [--epochs 3] [--threads N]

Both train the same network with the same loss, optimiser and batch size on the same lists of unequal length. The plain
version does what is usually written: lists padded to the longest of their batch, a padded loss with a mask (for pairs
a table of documents × documents), automatic differentiation, everything prepared on the device before the clock runs.
Epochs of the two alternate in one process. Needs numpy, scipy, numba, scikit-learn, rich and torch.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from torch import nn

from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.listnet import ListNetLoss
from plackett.losses.pairwise.logistic import Logistic
from plackett.models.networks.neural import Neural
from plackett.solvers.monitor import Monitor

WIDTH, HEADS = 128, 4


def ragged_lists(mean: int, rows: int, d: int = 136) -> RankingDataset:
    """Lists whose lengths have the given mean and a standard deviation of half of it."""
    rng = np.random.default_rng(0)
    group = np.maximum(rng.gamma(4.0, mean / 4.0, max(rows // mean, 8)), 2).astype(np.int64)
    X = rng.standard_normal((group.sum(), d)).astype(np.float32)
    latent = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(group.sum())
    return RankingDataset.from_arrays(X, np.digitize(latent, [0.0, 1.0, 2.0, 3.0]), group=group)


# --------------------------------------------------------------------------------------------------- plain PyTorch


class Multilayer(nn.Module):
    """Three normalised layers, the last two with skip connections."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(d if i == 0 else WIDTH, WIDTH) for i in range(3)])
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(3)])
        self.output = nn.Linear(WIDTH, 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Outputs from features (lists × places × features) and a mask of real places."""
        for i, (layer, norm) in enumerate(zip(self.layers, self.norms, strict=True)):
            new = norm(layer(x)).relu()
            x = x + new if i else new
        return self.output(x).squeeze(-1)


class Encoder(nn.Module):
    """One layer of self-attention with normalisation before each part."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.look, self.mix = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.widen, self.narrow = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Outputs from features (lists × places × features) and a mask of real places."""
        lists, places, _ = x.shape
        table = self.look(self.norm1(x)).view(lists, places, 3, HEADS, WIDTH // HEADS)
        query, key, value = table.permute(2, 0, 3, 1, 4).unbind(0)
        seen = nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        x = x + self.mix(seen.transpose(1, 2).reshape(lists, places, WIDTH))
        return x + self.narrow(self.widen(self.norm2(x)).relu())


class Attention(nn.Module):
    """A normalised layer, two encoder layers, an output."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.layer, self.norm = nn.Linear(d, WIDTH), nn.LayerNorm(WIDTH)
        self.encoders = nn.ModuleList([Encoder(), Encoder()])
        self.last, self.output = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Outputs from features (lists × places × features) and a mask of real places."""
        x = self.norm(self.layer(x)).relu()
        for encoder in self.encoders:
            x = encoder(x, mask)
        return self.output(self.last(x)).squeeze(-1)


def listnet(scores: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    target = y.masked_fill(~mask, -torch.inf).softmax(1)
    return -(target * scores.masked_fill(~mask, -1e9).log_softmax(1)).sum(1).mean()


def ranknet(scores: torch.Tensor, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    better = (y[:, :, None] > y[:, None, :]) & mask[:, :, None] & mask[:, None, :]
    terms = nn.functional.softplus(scores[:, None, :] - scores[:, :, None])
    return (terms * better).sum((1, 2)).mean()


class Plain:
    """A padded training loop."""

    def __init__(self, module: type[nn.Module], loss, data: RankingDataset, batch: int, device: str) -> None:
        self.loss, self.device = loss, device
        self.module = module(data.n_features).to(device)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-3, fused=True)
        X = np.copysign(np.log1p(np.abs(data.X)), data.X)
        X = (X - X.mean(0)) / X.std(0)
        self.batches = []
        order = np.random.default_rng(0).permutation(data.n_queries)
        for start in range(0, data.n_queries, batch):
            queries = order[start : start + batch]
            mask = np.arange(data.group[queries].max()) < data.group[queries][:, None]
            rows = np.concatenate([np.arange(data.offsets[q], data.offsets[q + 1]) for q in queries])
            table, y = np.zeros((*mask.shape, data.n_features), np.float32), np.zeros(mask.shape, np.float32)
            table[mask], y[mask] = X[rows], data.y[rows]
            self.batches.append(tuple(torch.from_numpy(a).to(device) for a in (table, y, mask)))

    def epoch(self) -> float:
        """Seconds of one pass over the data."""
        start = time.perf_counter()
        for i in torch.randperm(len(self.batches)).tolist():
            x, y, mask = self.batches[i]
            self.optimizer.zero_grad(set_to_none=True)
            self.loss(self.module(x, mask), y, mask).backward()
            nn.utils.clip_grad_norm_(self.module.parameters(), 1.0)
            self.optimizer.step()
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start


# ------------------------------------------------------------------------------------------------------ side by side


class Alternate(Monitor):
    """Times our epochs, and lets the plain version have one after each of ours."""

    def __init__(self, plain: Plain, threads: int) -> None:
        super().__init__()
        self.plain, self.threads = plain, threads
        self.ours, self.theirs = [], []
        self.mark = 0.0

    def start(self, rounds: int, what: str) -> None:
        """Our first epoch begins."""
        self.mark = time.perf_counter()

    def update(self, scores: np.ndarray | None = None) -> bool:
        """Our epoch has ended: now theirs."""
        if self.plain.device == "cuda":
            torch.cuda.synchronize()
        self.ours.append(time.perf_counter() - self.mark)
        ours = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        self.theirs.append(self.plain.epoch())
        torch.set_num_threads(ours)
        self.mark = time.perf_counter()
        return False


def measure(architecture: str, loss: str, mean: int, args: argparse.Namespace) -> None:
    data = ragged_lists(mean, args.rows)
    batch = max(4, 32 * 120 // mean)
    module = {"mlp": Multilayer, "attention": Attention}[architecture]
    own, padded = {"ListNet": (ListNetLoss(), listnet), "RankNet": (Logistic(), ranknet)}[loss]
    plain = Plain(module, padded, data, batch, args.device)
    monitor = Alternate(plain, torch.get_num_threads())
    hidden = (WIDTH,) * 3 if architecture == "mlp" else (WIDTH,)
    model = Neural(
        architecture=architecture, hidden=hidden, n_heads=HEADS, n_layers=2, dropout=0.0, batch_size=batch,
        max_epochs=args.epochs + 1, device=args.device, n_jobs=args.threads,
    )  # fmt: skip
    model.train(own, data, monitor)
    ours, theirs = (data.n_rows / min(times[1:]) for times in (monitor.ours, monitor.theirs))  # the first warms up
    places = sum(mask.numel() for *_, mask in plain.batches) / data.n_rows
    print(
        f"{architecture:<10} {loss:<8} lists of {mean:>5}: plackett {ours:>11,.0f} docs/s   "
        f"padded {theirs:>11,.0f} docs/s (x{places:.2f} places)   ratio {ours / theirs:6.2f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=["cpu", "cuda"])
    parser.add_argument("--lists", type=int, nargs="+", default=[120, 1000], help="mean lengths of the lists")
    parser.add_argument("--rows", type=int, default=60_000, help="documents over all lists")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--threads", type=int, help="threads of both; all cores by default")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    print(f"torch {torch.__version__}, {args.device}, {torch.get_num_threads()} threads")
    for architecture in ("mlp", "attention"):
        for loss in ("ListNet", "RankNet"):
            for mean in args.lists:
                measure(architecture, loss, mean, args)


if __name__ == "__main__":
    main()
