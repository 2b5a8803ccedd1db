"""Comparison of the scores of several systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.evaluation.compare_evaluations import Test, compare_evaluations, named_systems
from plackett.evaluation.comparison import Comparison
from plackett.evaluation.evaluate import OWN_QUERIES, labelled, measure_scored, warn_of_doubts
from plackett.evaluation.significance.effects import TOLERANCE
from plackett.measures.base import Measure
from plackett.measures.language import parse_all
from plackett.measures.ranking import Scored

__all__ = ["compare"]


def compare(
    data: RankingDataset | Any,
    scores: Mapping[str, Any],
    measures: str | Measure | Iterable[str | Measure],
    *,
    qid: Any = None,
    group: Any = None,
    preset: str | None = None,
    test: Test = "fisher",
    correction: str | None = "holm",
    baseline: str | None = None,
    alpha: float = 0.05,
    interval: str = "t",
    risk_alpha: float = 1.0,
    tolerance: float = TOLERANCE,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> Comparison:
    """Compare the scores of several systems on the same documents.

    Every pair of systems (or each system and the ``baseline``) is tested on every measure. The pairs of one measure
    form one family of hypotheses, whose p-values are corrected together. Different measures are separate families: they
    look at the same rankings and depend strongly on each other. If you count a difference on any one of several
    measures as a finding, divide ``alpha`` by the number of measures.

    Parameters
    ----------
    data
        A `RankingDataset`, or the labels of the documents with their queries in ``qid``.
    scores
        Scores of each system by name, in the grouped order of the dataset or, with plain labels, in their order. A
        system can also be a fitted ranker, ours or another library's, which scores the documents of the dataset here.
    measures
        Names such as ``"nDCG@10"`` or measure objects.
    qid, group
        With plain labels: the query of each document, in any order, or the number of documents of each query.
    preset
        Rules of another tool, for every parameter that a measure does not set.
    test
        ``"fisher"``, ``"student"``, ``"wilcoxon"``, ``"sign"``, ``"bootstrap"``
        (`plackett.evaluation.significance.PAIRED`), ``"tukey"`` for all pairs at once, or a function of two arrays
        that returns a p-value or an object with ``pvalue``, such as `scipy.stats.ttest_rel`.
    correction
        ``"holm"``, ``"bonferroni"``, ``"benjamini-hochberg"`` or None. The Tukey test needs no correction.
    baseline
        Name of the system that the others are compared with; by default all pairs are compared.
    alpha
        Level: corrected p-values up to it are significant. Each interval has the level 1 − alpha by itself.
    interval
        Kind of confidence interval: ``"t"``, or ``"bca"`` or ``"percentile"`` from 10,000 bootstrap samples, which are
        too short for few queries (see `plackett.evaluation.significance.confidence_interval`).
    risk_alpha
        Additional weight of losses in URisk, TRisk and GeoRisk.
    tolerance
        Differences up to this size are ties in the counts of wins and losses.
    random_state
        Seed of everything random.

    Returns
    -------
    Comparison
        ``.table``, ``.pairs`` (polars frames) and ``.to_markdown()``, ``.to_latex()``, ``.to_terminal()``, ….

    Notes
    -----
    A query that a measure skips for any system is left out for all systems on that measure.

    References
    ----------
    Smucker, Allan, Carterette: A comparison of statistical significance tests for information retrieval evaluation.
    CIKM 2007.
    Carterette: Multiple testing in statistical analysis of systems-based information retrieval experiments. ACM
    Transactions on Information Systems 2012.
    Sakai: Statistical reform in information retrieval? SIGIR Forum 2014.

    Examples
    --------
    >>> import numpy as np
    >>> qid = np.repeat(np.arange(8), 2)
    >>> good, bad = np.tile([2, 1], 8), np.tile([1, 2], 8)
    >>> result = compare(np.tile([1, 0], 8), {"good": good, "bad": bad}, ["nDCG"], qid=qid)
    >>> result.pairs["p"].item() == 2 / 2**8  # all eight queries prefer the first
    True
    >>> print(result.to_markdown(digits=3))
    |     | system |                  nDCG |
    | --- | ------ | --------------------: |
    | a   | good   | **1.000**<sup>b</sup> |
    | b   | bad    |                 0.631 |
    <BLANKLINE>
    8 queries. A figure with a letter is significantly better than that system (p ≤ 0.05, Fisher's randomisation test).
    """
    parsed = parse_all(measures)
    systems = named_systems(scores, "scores")
    if not isinstance(data, RankingDataset):
        data, systems = labelled(data, systems, qid, group)
    elif qid is not None or group is not None:
        raise DataError(OWN_QUERIES)
    evaluations = {}
    for name, given in systems.items():
        try:
            scored = Scored(data, given, random_state=random_state, n_jobs=n_jobs)
        except DataError as error:
            raise DataError(f"system {name!r}: {error}") from None
        evaluations[name] = measure_scored(scored, parsed, preset)
    warn_of_doubts(next(iter(evaluations.values())), data)
    return compare_evaluations(
        evaluations,
        test=test,
        correction=correction,
        baseline=baseline,
        alpha=alpha,
        interval=interval,
        risk_alpha=risk_alpha,
        tolerance=tolerance,
        random_state=random_state,
    )
