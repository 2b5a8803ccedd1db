"""Rows on their way into a network: cut into blocks, mapped, and on the device."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from plackett._kernels.torch_threads import Spread, load_torch
from plackett.scorers.networks.base import Network
from plackett.scorers.networks.blocks import MOST_SLOTS, cut_by_length, rows_at_once, rows_of
from plackett.scorers.networks.features import FeatureMap, dense_rows
from plackett.scorers.networks.lists import Lists


class Feed:
    """The features of a dataset in blocks, each ready for the network.

    Parameters
    ----------
    order
        Row of ``X`` for each row of the blocks; `cut` changes it.
    sizes
        Lengths of the lists in each block.
    lists
        Whether the network wants to know the lists.
    keep
        Map all features at once and keep them on the device if there is room, for use in every epoch.
    """

    def __init__(
        self,
        X: Any,
        order: np.ndarray,
        sizes: list[np.ndarray],
        features: FeatureMap,
        device: Any,
        *,
        lists: bool,
        keep: bool,
    ) -> None:
        self.X, self.device = X, device
        self.features = features.on(device)
        self.with_lists = lists
        self.kept: Any = None
        self.keep = keep
        self.cut(order, sizes)
        if keep and isinstance(X, np.ndarray) and X.nbytes < 0.4 * _free_bytes(device):
            self.kept = self._gather_all()

    def cut(self, order: np.ndarray, sizes: list[np.ndarray]) -> None:
        """Cut the rows into other blocks."""
        self.order, self.sizes = order, sizes
        self.cuts = np.concatenate(([0], np.cumsum([part.sum() for part in sizes]))).astype(np.int64)
        self.lists: dict[int, Lists] = {}

    def __len__(self) -> int:
        return len(self.sizes)

    def block(self, i: int) -> tuple[Any, Lists | None]:
        """Rows of a block, mapped, and the lists that they form where the network looks at lists."""
        lo, hi = int(self.cuts[i]), int(self.cuts[i + 1])
        order = self.order[lo:hi]
        rows = self._mapped(order) if self.kept is None else self.kept[load_torch().from_numpy(order).to(self.device)]
        if not self.with_lists:
            return rows, None
        lists = self.lists.get(i)
        if lists is None:
            lists = Lists.of(self.sizes[i], self.device)
            if self.keep:
                self.lists[i] = lists
        return rows, lists

    def _mapped(self, order: np.ndarray) -> Any:
        rows = np.ascontiguousarray(dense_rows(self.X, order), np.float32)
        return self.features(load_torch().from_numpy(rows).to(self.device))

    def _gather_all(self) -> Any:
        """All rows, mapped, and a last one of zeros for slots that no document takes."""
        n = self.X.shape[0]
        kept = load_torch().zeros((n + 1, self.X.shape[1]), dtype=load_torch().float32, device=self.device)
        for lo in range(0, n, MOST_SLOTS):
            hi = min(lo + MOST_SLOTS, n)
            kept[lo:hi] = self._mapped(np.arange(lo, hi))
        return kept


def _free_bytes(device: Any) -> float:
    """Memory of the device in bytes: free memory on CUDA, total memory on the host."""
    if device.type == "cuda":
        return float(load_torch().cuda.mem_get_info(device)[0])
    if hasattr(os, "sysconf"):
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    return float(2**33)  # Windows does not tell; 8 GB is what the smallest machines have


# ------------------------------------------------------------------------------------------------------------ scoring


def scoring_feed(
    network: Network, features: FeatureMap, X: Any, offsets: np.ndarray, device: Any, *, keep: bool
) -> Feed:
    """The blocks in which a dataset is scored."""
    n, most = X.shape[0], rows_at_once(device)
    if not network.list_aware:
        sizes = [np.array([min(most, n - low)]) for low in range(0, n, most)]
        return Feed(X, np.arange(n), sizes, features, device, lists=False, keep=keep)
    group = np.diff(offsets)
    queries = cut_by_length(np.argsort(-group, kind="stable"), group, most)
    sizes = [group[part] for part in queries]
    return Feed(X, rows_of(queries, offsets), sizes, features, device, lists=True, keep=keep)


def scores_of(network: Network, weights: dict[str, Any], feed: Feed, spread: Spread) -> np.ndarray:
    """Outputs for all rows of a feed, (rows × outputs) in the order of its ``X``.

    On the CPU in double precision, then rounded to single: sums depend slightly on the position of a row in a block and
    on its neighbours, and rounding removes that. Equal documents get equal scores.
    """
    torch = load_torch()
    dtype = torch.float64 if feed.device.type == "cpu" else torch.float32
    weights = {name: tensor.detach().to(dtype) for name, tensor in weights.items()}

    def score(i: int) -> Any:
        with torch.inference_mode():
            rows, lists = feed.block(i)
            if rows.shape[0] == 0:
                return rows.new_empty((0, network.n_outputs))
            return network.scores(weights, rows.to(dtype), lists).float()

    out = np.empty((feed.order.size, network.n_outputs))
    if out.size:
        out[feed.order] = torch.cat(spread(score, range(len(feed)))).to("cpu", torch.float64).numpy()
    return out
