"""Robustness: how much a ranking changes, and how much quality it loses, when scores or labels are noisy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.estimators import scores_of
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

if TYPE_CHECKING:
    import polars as pl

__all__ = ["robustness", "switch_probability"]


def switch_probability(
    data: RankingDataset, scores: Any, *, noise: float = 0.1, relative: bool = True, k: int | None = None
) -> pl.DataFrame:
    r"""Probability that neighbours in a ranking switch places when the scores are noisy.

    With independent noise :math:`N(0, s^2)` on each score, the documents at ranks i and i + 1 switch with probability

    .. math:: p_i = \Phi\Big({-\frac{f_{(i)} - f_{(i+1)}}{s \sqrt 2}}\Big)

    Equal scores switch with probability ½.

    Parameters
    ----------
    data
        The lists; labels are not needed.
    scores
        One score per document, or a fitted ranker.
    noise
        s, above 0.
    relative
        ``noise`` is a fraction of the standard deviation of the scores within lists, so the result does not depend on
        the scale of the scores. False: in the unit of the scores.
    k
        Consider only the neighbours whose upper one is among the first k.

    Returns
    -------
    polars.DataFrame
        ``qid``, ``mean`` of the :math:`p_i` and ``discounted``, their mean with weights :math:`1/\log_2(1 + i)`. Both
        are 0 for lists of one document.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 20.7.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, None, qid=[1, 1])
    >>> switch_probability(data, [0.8, 0.5], noise=0.2, relative=False)["mean"].round(6).to_list()
    [0.144422]
    """
    import polars as pl

    values = scores_of(data, scores)
    mean, discounted = _switches(data, values, _size(data, values, noise, relative), k)
    ids = data.qids.tolist() if data.qids.dtype.kind == "T" else data.qids
    return pl.DataFrame({"qid": ids, "mean": mean, "discounted": discounted})


@dataclass(frozen=True, eq=False)
class Robustness:
    """Result of `robustness`.

    Attributes
    ----------
    per_query
        ``qid``, ``value`` of the measure without noise; ``expected``, ``std`` and ``worst`` value over the samples;
        ``switch``, the discounted probability that neighbours switch; ``penalised``, the value made worse by the share
        ρ · switch of its size. Null is a query that the measure skipped.
    measure
        Name of the measure.
    """

    per_query: pl.DataFrame
    measure: str

    @cached_property
    def mean(self) -> dict[str, float]:
        """Mean of each column over queries; NaN where the measure skipped them all."""
        means = {name: self.per_query[name].mean() for name in self.per_query.columns if name != "qid"}
        return {name: np.nan if value is None else float(value) for name, value in means.items()}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={value:.4f}" for name, value in self.mean.items())
        return f"Robustness({self.measure}: {means})"


def robustness(
    data: RankingDataset,
    scores: Any,
    measure: str | Measure = "nDCG@10",
    *,
    noise: float = 0.1,
    relative: bool = True,
    label_noise: float = 0.0,
    rho: float = 1.0,
    n_samples: int = 32,
    random_state: int = 0,
) -> Robustness:
    r"""A measure together with its robustness: expected and worst value when scores and labels are noisy.

    Each sample adds :math:`N(0, s^2)` to each score and measures the new ranking. With ``label_noise``, each judged
    label is also replaced, with this probability, by another grade of the data, drawn at random. The penalised value

    .. math:: v \mp \rho\,p\,|v|,

    with p the discounted `switch_probability` of the list, is a measure of relevance and robustness in one number that
    needs no sampling: :math:`v\,(1 - \rho\,p)` for nDCG. Where lower values are better the penalty is added.

    Parameters
    ----------
    data
        Lists with labels.
    scores
        One score per document, or a fitted ranker.
    measure
        The measure.
    noise, relative
        s, 0 or more; see `switch_probability`. 0 means no noise.
    label_noise
        Probability that a label is wrong.
    rho
        Weight of the switch probability, from 0 to 1.
    n_samples
        Number of samples.
    random_state
        Seed.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 20.7.

    Examples
    --------
    >>> data = RankingDataset.from_arrays(None, [2, 1, 0], qid=[1, 1, 1])
    >>> close, far = (robustness(data, scores, "nDCG", noise=0.5, relative=False).mean
    ...               for scores in ([0.3, 0.2, 0.1], [30, 20, 10]))
    >>> close["value"] == far["value"] == far["expected"] > close["expected"]
    True
    """
    import polars as pl

    if data.y is None:
        raise DataError("the data have no labels to measure with")
    if not (0.0 <= label_noise <= 1.0 and 0.0 <= rho <= 1.0):
        raise DataError(f"label_noise={label_noise!r}, rho={rho!r}; give numbers from 0 to 1")
    whole("n_samples", n_samples, least=1)
    parsed, values = parse(measure), scores_of(data, scores)
    plain = parsed.per_query(Scored(data, values, random_state=random_state))
    size = np.zeros(data.n_queries) if noise == 0 else _size(data, values, noise, relative)
    switch = _switches(data, values, size, None)[1] if noise else np.zeros(data.n_queries)
    # noise is drawn by rank, so that the order of the rows in a query does not matter
    order = np.lexsort((data.labels, -values, data.query_of_row))
    spread = size[data.query_of_row]
    rng = np.random.default_rng(random_state)
    samples = np.empty((n_samples, data.n_queries))
    for t in range(n_samples):
        drawn = np.empty(data.n_rows)
        drawn[order] = rng.standard_normal(data.n_rows)
        part = data
        if label_noise:
            part = data.replace(y=_wrong_labels(data.labels, label_noise, order, rng))
        samples[t] = parsed.per_query(Scored(part, values + spread * drawn, random_state=random_state))
    worst = samples.min(axis=0) if parsed.worth(1.0) > 0 else samples.max(axis=0)
    ids = data.qids.tolist() if data.qids.dtype.kind == "T" else data.qids
    columns = {
        "value": plain,
        "expected": samples.mean(axis=0),
        "std": samples.std(axis=0),
        "worst": worst,
        "switch": switch,
        "penalised": plain - parsed.worth(1.0) * rho * switch * np.abs(plain),
    }
    frame = pl.DataFrame({"qid": ids} | columns).with_columns(pl.col(list(columns)).fill_nan(None))
    return Robustness(frame, str(parsed))


def _size(data: RankingDataset, scores: np.ndarray, noise: float, relative: bool) -> np.ndarray:
    """Standard deviation of the noise in each query."""
    number("noise", noise, above=0.0)
    if not relative:
        return np.full(data.n_queries, float(noise))
    counts = np.maximum(np.diff(data.offsets), 1)
    means = np.bincount(data.query_of_row, scores, data.n_queries) / counts
    away = scores - means[data.query_of_row]
    return noise * np.full(data.n_queries, np.sqrt((away @ away) / max(data.n_rows, 1)))


def _switches(
    data: RankingDataset, scores: np.ndarray, size: np.ndarray, k: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and discounted mean probability of a switch, by query."""
    from scipy.special import ndtr

    if k is not None and (isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1):
        raise DataError(f"k={k!r}; give a whole number of 1 or more")
    query = data.query_of_row
    ordered = scores[np.lexsort((-scores, query))]
    rank = np.arange(data.n_rows) - data.offsets[query]  # from 0
    upper = np.flatnonzero((query[:-1] == query[1:]) & (rank[:-1] < (np.inf if k is None else k)))
    gap, s = ordered[upper] - ordered[upper + 1], size[query[upper]]
    # 0/0: all scores of the data are equal, so noise relative to their spread is 0; a tie is still a tie
    z = np.divide(gap, s * np.sqrt(2.0), out=np.zeros(gap.size), where=gap > 0)
    p = ndtr(-z)
    weight = 1.0 / np.log2(2.0 + rank[upper])

    def averaged(weight: np.ndarray) -> np.ndarray:
        total = np.bincount(query[upper], weight, data.n_queries)
        part = np.bincount(query[upper], weight * p, data.n_queries)
        return np.divide(part, total, out=np.zeros(data.n_queries), where=total > 0)

    return averaged(np.ones(p.size)), averaged(weight)


def _wrong_labels(labels: np.ndarray, share: float, order: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels, each replaced by another grade with the given probability; unjudged documents stay unjudged."""
    grades = np.unique(labels[labels >= 0])
    wrong, shift = np.empty(labels.size, bool), np.empty(labels.size, np.int64)
    wrong[order] = rng.random(labels.size) < share
    shift[order] = rng.integers(1, max(grades.size, 2), labels.size)
    if grades.size < 2:
        return labels
    wrong &= labels >= 0
    noisy = np.array(labels)
    new_grade = (np.searchsorted(grades, labels[wrong]) + shift[wrong]) % grades.size
    noisy[wrong] = grades[new_grade]
    return noisy
