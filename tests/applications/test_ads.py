from __future__ import annotations

import json
import runpy
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import plackett as pk
from plackett._base.errors import DataError
from plackett.applications import Ad, AdFeatures, Application, CandidateLists, best_reserve, rank_logistic, second_price
from plackett.applications.ads import edit_distance
from plackett.losses import Logistic
from plackett.losses.pairwise.revenue import Revenue
from plackett.workbench.columns.base import Query
from plackett.workbench.sources.opening import open_source

ADS = [
    Ad("Red shoes", "Cheap red shoes for all", 0.5, "exact", "a1", "c1", "z1"),
    Ad("Boats to rent", "Boats and shoes", 2.0, "phrase", "a2", "c2", "z1"),
    Ad("Shoe repair", "", 1.0, "broad", "a3", "c3", "z2"),
]


def _logged():
    return CandidateLists.of([("red shoes", ADS, [1, 0, 0]), ("boats", ADS[:2], [0, 1]), ("shoes", ADS, [1, 0, 0])])


def _data(n=40, m=6, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * m, d))
    y = np.where(rng.random(n * m) < 0.3, rng.lognormal(size=n * m), 0.0)
    return pk.RankingDataset.from_arrays(X, y, np.repeat(np.arange(n), m))


# ------------------------------------------------------------------------------------------------------------- features


def test_values_of_the_features():
    features = AdFeatures(smoothing=2.0, mu=4.0).fit(_logged())
    table = dict(zip(features.names, features.transform(_logged()).X.T, strict=True))
    assert table["tf"].tolist() == [4, 1, 1, 0, 2, 2, 1, 1]  # red and shoe, in title and description
    idf = {word: np.log1p((3 - df + 0.5) / (df + 0.5)) for word, df in {"red": 1, "shoe": 3, "boat": 1}.items()}
    assert table["tf-idf"][0] == pytest.approx(2 * idf["red"] + 2 * idf["shoe"])
    norm = 1.2 * (0.25 + 0.75 * 2 / 2)  # titles have two words each
    assert table["bm25 title"][0] == pytest.approx((idf["red"] + idf["shoe"]) * 2.2 / (1 + norm))
    assert table["bm25 description"][2] == 0.0
    counts = AdFeatures(smoothing=2.0).fit(_logged())._counts
    tokens = sum(counts.values())
    red, shoe = ((1 + 4 * (counts[w] + 1) / (tokens + 1)) / (2 + 4) for w in ("red", "shoe"))
    assert table["lm title"][0] == pytest.approx((np.log(red) + np.log(shoe)) / 2)
    assert table["exact"].tolist() == [1, 0, 0, 1, 0, 1, 0, 0]
    assert table["phrase"].tolist() == [0, 1, 0, 0, 1, 0, 1, 0]
    assert table["bid"].tolist() == [0.5, 2.0, 1.0, 0.5, 2.0, 0.5, 2.0, 1.0]


def test_rates_of_the_new_are_those_of_their_owners():
    features = AdFeatures(smoothing=2.0).fit(_logged())
    overall = (3 + 1) / (8 + 2)
    account = (3 + 2 * overall) / (6 + 2)
    campaign = (2 + 2 * account) / (3 + 2)
    assert features.rates(ADS[0]) == pytest.approx(((2 + 2 * campaign) / (3 + 2), campaign, account))
    assert features.rates(Ad("new", ad="a9", campaign="c1", account="z1")) == pytest.approx(
        (campaign, campaign, account)
    )
    assert features.rates(Ad("new", account="z1")) == pytest.approx((account, account, account))
    assert features.rates(Ad("new")) == pytest.approx((overall, overall, overall))


def test_rates_of_training_lists_come_from_other_lists():
    lists = _logged()
    data = AdFeatures(n_folds=3).fit_transform(lists)
    for held in range(3):
        others = AdFeatures().fit(lists.take(np.arange(3) != held))
        rows = slice(lists.offsets[held], lists.offsets[held + 1])
        columns = [AdFeatures.names.index(f"ctr {level}") for level in ("ad", "campaign", "account")]
        np.testing.assert_allclose(data.X[rows][:, columns], [others.rates(ad) for ad in lists.items[rows]], rtol=1e-6)
    assert (AdFeatures().fit_transform(lists).X == data.X).all()  # five folds of three lists are three
    with pytest.raises(DataError, match="fewer than two lists"):
        AdFeatures().fit_transform(lists.take([0]))


def test_ids_may_be_numbers():
    """A file has ids as texts: numbers must find their history again."""
    lists = _logged()
    numbered = CandidateLists.of(
        (lists.queries[i], [ad._replace(ad=0, campaign=1, account=None) for ad in lists.items[a:b]], lists.labels[a:b])
        for i, (a, b) in enumerate(pairwise(lists.offsets.tolist()))
    )
    features = AdFeatures().fit(numbered)
    loaded = AdFeatures.restore(json.loads(json.dumps(features.state())))
    ad = numbered.items[0]
    assert features.rates(ad)[0] != features.rates(ad)[1]
    assert loaded.rates(ad) == features.rates(ad)


