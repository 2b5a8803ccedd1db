"""One rule for all trainers with a proved gap: what is kept, what gap is told, when a warning comes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from plackett import DataError, LossError, PlackettWarning, RankingDataset
from plackett.rankers.listwise.permurank import PermuRank
from plackett.rankers.listwise.svm_map import SVMMAP
from plackett.rankers.listwise.svm_mrr import SVMMRR
from plackett.rankers.listwise.svm_ndcg import SVMNDCG
from plackett.rankers.pairwise.ir_svm import IRSVM
from plackett.rankers.pairwise.kernel_rank_svm import KernelRankSVM
from plackett.rankers.pairwise.rank_svm import RankSVM
from plackett.rankers.pointwise.svor_implicit import SVORImplicit
from plackett.rankers.storage import load, save
from plackett.solvers.monitor import Monitor
from plackett.solvers.proved_gap import relative_gap

#: The first round of many has weights of 0, and one round is what some of these tests allow.
pytestmark = pytest.mark.filterwarnings("ignore:.*learned nothing:plackett.PlackettWarning")

TRAINERS = {
    "RankSVM": RankSVM(C=1.0),
    "RankSVM hinge": RankSVM(C=1.0, loss="hinge"),
    "IRSVM": IRSVM(C=10.0),
    "KernelRankSVM": KernelRankSVM(C=10.0, gamma=0.25),
    "KernelRankSVM Nyström": KernelRankSVM(C=10.0, n_components=10),
    "SVMMAP": SVMMAP(),
    "SVMNDCG": SVMNDCG(),
    "SVMMRR": SVMMRR(),
    "PermuRank": PermuRank(),
}


def task(seed=0, n=8, m=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * m, 4)).astype(np.float32)
    y = np.digitize(X[:, 0] + rng.normal(size=n * m), [0.5, 1.5])
    return RankingDataset.from_arrays(X, y, np.repeat(np.arange(n), m))


def made(name, **parameters):
    ranker = TRAINERS[name]
    return type(ranker)(**ranker.get_params() | {"n_jobs": 1} | parameters)


def test_relative_gap():
    assert relative_gap(4.0, 3.0) == 0.25
    assert relative_gap(-3.0, -4.0) == 0.25
    assert relative_gap(1.0, 1.0 + 1e-12) == 0  # rounding
    assert relative_gap(0.0, 0.0) == 0


@pytest.mark.parametrize("name", TRAINERS)
def test_too_few_rounds_are_told_and_the_gap_is_honest(name):
    data = task()
    best = made(name, tol=1e-5, max_iter=20_000).fit(data)
    with pytest.warns(PlackettWarning, match="relative gap"):
        early = made(name, tol=1e-5, max_iter=1).fit(data)
    assert early.n_iter_ == 1 and 1e-5 < early.gap_ <= 1
    assert early.objective_ * (1 - early.gap_) <= best.objective_ * (1 + 1e-9)
    assert best.gap_ <= 1e-5 and best.objective_ <= early.objective_


@pytest.mark.parametrize("name", TRAINERS)
def test_objective_and_gap_are_those_of_the_round_that_validation_chose(name):
    """Labels turned round: the first round is the best, and none after it is waited for."""
    data = task()
    valid = data.replace(y=data.y.max() - data.y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PlackettWarning)  # what validation ends is no failure
        warnings.filterwarnings("ignore", ".*learned nothing", PlackettWarning)  # that of the first round is 0
        chosen = made(name, tol=1e-7, early_stopping_rounds=1).fit(data, eval_set=valid)
    best = made(name, tol=1e-4, max_iter=20_000).fit(data)
    assert chosen.objective_ * (1 - chosen.gap_) <= best.objective_ * (1 + 1e-9)
    assert chosen.objective_ >= best.objective_ * (1 - 1e-3)
    if name in ("SVMMAP", "RankSVM"):
        np.testing.assert_allclose(chosen.objective_, recomputed(chosen, data), rtol=1e-6)


def recomputed(ranker, data):
    """The objective of the weights that were kept, by the definition."""
    scale = data.X.std(axis=0)
    length = 0.5 * np.sum((ranker.coef_ * scale) ** 2)
    scores = data.X @ ranker.coef_
    total = 0.0
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        s, y = scores[a:b], data.labels[a:b]
        if isinstance(ranker, RankSVM):
            better = y[:, None] > y
            total += ranker.C * (np.maximum(1 - (s[:, None] - s), 0)[better] ** 2).sum()
        else:
            total += ranker.C * all_rankings(s, y >= 1) / data.n_queries
    return length + total


def all_rankings(s, relevant):
    from itertools import permutations

    if not relevant.any() or relevant.all():
        return 0.0
    worst = 0.0
    for order in map(list, permutations(range(s.size))):
        hits = relevant[order]
        precision = np.cumsum(hits) / np.arange(1, s.size + 1)
        position = np.argsort(order)
        wrong = position[relevant][:, None] > position[~relevant]
        violation = -2.0 * (wrong * (s[relevant][:, None] - s[~relevant])).mean()
        worst = max(worst, 1 - precision[hits].mean() + violation)
    return worst


@pytest.mark.parametrize("name", ["RankSVM hinge", "KernelRankSVM", "SVMMAP", "PermuRank"])
def test_interrupted(name, monkeypatch):
    """The best round so far is kept with its objective; nothing is proved of it."""
    rounds = []
    update = Monitor.update

    def interrupt(self, scores=None):
        rounds.append(update(self, scores))
        if len(rounds) == 2:
            raise KeyboardInterrupt
        return rounds[-1]

    monkeypatch.setattr(Monitor, "update", interrupt)
    with pytest.warns(PlackettWarning, match="interrupted"):
        ranker = made(name, tol=1e-9).fit(task())
    assert np.isfinite(ranker.objective_) and ranker.gap_ == 1


def test_rounding_that_ends_it_is_told():
    """Prices so large that the sums of pairs have no digit left for the gap."""
    data = task().replace(sample_weight=np.full(48, 1e9))
    with pytest.warns(PlackettWarning, match="relative gap"):
        assert RankSVM(n_jobs=1).fit(data).gap_ > 1e-3
    with pytest.warns(PlackettWarning, match="relative gap"):
        assert SVORImplicit(C=1e3, n_jobs=1).fit(data).gap_ > 1e-6


@pytest.mark.parametrize("name", ["RankSVM", "KernelRankSVM", "SVMMAP"])
@pytest.mark.parametrize("parameters", [{"C": 0.0}, {"C": np.inf}, {"tol": 0.0}, {"max_iter": 0}])
def test_refusals(name, parameters):
    with pytest.raises((DataError, LossError), match=next(iter(parameters))):
        made(name, **parameters).fit(task())


@pytest.mark.parametrize("name", ["RankSVM", "SVMMAP"])
def test_weights_are_there_after_load(name, tmp_path):
    ranker = made(name).fit(task())
    save(ranker, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").coef_, ranker.coef_)
