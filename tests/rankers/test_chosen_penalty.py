"""Penalties chosen by cross-validation over queries."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.base import clone

import plackett as pk
from plackett._base import progress
from plackett.measures.ranking import Scored


def noisy(n_queries=40, noise=1.0, seed=0):
    """Forty copies of one signal, each with noise of its own, and noisy labels."""
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n_queries * 8)
    X = signal[:, None] + 3.0 * rng.normal(size=(signal.size, 40))
    y = np.digitize(signal + noise * rng.normal(size=signal.size), [0.5, 1.5])
    return pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(n_queries), 8))


def difference(n_queries=40, seed=0):
    """Two large features whose small difference is the signal: a strong penalty cannot find it."""
    rng = np.random.default_rng(seed)
    level, signal = rng.normal(size=(2, n_queries * 8))
    X = np.column_stack([level + 0.1 * signal, level - 0.1 * signal])
    return pk.RankingDataset.from_arrays(X, np.digitize(signal, [0.5, 1.5]), np.repeat(np.arange(n_queries), 8))


@pytest.mark.parametrize(("cls", "name"), [(pk.ListNet, "alpha"), (pk.RankSVM, "C")])
def test_the_value_is_the_best_of_the_folds(cls, name):
    data = noisy()
    ranker = cls().fit(data)
    chosen = getattr(ranker, f"{name}_")
    assert chosen in ranker._penalty[1]
    assert getattr(ranker, name) == "auto"
    others = {"margin": "label"} if cls is pk.RankSVM else {}
    assert ranker.settled() == ranker.card_["chosen"] == {name: chosen, **others}
    same = cls(**{name: chosen, **others}).fit(data)
    np.testing.assert_array_equal(ranker.predict(data), same.predict(data))

    # the same folds by hand, through the public interface
    from plackett.data.canonical import canonical_order

    data = canonical_order(data)
    order = np.random.default_rng(0).permutation(data.n_queries)
    totals = {}
    for value in ranker._penalty[1]:
        total = 0.0
        for fold in range(cls._folds):
            held_out = np.isin(np.arange(data.n_queries), order[fold :: cls._folds])
            part = data.select(held_out)
            total += cls(**{name: value, **others}).fit(data.select(~held_out)).score(part) * part.n_queries
        totals[value] = total
    assert totals[chosen] == pytest.approx(max(totals.values()), rel=1e-9)


@pytest.mark.parametrize("behind", [0.0, 0.5, 2.0])
def test_ranknet_takes_the_strongest_penalty_within_one_standard_error(behind):
    """Of three values the weakest is best; the strongest is taken if it is less than one error behind."""
    rng = np.random.default_rng(0)
    best = rng.random(100)
    difference = rng.normal(size=100)
    difference = (difference - difference.mean()) / difference.std(ddof=1)
    strong = best + 0.1 * difference - behind * 0.1 / np.sqrt(100)
    worth = np.array([best - 0.2, strong, best])
    worth[:, 7] = np.nan  # a query without a value
    assert pk.RankNet()._best(np.array([0.01, 0.1, 0.001]), worth) == (2 if behind > 1.0 else 1)


def test_ranknet_chooses_by_its_folds():
    pytest.importorskip("torch", reason="needs the extra `neural`")
    from plackett.data.canonical import canonical_order

    data = canonical_order(noisy())
    settings = {"max_epochs": 5, "hidden": (4,), "device": "cpu", "n_jobs": 1}
    ranker = pk.RankNet(**settings).fit(data)
    assert ranker.settled() == ranker.card_["chosen"] == {"alpha": ranker.alpha_}
    same = pk.RankNet(alpha=ranker.alpha_, **settings).fit(data)
    np.testing.assert_array_equal(ranker.predict(data), same.predict(data))
    order, values, worth = np.random.default_rng(0).permutation(data.n_queries), ranker._penalty[1], []
    for value in values:
        parts = []
        for fold in range(3):
            held_out = np.isin(np.arange(data.n_queries), order[fold::3])
            trained = pk.RankNet(alpha=value, **settings).fit(data.select(~held_out))
            part = data.select(held_out)
            parts.append(pk.evaluate(part, trained.predict(part), "nDCG@10").per_query["nDCG@10"])
        worth.append(np.concatenate(parts))
    assert ranker.alpha_ == values[ranker._best(np.array(values), np.array(worth))]


@pytest.mark.parametrize("cls", [pk.ListNet, pk.RankSVM])
def test_noise_calls_for_a_stronger_penalty(cls):
    name = cls._penalty[0]
    noisy_fit, clean_fit = cls().fit(noisy(20, noise=2.0)), cls().fit(difference())
    strength = {"alpha": 1.0, "C": -1.0}[name]
    assert strength * getattr(noisy_fit, f"{name}_") > strength * getattr(clean_fit, f"{name}_")


def test_few_queries_are_not_split():
    data = noisy(3)
    assert pk.ListNet().fit(data).alpha_ == 0.1
    pairs = sum((np.subtract.outer(y, y) > 0).sum() for y in np.split(data.y, data.offsets[1:-1]))
    assert pytest.approx(1.0 / pairs) == pk.RankSVM().fit(data).C_
    assert pytest.approx(1.0 / 3.0) == pk.RankSVM(normalize=True).fit(data).C_


@pytest.mark.parametrize("labels", [np.zeros(96), np.full(96, -1.0), np.repeat(np.arange(12.0), 8)])
def test_labels_that_judge_nothing_choose_nothing(labels):
    """The preferences teach, and no measure can tell one penalty from another: as without labels."""
    pytest.importorskip("torch", reason="needs the extra `neural`")
    pairs = pk.Preferences.from_pairs([(row, row + 1) for row in range(0, 96, 2)])
    data = noisy(12).replace(y=labels, preferences=pairs)
    settings = {"max_epochs": 1, "hidden": (2,), "device": "cpu", "n_jobs": 1}
    assert pk.RankNet(**settings).fit(data).alpha_ == pk.RankNet(**settings).fit(data.replace(y=None)).alpha_ == 0.01


def test_a_number_is_taken_as_it_is():
    ranker = pk.ListNet().fit(noisy(12))
    assert hasattr(ranker, "alpha_")
    ranker.set_params(alpha=0.3).fit(noisy(12))
    assert not hasattr(ranker, "alpha_")
    with pytest.raises(pk.DataError, match="alpha='strong'; give a number, or 'auto'"):
        pk.ListNet(alpha="strong").fit(noisy(12))


def test_margins_are_differences_of_grades_where_C_is_chosen_too():
    data = noisy(12)
    ranker = pk.RankSVM().fit(data)
    assert ranker.margin_ == "label" and ranker.margin == "auto"
    # a number for C: a margin of 1, as ever
    np.testing.assert_array_equal(
        pk.RankSVM(C=1e-4).fit(data).predict(data), pk.RankSVM(C=1e-4, margin=1.0).fit(data).predict(data)
    )
    ranker.set_params(margin=1.0).fit(data)
    assert not hasattr(ranker, "margin_") and set(ranker.settled()) == {"C"}
    ranker.set_params(C=1e-4, margin="auto").fit(data)
    assert not hasattr(ranker, "margin_") and ranker.settled() == {}


@pytest.mark.parametrize(
    ("changed", "parameters"),
    [
        ({"y": np.exp(3.0 * noisy(12).y)}, {}),  # 400 as a margin would leave no room for the others
        ({"y": np.zeros(96)}, {}),
        ({"preferences": pk.Preferences.from_pairs([(0, 1), (10, 9)])}, {}),
        ({}, {"loss": "hinge"}),
        ({}, {"tie_weight": 0.1}),
    ],
)
def test_margins_stay_at_one_without_plain_grades(changed, parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pk.PlackettWarning)
        assert pk.RankSVM(**parameters).fit(noisy(12).replace(**changed)).margin_ == 1.0
    assert pk.RankSVM(**parameters).fit(noisy(4)).margin_ == 1.0


def test_a_wrapper_hands_on_what_was_chosen():
    data = noisy(12)
    ranker = pk.RankSVM().fit(data)
    member = pk.SubsampleEnsemble(base=pk.RankSVM())._member(ranker)
    assert {"C": member.C, "margin": member.margin} == ranker.settled()


def test_larger_data_are_judged_by_a_sample(monkeypatch):
    import plackett.rankers.chosen_penalty as module

    monkeypatch.setattr(module, "_MOST_ROWS", 160)
    ranker = pk.ListNet().fit(noisy(80))
    assert ranker.alpha_ / (20 / 80) == pytest.approx(min(ranker._penalty[1], key=lambda v: abs(v - ranker.alpha_ * 4)))


@pytest.mark.parametrize("cls", [pk.ListNet, pk.RankSVM])
def test_a_fit_that_is_interrupted_leaves_the_choice_with_its_model(cls, monkeypatch):
    data = noisy(12)
    ranker = cls().fit(data)
    chosen = ranker.settled()

    def interrupted(self, data):
        raise KeyboardInterrupt

    monkeypatch.setattr(cls, "_choose", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(data)
    assert chosen and ranker.settled() == ranker.card_["chosen"] == chosen


@pytest.mark.parametrize(
    ("ranker", "name"),
    [
        (pk.ListNet(), "alpha"),
        (pk.RankSVM(), "C"),
        (pk.RelationalFeedback(relation=pk.Neighbours(k=2), base="LinearRegression", beta="auto"), "beta"),
    ],
)
def test_large_labels_are_judged_with_linear_gain(ranker, name):
    """They have no gains 2^label − 1, which training does not need either: the choice is that of the linear gain."""
    data = noisy()
    large = data.replace(y=data.y * 2000.0)
    with pytest.warns(
        pk.PlackettWarning, match=rf"up to 4000 .*: {name} is chosen by nDCG\(gain=.linear.\)@10"
    ) as told:
        chosen = getattr(ranker.fit(large), f"{name}_")
    assert len(told) == 1
    named = clone(ranker).set_params(eval_measure="nDCG(gain='linear')@10").fit(large)
    assert chosen == getattr(named, f"{name}_")
    np.testing.assert_array_equal(ranker.predict(large), named.predict(large))
    with pytest.raises(pk.MeasureError, match="labels up to 4000 are too large"):
        clone(ranker).set_params(eval_measure="nDCG@5").fit(large)
    with pytest.raises(pk.MeasureError, match="labels up to 4000 are too large"):
        ranker.score(large)


@pytest.mark.parametrize("verbose", [True, False])
@pytest.mark.parametrize(
    ("ranker", "name", "n"),
    [
        (pk.ListNet(max_iter=2), "alpha", 20),
        (pk.RelationalFeedback(relation=pk.Neighbours(k=2), base="LinearRegression", beta="auto"), "beta", 5),
    ],
)
def test_folds_show_their_progress(ranker, name, n, verbose, capsys, monkeypatch):
    """On standard error, for work that takes long; the bar goes away when the work is interrupted too."""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    ranker, tokens = clone(ranker).set_params(verbose=verbose), f"{type(ranker).__name__}: {name} by cross-validation"
    ranker.fit(noisy(n_queries=10))
    told = capsys.readouterr().err
    assert ((tokens in told) and (f"{n}/{n}" in told)) == verbose

    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(Scored, "__init__", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(noisy(n_queries=10))
    told = capsys.readouterr().err
    assert ((tokens in told) and (f"1/{n}" in told)) == verbose


def test_networks_with_large_labels():
    pytest.importorskip("torch", reason="networks need the extra 'neural'")
    data = noisy(n_queries=12)
    ranker = pk.RankNet(max_epochs=1, hidden=(2,), n_jobs=1, device="cpu")
    with pytest.warns(pk.PlackettWarning, match="alpha is chosen by"):
        assert ranker.fit(data.replace(y=data.y * 2000.0)).alpha_ in ranker._penalty[1]
