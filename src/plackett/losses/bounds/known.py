"""What is known about a loss and a measure: `loss.bounds(measure)`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from plackett.data.arguments import row_scores
from plackett.data.dataset import RankingDataset
from plackett.losses.associates import ASSOCIATES
from plackett.losses.base import Loss
from plackett.losses.bounds.joachims_map import joachims_map_bound
from plackett.losses.bounds.regression import regression_ap_bound, regression_bound
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.losses.listwise.listmle_set import ListMLEBest
from plackett.losses.pairwise.base import PairLoss
from plackett.losses.pointwise.square import Square
from plackett.measures.ap import AveragePrecision
from plackett.measures.auc import AreaUnderCurve
from plackett.measures.base import Measure
from plackett.measures.gains import discount_table, gains_of, ideal_dcg
from plackett.measures.language import parse
from plackett.measures.misranking import BipartiteMisranking
from plackett.measures.ndcg import NDCG
from plackett.measures.rc import RankCorrelation
from plackett.measures.rr import ReciprocalRank

__all__ = ["KnownBound", "known_bounds"]

__home__ = "theory"

Values = Callable[[np.ndarray, RankingDataset], np.ndarray]


@dataclass(frozen=True)
class KnownBound:
    """An inequality error of a measure ≤ something of a loss; call it for its right-hand side, one number per query.

    The error is one minus the measure, or the measure itself where smaller is better. Ties of scores count as errors
    on both sides, so the inequality holds for the measure with ``ties="pessimistic"`` and with it for all tie rules.

    Attributes
    ----------
    labels
        ``"graded"`` or ``"binary"``: what labels it holds for.

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.
    """

    loss: Loss
    measure: Measure
    statement: str
    source: str
    labels: str
    right_hand_side: Values

    def __call__(self, scores: Any, data: RankingDataset) -> np.ndarray:
        """The bound of each query."""
        return self.right_hand_side(row_scores(data, scores), data)

    def __str__(self) -> str:
        limits = "" if self.labels == "graded" else f", {self.labels} labels"
        return f"{self.statement}  ({self.source}{limits})"


def known_bounds(loss: Loss, measure: Any = None) -> list[KnownBound]:
    r"""The bounds of a measure by a loss that are known: also ``loss.bounds(measure)``.

    Pair losses φ with φ ≥ φ(0) > 0 for wrong pairs, divided by φ(0), and ListMLE, divided by log 2, bound the essential
    loss times the largest weight, and through it 1 − nDCG, 1 − AP and 1 − RR (Theorems 5.1 to 5.3). For the logistic
    loss φ(0) is log 2: without the division the inequality fails. The square loss bounds nDCG where its targets are the
    gains.

    Parameters
    ----------
    measure
        A measure or its name; None gives the bounds for every measure that has one.

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.

    Examples
    --------
    >>> from plackett.losses import Hinge, ListNetLoss
    >>> for bound in known_bounds(Hinge(), "nDCG@10"):
    ...     print(bound)
    1 − nDCG@10 ≤ G(max) η(1) / Z · L  (Theorems 5.1 and 5.2)
    >>> known_bounds(ListNetLoss(), "AP")
    []
    """
    if measure is None:
        measures: list[Measure] = [parse(name) for name in ("nDCG", "AP", "RR", "AUC", "Misranking", "RC")]
    else:
        measures = [parse(measure)]
    return [bound for one in measures for make in _MAKERS for bound in make(loss, one)]


# ------------------------------------------------------------------------------------------------------------ pieces


def _per_query(loss: Loss, factor: float = 1.0) -> Values:
    def values(scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        bound = loss.bind(data.replace(sample_weight=None, query_weight=None))
        return factor * bound.evaluate(bound.check(scores))[0]

    return values


def _over(values: Values, divisor: Callable[[RankingDataset], np.ndarray]) -> Values:
    def ratio(scores: np.ndarray, data: RankingDataset) -> np.ndarray:
        below = divisor(data)
        return np.divide(values(scores, data), below, out=np.zeros(below.size), where=below > 0)

    return ratio


def _relevant(rel: float) -> Callable[[RankingDataset], np.ndarray]:
    return lambda data: np.bincount(data.query_of_row, data.labels >= rel, data.n_queries)


def _largest_weight(measure: NDCG) -> Callable[[RankingDataset], np.ndarray]:
    """Z / (G(max) η(1)): what a sum of essential errors is divided by."""

    def divisor(data: RankingDataset) -> np.ndarray:
        best = ideal_dcg(data, measure.gain, measure.discount, measure.k)
        gains = np.zeros(data.n_queries)
        np.maximum.at(gains, data.query_of_row, gains_of(data.labels, measure.gain))
        top = gains * discount_table(measure.discount, 1)[0]
        return np.divide(best, top, out=np.zeros(best.size), where=top > 0)

    return divisor


def _falling(measure: NDCG) -> bool:
    """Whether no later rank has a larger discount, as the theorems need, and short lists count as they are."""
    eta = discount_table(measure.discount, 100)
    return bool((np.diff(eta) <= 1e-12).all()) and measure.short == "pad"


def _pair_unit(loss: PairLoss) -> float:
    """φ(0) if the loss is non-negative and at least φ(0) for misordered pairs; 0 if it is not a bound."""
    z = np.concatenate([np.linspace(-8.0, 0.0, 801), np.linspace(0.01, 8.0, 800)]) - loss.margin
    value, slope, curvature = np.empty((3, z.size))
    loss.phi(z, value, slope, curvature, *loss.shape)
    at_zero = value[800]
    fits = at_zero > 0 and (value[:801] >= at_zero * (1 - 1e-12)).all() and (value >= -1e-12).all()
    return float(at_zero) if fits else 0.0


# ------------------------------------------------------------------------------------------- loss by loss and measure


def _pairs(loss: Loss, measure: Measure) -> Iterator[KnownBound]:
    """Pair losses by Theorem 5.2, Joachims' bound, and the share of wrong pairs."""
    if not isinstance(loss, PairLoss):
        return
    plain = loss.replace(normalize=False)
    unit = _pair_unit(plain)
    if unit == 0:
        return
    L = _per_query(plain, 1.0 / unit)
    name = "L" if abs(unit - 1) < 1e-9 else "L / log 2" if abs(unit - log(2)) < 1e-9 else f"L / {unit:.4g}"
    theorem = "Theorems 5.1 and 5.2"
    if isinstance(measure, NDCG) and _falling(measure):
        text = f"1 − {measure} ≤ G(max) η(1) / Z · {name}"
        yield KnownBound(loss, measure, text, theorem, "graded", _over(L, _largest_weight(measure)))
    if isinstance(measure, AveragePrecision) and measure.k is None:
        relevant = _relevant(measure.rel)
        text = f"1 − {measure} ≤ {name} / number of relevant"
        yield KnownBound(loss, measure, text, theorem, "graded", _over(L, relevant))
        text = f"1 − {measure} ≤ 1 − (Σ √j)² / (m₁ ({name} + m₁ (m₁ + 1) / 2))"
        joachims = lambda s, data: joachims_map_bound(L(s, data), relevant(data).astype(np.int64))  # noqa: E731
        yield KnownBound(loss, measure, text, "Joachims 2002 (5.3)", "graded", joachims)
    if isinstance(measure, ReciprocalRank) and measure.k is None:
        yield KnownBound(loss, measure, f"1 − {measure} ≤ {name}", "exercise 5.2", "binary", L)
    if isinstance(measure, (AreaUnderCurve, BipartiteMisranking)):
        error = f"1 − {measure}" if measure.ascending else str(measure)
        pairs = ASSOCIATES["pair"].labelled
        yield KnownBound(loss, measure, f"{error} ≤ {name} / pairs", "φ bounds 0–1", "binary", _over(L, pairs))
    if isinstance(measure, RankCorrelation) and measure.weight == "uniform":
        all_pairs = ASSOCIATES["pair"].complete
        yield KnownBound(
            loss, measure, f"1 − {measure} ≤ {name} / all pairs", "exercise 5.2", "graded", _over(L, all_pairs)
        )


