"""How tightly losses bound measures."""

from __future__ import annotations

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.losses.listwise.listmle import ListMLELoss
from plackett.losses.pairwise.exponential import Exponential
from plackett.losses.pairwise.hinge import Hinge
from plackett.losses.pairwise.logistic import Logistic
from plackett.losses.pointwise.square import Square
from plackett.measures.ranking import Scored
from plackett.plot.chart import line_chart
from studies.base import Study


def surrogate_bounds(*, n_lists: int = 20_000, n_docs: int = 8, random_state: int = 0) -> Study:
    """Which losses bound which measures, how often are they violated, and how tight are they?

    Random lists are ranked by their labels (the gains, for the square loss) plus noise of random strength. For some
    losses, every bound of `plackett.theory.known_bounds` is compared with the error that it bounds. The chart shows the
    median bound of 1 − nDCG against the error.

    References
    ----------
    Chen, Liu, Lan, Ma, Li: Ranking measures and loss functions in learning to rank. NIPS 2009.
    Liu: Learning to rank for information retrieval. Springer 2011, chapters 5 and 19.
    """
    import polars as pl

    rng = np.random.default_rng(random_state)
    losses = (Hinge(), Exponential(), Logistic(), ListMLELoss(), Square(target="exp2"), Square())
    rows, lines = [], {}
    for loss in losses:
        for bound in loss.bounds():
            top = 1 if bound.labels == "binary" else 3
            y = rng.integers(0, top + 1, (n_lists, n_docs)).astype(float)
            y[:, 0], y[:, -1] = np.maximum(y[:, 0], 1), 0  # at least one relevant and one irrelevant document
            target = 2.0**y - 1 if getattr(loss, "target", "") == "exp2" else y
            strength = np.exp(rng.uniform(np.log(0.02), np.log(5), (n_lists, 1)))
            s = (target + strength * rng.standard_normal(y.shape)).ravel()
            data = RankingDataset.from_arrays(None, y.ravel(), np.repeat(np.arange(n_lists), n_docs))
            values = bound.measure(ties="pessimistic").per_query(Scored(data, s))
            error = 1.0 - values if bound.measure.ascending else values
            limit = bound(s, data)
            some = error > 1e-9
            ratio = limit[some] / error[some]
            rows.append(
                {
                    "loss": str(loss),
                    "bound": bound.statement,
                    "source": bound.source,
                    "violations": int((error > limit + 1e-9).sum()),
                    "says something": float((limit < 1).mean()),
                    "least ratio": float(ratio.min()),
                    "median ratio": float(np.median(ratio)),
                }
            )
            if bound.measure.name == "nDCG":
                lines[loss.name] = _medians(error, limit)
    lines["the error itself"] = ([0.0, 0.6], [0.0, 0.6])
    return Study(
        pl.DataFrame(rows),
        f"Bounds of measures by losses on {n_lists} random lists of {n_docs} documents",
        (
            "Ratios of bound to error are over the lists with an error; a bound of 1 or more says nothing, "
            "and “says something” is the share of lists on which it is below 1.",
        ),
        picture=line_chart(lines, title="Bounds of 1 − nDCG", x_label="1 − nDCG", y_label="median bound", log_y=True),
    )


def _medians(error: np.ndarray, limit: np.ndarray) -> tuple[list[float], list[float]]:
    """Median bound in bins of the error."""
    edges = np.linspace(0.0, 0.6, 13)
    number = np.digitize(error, edges) - 1
    bins = [i for i in range(12) if (number == i).sum() >= 10]
    return [float((edges[i] + edges[i + 1]) / 2) for i in bins], [float(np.median(limit[number == i])) for i in bins]