def test_edit_distance_by_recursion():
    def plain(a, b):
        if not a or not b:
            return len(a) + len(b)
        return min(plain(a[1:], b[1:]) + (a[0] != b[0]), plain(a[1:], b) + 1, plain(a, b[1:]) + 1)

    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = ("".join(rng.choice(list("abü"), rng.integers(0, 6))) for _ in range(2))
        assert edit_distance(a, b) == plain(a, b)


def test_an_application_of_ads_is_saved(tmp_path):
    lists = CandidateLists.of([("red shoes", ADS, [1, 0, 0])] * 3 + [("boats", ADS, [0, 1, 0])] * 3)
    application = Application(features=AdFeatures(), ranker=rank_logistic(), baselines=("bid",), measures=("P@1",))
    application.fit(lists).save(tmp_path / "ads", examples=lists.take([0, 3]))
    source = open_source([str(tmp_path / "ads")])
    query = Query("4", "boats")
    assert "Boats to rent" in source.cards(source.columns["ads"].rank(query, 1).ids, query)[0]["title"]
    loaded = Application.load(tmp_path / "ads")
    assert (loaded.predict(lists) == application.predict(lists)).all()
    assert loaded.rank("red shoes", ADS)[0].item is ADS[0]
    with pytest.raises(DataError, match="match 'near'"):
        loaded.rank("shoes", [Ad("Shoes", match="near")])


# -------------------------------------------------------------------------------------------------------- RankLogistic


