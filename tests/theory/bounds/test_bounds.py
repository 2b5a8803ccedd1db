"""Worked numbers, monotonicity and inverses of the bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import plackett as pk
from plackett import DataError
from plackett.theory.bounds.base import Bound, bounds
from plackett.theory.bounds.document_stability import DocumentStabilityBound
from plackett.theory.bounds.ir_svm import IRSVMBound
from plackett.theory.bounds.labelling_budget import labelling_budget, smallest_budget
from plackett.theory.bounds.listwise_rademacher import ListwiseBound, StrengthRange
from plackett.theory.bounds.margin import KernelMarginBound, MarginBound, UniformMarginBound, best_margin
from plackett.theory.bounds.query_stability import QueryStabilityBound
from plackett.theory.bounds.rank_shatter import rank_shatter_bound
from plackett.theory.bounds.rank_shatter_bound import RankShatterBound
from plackett.theory.bounds.rank_svm_moments import RankSVMMomentsBound
from plackett.theory.bounds.rank_svm_worst import RankSVMWorstBound
from plackett.theory.bounds.rankboost_vc import RankBoostVCBound
from plackett.theory.bounds.two_layer import TwoLayerBound
from plackett.theory.bounds.u_statistic_surrogate import UStatisticSurrogateBound
from plackett.theory.bounds.u_statistic_vc import UStatisticVCBound
from plackett.theory.stability.ir_svm import ir_svm_query_stability
from plackett.theory.stability.rank_svm import hinge_loss_bound, rank_svm_document_stability

SVM = {"penalty": 1.0, "kappa": 1.0, "norm": 1.0}

#: One of each, at a size where it says something.
EXAMPLES: dict[type[Bound], Bound] = {
    type(bound): bound
    for bound in (
        RankBoostVCBound(positives=10**6, negatives=10**6, vc=1, rounds=10),
        RankShatterBound(positives=1000, negatives=5000),
        UStatisticVCBound(documents=1000, vc=5),
        UStatisticSurrogateBound(documents=10_000, vc=5),
        ListwiseBound(queries=1000),
        TwoLayerBound(queries=200, documents=100, vc=10),
        DocumentStabilityBound(documents=10**4, beta=lambda m: 160 / m, loss_bound=7.3),
        QueryStabilityBound(queries=2000, tau=lambda r: 40 / r, loss_bound=7.3),
        RankSVMMomentsBound(queries=100, mean=100, deviation=0, **SVM),
        RankSVMWorstBound(queries=100, **SVM),
        IRSVMBound(queries=100, **SVM),
        MarginBound(pairs=10**4, first=lambda m: m**-0.5, second=lambda m: m**-0.5),
        UniformMarginBound(pairs=10**4, first=lambda m: m**-0.5, second=lambda m: m**-0.5, rho=0.5),
        KernelMarginBound(pairs=10**4, norm=10.0),
    )
}
FALLING = [b for b in EXAMPLES.values() if not isinstance(b, RankSVMWorstBound)]


def test_rankboost_vc_bound():
    bound = RankBoostVCBound(positives=1000, negatives=5000, vc=2, rounds=5)
    assert bound.value == pytest.approx(2.2400870, abs=1e-7) and bound.vacuous
    large = RankBoostVCBound(positives=10**6, negatives=10**6, vc=1, rounds=10)
    assert large.value == pytest.approx(0.1872708, abs=1e-7) and not large.vacuous
    assert bound.replace(positives=5000, negatives=1000).value == bound.value
    assert bound.replace(positives=72).value == math.inf  # not more than V′/2


def test_rank_shatter_bound():
    bound = RankShatterBound(positives=1000, negatives=5000)
    assert bound.value == pytest.approx(0.2293777, abs=1e-7)
    assert bound.replace(n_features=2).value == pytest.approx(0.4655790, abs=1e-7)
    assert bound.replace(coefficient=4 * 2000 * 10_000 + 1).value == bound.replace(n_features=2).value
    for m in (200, 1000, 10**5):  # one feature beats the bound of boosting wherever that applies
        boosting = RankBoostVCBound(positives=m, negatives=m, vc=1, rounds=1, delta=1e-6)
        assert RankShatterBound(positives=m, negatives=m, delta=1e-6).value < boosting.value


def test_u_statistic_bounds():
    plain = UStatisticVCBound(documents=1000, vc=5)
    assert plain.value == pytest.approx(0.5018854, abs=1e-7)
    surrogate = UStatisticSurrogateBound(documents=1000, vc=5)
    assert surrogate.value == pytest.approx(1.7578947, abs=1e-7)
    assert surrogate.replace(vc_power=0.5).value == pytest.approx(0.8075485, abs=1e-7)
    # no factor log m: in the end it is below the bound of boosting for the same dimension
    many = 10**8
    v = pk.theory.boosted_vc(1, 1)
    assert (
        UStatisticVCBound(documents=2 * many, vc=v).value
        < RankBoostVCBound(positives=many, negatives=many, vc=1, rounds=1).value
    )


def test_listwise_bound_and_its_table():
    bound = ListwiseBound(queries=1000)
    assert bound.factor == pytest.approx(0.5880282, abs=1e-7)
    assert bound.value == pytest.approx(0.1602742, abs=1e-7)
    assert bound.replace(algorithm="ListNet").value == pytest.approx(2.699e5, rel=1e-3)
    a, reach, m = 0.7, 1.3, 12
    table = {  # Table 17.1: factor and slope
        "linear": (2 / ((2 - a * reach) * (math.log(m) + math.log((2 + a * reach) / (2 - a * reach)))), a),
        "exp": (2 * math.exp(a * reach) / (math.log(m) + 2 * a * reach), a * math.exp(a * reach)),
        "sigmoid": (
            2 * (1 + math.exp(a * reach)) / (math.log(m) + a * reach),
            a * math.exp(a * reach) / (1 + math.exp(-a * reach)) ** 2,
        ),
    }
    for name, (factor, slope) in table.items():
        result = ListwiseBound(queries=500, documents=m, transform=name, a=a, radius=reach)
        assert (result.factor, result.strengths.slope) == pytest.approx((factor, slope))
        own = result.replace(transform=StrengthRange(*result.strengths))
        assert own.value == result.value
    assert ListwiseBound(queries=1, transform="sigmoid").strengths.slope == pytest.approx(1.4528, abs=1e-4)
    assert ListwiseBound(queries=1, transform="sigmoid, tight").strengths.slope == 0.25
    by_length = [bound.replace(documents=m).value for m in (2, 5, 20, 100)]
    assert by_length == sorted(by_length, reverse=True)
    other = [bound.replace(documents=m, algorithm="ListNet").value for m in (2, 5, 20, 100)]
    assert other == sorted(other)
    for norm in (0.25, 0.5, 1.0):  # linear is the smallest in most cases
        values = {t: bound.replace(norm=norm, transform=t).value for t in ("linear", "exp", "sigmoid")}
        assert min(values, key=values.__getitem__) == "linear"
    with pytest.raises(pk.DataError, match="needs b > a"):
        ListwiseBound(queries=10, norm=3.0)


def test_two_layer_bound():
    bound = TwoLayerBound(queries=200, documents=100, vc=10)
    assert bound.value == pytest.approx(0.9010866, abs=1e-7)
    each = bound.replace(documents=np.full(200, 100))
    assert each.value == pytest.approx(bound.value)
    assert bound.replace(queries=10**12).value > 0.4 < bound.replace(documents=10**12).value
    assert bound.replace(queries=10**10, documents=10**10).value < 1e-3
    assert bound.replace(documents=1).value == math.inf
    surrogate = bound.replace(surrogate="hinge", largest=2.0)
    assert surrogate.value == pytest.approx(bound.replace(c=2.0).value)
    with pytest.raises(pk.DataError, match="one for each of 200"):
        bound.replace(documents=[3, 4])


def test_labelling_budget_is_the_minimum_of_the_bound():
    result = labelling_budget(20_000, vc=10)
    assert result.queries == pytest.approx(193.6165, abs=1e-4)
    assert result.documents == pytest.approx(103.30, abs=0.005)

    def smooth(n):
        spread = 2 * math.log(4 / 0.05)
        return math.sqrt(10 / n) + math.sqrt(spread / n) + math.sqrt(20 * n / 20_000) + math.sqrt(spread / 20_000)

    best = minimize_scalar(smooth, bounds=(10, 2000), method="bounded", options={"xatol": 1e-10}).x
    assert result.queries == pytest.approx(best, rel=1e-6)
    assert (
        labelling_budget(20_000, vc=50).queries < result.queries < labelling_budget(20_000, vc=10, delta=0.001).queries
    )
    grid = [TwoLayerBound(queries=n, documents=20_000 // n, vc=10).value for n in range(20, 2000)]
    assert result.bound.value <= 1.005 * min(grid)  # whole numbers of documents, halved and rounded down


@pytest.mark.parametrize("bound", FALLING, ids=lambda b: type(b).__name__)
def test_solve_gives_the_smallest_sample(bound):
    epsilon = 0.7 * bound.value
    result = bound.solve(epsilon)
    assert result.value <= epsilon
    if len(bound.sizes) == 1:
        (size,) = bound.sizes
        n = getattr(result, size)
        assert bound.replace(**{size: n - 1}).value > epsilon


def test_budgets_are_the_best_of_all_whole_numbers():
    def by_trying(budget, vc):
        return min(TwoLayerBound(queries=budget // m, documents=m, vc=vc).value for m in range(2, budget + 1))

    for budget in (4, 5, 7, 33, 100, 501):
        for vc in (0.5, 2, 10, 60):
            assert labelling_budget(budget, vc).bound.value == pytest.approx(by_trying(budget, vc), rel=1e-12)
    for epsilon, vc in ((5.0, 2), (3.0, 1), (2.5, 10), (1.8, 0.3), (8.0, 10)):
        bound = smallest_budget(epsilon, vc).bound
        budget = bound.queries * bound.documents
        assert bound.value <= epsilon and (budget == 4 or by_trying(budget - 1, vc) > epsilon)
    for epsilon in (0.3, 0.01, 1e-4):  # too many to try: one judgement less is not enough
        bound = smallest_budget(epsilon).bound
        assert bound.value <= epsilon < labelling_budget(bound.queries * bound.documents - 1).bound.value
    assert smallest_budget(1.0, loss_bound=2.0).bound.loss_bound == 2.0


@pytest.mark.parametrize("sizes", [(1000, 2), (2, 1000), (7, 5), (100, 100)])
def test_sizes_that_grow_together_do_not_overshoot(sizes):
    """With one less of the larger size, and the other in proportion, the bound is above the target."""
    bound = TwoLayerBound(queries=sizes[0], documents=sizes[1], vc=3)
    result = bound.solve(0.9)
    assert result.value <= 0.9
    larger = "queries" if sizes[0] >= sizes[1] else "documents"
    share = min(sizes) / max(sizes)
    one_less = getattr(result, larger) - 1
    other = max(1, round(one_less * share))
    less = {larger: one_less, "documents" if larger == "queries" else "queries": other}
    assert bound.replace(**less).value > 0.9


def test_solve_refuses_one_number_of_documents_for_each_query():
    bound = TwoLayerBound(queries=3, documents=[10, 20, 30])
    for size in (None, "documents", "queries"):
        with pytest.raises(pk.DataError, match="solve needs one for all: give documents=20"):
            bound.solve(0.5, size)


def test_solve_says_why_it_cannot():
    with pytest.raises(pk.DataError, match=r"does not fall to 0\.1 however large queries get: it is 0\.4"):
        TwoLayerBound(queries=200, documents=100, vc=10).solve(0.1, "queries")
    with pytest.raises(pk.DataError, match="RankSVMMomentsBound does not fall"):
        RankSVMMomentsBound(queries=100, mean=100, deviation=80, **SVM).solve(1.0)
    with pytest.raises(pk.DataError, match="size='queries'; give one of 'documents'"):
        UStatisticVCBound(documents=10).solve(0.1, "queries")
    one = RankShatterBound(positives=10, negatives=10**9).solve(0.2, "positives")
    assert one.value <= 0.2 < one.replace(positives=one.positives - 1).value
    budget = smallest_budget(0.4, vc=10)
    assert budget.bound.value <= 0.4


@pytest.mark.parametrize("bound", FALLING, ids=lambda b: type(b).__name__)
def test_bounds_fall_with_more_data_and_rise_with_confidence(bound):
    for size in bound.sizes:
        more = bound.replace(**{size: 4 * getattr(bound, size)})
        assert more.value < bound.value
    assert bound.replace(delta=0.001).value > bound.value
    assert bound.vacuous == (bound.value >= bound.loss_range)
    with pytest.raises(pk.DataError, match="delta=0"):
        bound.replace(delta=0.0)
    with pytest.raises(pk.DataError, match="give a positive number"):
        bound.replace(**{bound.sizes[0]: 0})


def test_document_stability_bound():
    bound = DocumentStabilityBound(
        documents=10**4, beta=lambda m: rank_svm_document_stability(m, 0.1), loss_bound=hinge_loss_bound(0.1)
    )
    assert bound.beta(10**4) == pytest.approx(0.016)
    assert bound.value == pytest.approx(4.1276815, abs=1e-7)
    assert bound.replace(documents=10**8).value == pytest.approx(bound.value / 100, rel=0.01)  # 1/√m
    constant = DocumentStabilityBound(documents=10**4, beta=0.01)
    assert constant.replace(documents=10**8).value == pytest.approx(100 * constant.value, rel=0.05)


def test_query_stability_bound():
    bound = QueryStabilityBound(queries=200, tau=0.2, loss_bound=hinge_loss_bound(0.1))
    assert bound.value == pytest.approx(14.8804208, abs=1e-7) and bound.vacuous
    falling = bound.replace(tau=lambda r: 40 / r)
    assert falling.replace(queries=2 * 10**6).value == pytest.approx(falling.value / 100, rel=0.03)
    assert bound.replace(queries=2 * 10**6).value == pytest.approx(100 * bound.value, rel=0.08)


def test_theorem_2_does_not_vanish():
    bound = RankSVMMomentsBound(queries=100, mean=100, deviation=80, slack=1, **SVM)
    values = [bound.replace(queries=10**e).value for e in (2, 4, 6, 8)]
    assert values == pytest.approx([76.08, 71.29, 70.82, 70.77], abs=0.006)
    assert bound.limit == pytest.approx(70.766, abs=5e-4)
    assert bound.confidence == pytest.approx(0.9)
    equal = RankSVMMomentsBound(queries=500, mean=100, deviation=0, **SVM)
    assert equal.value == pytest.approx(IRSVMBound(queries=500, **SVM).value)


def test_theorems_3_and_4():
    worst = [RankSVMWorstBound(queries=10**e, **SVM).value for e in (2, 4)]
    assert worst == pytest.approx([204.19, 1966.2], rel=1e-4)
    assert worst[1] > worst[0]
    values = [IRSVMBound(queries=10**e, **SVM).value for e in (2, 4, 6)]
    assert values == pytest.approx([2.4054, 0.23334, 0.023262], rel=1e-4)
    same = QueryStabilityBound(queries=100, tau=lambda r: ir_svm_query_stability(r, 1.0), loss_bound=3.0)
    assert same.value == pytest.approx(values[0])


def test_margin_bound_is_symmetric_in_the_documents_of_a_pair():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3))
    first, second = pk.theory.linear_rademacher(X[:6]), pk.theory.linear_rademacher(X[6:])
    bound = MarginBound(pairs=6, first=first, second=second, empirical=True)
    assert bound.value == bound.replace(first=second, second=first).value
    assert bound.value == pytest.approx(2 * (first + second) + 3 * math.sqrt(math.log(40) / 12))
    assert bound.replace(empirical=False, rho=0.5).value == pytest.approx(
        4 * (first + second) + math.sqrt(math.log(20) / 12)
    )


def test_uniform_margin_bound_and_the_best_margin():
    bound = UniformMarginBound(pairs=10**4, first=0.01, second=0.01, rho=0.5)
    assert bound.value == pytest.approx(0.1819066, abs=1e-7)
    assert bound.replace(empirical=True).value - bound.value == pytest.approx(
        3 * math.sqrt(math.log(80) / 2e4) - math.sqrt(math.log(40) / 2e4)
    )
    assert bound.replace(rho=1.5).value == math.inf
    margins = np.random.default_rng(0).normal(0.4, 0.3, 5000)
    best = best_margin(margins, 0.01)
    grid = np.linspace(0.001, 1, 3000)
    brute = [
        np.clip(1 - margins / rho, 0, 1).mean() + UniformMarginBound(pairs=5000, first=0.01, second=0.0, rho=rho).value
        for rho in grid
    ]
    assert best.error_bound == pytest.approx(min(brute), abs=2e-4)
    assert 0.001 < best.rho < 1


def test_kernel_margin_bound():
    bound = KernelMarginBound(pairs=10**4, norm=10.0)
    assert bound.value == pytest.approx(0.4 + 0.0122387, abs=1e-7)
    complexity = 10.0 / 100
    assert bound.value == pytest.approx(MarginBound(pairs=10**4, first=complexity, second=complexity).value)


def test_every_bound_is_in_one_cell_and_the_cells_are_those_of_the_book():
    from plackett.theory.bounds.base import bounds as named

    assert set(named().values()) == set(EXAMPLES)
    table = pk.theory.known_results()
    for column in ("uniform bounds", "algorithm-dependent bounds"):
        names = [name for cell in table[column] for name in cell.split(", ") if name]
        assert len(names) == len(set(names))
    both = {n for c in ("uniform bounds", "algorithm-dependent bounds") for cell in table[c] for n in cell.split(", ")}
    assert both - {""} == set(bounds())

    def filled(column):
        return {(row["framework"], row["approach"]) for row in table.to_dicts() if row[column]}

    assert filled("uniform bounds") == {("document", "pairwise"), ("subset", "listwise"), ("two-layer", "pairwise")}
    assert filled("algorithm-dependent bounds") == {("document", "pairwise"), ("subset", "pairwise")}
    assert filled("consistent") == {
        ("subset", "pointwise"),
        ("document", "pairwise"),
        ("subset", "pairwise"),
        ("subset", "listwise"),
    }


def test_a_bound_says_what_it_is():
    assert "vacuous" in str(RankSVMWorstBound(queries=100, **SVM))
    assert "≤ 0.501885 with probability 0.95" in str(UStatisticVCBound(documents=1000, vc=5))
    for cls in bounds().values():
        assert cls.assumptions and cls.rate and cls.framework and cls.bounded


def test_rank_shatter_bound_of_few_documents_and_many_features():
    """With no more pairs than features every pattern may occur: 3 for each pair, and `solve` gets through there."""
    assert rank_shatter_bound(1, 1, 10) == pytest.approx(3.0)
    assert rank_shatter_bound(2, 2, 3) == pytest.approx(min(3.0**4, (2 * np.e * 4 / 3) ** 3))
    result = RankShatterBound(positives=1000, negatives=1000, n_features=136).solve(0.5)
    assert result.value <= 0.5 < result.replace(positives=result.positives - 1, negatives=result.negatives - 1).value


@pytest.mark.parametrize(
    ("cls", "parameters", "match"),
    [
        (KernelMarginBound, {"pairs": 10, "norm": -1.0}, "norm=-1"),
        (KernelMarginBound, {"pairs": 10, "norm": float("nan")}, "norm=nan"),
        (TwoLayerBound, {"queries": 10, "documents": 4, "c": -1.0}, "c=-1"),
        (RankSVMMomentsBound, {"queries": 10, "mean": 3.0, "deviation": 1.0, "delta": 0.6}, "below 0.5"),
    ],
)
def test_impossible_parameters_are_refused(cls, parameters, match):
    with pytest.raises(DataError, match=match):
        cls(**parameters)


def test_the_split_of_a_budget_wastes_no_document():
    for budget, vc, delta in ((20_000, 10.0, 0.05), (5_000, 3.0, 0.01), (300, 3.0, 0.05)):
        result = labelling_budget(budget, vc, delta=delta).bound
        others = [result.replace(queries=budget // m, documents=m) for m in range(2, budget // 2)]
        assert result.value <= 1.001 * min(other.value for other in others)
