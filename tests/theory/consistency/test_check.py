"""Verdicts of check_consistency, and the registry that rests on them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import plackett as pk
from plackett.losses import Exponential, Hinge, ListMLELoss, ListNetLoss, Logistic, Square
from plackett.theory.consistency.check import check_consistency
from plackett.theory.consistency.permutation_space import PermutationSpace
from plackett.theory.consistency.registry import consistency_table
from plackett.theory.risks.permutation_zero_one import PermutationZeroOne, TopKZeroOne

MIXED = PermutationSpace({(0, 1, 2): 0.20, (0, 2, 1): 0.20, (1, 2, 0): 0.35, (2, 1, 0): 0.25})


@pytest.mark.parametrize("loss", [ListMLELoss(), ListNetLoss()], ids=lambda l: l.name)
@pytest.mark.parametrize("true", ["permutation 0-1", "pairwise 0-1"])
def test_listwise_losses_are_consistent_on_order_preserving_spaces(loss, true):
    result = check_consistency(loss, true, n_spaces=25)
    assert result.verdict == "consistent" and result.tested == 25 and "Theorem 18.3" in result.reason


def test_regression_on_labels_is_consistent_on_order_preserving_spaces():
    assert check_consistency(Square(), n_spaces=15).verdict == "consistent"


def test_top_one_counterexample_of_the_full_loss():
    result = check_consistency(ListMLELoss(), TopKZeroOne(1), spaces=[MIXED], n_spaces=0)
    assert result.verdict == "inconsistent"
    example = result.counterexample
    assert example.ranking[0] == 1 and example.best_ranking[0] == 0
    assert (example.risk, example.best_risk) == pytest.approx((0.65, 0.60))
    assert "(1, 2, 0): 0.350" in str(result)
    assert check_consistency(ListMLELoss(), TopKZeroOne(1)).verdict == "inconsistent"  # found without help


def test_top_k_losses_are_consistent_where_the_full_one_is_not():
    for k in (1, 2):
        for level in range(1, k + 1):  # a top-l loss serves every k ≥ l
            result = check_consistency(ListMLELoss(k=level), TopKZeroOne(k), spaces=[MIXED][: 2 - k], n_spaces=15)
            assert result.verdict == "consistent", (k, level)
    assert check_consistency(ListMLELoss(k=2), TopKZeroOne(1), n_spaces=60).verdict == "inconsistent"

    def mapped(scores, orders):
        n, m = orders.shape
        labels = np.empty((n, m))
        np.put_along_axis(labels, orders, np.tile(np.arange(m - 1.0, -1, -1), (n, 1)), axis=1)
        data = pk.RankingDataset.from_arrays(None, labels.ravel(), np.repeat(np.arange(n), m))
        value, gradient, _ = ListNetLoss().bind(pk.theory.top_k_labels(data, 1)).evaluate(np.tile(scores, n))
        return value, gradient.reshape(n, m)

    assert check_consistency(mapped, TopKZeroOne(1), spaces=[MIXED], n_spaces=5).verdict == "consistent"


@pytest.mark.parametrize("loss", [Logistic(), Exponential()], ids=lambda l: l.name)
def test_decreasing_pair_losses_are_consistent_with_kendall(loss):
    result = check_consistency(loss, "pairwise 0-1", n_spaces=20)
    assert result.verdict == "consistent" and result.conditions["decreasing pair loss"]


def test_hinge_pairs_can_tie_what_kendall_separates():
    result = check_consistency(Hinge(), "pairwise 0-1", n_spaces=40)
    assert result.verdict == "inconsistent" and "ties" in result.reason
    space = PermutationSpace(result.counterexample.probabilities)
    # beside the tie: moving either way in the order of the optimum does not lower the expected hinge loss
    evaluate = pk.theory.consistency.order_losses.order_loss(Hinge(), 3)
    here = space.probabilities @ evaluate(result.counterexample.scores)[0]
    towards = -np.argsort(result.counterexample.best_ranking).astype(float)
    for step in (1e-3, 1e-2, 0.1):
        assert space.probabilities @ evaluate(result.counterexample.scores + step * towards)[0] >= here - 1e-9


def test_a_users_own_loss_gets_a_verdict_with_an_example():
    @pk.loss(name="top heavy", convex=True)
    def top_heavy(scores, labels, gradient):
        """Only the largest label should be high: nothing is said about the others."""
        best, total = 0, 0.0
        for i in range(scores.size):
            best = i if labels[i] > labels[best] else best
            total += math.exp(scores[i])
        for i in range(scores.size):
            gradient[i] = math.exp(scores[i]) / total - (i == best)
        return math.log(total) - scores[best]

    result = check_consistency(top_heavy, "permutation 0-1", condition="all", n_spaces=30)
    assert result.verdict == "inconsistent"
    example = result.counterexample
    assert example.risk > example.best_risk
    assert sum(example.probabilities.values()) == pytest.approx(1)
    assert example.probabilities[example.best_ranking] == max(example.probabilities.values())
    assert check_consistency(top_heavy, TopKZeroOne(1), n_spaces=10).verdict == "consistent"


def test_the_registry_agrees_with_what_is_computed():
    """Rows for losses of the library with a true loss that has a space to draw from, decided by computation."""
    losses = {
        "LinearRegression": pk.losses.Square(),
        "ListNet": pk.losses.ListNetLoss(),
        "ListMLE": pk.losses.ListMLELoss(),
        "ListMLE(k)": pk.losses.ListMLELoss(k=1),
    }
    true_losses = {"permutation 0–1": PermutationZeroOne(), "top-k 0–1": TopKZeroOne(1)}
    table = consistency_table()
    assert set(table["verdict"]) == {"consistent", "inconsistent", "unknown"}
    rows = [
        row for row in table.iter_rows(named=True) if row["algorithm"] in losses and row["true_loss"] in true_losses
    ]
    assert len(rows) == 5
    for row in rows:
        result = check_consistency(losses[row["algorithm"]], true_losses[row["true_loss"]], n_spaces=10)
        assert result.verdict == row["verdict"], row
    assert consistency_table("RankNet", "weighted Kendall's τ")["verdict"].to_list() == ["inconsistent"]
    assert consistency_table("ListNet", "no such loss").height == 0


def test_theorems_are_silent_on_losses_with_kinks():
    result = check_consistency(pk.losses.ListMLEBest(), n_spaces=3)
    assert result.verdict == "unknown" and not result.conditions["differentiable"] and "no theorem" in result.reason


def test_wrong_words_are_refused():
    with pytest.raises(pk.DataError, match="condition='some'"):
        check_consistency(ListMLELoss(), condition="some")
    with pytest.raises(pk.LossError, match="no minimiser"):
        check_consistency(pk.losses.Lambda())
