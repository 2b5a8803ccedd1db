"""What the permutation models share: scikit-learn's form."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from plackett._base.errors import DataError
from plackett.permutation_models import BradleyTerry, Mallows, PlackettLuce, Thurstone

MODELS = [PlackettLuce, BradleyTerry, Thurstone, Mallows]
PAIRS = [[0, 1], [1, 0], [0, 1], [1, 2], [2, 1], [2, 0], [0, 2]]


@pytest.mark.parametrize("cls", MODELS)
def test_estimator(cls):
    model = cls()
    with pytest.raises(NotFittedError, match="fit first"):
        model.sample(3)
    assert repr(model) == f"{cls.__name__}()"
    assert model.fit(PAIRS) is model and model.n_items == 3
    assert repr(model).startswith(f"<{cls.__name__}() fitted to 3 items, best first ")
    assert model.score(PAIRS) == pytest.approx(model.log_prob(PAIRS).mean())
    drawn = model.sample(5, random_state=0)
    assert drawn.shape == (5, 3) and (np.sort(drawn, axis=1) == np.arange(3)).all()
    again = clone(model)
    assert again.get_params() == cls().get_params()
    with pytest.raises(NotFittedError):
        again.log_prob(PAIRS)
    for name in model.model_parameters:
        np.testing.assert_array_equal(getattr(again.fit(PAIRS), f"{name}_"), getattr(model, f"{name}_"))
        np.testing.assert_array_equal(
            getattr(pickle.loads(pickle.dumps(model)), f"{name}_"), getattr(model, f"{name}_")
        )
    # on the class, as before: the same, and the parameters without an underscore have it too
    old = cls.fit(PAIRS, n_items=3, weights=np.ones(7))
    for name in model.model_parameters:
        np.testing.assert_allclose(getattr(old, name), getattr(model, f"{name}_"))
    known = cls(**{name: getattr(model, f"{name}_") for name in model.model_parameters})
    np.testing.assert_array_equal(known.log_prob(PAIRS), model.log_prob(PAIRS))
    np.testing.assert_array_equal(clone(known).log_prob(PAIRS), model.log_prob(PAIRS))
    assert "array(" not in repr(known) and "[" in repr(known)
    with pytest.raises(ValueError, match="no parameter"):
        model.set_params(nonsense=1)
    with pytest.raises(NotFittedError):
        model.set_params(n_items=4).sample(1)
    assert model.get_params()["n_items"] == 4


def test_grid_search():
    """Mean log-probability of held-out orders; a prior beats none where few orders must do."""
    orders = PlackettLuce(np.linspace(1, -1, 6)).sample(40, k=3, random_state=0)
    search = GridSearchCV(PlackettLuce(n_items=6), {"prior": [(1.1, 0.1), (2.0, 1.0), (20.0, 20.0)]}, cv=4).fit(orders)
    expected = []
    for held in np.split(np.arange(40), 4):
        kept = np.setdiff1d(np.arange(40), held)
        model = PlackettLuce.fit(orders[kept], n_items=6, prior=(2.0, 1.0))
        expected.append(model.log_prob(orders[held]).mean())
    np.testing.assert_allclose(search.cv_results_["mean_test_score"][1], np.mean(expected))


def test_starting_scores_do_not_matter():
    rng = np.random.default_rng(0)
    orders = [rng.permutation(5).tolist() for _ in range(20)]
    cold, warm = PlackettLuce().fit(orders), PlackettLuce(rng.normal(size=5) * 5).fit(orders)
    np.testing.assert_allclose(cold.scores_, warm.scores_, atol=1e-8)
    with pytest.raises(DataError, match="5 items"):
        PlackettLuce([1.0, 2.0]).fit(orders)
    with pytest.raises(DataError, match="transform"):
        PlackettLuce(transform="linear").fit(orders)


def test_comparisons_are_among_the_two():
    """Pairs of three items: the third had no part in them."""
    table = np.zeros((3, 3))
    np.add.at(table, tuple(np.array(PAIRS).T), 1)
    np.testing.assert_allclose(BradleyTerry().fit(PAIRS).scores_, BradleyTerry().fit_wins(table).scores_, atol=1e-8)
    np.testing.assert_allclose(Thurstone().fit(PAIRS).scores_, Thurstone().fit_wins(table).scores_, atol=1e-8)
    with pytest.raises(DataError, match="pairs"):
        Thurstone().fit([[0, 1, 2]])


def test_mallows_keeps_what_was_given():
    drawn = Mallows([0, 1, 2, 3], 0.7).sample(50, random_state=0)
    assert Mallows(theta=0.3).fit(drawn).theta_ == 0.3
    result = Mallows(center=[3, 2, 1, 0]).fit(drawn)
    assert result.center_.tolist() == [3, 2, 1, 0] and result.theta_ == 0.0
