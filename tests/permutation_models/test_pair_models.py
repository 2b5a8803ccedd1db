"""Bradley–Terry and Thurstone: closed forms, a general optimiser, and the losses they belong to."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import norm

from plackett import RankingDataset
from plackett.losses import Logistic
from plackett.permutation_models.bradley_terry import BradleyTerry
from plackett.permutation_models.plackett_luce import PlackettLuce
from plackett.permutation_models.thurstone import Thurstone

WINS = np.array([[0, 5, 2, 1], [3, 0, 4, 2], [1, 1, 0, 3], [0, 2, 2, 0]], float)


def test_probabilities():
    scores = np.array([0.3, -1.0, 2.0])
    bradley, thurstone = BradleyTerry(scores), Thurstone(scores, sigma=0.7)
    np.testing.assert_allclose(bradley.pair_probability(0, 1), expit(1.3))
    np.testing.assert_allclose(bradley.pair_probability(0, 1), np.exp(PlackettLuce(scores[:2]).log_prob([[0, 1]]))[0])
    ranknet = Logistic()(scores[:2], RankingDataset.from_arrays(None, [1, 0]))
    np.testing.assert_allclose(-np.log(bradley.pair_probability(0, 1)), ranknet)
    np.testing.assert_allclose(thurstone.pair_probability([0, 2], [1, 1]), norm.cdf([1.3, 3.0], scale=0.7 * np.sqrt(2)))
    drawn = thurstone.sample(40_000, random_state=0)
    rank = np.argsort(drawn, axis=1)
    np.testing.assert_allclose((rank[:, 0] < rank[:, 1]).mean(), thurstone.pair_probability(0, 1), atol=0.01)
    assert thurstone.mode(2).tolist() == [2, 0]


@pytest.mark.parametrize(("cls", "chance"), [(BradleyTerry, expit), (Thurstone, lambda x: norm.cdf(x / np.sqrt(2)))])
def test_fit_is_the_maximum(cls, chance):
    model = cls.fit_wins(WINS)

    def loss(s):
        return -(WINS * np.log(chance(s[:, None] - s))).sum()

    best = minimize(loss, np.zeros(4), tol=1e-12).x
    np.testing.assert_allclose(model.scores, best - best.mean(), atol=1e-4)
    np.testing.assert_allclose(model.log_likelihood(WINS), -loss(model.scores))


def test_one_pair():
    model = BradleyTerry.fit_wins([[0, 3], [1, 0]])
    np.testing.assert_allclose(model.pair_probability(0, 1), 0.75)
    wide = Thurstone.fit_wins([[0, 3], [1, 0]], sigma=5.0)
    np.testing.assert_allclose(wide.pair_probability(0, 1), 0.75, rtol=1e-5)


def test_refusals():
    with pytest.raises(ValueError, match="square"):
        BradleyTerry.fit_wins([[0, 1]])
    with pytest.raises(ValueError, match="diagonal"):
        Thurstone.fit_wins([[1, 1], [0, 0]])
    with pytest.raises(ValueError, match="prior"):
        BradleyTerry.fit_wins([[0, 1], [0, 0]])
    assert np.isfinite(Thurstone.fit_wins([[0, 1], [0, 0]]).scores).all()
