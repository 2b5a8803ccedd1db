"""Rows on their way into a network: cut into blocks, mapped, and on the device."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from plackett.models._torch import load_torch
from plackett.models.networks.base import Network
from plackett.models.networks.features import FeatureMap, dense_rows
from plackett.models.networks.lists import Lists

__all__ = ["Feed", "batches_to_train", "scores_of"]

#: Rows that are scored at once, and places of padded tables: what bounds the memory of one step.
_BLOCK_ROWS = 8192
MAX_PLACES = 65_536
#: Blocks of rows are filled up to a multiple of this: matrix products then go through the same code for each row,
#: and a document's score does not depend on the rows beside it.
_ROUND = 64


class Feed:
    """The features of a dataset in blocks, each ready for the network.

    Parameters
    ----------
    sizes
        Lengths of the lists in each block.
    order
        Row of ``X`` for each row of the blocks.
    keep
        Map all features at once and keep them on the device, if there is room: for those who come back each epoch.
    """

    def __init__(
        self, X: Any, order: np.ndarray, sizes: list[np.ndarray], features: FeatureMap, device: Any, *,
        lists: bool, keep: bool,
    ) -> None:  # fmt: skip
        self.X, self.order, self.device = X, order, device
        self.features = features.on(device)
        self.cuts = np.concatenate(([0], np.cumsum([part.sum() for part in sizes]))).astype(np.int64)
        self.sizes = sizes
        self.with_lists = lists
        self.kept: Any = None
        self.lists: dict[int, Lists] = {}
        self.keep = keep
        if keep and isinstance(X, np.ndarray) and X.nbytes < 0.4 * _room(device):
            self.kept = self._gather_all()

    def __len__(self) -> int:
        return len(self.sizes)

    def block(self, i: int) -> tuple[Any, Lists | None]:
        """Rows of a block, mapped, and the lists that they form where the network looks at lists."""
        lo, hi = int(self.cuts[i]), int(self.cuts[i + 1])
        rows = self._mapped(lo, hi) if self.kept is None else self.kept[lo:hi]
        if not self.with_lists:
            return rows, None
        lists = self.lists.get(i)
        if lists is None:
            lists = Lists.of(self.sizes[i], self.device)
            if self.keep:
                self.lists[i] = lists
        return rows, lists

    def _mapped(self, lo: int, hi: int) -> Any:
        rows = np.ascontiguousarray(dense_rows(self.X, self.order[lo:hi]), np.float32)
        return self.features(load_torch().from_numpy(rows).to(self.device))

    def _gather_all(self) -> Any:
        n = self.order.size
        kept = load_torch().empty((n, self.X.shape[1]), dtype=load_torch().float32, device=self.device)
        for lo in range(0, n, MAX_PLACES):
            hi = min(lo + MAX_PLACES, n)
            kept[lo:hi] = self._mapped(lo, hi)
        return kept


def _room(device: Any) -> float:
    """Memory of the device in bytes: what is free on CUDA, what there is on the host."""
    if device.type == "cuda":
        return float(load_torch().cuda.mem_get_info(device)[0])
    if hasattr(os, "sysconf"):
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return float(2**33)  # Windows does not tell; 8 GB is what the smallest machines have


# ------------------------------------------------------------------------------------------------------------- blocks


def batches_to_train(group: np.ndarray, size: int, list_aware: bool, rng: np.random.Generator) -> list[np.ndarray]:
    """Numbers of the queries in each training batch.

    At random for networks that look at one document at a time. For list-aware ones queries of similar length come
    together, so that little is padded, and fewer than ``size`` of them where they are very long.
    """
    shuffled = rng.permutation(group.size)
    if not list_aware:
        return [shuffled[start : start + size] for start in range(0, group.size, size)]
    return _by_length(shuffled[np.argsort(-group[shuffled], kind="stable")], group, size)


def _by_length(queries: np.ndarray, group: np.ndarray, size: int) -> list[np.ndarray]:
    """Cut queries, given from long to short, into runs whose padded table is not too large."""
    batches, start = [], 0
    while start < queries.size:
        longest = max(int(group[queries[start]]), 1)
        end = start + max(1, min(size, MAX_PLACES // longest))
        batches.append(queries[start:end])
        start = end
    return batches


def scoring_feed(
    network: Network, features: FeatureMap, X: Any, offsets: np.ndarray, device: Any, *, keep: bool
) -> Feed:  # fmt: skip
    """The blocks in which a dataset is scored."""
    n = X.shape[0]
    if not network.list_aware:
        lows = np.arange(0, n, _BLOCK_ROWS)
        sizes = [np.array([min(_BLOCK_ROWS, n - low)]) for low in lows]
        return Feed(X, np.arange(n), sizes, features, device, lists=False, keep=keep)
    group = np.diff(offsets)
    queries = _by_length(np.argsort(-group, kind="stable"), group, max(group.size, 1))
    return Feed(X, rows_of(np.concatenate(queries), offsets), [group[q] for q in queries], features, device,
                lists=True, keep=keep)  # fmt: skip


def rows_of(queries: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Numbers of the rows of these queries, one query after another."""
    sizes = np.diff(offsets)[queries]
    starts = np.cumsum(sizes) - sizes
    return np.arange(sizes.sum()) + np.repeat(offsets[queries] - starts, sizes)


def scores_of(network: Network, weights: dict[str, Any], feed: Feed) -> np.ndarray:
    """Outputs for all rows of a feed, (rows × outputs) in the order of its ``X``."""
    torch = load_torch()
    out = np.empty((feed.order.size, network.n_outputs))
    with torch.inference_mode():
        parts = []
        for i in range(len(feed)):
            rows, lists = feed.block(i)
            n = rows.shape[0]
            if lists is None and n % _ROUND:
                rows = torch.cat([rows, rows.new_zeros((-n % _ROUND, rows.shape[1]))])
            parts.append(network.scores(weights, rows, lists, False)[:n])
        if parts:
            out[feed.order] = torch.cat(parts).to("cpu", torch.float64).numpy()
    return out
