"""Four weaknesses of the pairwise approach, each with a knob and its remedies."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from studies._tilted import bottom_heavy_queries, tilted_queries
from studies.base import Study, of_queries, per_query


def pairwise_problems(*, random_state: int = 0) -> Study:
    r"""When do pair losses go wrong, and do their remedies help?

    For each weakness, data is generated with a knob turned off and on. The plain method is compared with the remedies:

    - *grades*: a pair of grades 2 and 1 counts as much as one of 6 and 1. The knob is the best grade; remedies weight
      pairs by the difference of grades (`MPRank`) or train one model per pair of grades
      (`MultipleHyperplaneRanker`).
    - *long queries*: a list of n documents has up to n²/4 pairs. The knob is the length of the one query that needs a
      different model; `IRSVM` gives queries the same weight.
    - *noise*: one wrong label spoils all pairs of the document. The knob is the share of irrelevant documents with
      extreme values that are labelled relevant; `SigmoidRank` and `RampRank` bound the loss of a pair.
    - *positions*: pairs at the bottom of the list count as much as those at the top. The knob is the number of
      documents at the bottom; `OWPC` and linear lambdas look at the top.

    Parameters
    ----------
    random_state
        Seed.

    Returns
    -------
    Study
        One row for each weakness, knob and method, with the measure on similar data without noise or the odd query.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, section 3.3.
    """
    import polars as pl

    rows: list[dict[str, Any]] = []
    for weakness, measure, knobs, make, methods in _weaknesses():
        for knob in knobs:
            train, test = make(knob, random_state), make(None if weakness in _CLEAN else knob, random_state + 1000)
            for method, ranker in methods().items():
                value = per_query(test, ranker.fit(train).predict(test), measure).mean()
                row = {"weakness": weakness, "measure": measure, "method": method}
                rows.append(row | {"knob": float(knob), "value": float(value)})
    frame = pl.DataFrame(rows).pivot("knob", index=["weakness", "measure", "method"], values="value")
    offs = {weakness: (min(knobs), max(knobs)) for weakness, _, knobs, _, _ in _weaknesses()}
    table = [
        {"weakness": row["weakness"], "method": row["method"], "measure": row["measure"]}
        | {"knob": "{:g} → {:g}".format(*offs[row["weakness"]])}
        | dict(zip(("off", "on"), (row[str(float(knob))] for knob in offs[row["weakness"]]), strict=True))
        for row in frame.iter_rows(named=True)
    ]
    one = changed_pairs([2, 1, 1, 0, 0, 0, 0, 0, 0, 0], 3, 2)
    return Study(
        pl.DataFrame(table),
        "Weaknesses of pair losses and their remedies, on made-up data",
        (f"In a list of ten, changing one label from 0 to 2 adds, removes or reverses {one} pairs.",),
    )


def changed_pairs(labels: Any, document: int, label: float) -> int:
    """Number of pairs of a list that change when one document gets another label.

    A pair changes if it appears, vanishes or is reversed: at most the number of other documents.

    >>> changed_pairs([1, 0, 0, 0], 3, 1)  # (1st, 4th) vanishes, (4th, 2nd) and (4th, 3rd) appear
    3
    """
    others = np.delete(np.asarray(labels), document)
    return int((np.sign(others - labels[document]) != np.sign(others - label)).sum())


# ------------------------------------------------------------------------------------------------------------- data

#: Weaknesses that are tested on data without the fault.
_CLEAN = ("long queries", "noise")


def _grades(best: float | None, seed: int) -> RankingDataset:
    """The first feature identifies the few documents of the best grade, the second those of grade 1; each misleads."""
    rng = np.random.default_rng(seed)
    y = np.tile([best or 1.0] * 2 + [1.0] * 9 + [0.0] * 9, 60)
    X = 0.5 * rng.standard_normal((y.size, 2))
    top, middle = y == y.max(), y == 1
    X[:, 0] += np.where(top, 1.0, np.where(middle, -0.6, 0.0))
    X[:, 1] += np.where(top, -0.2, np.where(middle, 1.0, 0.0))
    return of_queries(X, y, [20] * 60)


def _long(length: int | None, seed: int) -> RankingDataset:
    queries = tilted_queries(40, 20, 0.0, seed)
    if length is None:
        return queries
    odd = tilted_queries(1, length, np.pi / 2, seed + 1)
    return of_queries(np.vstack([queries.X, odd.X]), np.append(queries.labels, odd.labels), [20] * 40 + [length])


def _noisy(share: float | None, seed: int) -> RankingDataset:
    """Irrelevant documents with extreme values on the wrong side are labelled relevant."""
    data = tilted_queries(60, 20, 0.0, seed)
    rng = np.random.default_rng(seed + 1)
    wrong = (data.labels == 0) & (rng.random(data.n_rows) < (share or 0.0))
    X, y = np.array(data.X), np.array(data.labels)
    X[wrong] = np.array([-6.0, 6.0]) + rng.standard_normal((int(wrong.sum()), 2))
    y[wrong] = 2
    return data.replace(X=X, y=y)


# ---------------------------------------------------------------------------------------------------------- methods


def _weaknesses() -> list[Any]:
    return [
        ("grades", "nDCG@3", (1.0, 6.0), _grades, _magnitude),
        ("long queries", "nDCG@10", (20, 400), _long, _normalised),
        ("noise", "nDCG@10", (0.0, 0.15), _noisy, _bounded),
        ("positions", "nDCG@3", (0, 100), bottom_heavy_queries, _top_heavy),
    ]


def _magnitude() -> dict[str, Any]:
    from plackett.rankers.pairwise.mprank import MPRank
    from plackett.rankers.pairwise.multiple_hyperplane_ranker import MultipleHyperplaneRanker

    return {"RankSVM": _plain(), "MPRank": MPRank(), "MultipleHyperplaneRanker": MultipleHyperplaneRanker(C=0.1)}


def _normalised() -> dict[str, Any]:
    from plackett.rankers.pairwise.ir_svm import IRSVM

    return {"RankSVM": _plain(), "IRSVM": IRSVM(C=0.1)}


def _bounded() -> dict[str, Any]:
    from plackett.rankers.pairwise.ramp_rank import RampRank
    from plackett.rankers.pairwise.sigmoid_rank import SigmoidRank

    return {"RankSVM": _plain(), "SigmoidRank": SigmoidRank(), "RampRank": RampRank()}


def _top_heavy() -> dict[str, Any]:
    from plackett.rankers.gradient_ranker import GradientRanker
    from plackett.rankers.pairwise.owpc import OWPC

    return {"RankSVM": _plain(), "OWPC": OWPC(), "linear lambdas": GradientRanker(loss="Lambda", model="linear")}


def _plain() -> Any:
    from plackett.rankers.pairwise.rank_svm import RankSVM

    return RankSVM(C=0.01)
