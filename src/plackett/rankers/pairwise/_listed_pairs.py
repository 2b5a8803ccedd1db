"""An explicit list of the pairs of a dataset, up to a maximum number."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.data.mapped import row_blocks
from plackett.rankers.pairwise._entries import pair_entries
from plackett.rankers.pairwise.stochastic.loops import Draws, draw, label_pairs, no_documents


def listed_pairs(
    data: RankingDataset, max_pairs: int, normalize: bool, random_state: int | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of the better and of the worse document of each pair, and the weights of the pairs, which sum to 1.

    All pairs, or a sample of ``max_pairs`` in proportion to their weights if there are more. With ``normalize``, each
    query counts the same, however many pairs it has.
    """
    entries = pair_entries(data)
    if sum(int((entries.high[some] - entries.low[some]).sum()) for some in row_blocks(entries.low.size)) > max_pairs:
        pairs = label_pairs(data, 0.0, by_query=normalize)
        rows = np.empty(max_pairs, np.int64), np.empty(max_pairs, np.int64), np.empty(max_pairs)
        seed = np.uint64(np.random.default_rng(random_state).integers(2**63))
        draw(seed, *rows, Draws(1.0, pairs, no_documents(data, 0.0), 0.0))
        return rows[0], rows[1], np.full(max_pairs, 1.0 / max_pairs)
    sizes = entries.high - entries.low
    entry = np.repeat(np.arange(sizes.size), sizes)
    loser = entries.order[np.arange(entry.size) + np.repeat(entries.low - np.cumsum(sizes) + sizes, sizes)]
    weight, query = entries.weight[entry] * entries.row_weight[loser], entries.query[entry]
    if normalize:
        total = np.bincount(query, weight, data.n_queries)[query]
        weight = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    if data.query_weight is not None:
        weight = weight * data.query_weight[query]
    return entries.first[entry], loser, weight / max(float(weight.sum()), np.finfo(float).tiny)
