"""How tight the bounds of measures by losses are."""

from __future__ import annotations

import numpy as np

from plackett._provenance import fulfils
from plackett.evaluation.evaluate import evaluate
from plackett.studies.base import Study, of_queries

__all__ = ["essential_loss", "essential_values"]


@fulfils(
    "exercise.5.1–5.5",
    paper="Chen, Liu, Lan, Ma, Li 2009, Ranking measures and loss functions in learning to rank; exercises 5.1–5.3",
)
def essential_loss(*, n_lists: int = 20_000, n_docs: int = 8, random_state: int = 0) -> Study:
    r"""Do small losses mean small errors, and by how much do the bounds overstate them?

    Random lists are ranked by their labels plus noise of random strength. The essential loss is
    :math:`L_\beta = \sum_{t<m} \beta(t)\, I[\text{a later document scores at least as high as the t-th}]` along the
    order by label, equal labels by score. Bounds that are compared with what they bound:

    - :math:`1 - \mathrm{nDCG} \le L_\beta / Z` with β(t) = gain · discount;
    - :math:`1 - \mathrm{AP} \le L_1 / m_1`, binary labels with :math:`m_1` relevant documents;
    - :math:`1 - \mathrm{RR} \le L_\beta` with β = (1, 0, …), binary labels;
    - :math:`1 - \mathrm{RC} \le` mean over pairs of :math:`\log_2(1 + e^{-(s_u - s_v)})`;
    - :math:`1 - \mathrm{AP} \le \min(1, S / ((1 - S) m_1))` where :math:`S = \sum_j (f_j - y_j)^2 < 1`, binary labels:
      a bound by a pointwise loss.
    """
    import polars as pl

    rng = np.random.default_rng(random_state)
    graded = np.sort(rng.integers(0, 4, (n_lists, n_docs)), axis=1)[:, ::-1].astype(float)
    graded[:, 0], graded[:, -1] = np.maximum(graded[:, 0], 1), 0  # something to find, something to put below it
    strength = np.exp(rng.uniform(np.log(0.05), np.log(5), (n_lists, 1)))
    scores = graded + strength * rng.standard_normal(graded.shape)
    binary = (graded > 1).astype(float)
    binary[:, 0] = 1
    noisy = binary + strength * rng.standard_normal(binary.shape)
    near = binary.copy()  # one relevant and one irrelevant document come close, or pass each other
    near[:, 0] -= rng.uniform(0, 0.8, n_lists)
    near[:, -1] += rng.uniform(0, 0.8, n_lists)
    measured = {name: _measured(graded, scores, name) for name in ("nDCG", "RC")}
    gains, discount = 2**graded - 1, 1 / np.log2(np.arange(2, n_docs + 2))
    m_1 = binary.sum(axis=1)
    first = np.eye(1, n_docs)[0]
    square = ((near - binary) ** 2).sum(axis=1)
    with np.errstate(divide="ignore"):
        pointwise = np.minimum(1.0, square / np.maximum(1 - square, 0.0) / m_1)
    pairs = [
        ("1 − nDCG, essential loss", 1 - measured["nDCG"], _essential_ndcg(graded, scores, gains, discount)),
        ("1 − AP, essential loss", 1 - _measured(binary, noisy, "AP"), essential_values(binary, noisy) / m_1),
        ("1 − RR, essential loss", 1 - _measured(binary, noisy, "RR"), essential_values(binary, noisy, first)),
        ("1 − RC, logistic pair loss", 1 - measured["RC"], _mean_pair_loss(graded, scores)),
        ("1 − AP, square loss", 1 - _measured(binary, near, "AP"), pointwise),
    ]
    rows = []
    for name, error, bound in pairs:
        ratio = bound[error > 1e-12] / error[error > 1e-12]
        rows.append(
            {
                "bound": name,
                "violations": int((error > bound + 1e-9).sum()),
                "mean error": float(error.mean()),
                "mean bound": float(bound.mean()),
                "least ratio": float(ratio.min()),
                "median ratio": float(np.median(ratio)),
                "largest ratio": float(ratio.max()),
            }
        )
    return Study(
        pl.DataFrame(rows),
        f"Measures and the losses that bound them, {n_lists} random lists of {n_docs}",
        ("Ratios of bound to error are over the lists with an error.",),
    )


def essential_values(labels: np.ndarray, scores: np.ndarray, beta: np.ndarray | None = None) -> np.ndarray:
    """Essential loss of each row of labels and scores; β is 1 where it is not given.

    The least over all orders in which labels fall is reached where equal labels stand in the order of the scores.

    >>> essential_values(np.array([[3.0, 2.0, 1.0]]), np.array([[2.0, 3.0, 1.0]]))  # A, B, C: B scores more than A
    array([1.])
    """
    order = np.lexsort((-scores, -labels), axis=1)
    along = np.take_along_axis(scores, order, axis=1)
    later = np.maximum.accumulate(along[:, ::-1], axis=1)[:, ::-1][:, 1:]
    missed = later >= along[:, :-1]
    weights = np.ones(labels.shape[1]) if beta is None else beta
    return (missed * weights[..., :-1]).sum(axis=1)


def _essential_ndcg(labels: np.ndarray, scores: np.ndarray, gains: np.ndarray, discount: np.ndarray) -> np.ndarray:
    beta = gains * discount  # the labels fall along the rows
    return essential_values(labels, scores, beta) / beta.sum(axis=1)


def _measured(labels: np.ndarray, scores: np.ndarray, measure: str) -> np.ndarray:
    n, m = labels.shape
    data = of_queries(np.zeros((labels.size, 1)), labels.ravel(), [m] * n)
    return next(iter(evaluate(data, scores.ravel(), [measure]).values.values()))


def _mean_pair_loss(labels: np.ndarray, scores: np.ndarray) -> np.ndarray:
    better = labels[:, :, None] > labels[:, None, :]
    loss = np.logaddexp(0, -(scores[:, :, None] - scores[:, None, :])) / np.log(2)
    return (loss * better).sum(axis=(1, 2)) / better.sum(axis=(1, 2))