def test_the_one_optimum_by_newton():
    """L-BFGS finds what Newton's method finds for the formula written out over pairs."""
    data = _data()
    alpha, X, n = 0.05, np.asarray(data.X, np.float64), data.n_queries
    pairs = [
        X[j] - X[k]
        for q in range(n)
        for j in range(data.offsets[q], data.offsets[q + 1])
        for k in range(data.offsets[q], data.offsets[q + 1])
        if data.y[j] > data.y[k]
    ]
    D = np.array(pairs)

    def value(w):
        return np.log1p(np.exp(-D @ w)).sum() / n + alpha / 2 * w @ w

    def gradient(w):
        return -D.T @ (1 / (1 + np.exp(D @ w))) / n + alpha * w

    def hessian(w):
        s = 1 / (1 + np.exp(-D @ w))
        return (D.T * (s * (1 - s))) @ D / n + alpha * np.eye(3)

    w = np.random.default_rng(1).normal(size=3)
    numeric = [(value(w + e) - value(w - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient(w), numeric, rtol=1e-5)
    newton = minimize(value, np.zeros(3), jac=gradient, hess=hessian, method="Newton-CG", tol=1e-12).x
    ranker = rank_logistic(alpha, standardize=False, tol=1e-12).fit(data)
    np.testing.assert_allclose(ranker.scorer_.weights[:, 0], newton, atol=1e-5)


# ------------------------------------------------------------------------------------------------------------- revenue


def test_revenue_loss_by_its_formula():
    data, rng = _data(5, 4), np.random.default_rng(2)
    s = rng.normal(size=data.n_rows)
    total = 0.0
    for q in range(data.n_queries):
        rows = range(data.offsets[q], data.offsets[q + 1])
        total += sum(data.y[j] * np.log1p(np.exp(s[k] - s[j])) for j in rows for k in rows if k != j)
    loss = Revenue()
    assert loss(s, data) == pytest.approx(total)
    gradient, _ = loss.gradient(s, data)
    for i in range(data.n_rows):
        step = 1e-6 * np.eye(data.n_rows)[i]
        assert (loss(s + step, data) - loss(s - step, data)) / 2e-6 == pytest.approx(gradient[i], abs=1e-6)


def test_one_click_of_price_one_is_the_pair_loss():
    rng = np.random.default_rng(0)
    y = np.eye(5)[rng.integers(0, 5, 12)].ravel()
    data = pk.RankingDataset.from_arrays(None, y, np.repeat(np.arange(12), 5))
    s = rng.normal(size=60)
    assert Revenue()(s, data) == pytest.approx(Logistic()(s, data))
    np.testing.assert_allclose(Revenue().gradient(s, data)[0], Logistic().gradient(s, data)[0])


def test_bids_and_penalty_scaled_together_change_nothing():
    data = _data()
    weights = []
    for factor in (1.0, 7.0):
        model = pk.Linear(alpha=0.1 * factor, tol=1e-13)
        ranker = pk.GradientRanker(loss=Revenue(), model=model).fit(data.replace(y=data.y * factor))
        weights.append(ranker.scorer_.weights)
    np.testing.assert_allclose(*weights, rtol=1e-3, atol=1e-5)


def test_revenue_lost_is_bounded():
    rng = np.random.default_rng(3)
    for seed in range(20):
        data = _data(8, 5, seed=seed)
        s = rng.normal(0, 3, data.n_rows)
        bound = Revenue().bind(data).evaluate(s)[0] / np.log(2)
        for q in range(data.n_queries):
            rows = slice(data.offsets[q], data.offsets[q + 1])
            lost = data.y[rows].sum() - data.y[rows][np.argmax(s[rows])]
            assert lost <= bound[q] + 1e-12
    (realised,) = pk.evaluate(data, s, 'DCG(gain="linear")@1').mean.values()
    tops = [data.y[a : a + 5][np.argmax(s[a : a + 5])] for a in range(0, 40, 5)]
    assert realised == pytest.approx(np.mean(tops))


# ------------------------------------------------------------------------------------------------------------- auctions


def test_auctions_by_brute_force():
    """The order has the largest expected value of all; a price is the least bid that would keep the slot."""
    rng = np.random.default_rng(0)
    look = np.array([1.0, 0.6, 0.3])
    for reserve in (0.0, 0.4):
        for _ in range(15):
            n = int(rng.integers(1, 6))
            bid, quality = rng.random(n).round(2) + 0.01, rng.random(n).round(2) + 0.01
            data = pk.RankingDataset.from_arrays(None, np.zeros(n))
            result = second_price(data, bid, quality, reserve=reserve, examination=look)
            allowed = [j for j in range(n) if bid[j] >= reserve]
            worth = sum(look[s - 1] * bid[j] * quality[j] for j, s in enumerate(result.slot) if s)
            best = max(
                sum(look[s] * bid[j] * quality[j] for s, j in enumerate(order[:3])) for order in permutations(allowed)
            )
            assert worth == pytest.approx(best)
            assert sum(result.slot > 0) == min(3, len(allowed))
            for j in np.flatnonzero(result.slot):
                assert reserve <= result.price[j] <= bid[j] + 1e-12
                for offer in (result.price[j] * (1 - 1e-9), result.price[j] * (1 + 1e-9)):
                    other = bid.copy()
                    other[j] = offer
                    again = second_price(data, other, quality, reserve=reserve, examination=look).slot[j]
                    assert (again == result.slot[j]) == (offer > result.price[j]) or offer == 0.0
            assert result.revenue == pytest.approx(
                sum(look[s - 1] * quality[j] * result.price[j] for j, s in enumerate(result.slot) if s)
            )


def test_best_reserve_by_a_fine_grid():
    rng = np.random.default_rng(1)
    data = pk.RankingDataset.from_arrays(None, np.zeros(30), np.repeat(np.arange(6), 5))
    bid, quality = rng.lognormal(size=30), rng.random(30)
    reserve, revenue = best_reserve(data, bid, quality, examination=[1.0, 0.5])
    grid = [
        second_price(data, bid, quality, reserve=r, examination=[1.0, 0.5]).revenue
        for r in np.linspace(0, bid.max(), 2000)
    ]
    assert max(grid) <= revenue + 1e-12
    assert max(grid) > 0.99 * revenue
    assert second_price(data, bid, quality, reserve=reserve, examination=[1.0, 0.5]).revenue == revenue


def test_wrong_input():
    data = pk.RankingDataset.from_arrays(None, [0, 0])
    for arguments, options, message in [
        (([1.0], [1.0, 1.0]), {}, "bids has shape"),
        (([1.0, -1.0], [1.0, 1.0]), {}, "bids must be 0 or more"),
        (([1.0, 1.0], [1.0, np.nan]), {}, "quality must be"),
        (([1.0, 1.0], [1.0, 1.0]), {"reserve": -1}, "reserve=-1"),
        (([1.0, 1.0], [1.0, 1.0]), {"examination": [2.0]}, "examination"),
    ]:
        with pytest.raises(DataError, match=message):
            second_price(data, *arguments, **options)
    with pytest.raises(DataError, match="not trained"):
        AdFeatures().transform(_logged())
    with pytest.raises(DataError, match="'shoe' is not an Ad"):
        AdFeatures().fit(CandidateLists.of([("shoes", ["shoe"], [1])]))
    with pytest.raises(DataError, match="no labels"):
        AdFeatures().fit(CandidateLists.of([("shoes", ADS)]))


@pytest.mark.full
def test_numbers_of_the_page(capsys):
    """What the guide says of the example."""
    result = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "advertising.py"))
    capsys.readouterr()
    values = {
        name: next(iter(pk.evaluate(result["worth"], scores, 'DCG(gain="linear")@1').mean.values()))
        for name, scores in result["systems"].items()
    }
    assert list(values.values()) == pytest.approx([0.0996, 0.0788, 0.1096, 0.1219], abs=0.001)
    assert result["best"] == pytest.approx(0.1829, abs=0.001)


def test_nobody_pays_more_than_the_bid():
    """.1 × .2 / .2 is more than .1 in floating point."""
    lists = pk.RankingDataset.from_arrays(None, [0, 0], ["q", "q"])
    assert second_price(lists, [0.1, 0.1], [0.2, 0.2]).price.tolist() == [0.1, 0.0]
