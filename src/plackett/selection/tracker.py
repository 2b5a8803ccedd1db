"""A caution report: where judged documents are not like the candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett._names.nearest import plural
from plackett.selection.candidates import Candidates
from plackett.selection.result import Selection

if TYPE_CHECKING:
    import polars as pl

    from plackett.data.dataset import RankingDataset

__all__ = ["caution", "feature_shift"]

#: Upper ends of the bands of ranks.
_BANDS = (1, 5, 10, 20, 50, 100)


@dataclass(frozen=True, eq=False)
class Caution:
    """Result of `caution`.

    Attributes
    ----------
    warnings
        What may mislead, in sentences; empty if there is nothing to report.
    by_rank
        By best rank in any run: number of candidates, share that is judged or chosen, share of the judged ones that are
        relevant.
    by_run
        For each run, the share of its first documents that is judged or chosen.
    """

    warnings: tuple[str, ...]
    by_rank: pl.DataFrame
    by_run: pl.DataFrame


def caution(
    candidates: Candidates, selection: Selection | None = None, *, top: int = 10, rel: float = 1.0, gap: float = 0.25
) -> Caution:
    """Where a set of judgements is biased, before anything is concluded from it.

    Parameters
    ----------
    candidates
        The documents of the runs, with the judgements so far.
    selection
        What will be judged next; counted with what is.
    top
        How many first documents of a run matter.
    gap
        Warn if the shares of judged documents among the first of two runs differ by at least this much.

    Examples
    --------
    >>> runs = [{"q": {"a": 2, "b": 1}}, {"q": {"a": 2, "c": 1}}]
    >>> caution(Candidates.from_runs(runs, {"q": {"b": 0}}), top=1).warnings[0]
    '1 document that every run ranks among its first 1 is not judged, such as a of query q'
    """
    import polars as pl

    taken = ~candidates.open
    taken[_rows_of(candidates, selection)] = True
    rank, query = candidates.rank, candidates.query_of_row
    best = np.where(rank > 0, rank, np.iinfo(np.int64).max).min(axis=0)
    band = np.searchsorted(_BANDS, best)
    count = np.bincount(band, minlength=len(_BANDS) + 1)
    judged = ~candidates.open
    relevant = np.bincount(band, np.nan_to_num(candidates.labels, nan=-1.0) >= rel, minlength=count.size)
    with np.errstate(invalid="ignore", divide="ignore"):
        covered = np.bincount(band, taken, minlength=count.size) / count
        good = relevant / np.bincount(band, judged, minlength=count.size)
    starts = [1, *(end + 1 for end in _BANDS)]
    names = [f"{a}–{b}" if a < b else f"{a}" for a, b in zip(starts, _BANDS, strict=False)] + [f"over {_BANDS[-1]}"]
    by_rank = pl.DataFrame(
        {"best rank": names, "candidates": count, "judged or chosen": covered, "relevant": good}
    ).filter(pl.col("candidates") > 0)
    at_top = (rank > 0) & (rank <= top)
    share = (at_top & taken).sum(axis=1) / np.maximum(at_top.sum(axis=1), 1)
    by_run = pl.DataFrame({"run": np.arange(1, len(rank) + 1), f"judged or chosen in the first {top}": share})

    warnings = []
    missing = np.flatnonzero(at_top.all(axis=0) & ~taken)
    if missing.size:
        row = missing[0]
        warnings.append(
            f"{plural(missing.size, 'document')} that every run ranks among its first {top} "
            f"{'is' if missing.size == 1 else 'are'} not judged, such as {candidates.docids[row]} of query "
            f"{candidates.qids[query[row]]}"
        )
    if share.max() - share.min() > gap:
        low, high = int(share.argmin()), int(share.argmax())
        warnings.append(
            f"the runs are not treated alike: of the first {top} documents {share[high]:.0%} of run {high + 1} are "
            f"judged, {share[low]:.0%} of run {low + 1}"
        )
    empty = np.flatnonzero(candidates.count(taken) == 0)
    if empty.size:
        warnings.append(
            f"{plural(empty.size, 'query', 'queries')} without any judgement, such as {candidates.qids[empty[0]]}"
        )
    n_judged = candidates.count(judged)
    n_relevant = candidates.count(np.nan_to_num(candidates.labels, nan=-1.0) >= rel)
    one_sided = (n_judged > 1) & ((n_relevant == 0) | (n_relevant == n_judged))
    if one_sided.any():
        warnings.append(
            f"{plural(int(one_sided.sum()), 'query', 'queries')} with judgements of one kind only: no ranker learns "
            "from them"
        )
    if selection is not None and selection.frame["inclusion"].null_count():
        warnings.append(
            f"the choice of {selection.method!r} depends on earlier judgements: averages over what it chooses are not "
            "averages over the candidates, and no weights repair that"
        )
    return Caution(tuple(warnings), by_rank, by_run)


def _rows_of(candidates: Candidates, selection: Selection | None) -> np.ndarray:
    import polars as pl

    from plackett.data._tables import id_series

    if selection is None:
        return np.empty(0, np.int64)
    qid = id_series("qid", candidates.qids).gather(candidates.query_of_row)
    rows = pl.DataFrame([qid, id_series("docid", candidates.docids)]).with_row_index("row")
    return rows.join(selection.frame.select("qid", "docid"), on=["qid", "docid"])["row"].to_numpy()


def feature_shift(data: RankingDataset, chosen: Any, *, quantiles: tuple[float, ...] = (0.1, 0.5, 0.9)) -> pl.DataFrame:
    """Quantiles of each feature among chosen rows and among all, the largest difference first.

    ``distance`` is the Kolmogorov–Smirnov distance of the two distributions, between 0 and 1.

    Parameters
    ----------
    chosen
        Row numbers or a mask.

    Examples
    --------
    >>> from plackett import RankingDataset
    >>> data = RankingDataset.from_arrays([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> feature_shift(data, [2, 3], quantiles=(0.5,)).rows()
    [('0', 0.5, 2.5, 1.5)]
    """
    import polars as pl

    rows = np.asarray(chosen)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    if rows.size == 0:
        raise DataError("no rows are chosen")
    X = data.dense().astype(np.float64)
    names = [str(i) for i in range(data.n_features)] if data.feature_names is None else list(data.feature_names)
    everything = np.sort(X, axis=0)
    part = np.sort(X[rows], axis=0)
    distance = [
        float(
            np.abs(
                np.searchsorted(part[:, j], everything[:, j], side="right") / rows.size
                - np.searchsorted(everything[:, j], everything[:, j], side="right") / len(X)
            ).max()
        )
        for j in range(X.shape[1])
    ]
    columns: dict[str, Any] = {"feature": [str(name) for name in names], "distance": distance}
    for q in quantiles:
        columns[f"q{q:g} chosen"] = np.quantile(part, q, axis=0)
        columns[f"q{q:g} all"] = np.quantile(everything, q, axis=0)
    return pl.DataFrame(columns).sort("distance", descending=True, maintain_order=True)