def _list_mle(loss: Loss, measure: Measure) -> Iterator[KnownBound]:
    """ListMLE by Theorem 5.3: a wrong first document has a probability of at most ½."""
    whole = isinstance(loss, ListMLELoss) and loss.k is None and loss.discount == "none"
    if not whole and not isinstance(loss, ListMLEBest):
        return
    L = _per_query(loss, 1.0 / log(2.0))
    theorem = "Theorems 5.1 and 5.3"
    if isinstance(measure, NDCG) and _falling(measure):
        text = f"1 − {measure} ≤ G(max) η(1) / Z · L / log 2"
        yield KnownBound(loss, measure, text, theorem, "graded", _over(L, _largest_weight(measure)))
    if isinstance(measure, AveragePrecision) and measure.k is None:
        text = f"1 − {measure} ≤ L / (log 2 · number of relevant)"
        yield KnownBound(loss, measure, text, theorem, "graded", _over(L, _relevant(measure.rel)))
    if isinstance(measure, ReciprocalRank) and measure.k is None:
        yield KnownBound(loss, measure, f"1 − {measure} ≤ L / log 2", "Theorem 5.3, exercise 5.2", "binary", L)


def _square(loss: Loss, measure: Measure) -> Iterator[KnownBound]:
    """The square loss of the gains, by (5.1); of binary labels, by exercise 5.1."""
    if not isinstance(loss, Square):
        return
    if isinstance(measure, NDCG) and _falling(measure) and loss.target == measure.gain:
        settings = {"gain": measure.gain, "discount": measure.discount, "k": measure.k}
        yield KnownBound(
            loss, measure, f"1 − {measure} ≤ (2 Σ η²)^½ (2 L)^½ / Z", "Cossock, Zhang 2006 (5.1)", "graded",
            lambda s, data: regression_bound(s, data, **settings),
        )  # fmt: skip
    if isinstance(measure, AveragePrecision) and measure.k is None and measure.rel == 1:
        yield KnownBound(
            loss, measure, f"1 − {measure} ≤ 2 L / ((1 − 2 L) m₁) where L < ½", "exercise 5.1", "binary",
            lambda s, data: regression_ap_bound(s, data),
        )  # fmt: skip


_MAKERS = (_pairs, _list_mle, _square)
