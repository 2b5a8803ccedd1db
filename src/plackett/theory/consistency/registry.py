"""Known results on the consistency of algorithms: consistent, inconsistent or unknown, each with a supporting test."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

__all__ = ["consistency_table"]


class ConsistencyEntry(NamedTuple):
    """One row: an algorithm, a true loss, what is assumed, the verdict, its source and the test that supports it."""

    algorithm: str
    true_loss: str
    framework: str
    approach: str
    condition: str
    verdict: str
    source: str
    evidence: str


_CALIBRATION = "test_calibration.py::test_pair_losses_of_the_library_are_calibrated"
_SENSITIVE = "test_check.py::test_listwise_losses_are_consistent_on_order_preserving_spaces"
_TOP = "test_check.py::test_top_one_counterexample_of_the_full_loss"
_TOP_K = "test_check.py::test_top_k_losses_are_consistent_where_the_full_one_is_not"
_KENDALL = "test_check.py::test_decreasing_pair_losses_are_consistent_with_kendall"
_WEIGHTED = "test_surrogates.py::test_weights_make_surrogates_agree_with_weighted_kendall"
_SEPARABLE = "test_surrogates.py::test_unweighted_surrogates_miss_weighted_optima"
_HINGE = "test_check.py::test_hinge_pairs_can_tie_what_kendall_separates"
_REGRESSION = "test_dcg_regret.py::test_regression_bounds_the_loss_of_dcg"
_POINTWISE = "test_check.py::test_regression_on_labels_is_consistent_on_order_preserving_spaces"

CONSISTENCY: tuple[ConsistencyEntry, ...] = (
    ConsistencyEntry(
        "LinearRegression", "1 − DCG", "subset", "pointwise", "the expected gains are in the class", "consistent",
        "Cossock, Zhang 2006 (18.6)", _REGRESSION,
    ),
    ConsistencyEntry(
        "WeightedRegression", "1 − DCG", "subset", "pointwise", "the expected gains are in the class", "consistent",
        "Cossock, Zhang 2006 (18.6)", _REGRESSION,
    ),
    ConsistencyEntry(
        "LinearRegression", "permutation 0–1", "subset", "pointwise", "order preserving", "consistent",
        "Theorem 18.3, by computation", _POINTWISE,
    ),
    ConsistencyEntry(
        "RankSVM", "pairwise 0–1", "document", "pairwise", "all pair functions", "consistent", "Theorem 18.1",
        _CALIBRATION,
    ),
    ConsistencyEntry(
        "RankBoost", "pairwise 0–1", "document", "pairwise", "all pair functions", "consistent", "Theorem 18.1",
        _CALIBRATION,
    ),
    ConsistencyEntry(
        "RankNet", "pairwise 0–1", "document", "pairwise", "all pair functions", "consistent", "Theorem 18.1",
        _CALIBRATION,
    ),
    ConsistencyEntry(
        "RankNet", "Kendall's τ", "subset", "pairwise", "order preserving", "consistent", "Theorem 18.5", _KENDALL,
    ),
    ConsistencyEntry(
        "RankBoost", "Kendall's τ", "subset", "pairwise", "order preserving", "consistent", "Theorem 18.5", _KENDALL,
    ),
    ConsistencyEntry(
        "RankSVM", "Kendall's τ", "subset", "pairwise", "order preserving", "inconsistent",
        "Theorem 18.5 is silent on the hinge; by computation its minimiser ties documents", _HINGE,
    ),
    ConsistencyEntry(
        "RankNet", "weighted Kendall's τ", "subset", "pairwise", "separable pairs", "inconsistent",
        "section 18.3.4", _SEPARABLE,
    ),
    ConsistencyEntry(
        "RankNet with weights D(u, v)", "weighted Kendall's τ", "subset", "pairwise", "order preserving", "consistent",
        "Theorem 18.5", _WEIGHTED,
    ),
    ConsistencyEntry(
        "ListNet", "permutation 0–1", "subset", "listwise", "order preserving", "consistent", "Theorem 18.3",
        _SENSITIVE,
    ),
    ConsistencyEntry(
        "ListMLE", "permutation 0–1", "subset", "listwise", "order preserving", "consistent", "Theorem 18.3",
        _SENSITIVE,
    ),
    ConsistencyEntry(
        "ListMLE", "top-k 0–1", "subset", "listwise", "top-k order preserving", "inconsistent", "Xia, Liu, Li 2009",
        _TOP,
    ),
    ConsistencyEntry(
        "ListMLE(k)", "top-k 0–1", "subset", "listwise", "top-k order preserving", "consistent", "Theorem 18.4", _TOP_K,
    ),
    ConsistencyEntry(
        "ListNet on top_k_labels", "top-k 0–1", "subset", "listwise", "top-k order preserving", "consistent",
        "Theorem 18.4", _TOP_K,
    ),
    ConsistencyEntry(
        "ListMLE", "Kendall's τ", "subset", "listwise", "order preserving", "consistent", "Theorem 18.6", _SENSITIVE,
    ),
    ConsistencyEntry(
        "ListMLE(discount)", "difference-weighted Kendall's τ", "subset", "listwise", "order preserving", "consistent",
        "Theorem 18.6", _WEIGHTED,
    ),
    ConsistencyEntry("LambdaMART", "1 − nDCG", "subset", "pairwise", "–", "unknown", "no proof is known here", ""),
    ConsistencyEntry("SVMMAP", "1 − AP", "subset", "listwise", "–", "unknown", "no proof is known here", ""),
)  # fmt: skip


def consistency_table(algorithm: str | None = None, true_loss: str | None = None) -> pl.DataFrame:
    """What is known about consistency: algorithm, true loss, framework, condition, verdict, source, supporting test.

    >>> consistency_table("ListMLE")["verdict"].to_list()
    ['consistent', 'inconsistent', 'consistent']

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 18.
    """
    import polars as pl

    rows = [
        entry._asdict()
        for entry in CONSISTENCY
        if algorithm in (None, entry.algorithm) and true_loss in (None, entry.true_loss)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(ConsistencyEntry._fields, pl.String))
