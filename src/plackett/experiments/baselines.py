"""The settings of LETOR's own baselines."""

from __future__ import annotations

from typing import Any

from plackett._base.arguments import choice
from plackett._base.search_space import Real, SearchSpace

__all__ = ["letor_baselines"]

_MAPPINGS = ("linear", "exp2")
_PRICE = Real(1e-4, 10.0, log=True)

#: Rankers and what is tuned on validation data in addition to the number of rounds, which every ranker with rounds
#: chooses by itself. Regression and ListNet have no penalty, RankBoost and FRank 255 thresholds per feature.
BASELINES: dict[str, tuple[str, SearchSpace]] = {
    "Regression": ("LinearRegression(alpha=0.0)", {"target": _MAPPINGS}),
    "RankSVM": ("RankSVM(loss='hinge')", {"C": _PRICE}),
    "RankBoost": ("RankBoost(weak='threshold', n_thresholds=255)", {}),
    "FRank": ("FRank(weak='threshold', n_thresholds=255)", {}),
    "ListNet": ("ListNet(alpha=0.0)", {"target": _MAPPINGS}),
    "AdaRank": ("AdaRank(measure='AP')", {}),
    "SVMMAP": ("SVMMAP()", {"C": Real(1e-1, 1e3, log=True)}),
}

#: The baselines of each release.
RELEASES = {"letor3": tuple(BASELINES), "letor4": ("RankSVM", "RankBoost", "ListNet", "AdaRank")}


def letor_baselines(release: str = "letor3") -> dict[str, Any]:
    """Arguments of `experiment` for LETOR's baselines: rankers, search spaces, selection by MAP, the release's rules.

    Parameters that the baselines tune on validation data are searched on a grid; the number of rounds or iterations is
    that of the best round on validation data. LETOR does not publish the values that were tried: the ranges are ours.

    Parameters
    ----------
    release
        ``"letor3"`` (seven baselines) or ``"letor4"`` (four of them).

    References
    ----------
    Qin, Liu, Xu, Li: LETOR: a benchmark collection for research on learning to rank for information retrieval.
    Information Retrieval 13, 2010.
    Liu: Learning to rank for information retrieval. Springer 2011, section 11.1.

    Examples
    --------
    >>> letor_baselines("letor4")["select"], list(letor_baselines("letor4")["rankers"])
    ('AP', ['RankSVM', 'RankBoost', 'ListNet', 'AdaRank'])
    """
    choice("release", release, RELEASES)
    names = RELEASES[release]
    return {
        "rankers": {name: BASELINES[name][0] for name in names},
        "spaces": {name: BASELINES[name][1] for name in names},
        "select": "AP",
        "preset": release,
        "search": "grid",
        "n_trials": 5,
    }
