"""A classifier as a ranker, against a count over pairs."""

from __future__ import annotations

import numpy as np
import pytest

from plackett.theory.risks.classifier_as_ranker import classification_error, ranking_error_of_classifier


def test_worked_numbers():
    assert ranking_error_of_classifier(0.3, 0.2) == pytest.approx(0.06)
    assert classification_error(0.3, 0.2, 0.4) == pytest.approx(0.24)
    assert ranking_error_of_classifier(0.3, 0.2, "half") == pytest.approx(0.25)


@pytest.mark.parametrize(("tie", "loss"), [("none", 0.0), ("half", 0.5), ("loss", 1.0)])
def test_it_is_the_share_of_pairs(tie, loss):
    positives, negatives = np.array([1, 1, 1, 0, 0]), np.array([1, 0, 0, 0])  # FNR 2/5, FPR 1/4
    pairs = [1.0 if p < n else loss * (p == n) for p in positives for n in negatives]
    assert ranking_error_of_classifier(0.4, 0.25, tie) == pytest.approx(np.mean(pairs))


def test_strict_ranking_error_is_below_the_classification_error():
    for fnr in np.linspace(0, 1, 11):
        for fpr in np.linspace(0, 1, 11):
            for prior in (0.0, 0.1, 0.5, 1.0):
                error = ranking_error_of_classifier(fnr, fpr)
                assert error <= min(fnr, fpr) + 1e-12 <= classification_error(fnr, fpr, prior) + 2e-12
    # a perfect ranker whose threshold calls everything positive: no pair is wrong, all negatives are
    assert classification_error(0.0, 1.0, 0.1) == 0.9


def test_refusals():
    with pytest.raises(ValueError, match="tie='no'"):
        ranking_error_of_classifier(0.1, 0.1, "no")
    with pytest.raises(ValueError, match=r"fpr=1\.5"):
        classification_error(0.1, 1.5, 0.5)
