"""A user's own loss: equal to the built-in one where it is the same, with every model; errors; saved models."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import plackett as pk
from plackett import LossError, RankingDataset
from plackett.losses import Logistic, Square
from plackett.models.networks.neural import Neural
from plackett.models.trees.model import Trees
from plackett.models.trees.oblivious import Oblivious
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.rankers.storage import load

_MODELS = {
    "linear": lambda: "linear",
    "trees": lambda: Trees(n_estimators=3, min_child_samples=1),
    "oblivious": lambda: Oblivious(n_estimators=3),
    "mlp": lambda: Neural(hidden=(4,), max_epochs=2, device="cpu", n_jobs=1),
}


@pk.loss(convex=True)
def my_logistic(scores, labels, gradient, curvature, weights, margin=0.0, scale=1.0):
    """Pairs of unequal labels, as `Logistic` has them, times a number."""
    total = 0.0
    for u in range(scores.size):
        for v in range(scores.size):
            if labels[u] > labels[v] >= 0:
                w = scale * weights[u] * weights[v]
                z = scores[u] - scores[v] - margin
                wrong = 1 / (1 + np.exp(z))
                total += w * np.log1p(np.exp(-z))
                gradient[u] -= w * wrong
                gradient[v] += w * wrong
                curvature[u] += w * wrong * (1 - wrong)
                curvature[v] += w * wrong * (1 - wrong)
    return total


@pk.loss(name="my square", shift_invariant=False)
def my_square(scores, labels, gradient):
    for i in range(scores.size):
        gradient[i] = scores[i] - labels[i]
    return 0.5 * np.sum((scores - labels) ** 2)


def ranking_data(seed=0, weighted=True):
    rng = np.random.default_rng(seed)
    n = 300
    X = rng.normal(size=(n, 4))
    y = np.clip(np.round(X @ [1.0, -0.5, 0.2, 0.0] + 0.3 * rng.normal(size=n) + 1), 0, 3)
    weights = {"sample_weight": rng.uniform(0.5, 2, n), "query_weight": rng.uniform(0.5, 2, 30)} if weighted else {}
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(30), 10), **weights)


# ------------------------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("parameters", [{}, {"margin": 0.7}])
def test_equals_the_built_in_loss(parameters):
    data = ranking_data()
    scores = np.random.default_rng(1).normal(size=data.n_rows)
    theirs, ours = my_logistic.replace(**parameters), Logistic(**parameters)
    assert theirs(scores, data) == pytest.approx(ours(scores, data), rel=1e-12)
    for first, second in zip(theirs.gradient(scores, data), ours.gradient(scores, data), strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-12)


def test_without_curvature_and_weights():
    data = ranking_data(weighted=False)
    scores = np.random.default_rng(1).normal(size=data.n_rows)
    assert my_square(scores, data) == pytest.approx(Square()(scores, data))
    gradient, curvature = my_square.gradient(scores, data)
    np.testing.assert_allclose(gradient, Square().gradient(scores, data)[0])
    np.testing.assert_array_equal(curvature, 0.0)
    assert my_square.curvature == "none" and my_logistic.curvature == "surrogate"
    assert not my_square.shift_invariant and my_logistic.convex and my_square.name == "my square"


def test_arguments_in_any_order():
    @pk.loss
    def other_order(scores, labels, gradient, weights, curvature):
        curvature[:] = 2 * weights
        gradient[:] = 2 * weights * scores
        return np.sum(weights * scores**2)

    data = RankingDataset.from_arrays(None, [1, 0], sample_weight=[3, 4], query_weight=[10])
    assert other_order(np.array([1.0, 2.0]), data) == 10 * (3 * 1 + 4 * 4)
    gradient, curvature = other_order.gradient(np.array([1.0, 2.0]), data)
    assert gradient.tolist() == [60, 160] and curvature.tolist() == [60, 80]


def test_parameters():
    twice = my_logistic.replace(scale=2.0)
    data, scores = ranking_data(), np.zeros(300)
    assert twice(scores, data) == pytest.approx(2 * my_logistic(scores, data))
    both = twice.replace(margin=1.0)
    assert both(scores, data) == pytest.approx(2 * Logistic(margin=1.0)(scores, data))
    assert repr(both) == "my_logistic(margin=1.0, scale=2.0)"
    assert both == my_logistic.replace(margin=1, scale=2) != twice
    assert my_logistic.__doc__.startswith("Pairs of unequal labels")


def test_threads_and_empty_queries():
    @pk.loss
    def spread(scores, labels, gradient):
        gradient[np.argmax(scores)] = 1.0  # would fail for a query without documents
        return scores.max()

    data = RankingDataset.from_arrays(None, np.zeros(6000), group=[0, *[40] * 150])
    scores = np.random.default_rng(0).normal(size=6000)
    one, two = (spread.bind(data, n_jobs=n).evaluate(scores) for n in (1, 2))
    np.testing.assert_array_equal(one[0], [0.0, *scores.reshape(150, 40).max(axis=1)])
    for first, second in zip(one, two, strict=True):
        np.testing.assert_array_equal(first, second)


# -------------------------------------------------------------------------------------------------------------- models


def test_linear_model_with_a_users_loss():
    data = ranking_data()
    theirs = pk.GradientRanker(loss=my_logistic, model="linear").fit(data)
    ours = pk.GradientRanker(loss=Logistic(), model="linear").fit(data)
    np.testing.assert_allclose(theirs.predict(data), ours.predict(data), rtol=1e-4, atol=1e-4)


def test_trees_with_a_users_loss():
    data = ranking_data()
    theirs, ours = (
        pk.GradientRanker(loss=loss, model=Trees(n_estimators=5, min_child_samples=5)).fit(data)
        for loss in (my_logistic, Logistic())
    )
    np.testing.assert_allclose(theirs.predict(data), ours.predict(data), rtol=1e-6)
    np.testing.assert_allclose(
        pk.GradientRanker(loss=my_square, model=Trees(n_estimators=3)).fit(data.X, data.y, qid=data.qid).predict(data),
        pk.GradientRanker(loss=Square(), model=Trees(n_estimators=3)).fit(data.X, data.y, qid=data.qid).predict(data),
        rtol=1e-6,
    )


def test_by_name_and_in_a_clone():
    from sklearn.base import clone

    data = ranking_data()
    ranker = pk.GradientRanker(loss="my_logistic")
    np.testing.assert_array_equal(clone(ranker).fit(data).predict(data), ranker.fit(data).predict(data))
    made = clone(pk.GradientRanker(loss=my_logistic.replace(scale=2.0)))
    assert made.loss == my_logistic.replace(scale=2.0)


def test_copies_and_pickles():
    changed = my_logistic.replace(margin=0.5)
    assert copy.deepcopy(changed) == changed
    again = pickle.loads(pickle.dumps(changed))
    assert again == changed and type(again) is type(changed)


# -------------------------------------------------------------------------------------------------------------- errors


def test_wrong_signatures():
    with pytest.raises(LossError, match=r"got first\(scores, gradient\)"):

        @pk.loss
        def first(scores, gradient):
            return 0.0

    with pytest.raises(LossError, match="got second"):

        @pk.loss
        def second(scores, labels, gradient, features):
            return 0.0

    with pytest.raises(LossError, match="got third"):

        @pk.loss
        def third(scores, labels, gradient, *, margin=1.0):
            return 0.0

    with pytest.raises(LossError, match="got fourth"):

        @pk.loss
        def fourth(scores, labels, gradient, *rest):
            return 0.0

    with pytest.raises(LossError, match="target='exp2'"):

        @pk.loss
        def fifth(scores, labels, gradient, target="exp2"):
            return 0.0


def test_names_of_built_in_losses_are_taken():
    with pytest.raises(LossError, match="built-in"):

        @pk.loss(name="Logistic")
        def mine(scores, labels, gradient):
            return 0.0

    assert pk.GradientRanker(loss="Logistic").make_loss() == Logistic()


def test_unknown_parameters():
    with pytest.raises(LossError, match="no parameter 'margn'; it has margin, scale"):
        my_logistic.replace(margn=1.0)
    with pytest.raises(LossError, match="it has none"):
        my_square.replace(margin=1.0)
    with pytest.raises(LossError, match="must be a number"):
        my_logistic.replace(margin="wide")


def test_exceptions_inside_reach_the_caller():
    @pk.loss
    def fails(scores, labels, gradient):
        if labels[0] > 2:
            raise ValueError("no such label")
        return 0.0

    fails(np.zeros(2), RankingDataset.from_arrays(None, [1, 0]))
    with pytest.raises(ValueError, match="no such label"):
        fails(np.zeros(2), RankingDataset.from_arrays(None, [3, 0]))
    with pytest.raises(ValueError, match="no such label"):  # from a thread too
        fails.bind(RankingDataset.from_arrays(None, np.full(6000, 3.0), group=[60] * 100), n_jobs=2).evaluate(
            np.zeros(6000)
        )


def test_what_numba_cannot_compile_is_named():
    @pk.loss
    def opens_a_file(scores, labels, gradient):
        with open("x") as file:
            file.read()
        return 0.0

    with pytest.raises(LossError, match="'opens_a_file' cannot be compiled"):
        opens_a_file(np.zeros(2), RankingDataset.from_arrays(None, [1, 0]))


def test_scores_and_labels_cannot_be_overwritten():
    @pk.loss
    def sorts(scores, labels, gradient):
        scores.sort()
        return 0.0

    with pytest.raises(LossError, match="'sorts' cannot be compiled"):
        sorts(np.array([2.0, 1.0]), RankingDataset.from_arrays(None, [1, 0]))


# -------------------------------------------------------------------------------------------------------- saved models


@pytest.mark.parametrize("model", ["linear", "trees"])
def test_a_saved_model_predicts_where_its_loss_is_unknown(tmp_path, model):
    data = ranking_data()
    ranker = pk.GradientRanker(loss=my_logistic.replace(margin=0.25), model=model, warm_start=True).fit(data)
    ranker.save(tmp_path / "model.plackett")
    here = load(tmp_path / "model.plackett")
    assert here.loss == ranker.loss
    np.testing.assert_array_equal(here.predict(data), ranker.predict(data))

    np.savez(tmp_path / "data.npz", X=data.X, y=data.y, qid=data.qid, expected=ranker.predict(data))
    elsewhere = textwrap.dedent(
        """
        import sys
        import numpy as np
        import plackett as pk
        from plackett.rankers.storage import load

        folder = sys.argv[1]
        d = np.load(folder + "/data.npz")
        ranker = load(folder + "/model.plackett")
        np.testing.assert_array_equal(ranker.predict(d["X"], qid=d["qid"]), d["expected"])
        assert repr(ranker.loss) == "my_logistic(margin=0.25)", ranker.loss
        try:
            ranker.fit(d["X"], d["y"], qid=d["qid"])
        except pk.LossError as error:
            assert "'my_logistic' is not defined here" in str(error), error
        else:
            raise SystemExit("trained with an unknown loss")
        ranker = load(folder + "/model.plackett")
        ranker.save(folder + "/again.plackett")
        """
    )
    subprocess.run([sys.executable, "-c", elsewhere, str(tmp_path)], check=True)
    again = load(tmp_path / "again.plackett")  # saved there, it still knows its loss and parameters
    assert again.loss == ranker.loss
    again.fit(data)


def _easy():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    return X, (X[:, 0] > 0).astype(float), np.arange(40) // 8


@pytest.mark.parametrize("model", ["linear", "trees", "oblivious", "mlp"])
def test_gradients_that_are_no_numbers_are_refused(model):
    if model == "mlp":
        pytest.importorskip("torch", reason="networks need the extra 'neural'")

    @pk.loss(name="divides_by_zero")
    def divides_by_zero(scores, labels, gradient):
        total = 0.0
        for i in range(scores.size):
            total += (scores[i] - labels[i]) ** 2
            gradient[i] = np.log(-1.0 - labels[i])
        return total

    X, y, qid = _easy()
    with pytest.raises(LossError, match="'divides_by_zero' gives value .*nan.* for query .*finite"):
        GradientRanker(loss=divides_by_zero, model=_MODELS[model]()).fit(X, y, qid=qid)
    named = np.array([f"q{number}" for number in qid])
    with pytest.raises(LossError, match=r"for query q\d with labels"):
        GradientRanker(loss=divides_by_zero, model=_MODELS[model](), validation_fraction=0.4).fit(X, y, qid=named)


@pytest.mark.parametrize("model", ["linear", "trees", "oblivious"])
def test_a_gradient_that_is_never_filled_in_is_noticed(model):
    @pk.loss(name="rebinds")
    def rebinds(scores, labels, gradient):
        gradient = scores - labels  # another array: the one given stays 0
        return (gradient**2).sum()

    X, y, qid = _easy()
    with pytest.warns(pk.PlackettWarning, match="learned nothing"):
        GradientRanker(loss=rebinds, model=_MODELS[model]()).fit(X, y, qid=qid)
