"""How tightly losses bound measures."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.bounds.regression import regression_ap_bound
from plackett.losses.pairwise.logistic import Logistic
from plackett.theory.bounds.essential_loss import essential_ap_bound, essential_ndcg_bound
from plackett.theory.bounds.essential_loss import essential_loss as essential
from studies.base import Study, of_queries, per_query


def essential_loss(*, n_lists: int = 20_000, n_docs: int = 8, random_state: int = 0) -> Study:
    r"""Do small losses mean small errors, and by how much do the bounds overstate them?

    Random lists are ranked by their labels plus noise of random strength. The essential loss is
    :math:`L_\beta = \sum_{t<m} \beta(t)\, I[\text{a later document scores at least as high as the t-th}]` along the
    order by label, with equal labels ordered by score. These bounds are compared with the quantities they bound:

    - :math:`1 - \mathrm{nDCG} \le L_\beta / Z` with β(t) = gain · discount;
    - :math:`1 - \mathrm{AP} \le L_1 / m_1`, binary labels with :math:`m_1` relevant documents;
    - :math:`1 - \mathrm{RR} \le L_\beta` with β = (1, 0, …), binary labels;
    - :math:`1 - \mathrm{RC} \le` mean over pairs of :math:`\log_2(1 + e^{-(s_u - s_v)})`;
    - :math:`1 - \mathrm{AP} \le \min(1, S / ((1 - S) m_1))` where :math:`S = \sum_j (f_j - y_j)^2 < 1`, and 0 where
      S < ½, binary labels: a bound by a pointwise loss.

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.
    Liu: Learning to rank for information retrieval. Springer 2011, exercises 5.1–5.3.
    """
    import polars as pl

    rng = np.random.default_rng(random_state)
    graded = np.sort(rng.integers(0, 4, (n_lists, n_docs)), axis=1)[:, ::-1].astype(float)
    graded[:, 0], graded[:, -1] = np.maximum(graded[:, 0], 1), 0  # at least one relevant and one irrelevant document
    strength = np.exp(rng.uniform(np.log(0.05), np.log(5), (n_lists, 1)))
    scores = graded + strength * rng.standard_normal(graded.shape)
    binary = (graded > 1).astype(float)
    binary[:, 0] = 1
    noisy = binary + strength * rng.standard_normal(binary.shape)
    near = binary.copy()  # one relevant and one irrelevant document come close, or pass each other
    near[:, 0] -= rng.uniform(0, 0.8, n_lists)
    near[:, -1] += rng.uniform(0, 0.8, n_lists)
    by_grade, by_class = (
        of_queries(np.zeros((graded.size, 1)), labels.ravel(), [n_docs] * n_lists) for labels in (graded, binary)
    )
    scores, noisy, near = scores.ravel(), noisy.ravel(), near.ravel()
    first = np.eye(1, n_docs)[0]
    pairs = [
        ("1 − nDCG, essential loss", 1 - per_query(by_grade, scores, "nDCG"), essential_ndcg_bound(scores, by_grade)),
        ("1 − AP, essential loss", 1 - per_query(by_class, noisy, "AP"), essential_ap_bound(noisy, by_class)),
        ("1 − RR, essential loss", 1 - per_query(by_class, noisy, "RR"), essential(noisy, by_class, first)),
        ("1 − RC, logistic pair loss", 1 - per_query(by_grade, scores, "RC"), _mean_pair_loss(scores, by_grade)),
        ("1 − AP, square loss", 1 - per_query(by_class, near, "AP"), regression_ap_bound(near, by_class)),
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


def _mean_pair_loss(scores: np.ndarray, data: RankingDataset) -> np.ndarray:
    """Logistic loss to base 2, mean over the pairs of unequal labels of each query."""
    return Logistic(normalize=True).bind(data).evaluate(scores)[0] / np.log(2)
