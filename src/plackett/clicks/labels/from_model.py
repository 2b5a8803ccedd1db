"""Labels and preferences from a click model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import number, whole
from plackett._base.errors import DataError
from plackett.clicks.models.base import ClickModel
from plackett.clicks.models.ctr import IndependentClickModel

if TYPE_CHECKING:
    import polars as pl

__all__ = ["examined_labels", "model_labels", "model_preferences"]


def model_labels(
    model: ClickModel, *, grades: int | None = None, thresholds: Any = None, min_shown: float = 0.0
) -> pl.DataFrame:
    """Labels of pairs from the relevance of a fitted click model: query, document, label, weight.

    Parameters
    ----------
    grades
        Number of grades, cut at equal shares of the pairs; None gives the relevance itself, a probability.
    thresholds
        Instead: relevances at which the next grade begins, ascending.
    min_shown
        Pairs on fewer pages are left out.

    Returns
    -------
    polars.DataFrame
        ``weight`` is the number of pages behind each label.

    Examples
    --------
    >>> from plackett.clicks import ClickLog, PBM
    >>> log = ClickLog.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1, 0], [0, 1], [1, 0], [0, 0]])
    >>> model_labels(PBM().fit(log), grades=2)["label"].to_list()
    [1.0, 0.0]
    """
    import polars as pl

    frame = model.relevance().filter(pl.col("shown") >= min_shown)
    value = frame["relevance"].to_numpy()
    if thresholds is not None:
        cuts = np.asarray(thresholds, np.float64)
        if cuts.ndim != 1 or (np.diff(cuts) <= 0).any():
            raise DataError(f"thresholds={thresholds!r}; give numbers that rise")
        value = np.searchsorted(cuts, value, side="right").astype(np.float64)
    elif grades is not None:
        whole("grades", grades, least=2)
        cuts = np.quantile(value, np.arange(1, grades) / grades) if value.size else np.zeros(0)
        value = np.searchsorted(cuts, value, side="left").astype(np.float64)
    return frame.select("query", "document", pl.Series("label", value), pl.col("shown").alias("weight"))


def examined_labels(model: ClickModel) -> pl.DataFrame:
    """Clicks per examination of each pair, and its expected examinations: query, document, label, weight.

    What `ExposureSoftmax` learns from. Unlike `model_labels` the rates are not pulled towards a prior, since there the
    weights say how far to trust each.

    Parameters
    ----------
    model
        A fitted model with expected examinations: `PBM`, `UBM`, `DCM`, `DBN`, `SDBN` and others. For `TrustBias` there
        is its method ``corrected_labels``.

    Examples
    --------
    >>> from plackett.clicks import ClickLog, PBM
    >>> log = ClickLog.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1, 0], [0, 1], [1, 0], [0, 0]])
    >>> examined_labels(PBM().fit(log)).columns
    ['query', 'document', 'label', 'weight']
    """
    import polars as pl

    frame = model.relevance()
    if np.array_equal(model.examined_, model.shown_) and not isinstance(model, IndependentClickModel):
        raise DataError(f"{model.name} has no expected examinations: its clicks per examination are plain click rates")
    examined = np.maximum(model.examined_, model.clicks_)
    rate = model.clicks_ / np.maximum(examined, 1e-12)
    return frame.select("query", "document", pl.Series("label", rate), pl.Series("weight", examined))


def model_preferences(model: ClickModel, *, confidence: float = 0.9, most_per_query: int | None = None) -> pl.DataFrame:
    """Pairs of documents of a query of which one is probably more relevant: query, winner, loser, weight.

    The relevances of two documents are taken as independent and normal with the variance of their posteriors;
    ``weight`` is the probability that the winner is the better one. At most one direction of each pair is returned.

    Parameters
    ----------
    confidence
        Minimum probability of a pair, above .5.
    most_per_query
        Keep the surest pairs of each query.
    """
    import polars as pl
    from scipy.special import ndtr

    number("confidence", confidence, above=0.5, below=1)
    mean, variance = _moments(model)
    query = model.pairs_.query
    order = np.argsort(query, kind="stable")
    starts = np.flatnonzero(np.concatenate((np.ones(min(1, order.size), bool), np.diff(query[order]) > 0)))
    sizes = np.diff(np.append(starts, order.size))
    # all ordered pairs of positions within each query
    first = np.repeat(np.arange(order.size), np.repeat(sizes, sizes))
    within = np.arange(first.size) - np.repeat(np.concatenate(([0], np.cumsum(sizes**2)))[:-1], sizes**2)
    second = np.repeat(starts, sizes**2) + within % np.repeat(sizes, sizes**2)
    a, b = order[first], order[second]
    better = mean[a] > mean[b]
    a, b = a[better], b[better]
    chance = ndtr((mean[a] - mean[b]) / np.sqrt(variance[a] + variance[b] + 1e-300))
    sure = chance >= confidence
    a, b, chance = a[sure], b[sure], chance[sure]
    ids = model.pairs_
    from plackett.data.frame_columns import id_series

    names = id_series("document", ids.documents)
    frame = pl.DataFrame(
        [
            id_series("query", ids.queries).gather(query[a]),
            names.gather(ids.document[a]).alias("winner"),
            names.gather(ids.document[b]).alias("loser"),
            pl.Series("weight", chance),
        ]
    ).sort("weight", descending=True, maintain_order=True)
    if most_per_query is not None:
        frame = frame.group_by("query", maintain_order=True).head(most_per_query)
    return frame


def _moments(model: ClickModel) -> tuple[np.ndarray, np.ndarray]:
    """Relevance and its variance, from the width of an interval of two standard deviations."""
    frame = model.relevance(0.6827)
    half = (frame["upper"] - frame["lower"]).to_numpy() / 2
    return frame["relevance"].to_numpy(), half**2
