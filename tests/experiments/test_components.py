"""Every ranker says what it is; losses are sums over documents, pairs or lists as their approach has it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import plackett as pk
from plackett.experiments.components import SPACES, components, decomposition

RANKERS = sorted(pk.rankers().items())


@pytest.mark.parametrize(("name", "cls"), RANKERS, ids=[name for name, _ in RANKERS])
def test_every_ranker_has_its_components(name, cls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few rounds on a few documents need not converge
        result = components(cls(**getattr(cls, "_test_settings", {})))
    assert all([result.approach, result.input, result.output, result.hypothesis, result.loss])
    if result.approach in SPACES:
        assert (result.input, result.output) == SPACES[result.approach]
    if result.sum_over == "documents":
        assert result.approach == "pointwise"
    if issubclass(cls, pk.models.Trees):
        assert result.hypothesis == "sums of regression trees"


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        ("Square", "documents"),
        ("BinaryLogistic", "documents"),
        ("BinaryHinge", "documents"),
        ("AllThreshold", "documents"),
        ("Logistic", "pairs"),
        ("Exponential", "pairs"),
        ("Hinge", "pairs"),
        ("SquaredHinge", "pairs"),
        ("Fidelity", "pairs"),
        ("ListNet", "lists"),
        ("ListMLE", "lists"),
        ("ApproxNDCG", "lists"),
        ("SoftNDCG", "lists"),
        ("Lambda", "lists"),
    ],
)
def test_decomposition(loss, expected):
    """The listwise losses are no sums of anything smaller, the pairwise ones are sums over pairs."""
    assert decomposition(pk.losses()[loss]()) == expected


def test_three_documents_by_hand():
    """A pairwise loss of three documents is the sum over the two pairs of unequal labels."""
    scores = np.array([0.3, -0.2, 1.1])
    data = pk.RankingDataset.from_arrays(None, [1, 0, 0], qid=[1, 1, 1])
    by_hand = sum(np.log1p(np.exp(-(scores[0] - scores[j]))) for j in (1, 2))
    assert pk.losses.Logistic()(scores, data) == pytest.approx(by_hand)
    one, two = (np.exp(scores[0]) / np.exp(scores[[0, *others]]).sum() for others in ([1], [2]))
    whole = np.exp(scores[0]) / np.exp(scores).sum()
    assert -np.log(whole) != pytest.approx(-np.log(one) - np.log(two))  # the likelihood of the top is no such sum


def test_gradient_ranker_follows_its_loss():
    from plackett.rankers import GradientRanker

    assert components(GradientRanker(loss="ListMLE", model="trees")).approach == "listwise"
    assert components(GradientRanker(loss="Square")).approach == "pointwise"
