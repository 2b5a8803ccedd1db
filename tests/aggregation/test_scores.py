"""Methods on ranks and scores against arithmetic and against ranx."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import DataError
from plackett.aggregation import Borda, CombSUM, MedianRank, RankLists
from plackett.aggregation.fusing import find_method
from plackett.aggregation.normalising import NORMALISATIONS, normalize


def _random_runs(n_runs=4, n_queries=6, seed=0):
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(n_runs):
        run = {}
        for q in range(n_queries):
            documents = rng.choice(30, size=rng.integers(2, 20), replace=False)
            scores = np.sort(rng.normal(size=documents.size) * 3 + 5)[::-1]
            run[f"q{q}"] = {f"d{d}": float(s) for d, s in zip(documents, scores, strict=True)}
        runs.append(run)
    return runs


def _ranx_runs(runs):
    ranx = pytest.importorskip("ranx")
    return ranx, [ranx.Run(run, name=str(i)) for i, run in enumerate(runs)]


def _same(ours, theirs, shift=0.0):
    for (qid,), part in ours.group_by("qid"):
        expected = theirs[qid]
        assert set(part["docid"]) == set(expected)
        for docid, score in part.select("docid", "score").iter_rows():
            assert score == pytest.approx(expected[docid] + shift, abs=1e-9)


NAMES = {
    "CombSUM": "sum",
    "CombMNZ": "mnz",
    "CombANZ": "anz",
    "CombMIN": "min",
    "CombMAX": "max",
    "CombMED": "med",
}


@pytest.mark.full  # ranx takes minutes to compile when it is new
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("norm", [None, *NORMALISATIONS])
def test_comb_methods_agree_with_ranx(norm):
    runs = _random_runs()
    ranx, theirs = _ranx_runs(runs)
    lists = RankLists.from_runs(runs)
    for name, other in NAMES.items():
        _same(find_method(name, normalize=norm).run(lists), ranx.fuse(theirs, norm=norm, method=other).run)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "options", "other", "parameters", "shift"),
    [
        ("RRF", {}, "rrf", {}, 0),
        ("RRF", {"k": 7}, "rrf", {"k": 7}, 0),
        ("ISR", {}, "isr", {}, 0),
        ("LogISR", {"sigma": 0}, "log_isr", {}, 0),
        ("Borda", {}, "bordafuse", {}, -4),  # there the last of n documents has 1 point, here 0, in each of four runs
        ("CombSUM", {"weights": (1.0, 2.0, 0.5, 3.0)}, "wsum", {"weights": (1.0, 2.0, 0.5, 3.0)}, 0),
    ],
)
def test_rank_methods_agree_with_ranx(name, options, other, parameters, shift):
    runs = _random_runs(seed=1)
    ranx, theirs = _ranx_runs(runs)
    fused = ranx.fuse(theirs, norm="min-max" if other == "wsum" else None, method=other, params=parameters)
    _same(find_method(name, **options).run(RankLists.from_runs(runs)), fused.run, shift)


COMBINE = {
    "CombSUM": sum,
    "CombMNZ": lambda x: sum(x) * len(x),
    "CombANZ": np.mean,
    "CombMIN": min,
    "CombMAX": max,
    "CombMED": np.median,
}
SCALE = {
    None: lambda x: x,
    "min-max": lambda x: (x - x.min()) / (x.max() - x.min()),
    "max": lambda x: x / x.max(),
    "sum": lambda x: (x - x.min()) / (x - x.min()).sum(),
    "zmuv": lambda x: (x - x.mean()) / x.std(),
    "rank": lambda x: 1 - np.argsort(np.argsort(-x)) / x.size,
}


@pytest.mark.parametrize("norm", SCALE)
@pytest.mark.parametrize("name", COMBINE)
def test_comb_methods_by_the_definition(name, norm):
    runs = _random_runs(seed=5)
    fused = {(q, d): s for q, d, s in find_method(name, normalize=norm).run(RankLists.from_runs(runs)).iter_rows()}
    for q in runs[0]:
        scaled = [dict(zip(run[q], SCALE[norm](np.array(list(run[q].values()))), strict=True)) for run in runs]
        for d in set().union(*scaled):
            assert fused[q, d] == pytest.approx(COMBINE[name]([s[d] for s in scaled if d in s]))


def test_rrf_and_isr_by_the_definition():
    runs = _random_runs(seed=6)
    lists = RankLists.from_runs(runs)
    for q, d, score in find_method("RRF", k=10, weights=(1, 2, 3, 4)).run(lists).iter_rows():
        ranks = [(w, 1 + list(run[q]).index(d)) for w, run in enumerate(runs, 1) if d in run[q]]
        assert score == pytest.approx(sum(w / (10 + r) for w, r in ranks))
    for q, d, score in find_method("ISR").run(lists).iter_rows():
        ranks = [1 + list(run[q]).index(d) for run in runs if d in run[q]]
        assert score == pytest.approx(len(ranks) * sum(r**-2 for r in ranks))


def test_an_unknown_normalisation_is_refused():
    with pytest.raises(DataError, match="normalize='minimax'; the normalisations are min-max, max"):
        CombSUM(normalize="minimax").scores(RankLists.from_arrays([[1.0]]))


def test_normalisation_of_a_constant_or_missing_list():
    lists = RankLists.from_arrays([[1.0, np.nan], [1.0, np.nan], [2.0, 5.0]], [0, 0, 1], kind="scores")
    for name in NORMALISATIONS:
        values = normalize(lists, name)
        assert np.isfinite(values[:, 0]).all()
        assert values[0, 0] == values[1, 0]


def test_borda_has_the_least_squared_rank_differences():
    from itertools import permutations

    rng = np.random.default_rng(2)
    for _ in range(10):
        ranks = rng.permuted(np.tile(np.arange(1.0, 6.0)[:, None], (1, 3)), axis=0)
        weights = rng.random(3)
        scores = Borda(weights=tuple(weights)).scores(RankLists.from_arrays(ranks))
        position = np.argsort(np.argsort(-scores)) + 1.0

        def loss(p, ranks=ranks, weights=weights):
            return (weights * (np.asarray(p)[:, None] - ranks) ** 2).sum()

        assert loss(position) == pytest.approx(min(loss(p) for p in permutations(range(1, 6))))


@pytest.mark.parametrize("weights", [None, (1, 3, 1, 2), (2, 2, 1, 1)])
def test_median_against_repeated_ranks(weights):
    rng = np.random.default_rng(3)
    ranks = rng.permuted(np.tile(np.arange(1.0, 9.0)[:, None], (1, 4)), axis=0)
    scores = MedianRank(weights=weights).scores(RankLists.from_arrays(ranks))
    repeated = np.repeat(ranks, weights or (1, 1, 1, 1), axis=1)
    assert np.allclose(-scores, np.median(repeated, axis=1) + 1e-3 * repeated.mean(axis=1) / 9)
