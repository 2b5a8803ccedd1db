"""Every public item of plackett.theory refuses NaN, infinity and what does not fit, with an error of ours."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import plackett as pk
from plackett import theory
from plackett._names.catalogue import items
from plackett.losses import Hinge, ListMLELoss
from plackett.theory.planner.learning_curve import LearningCurve, learning_curve
from plackett.theory.risks.conventions import Convention

NAN, INF = float("nan"), float("inf")
DATA = pk.RankingDataset.from_arrays([[0.0], [1.0], [0.5], [0.2]], [1, 0, 2, 0], qid=[1, 1, 2, 2])
SCORES = [0.3, 0.1, 0.9, 0.2]
SPACE = theory.PermutationSpace({(0, 1, 2): 0.6, (2, 1, 0): 0.4})
CYCLE = [[0.5, 0.8], [0.2, 0.5]]
CASES = [(0.5, (0, 1), (1, 0)), (0.5, (0, 1), (0, 1))]
RULE = lambda table: [0, 1]  # noqa: E731

#: What each item is called with, and what its arguments are, by position or name: "n" a number of 0 or more, "number"
#: any number, "a" an array that must fit the others, "a0" one that may be empty, "any" one on its own,
#: "s" scores of DATA.
CALLS = {
    "adarank_residual": ((DATA, [[1.0]], [0.5]), {1: "a", 2: "a"}),
    "approx_ndcg_tendency": ((10.0, 1.0, 10), {0: "n", 1: "n", 2: "n"}),
    "auc_deviation": ((10, 20), {0: "n", 1: "n", "delta": "n"}),
    "best_margin": (([0.5, 0.2], 0.01), {0: "a", 1: "n", "delta": "n", "n_grid": "n"}),
    "bipartite_rankboost": (([[1, 0], [0, 1]], [[1, 0], [0, 1]], 1), {0: "a", 1: "a", 2: "n"}),
    "boosted_distribution": (([[1.0], [-1.0]], [0.5]), {0: "a", 1: "a"}),
    "boosted_vc": ((2, 5), {0: "n", 1: "n"}),
    "capture_recapture": ((200, 300, 60), {0: "n", 1: "n", 2: "n"}),
    "classification_error": ((0.1, 0.2, 0.3), {0: "n", 1: "n", 2: "n"}),
    "cohen_ranker_bound": (([1, 0], CYCLE, [(0, 1)]), {0: "a", 1: "a", 2: "a"}),
    "dcg_regret_bound": (([2.0, 1.0], [1.0, 1.0]), {0: "a", 1: "a", "k": "n"}),
    "emphasis_axioms": ((lambda i, j: abs(i - j), 3), {1: "n"}),
    "empirical_margin_loss": (([0.5, -0.1], 0.1), {0: "any", 1: "number"}),
    "ensemble_margin_bound": (
        ([[1, 1], [1, 0]], [3.0, 1.0], 0.5),
        {0: "a", 1: "a", 2: "n", "delta": "n", "complexity": "n", "n_rankers": "n"},
    ),
    "essential_ap_bound": ((SCORES, DATA), {0: "s"}),
    "essential_loss": ((SCORES, DATA), {0: "s", "beta": "a"}),
    "essential_ndcg_bound": ((SCORES, DATA), {0: "s"}),
    "expected_utility_order": (([[0.9, 0.1], [0.4, 0.6]], [0.0, 1.0]), {0: "a", 1: "a"}),
    "exponential_sums": (([0.1], [0.2]), {0: "a", 1: "a"}),
    "hinge_loss_bound": ((0.1, 1.0), {0: "n", 1: "n"}),
    "ir_svm_query_stability": ((200, 0.1, 1.0), {0: "n", 1: "n", 2: "n"}),
    "joachims_map_bound": (([0.0, 1.0], [1, 1]), {0: "a", 1: "a"}),
    "kendall_dcg_gap": (([1.0, 3.0], [5.0, 1.0]), {0: "a", 1: "a"}),
    "kernel_rademacher": (([[1.0, 0.5], [0.5, 1.0]], 1.0), {0: "a", 1: "n", "factor": "n", "n_draws": "n"}),
    "labelling_budget": ((1000, 10.0), {0: "n", 1: "n", "delta": "n", "c": "n", "loss_bound": "n"}),
    "linear_rademacher": (([[3.0, 4.0]], 1.0), {0: "a", 1: "n", "factor": "n", "n_draws": "n"}),
    "linear_rademacher_bound": (([[3.0, 4.0]], 1.0), {0: "a", 1: "n", "factor": "n"}),
    "listwise_query_stability": ((20, 5, 0.05, 1.0, 3.0), {0: "n", 1: "n", 2: "n", 3: "n", 4: "n"}),
    "margin_loss": (([0.5, 1.0], 1.0), {0: "any", 1: "n"}),
    "misranking_error": (([0.0, 1.0], [1.0, 1.0], [1, 1]), {0: "a", 1: "a", 2: "a"}),
    "multiclass_bound": (([1, 0, 2, 0], DATA), {0: "s", "n_classes": "n"}),
    "ndcg_inversion_bound": (([1.0, 2.0], [1, 0]), {0: "a", 1: "a"}),
    "normalised_edge": (([0.5], [0.1]), {0: "a", 1: "a"}),
    "pair_loss_curve": ((Hinge(), [0.5, 1.0]), {1: "a"}),
    "pair_loss_shape": ((Hinge(), 1.0), {1: "n"}),
    "pair_margin_loss": (([0.0, 1.0], [1.0, 1.0], [1, 1], 1.0), {0: "a", 1: "a", 2: "a", 3: "n"}),
    "pair_share_bound": ((200, 100.0, 80.0), {0: "n", 1: "n", 2: "n", "delta": "n", "slack": "n"}),
    "partite_emphasis": (([2, 1, 0],), {0: "a"}),
    "preference_loss": ((CYCLE, [1, 0]), {0: "a", 1: "a"}),
    "preserved_pairs": ((SPACE, 1), {1: "n"}),
    "is_order_preserving": ((SPACE, 1), {1: "n"}),
    "query_level_losses": ((Hinge(), SCORES, DATA), {1: "s"}),
    "rademacher_average": (([[1.0, -1.0]],), {0: "a", "factor": "n", "n_draws": "n"}),
    "rank_shatter": (([[1.0, 0.5]], [[0.2, 0.1]]), {0: "a", 1: "a"}),
    "rank_shatter_bound": ((10, 10, 2), {0: "n", 1: "n", 2: "n"}),
    "rank_svm_document_stability": ((100, 0.1, 1.0, 1.0), {0: "n", 1: "n", 2: "n", 3: "n"}),
    "rank_svm_query_stability": (([10, 3], 0.5, 1.0), {0: "a", 1: "n", 2: "n"}),
    "rankboost_error_bounds": (([0.5], [0.1]), {0: "a", 1: "a"}),
    "rankboost_margin_bound": (([0.5], [0.1], 0.2), {0: "a", 1: "a", 2: "n"}),
    "ranking_error_of_classifier": ((0.1, 0.2), {0: "n", 1: "n"}),
    "ranking_loss": (([1, 0], [1, 0]), {0: "a", 1: "a"}),
    "ranking_margin": (([[1.0], [0.5]], [2.0]), {0: "a", 1: "a"}),
    "regression_ap_bound": ((SCORES, DATA), {0: "s"}),
    "regression_bound": ((SCORES, DATA), {0: "s"}),
    "regrets": ((CASES, CYCLE, RULE), {1: "a"}),
    "risk_levels": ((Hinge(), SCORES, DATA), {1: "s"}),
    "risk_standard_error": ((theory.Risk(Hinge()), SCORES, DATA), {1: "s"}),
    "rocchio_hidden_loss": (([1.0, 0.0], [[0.0, 1.0]], [[1.0, 0.0]]), {0: "a", 1: "a0", 2: "a0", "alpha": "number"}),
    "rsr_reduction": (([2.0, 1.0], [0, 1]), {0: "a", 1: "a"}),
    "sampled_dcg": ((SCORES, DATA, 0.5), {0: "s", 2: "n"}),
    "sampled_ranks": ((SCORES, DATA, 0.5), {0: "s", 2: "n"}),
    "separability": ((SPACE, [3.0, 1.0, 0.0]), {1: "a"}),
    "simulate_labelling": ((100,), {0: "n", "queries": "a", "n_repeats": "n"}),
    "smallest_budget": ((0.5, 10.0), {0: "n", 1: "n", "delta": "n", "c": "n", "loss_bound": "n"}),
    "smooth_ranking_margin": (([[1.0], [0.5]], [2.0]), {0: "a", 1: "a"}),
    "soft_ndcg_tendency": ((0.1, 1.0, 10), {0: "n", 1: "n", 2: "n", "top_label": "n", "ideal": "n"}),
    "stability": ((pk.IRSVM(), DATA), {"n": "n"}),
    "structural_map_loss": ((SCORES, DATA.replace(y=np.minimum(DATA.y, 1))), {0: "s"}),
    "structured_bounds": (([3.0, 2.0], [0, 1]), {0: "a", 1: "a"}),
    "sub_lists": ((DATA, 2), {1: "n", "n_lists": "n"}),
    "svm_disagreement": ((20, 200), {0: "n", 1: "n"}),
    "tendency_correlation": (([1.0, 3.0], [0.1, 0.5]), {0: "a", 1: "a"}),
    "top_k_emphasis": ((2,), {0: "n"}),
    "top_k_labels": ((DATA, 2, 1.0), {1: "n", 2: "n"}),
    "two_stage_bound": ((0.25,), {0: "n"}),
    "plan": ((100,), {0: "n", "queries": "n", "documents": "n", "n_features": "n", "delta": "n", "n_repeats": "n"}),
    "DocumentZeroOne": ((), {"rel": "number", "threshold": "number"}),
    "TopKZeroOne": ((2,), {0: "n"}),
    "WeightedKendall": (([3.0, 1.0],), {0: "a"}),
    "PlantedWorld": ((), {"n_features": "n", "noise": "n", "query_noise": "n", "relevant": "n"}),
    "PermutationSpace": (([0.6, 0.4],), {0: "a"}),
    "FiniteWorld": (([[[0.0], [1.0]]], [[0, 1]]), {"query_probability": "a"}),
    "CalibrationTransform": ((Hinge(), 1.0), {1: "n"}),
    "weighted_pair_surrogate": ((np.exp, np.exp, [2.0, 1.0]), {2: "a"}),
    "weighted_list_surrogate": (([2.0, 1.0],), {0: "a"}),
    "IRSVMBound": ((), {"queries": "n", "penalty": "n", "kappa": "n", "norm": "n", "delta": "n"}),
    "RankSVMWorstBound": ((), {"queries": "n", "penalty": "n", "kappa": "n"}),
    "RankSVMMomentsBound": ((), {"queries": "n", "mean": "n", "deviation": "n", "slack": "n"}),
    "QueryStabilityBound": ((), {"queries": "n", "tau": "n", "loss_bound": "n"}),
    "DocumentStabilityBound": ((), {"documents": "n", "beta": "n", "loss_bound": "n"}),
    "KernelMarginBound": ((), {"pairs": "n", "norm": "n", "radius": "n", "rho": "n"}),
    "MarginBound": ((), {"pairs": "n", "first": "n", "second": "n", "rho": "n"}),
    "UniformMarginBound": ((), {"pairs": "n", "first": "n", "second": "n", "rho": "n"}),
    "ListwiseBound": ((), {"queries": "n", "documents": "n", "norm": "n", "radius": "n", "a": "n", "b": "n"}),
    "RankBoostVCBound": ((), {"positives": "n", "negatives": "n", "vc": "n", "rounds": "n"}),
    "RankShatterBound": ((), {"positives": "n", "negatives": "n", "n_features": "n", "coefficient": "n"}),
    "TwoLayerBound": ((), {"queries": "n", "documents": "n", "vc": "n", "c": "n", "largest": "n", "loss_bound": "n"}),
    "UStatisticSurrogateBound": ((), {"documents": "n", "vc": "n", "largest": "n", "c": "n", "surrogate": "n"}),
    "UStatisticVCBound": ((), {"documents": "n", "vc": "n", "c": "n"}),
}
#: What a bound needs besides the argument that is tested.
NEEDED = {
    "queries": 50, "documents": 20, "pairs": 50, "positives": 50, "negatives": 50, "tau": 0.1, "beta": 0.1,
    "first": 0.1, "second": 0.1, "mean": 10.0, "deviation": 2.0, "top_label": 2, "ideal": 3.0,
}  # fmt: skip
#: Items without numbers to check: tables, enumerations, wrappers of losses and functions.
WITHOUT = {
    "Associates", "KnownBound", "MeasureLoss", "PairZeroOne", "PermutationZeroOne", "Risk", "algorithm_registry",
    "check_consistency", "consistency_table", "expected_minimiser", "four_risks", "independent_preferences",
    "known_bounds", "known_results", "order_sensitivity", "pair_surrogate_conditions", "true_risks",
    "worst_case_of_rule",
}  # fmt: skip


def call(name, position, value):
    """The item with one argument replaced."""
    item = getattr(theory, name)
    arguments = list(CALLS[name][0])
    names = set(inspect.signature(item).parameters)
    needed = {key: v for key, v in NEEDED.items() if key in names and name.endswith(("Bound", "tendency"))}
    options = {} if arguments and name != "soft_ndcg_tendency" else needed
    if name == "soft_ndcg_tendency":
        options = {key: NEEDED[key] for key in ("top_label", "ideal")}
    if name == "ensemble_margin_bound" and position not in ("complexity", "n_rankers"):
        options["n_rankers"] = 5
    if isinstance(position, int):
        arguments[position] = value
    else:
        options[position] = value
    return item(*arguments, **options)


def bad_values(kind, now):
    if kind == "number":  # any finite number
        return [NAN, INF, "x"]
    if kind == "n":
        return [NAN, INF, -INF, -1.0, "x"]
    table = np.array(now, np.float64) if now is not None else np.array([1.0, 1.0])
    with_nan, with_inf = table.copy(), table.copy()
    with_nan.flat[-1], with_inf.flat[0] = NAN, INF
    mismatched = {"a": np.zeros((3, *(5,) * table.ndim)), "s": np.zeros(7), "a0": np.zeros((2, 9))}
    others = [mismatched[kind]] if kind in mismatched else []
    return [with_nan, with_inf, "x", *others, *([] if kind == "a0" else [table[:0]])]


CHECKED = [(name, position, kind) for name, (_, checked) in CALLS.items() for position, kind in checked.items()]


@pytest.mark.parametrize(("name", "position", "kind"), CHECKED, ids=lambda v: str(v))
def test_bad_input_is_refused(name, position, kind):
    arguments = CALLS[name][0]
    now = arguments[position] if isinstance(position, int) else None
    for value in bad_values(kind, now):
        with pytest.raises((pk.DataError, pk.LossError, pk.MeasureError)):
            call(name, position, value)


def test_good_input_is_taken():
    """The calls of the table are right but for the argument that each test spoils."""
    for name, (arguments, checked) in CALLS.items():
        if arguments and name not in ("simulate_labelling", "plan", "stability", "ensemble_margin_bound"):
            first = next(iter(checked))
            if isinstance(first, int):
                call(name, first, arguments[first])


def test_every_public_item_is_in_the_table():
    public = {item.symbol for item in items("theory")}
    assert public == CALLS.keys() | WITHOUT, public ^ (CALLS.keys() | WITHOUT)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: theory.misranking_error([NAN], [1.0], [1]), "first[0] is nan; give finite numbers"),
        (lambda: theory.empirical_margin_loss([0.1, NAN], 0.2), "margins[1] is nan"),
        (lambda: theory.ndcg_inversion_bound([NAN, 1.0], [1, 0]), "scores[0] is nan"),
        (lambda: theory.ndcg_inversion_bound([1.0, 2.0], [1, -1]), "labels[1] is -1"),
        (lambda: theory.kendall_dcg_gap([1.0, 2.0], [NAN, 0.0]), "gains[0] is nan"),
        (lambda: theory.kendall_dcg_gap([1.0, 1.0], [1.0, 0.0]), "scores tie"),
        (lambda: theory.CalibrationTransform(Hinge()).inverse(NAN), "excess=nan; give a number of 0 or more"),
        (lambda: theory.CalibrationTransform(Hinge())(NAN), "x=nan"),
        (lambda: theory.rank_shatter([[NAN]], [[1.0]]), "positives[0, 0] is nan"),
        (lambda: theory.rank_svm_query_stability([NAN, 3], 0.5), "n_pairs[0] is nan"),
        (lambda: theory.rank_svm_query_stability([0, 0], 0.5), "n_pairs are all 0"),
        (lambda: theory.best_margin([0.5], -0.1), "complexity=-0.1; give a number of 0 or more"),
        (lambda: theory.linear_rademacher([[1.0]], -2.0), "radius=-2.0; give a number of 0 or more"),
        (lambda: theory.kernel_rademacher([[1.0, 2.0], [2.0, 1.0]]), "K has the eigenvalue -1"),
        (lambda: theory.kernel_rademacher([[1.0, 0.2], [0.0, 1.0]]), "K is not symmetric"),
        (lambda: theory.Risk("pairwise 0-1")([NAN, 0, 0, 0], DATA), "scores[0] is nan"),
        (lambda: theory.PairZeroOne().sums(np.array([NAN, 0, 0, 0]), DATA), "NaN"),
        (lambda: theory.DocumentZeroOne().sums([NAN, 0, 0, 0], DATA), "scores[0] is nan"),
        (lambda: theory.WeightedKendall().sums(np.array([NAN, 0, 0, 0]), DATA), "scores[0] is nan"),
        (lambda: Convention.MOHRI.errors([NAN], [0.0], [1]), "first[0] is nan"),
        (lambda: ListMLELoss().bounds("nDCG")[0]([NAN, 0, 0, 0], DATA), "scores[0] is nan"),
        (lambda: theory.regrets([(NAN, (0, 1), (1, 0))], CYCLE, RULE), "probability of case 0=nan"),
        (lambda: theory.independent_preferences([(1.0, (0, 1), (1, NAN))]), "labels of case 0[1] is nan"),
        (lambda: theory.PermutationSpace({(0, 1): NAN}), "probabilities[0] is nan"),
        (lambda: theory.PermutationSpace({}), "probabilities are empty"),
        (lambda: theory.FiniteWorld([[[NAN]]], [[1]]), "features of query 0[0, 0] is nan"),
        (lambda: theory.FiniteWorld([[[0.0]]], [[1]], [[1.0], [1.0]]), "given for 2 queries, labels for 1"),
        (lambda: learning_curve(DATA, measure="ARP"), "10 or more"),
        (lambda: LearningCurve(np.ones(1), np.ones(1), np.ones((1, 1))).predict(NAN, 2), "queries=nan"),
    ],
)
def test_messages_name_the_place(action, message):
    with pytest.raises((pk.DataError, pk.MeasureError)) as error:
        action()
    assert message in str(error.value)


def test_an_undefined_measure_is_not_a_perfect_one():
    """ARP of a query without a relevant document is NaN: the query is left out, it does not count as a loss of 0."""
    data = pk.RankingDataset.from_arrays(None, [0, 1, 0, 0], qid=[1, 1, 2, 2])
    risk = theory.Risk("ARP", "subset")
    assert np.isnan(risk.terms([1.0, 2.0, 1.0, 2.0], data)).tolist() == [False, True]
    assert risk([1.0, 2.0, 1.0, 2.0], data) == 1.0
