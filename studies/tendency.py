"""How closely smooth measures follow nDCG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.base import Loss
from plackett.losses.listwise.approx_ndcg import ApproxNDCGLoss
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.losses.listwise.softrank import SoftNDCG
from plackett.losses.pairwise.hinge import Hinge
from plackett.losses.pairwise.logistic import Logistic
from plackett.plot.chart import line_chart
from plackett.theory.consistency.svm_disagreement import svm_disagreement
from plackett.theory.consistency.tendency import tendency_correlation
from studies._tilted import tilted_queries
from studies.base import Study, per_query


def tendency(
    *,
    strengths: Sequence[float] = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    n_models: int = 400,
    random_state: int = 0,
) -> Study:
    r"""Do surrogate measures rank models as nDCG does?

    Models are random directions of two weights on six noisy lists. The tendency correlation ε of a surrogate with nDCG
    is its worst disagreement about the difference of two models, after the best scaling: 0 means agreement, and an
    uninformative surrogate has the range of nDCG over the models. The first table is for ApproxNDCG with steepness α
    and SoftNDCG with noise 1/α, which come arbitrarily close; the second is for losses that do not. SVM-MAP is tested
    on a list designed to show the largest disagreement.

    References
    ----------
    He, Liu: Tendency correlation analysis for direct optimization of evaluation measures in information retrieval.
    Information Retrieval 2010.
    Liu: Learning to rank for information retrieval. Springer 2011, section 5.4.2.
    """
    import polars as pl

    data = tilted_queries(6, 12, 0.6, random_state, noise=1.0)
    angles = np.random.default_rng(random_state).uniform(0, 2 * np.pi, n_models)
    models = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    scores = [np.asarray(data.X, np.float64) @ w for w in models]
    exact = np.array([per_query(data, s, "nDCG").mean() for s in scores])
    rows = []
    epsilons: dict[str, list[float]] = {"ApproxNDCG": [], "SoftNDCG": []}
    for value in strengths:
        row: dict[str, float] = {"α, 1/σ": value}
        for name, loss in (("ApproxNDCG", ApproxNDCGLoss(alpha=value)), ("SoftNDCG", SoftNDCG(sigma=1.0 / value))):
            correlation = tendency_correlation(_surrogate(loss, data, scores), exact)
            row[f"ε, {name}"] = correlation.epsilon
            epsilons[name].append(correlation.epsilon)
        rows.append(row)
    others = [
        {
            "surrogate": loss.name,
            "measure": "nDCG",
            "ε": tendency_correlation(_surrogate(loss, data, scores), exact).epsilon,
        }
        for loss in (Hinge(), Logistic(), ListMLELoss())
    ]
    example = svm_disagreement()
    others.append(
        {
            "surrogate": "SVM-MAP",
            "measure": "AP",
            "ε": tendency_correlation([-x for x in example.loss], example.precision).epsilon,
        }
    )
    chart = line_chart(
        {name: (list(strengths), values) for name, values in epsilons.items()},
        title="Tendency correlation with nDCG",
        x_label="α of ApproxNDCG, 1/σ of SoftNDCG",
        y_label="ε",
        log_x=True,
    )
    return Study(
        pl.DataFrame(rows),
        f"Tendency correlation ε over {n_models} models; nDCG ranges over {np.ptp(exact):.4f}",
        parts=(Study(pl.DataFrame(others), "Losses that are not made to come close"),),
        picture=chart,
    )


def _surrogate(loss: Loss, data: RankingDataset, scores: Sequence[np.ndarray]) -> np.ndarray:
    """Minus the loss of each model: larger is better, as for a measure."""
    bound = loss.bind(data)
    return np.array([-float(bound.evaluate(bound.check(s))[0].mean()) for s in scores])
