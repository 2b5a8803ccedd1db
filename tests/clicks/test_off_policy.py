"""The value of a ranker that was never shown."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import plackett as pk
from plackett.clicks.log import ClickLog
from plackett.clicks.models.ctr import RankCTR
from plackett.clicks.models.dbn import DBN
from plackett.clicks.models.pbm import PBM
from plackett.clicks.off_policy.compare import compare_off_policy
from plackett.clicks.off_policy.evaluate import evaluate_off_policy
from plackett.clicks.off_policy.exposure import exposure_bound
from plackett.clicks.off_policy.lists import new_lists
from plackett.clicks.off_policy.methods import METHODS
from plackett.clicks.off_policy.safe import safe_choices
from plackett.clicks.off_policy.worth import ClickWorth
from plackett.clicks.simulate import CascadeUsers, PositionUsers, simulate_log

K = 3


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(n_queries=6, docs_per_query=4, n_features=5, random_state=3)


def run_of(data, scores):
    return {
        str(q): {str(d): float(scores[d]) for d in range(data.offsets[i], data.offsets[i + 1])}
        for i, q in enumerate(data.qids)
    }


def truth(data, scores, users, n=200_000):
    shown = simulate_log(data, scores, n_pages=n, k=K, users=users, random_state=99)
    return shown.clicked.sum() / n


def test_new_lists(data):
    log = simulate_log(data, n_pages=50, k=K, random_state=0)
    lists = new_lists(log, run_of(data, data.X[:, 0]), K)
    for i in range(data.n_queries):
        rows = np.arange(data.offsets[i], data.offsets[i + 1])
        best = rows[np.argsort(-data.X[rows, 0], kind="stable")][:K]
        result = lists.document[lists.offsets[i] : lists.offsets[i + 1]]
        assert log.documents[result].tolist() == best.tolist()
    for row in range(log.n_rows):
        query = log.query[log.page[row]]
        mine = lists.document[lists.offsets[query] : lists.offsets[query + 1]].tolist()
        document = log.document[row]
        assert lists.row_rank[row] == (mine.index(document) + 1 if document in mine else 0)


CASES = [
    ("item-position", PositionUsers(), False),
    ("item-position", PositionUsers(), True),
    ("cascade", CascadeUsers(), False),
    ("cascade", CascadeUsers(), True),
    ("list", CascadeUsers(), False),
    ("doubly-robust", PositionUsers(), False),
    ("cascade-doubly-robust", CascadeUsers(), False),
]


@pytest.mark.parametrize(("method", "users", "normalise"), CASES)
def test_intervals_have_the_true_value(data, method, users, normalise):
    scores = np.asarray(data.X[:, 0])
    value = truth(data, scores, users)
    run, hits, estimates = run_of(data, scores), [], []
    for seed in range(60):
        log = simulate_log(data, n_pages=1200, k=K, users=users, random_state=seed)
        model = PBM(max_iter=10, prior=(1, 1)).fit(log) if "robust" in method else None
        result = evaluate_off_policy(log, run, method, model=model, k=K, normalise=normalise, level=0.9, warn=False)
        hits.append(result.lower <= value <= result.upper)
        estimates.append(result.value)
    assert 0.78 <= np.mean(hits) <= 1.0
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert np.mean(estimates) == pytest.approx(value, abs=4 * error + 0.01)


def test_doubly_robust_varies_less_and_survives_a_wrong_model(data):
    scores, users = np.asarray(data.X[:, 0]), PositionUsers()
    value, run = truth(data, scores, users), run_of(data, scores)
    plain, robust, wrong = [], [], []
    for seed in range(40):
        log = simulate_log(data, n_pages=1200, k=K, users=users, random_state=seed)
        plain.append(evaluate_off_policy(log, run, k=K, warn=False).value)
        good, bad = PBM(max_iter=10, prior=(1, 1)).fit(log), RankCTR().fit(log)
        robust.append(evaluate_off_policy(log, run, "doubly-robust", model=good, k=K, warn=False).value)
        wrong.append(evaluate_off_policy(log, run, "doubly-robust", model=bad, k=K, warn=False).value)
    assert np.std(robust) < np.std(plain)
    assert np.mean(wrong) == pytest.approx(value, abs=0.03)


def test_the_model_alone(data):
    users = CascadeUsers()
    scores = np.asarray(data.X[:, 0])
    log = simulate_log(data, n_pages=20_000, k=K, users=users, random_state=0)
    model = DBN().fit(log)
    result = evaluate_off_policy(log, run_of(data, scores), "model", model=model, k=K)
    assert result.value == pytest.approx(truth(data, scores, users), abs=0.03)
    assert result.doubts == ()


@pytest.mark.full
def test_resampled_intervals_know_the_error_of_the_model(data):
    scores, users = np.asarray(data.X[:, 0]), PositionUsers()
    value, run = truth(data, scores, users), run_of(data, scores)
    hits, plain = [], []
    for seed in range(80):
        log = simulate_log(data, n_pages=600, k=K, users=users, random_state=seed)
        options = {"model": PBM().fit(log), "k": K, "level": 0.9, "warn": False}
        for result, kept in (
            (evaluate_off_policy(log, run, "model", **options), plain),
            (evaluate_off_policy(log, run, "model", **options, n_bootstrap=40), hits),
        ):
            kept.append(result.lower <= value <= result.upper)
    assert 0.81 <= np.mean(hits) <= 0.98
    assert np.mean(plain) < 0.6


def test_resampling(data):
    log = simulate_log(data, n_pages=600, k=K, random_state=0)
    run, other = run_of(data, data.X[:, 0]), run_of(data, -data.X[:, 0])
    options = {"model": PBM(max_iter=5).fit(log), "k": K, "warn": False}
    plain = evaluate_off_policy(log, run, "model", **options)
    options["n_bootstrap"] = 20
    result = evaluate_off_policy(log, run, "model", **options)
    assert result.value == plain.value
    assert result.error > 1.5 * plain.error
    assert result.upper - result.value == pytest.approx(1.96 * result.resampled.std(ddof=1), rel=1e-3)
    assert evaluate_off_policy(log, run, "model", **options).error == result.error
    assert evaluate_off_policy(log, run, "model", **options, random_state=1).error != result.error
    collapsed = evaluate_off_policy(log.collapse(), run, "model", **options)
    assert collapsed.error == pytest.approx(result.error, rel=0.6)
    table = compare_off_policy(log, {"a": run, "same": run, "b": other}, "model", **options)
    assert table["difference_lower"][1] == table["difference_upper"][1] == 0.0
    assert table["difference_lower"][2] < table["difference"][2] < table["difference_upper"][2]
    with pytest.raises(pk.DataError, match="no click model to fit again"):
        evaluate_off_policy(log, run, k=K, warn=False, n_bootstrap=20)
    with pytest.raises(pk.DataError, match="at least 20"):
        evaluate_off_policy(log, run, "model", **options | {"n_bootstrap": 3})


def test_the_log_itself_is_its_own_value(data):
    log = simulate_log(data, data.X[:, 1], n_pages=500, k=K, random_state=0)
    log = log.replace(conditional_propensities=np.ones(log.n_rows))
    for method in ("item-position", "cascade", "list"):
        result = evaluate_off_policy(log, run_of(data, data.X[:, 1]), method, k=K)
        assert result.value == pytest.approx(result.logged)
        assert result.effective_pages == pytest.approx(500)
        assert result.matched == 1.0


def test_a_log_that_cannot_answer_says_so(data):
    log = simulate_log(data, data.X[:, 1], n_pages=500, k=K, random_state=0)
    with pytest.warns(pk.PlackettWarning, match="never shown"):
        result = evaluate_off_policy(log, run_of(data, -data.X[:, 1]), k=K)
    assert result.matched < 0.5
    some = {q: lists for q, lists in run_of(data, data.X[:, 1]).items() if q != str(data.qids[0])}
    with pytest.warns(pk.PlackettWarning, match="without a new list"):
        evaluate_off_policy(log, some, k=K)
    bare = log.replace(propensities=None)
    with pytest.raises(pk.DataError, match="needs propensities"):
        evaluate_off_policy(bare, run_of(data, data.X[:, 1]))
    with pytest.raises(pk.DataError, match="needs a fitted click model"):
        evaluate_off_policy(log, run_of(data, data.X[:, 1]), "model")
    with pytest.raises(pk.DataError, match="do the ids agree"):
        evaluate_off_policy(log, {"zz": {"1": 1.0}})
    with pytest.raises(pk.DataError, match="did you mean"):
        evaluate_off_policy(log, run_of(data, data.X[:, 1]), "cascde")
    assert "model" in METHODS


def test_comparison_and_safe_choices(data):
    users = PositionUsers(noise=0.02)
    log = simulate_log(data, n_pages=20_000, k=K, users=users, random_state=0)
    runs = {"worst": run_of(data, -data.y), "best": run_of(data, data.y)}
    table = compare_off_policy(log, runs, k=K)
    assert table["difference"][0] == 0
    assert table["difference_lower"][1] > 0
    good = safe_choices(log, runs["best"], k=K)
    bad = safe_choices(log, runs["worst"], k=K)
    assert good["new"].sum() >= 4
    assert bad["new"].sum() == 0
    few = safe_choices(log.select(np.arange(60)), runs["best"], k=K)
    assert few["new"].sum() <= good["new"].sum()  # without evidence nothing changes


def test_safe_choices_are_seldom_wrong(data):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=data.n_rows)  # no better than random lists on average
    wrong = total = 0
    attraction = PositionUsers().attraction(data.labels, data.labels.max())
    for seed in range(20):
        log = simulate_log(data, n_pages=2000, k=K, random_state=seed)
        result = safe_choices(log, run_of(data, scores), k=K)
        for query, taken in result.select("query", "new").rows():
            i = int(np.flatnonzero(data.qids == query)[0])
            rows = np.arange(data.offsets[i], data.offsets[i + 1])
            best = rows[np.argsort(-scores[rows])][:K]
            gain = (attraction[best] / np.arange(1, K + 1)).sum() - attraction[rows].mean() * (
                1 / np.arange(1, K + 1)
            ).sum()
            wrong += taken and gain < 0
            total += gain < 0
    assert wrong <= 0.12 * max(total, 1)


def test_actions_may_be_the_reward():
    log = ClickLog.from_arrays(
        ["q"] * 200,
        [["a", "b"], ["b", "a"]] * 100,
        [[1, 0], [0, 1]] * 100,
        actions=[[5, 0], [0, 1]] * 100,
        propensities=np.full((200, 2), 0.5),
    )
    result = evaluate_off_policy(log, {"q": {"a": 2.0, "b": 1.0}}, k=2, reward="actions")
    assert result.value == pytest.approx(5.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate_off_policy(log, {"q": {"a": 2.0, "b": 1.0}}, k=2).value == pytest.approx(1.0)


def test_the_exposure_bound_holds_and_tightens(data):
    scores = data.labels + np.random.default_rng(0).normal(size=data.n_rows)
    look = np.arange(1, K + 1.0) ** -1
    value = truth(data, scores, PositionUsers())
    run = run_of(data, scores)
    below, gaps = 0, []
    for n_pages in (500, 5000):
        result = [
            exposure_bound(simulate_log(data, n_pages=n_pages, k=K, random_state=seed), run, look, k=K)
            for seed in range(20)
        ]
        below += sum(each.lower <= value for each in result)
        gaps.append(np.mean([each.value - each.lower for each in result]))
        assert np.mean([each.value for each in result]) == pytest.approx(value, abs=0.05)
    assert below >= 39
    assert gaps[1] == pytest.approx(gaps[0] / np.sqrt(10), rel=0.1)


def test_exposure_of_the_log_itself_and_of_what_was_never_shown(data):
    order = np.random.default_rng(0).normal(size=data.n_rows)
    log = simulate_log(data, order, n_pages=400, k=K, random_state=0)
    look = np.arange(1, K + 1.0) ** -1
    same = exposure_bound(log, run_of(data, order), look, k=K)
    assert same.value == pytest.approx(same.logged)
    assert same.divergence == pytest.approx(1.0)
    assert same.queries["divergence"].to_numpy() == pytest.approx(1.0)
    other = exposure_bound(log, run_of(data, -order), look, k=K)
    assert other.lower == -np.inf
    assert not other.safe
    assert not other.queries["new"].any()
    for wrong in ([1.0], [np.nan] * K, "x"):
        with pytest.raises(pk.DataError, match="propensities"):
            exposure_bound(log, run_of(data, order), wrong, k=K)
    with pytest.raises(pk.DataError, match="confidence=2"):
        exposure_bound(log, run_of(data, order), look, confidence=2)


def two_orders(n=400, **arrays):
    """Two documents in either order, with propensities of a half."""
    rng = np.random.default_rng(0)
    shown = rng.permuted(np.tile(np.arange(2), (n, 1)), axis=1)
    clicked = rng.random((n, 2)) < np.array([0.6, 0.2])[shown]
    return ClickLog.from_arrays(np.zeros(n, int), shown, clicked, propensities=np.full((n, 2), 0.5), **arrays)


def test_what_was_shown_below_k_was_not_shown_at_k():
    log = ClickLog.from_arrays(["q"] * 200, [["a", "b"]] * 200, [[1, 1]] * 200, propensities=[[1.0, 1.0]] * 200)
    result = evaluate_off_policy(log, {"q": {"b": 2.0, "a": 1.0}}, k=1, warn=False)
    assert result.matched == 0
    assert any("never shown" in doubt for doubt in result.doubts)


def test_weights_are_counts_of_pages():
    run = {"0": {"0": 2.0, "1": 1.0}}
    other = {"0": {"1": 2.0, "0": 1.0}}
    log = two_orders()
    times = np.random.default_rng(1).integers(1, 5, log.n_pages)
    weighted = log.replace(weight=times.astype(float))
    repeated = log.select(np.repeat(np.arange(log.n_pages), times))
    a, b = (evaluate_off_policy(each, run, k=2) for each in (weighted, repeated))
    np.testing.assert_allclose([a.value, a.error, a.effective_pages], [b.value, b.error, b.effective_pages])
    names = ["difference", "difference_lower", "difference_upper"]
    left, right = (compare_off_policy(each, {"a": run, "b": other}, k=2).select(names) for each in (weighted, repeated))
    np.testing.assert_allclose(left, right, atol=1e-12)
    left, right = (safe_choices(each, run, k=2) for each in (weighted, repeated))
    np.testing.assert_allclose(
        left.select("pages", "difference", "lower"), right.select("pages", "difference", "lower")
    )


def test_runs_with_other_queries_are_not_compared():
    log = ClickLog.from_arrays(
        ["q"] * 50 + ["p"] * 50, [["a", "b"]] * 100, [[1, 0]] * 100, propensities=[[1.0, 1.0]] * 100
    )
    runs = {"one": {"q": {"a": 1.0, "b": 0.0}}, "two": {"p": {"a": 1.0, "b": 0.0}}}
    with pytest.raises(pk.DataError, match="different queries"):
        compare_off_policy(log, runs, k=2, warn=False)


def test_safe_choices_compare_actions_with_actions():
    log = two_orders(actions=np.full((400, 2), 5.0))
    log = log.replace(propensities=np.ones(800)).select(log.document[::2] == 0)  # always 0 before 1
    same = safe_choices(log, {"0": {"0": 2.0, "1": 1.0}}, k=2, reward="actions")
    assert same["difference"].to_list() == [0.0]
    assert same["new"].to_list() == [False]


def test_a_model_does_not_normalise():
    log = two_orders()
    with pytest.raises(pk.DataError, match="normalise=True is for"):
        evaluate_off_policy(log, {"0": {"0": 1.0}}, "doubly-robust", model=PBM().fit(log), k=2, normalise=True)


def test_a_model_says_that_it_guesses_below_the_log():
    log = two_orders()
    run = {"0": {"0": 3.0, "1": 2.0, "2": 1.0}}
    model = PBM().fit(log)
    result = evaluate_off_policy(log, run, "model", model=model, k=10, warn=False)
    assert any("k=2 leaves those out" in doubt for doubt in result.doubts)
    assert not evaluate_off_policy(log, run, "model", model=model, k=2).doubts


def shop(seed: int, n_pages: int, *, shuffled: bool = False):
    """A log with purchases, the lists of a ranker that maximises the revenue, and its true revenue per page.

    Clicks follow the position-based model, and a click on a document for a query leads to a purchase by chance.
    """
    rng = np.random.default_rng(seed)
    look, n_queries, n_documents = 1 / np.arange(1, K + 1), 6, 8
    attraction, bought = rng.beta(2, 4, (n_queries, n_documents)), rng.beta(1, 3, (n_queries, n_documents))
    price = np.exp(rng.normal(2, 0.8, n_documents))
    query = rng.integers(0, n_queries, n_pages)
    order = rng.gumbel(size=(n_pages, n_documents)) * (1.0 if shuffled else 0.3)
    shown = np.argsort(order - (0 if shuffled else attraction[query]), axis=1)[:, :K]
    at = query[:, None], shown
    clicks = rng.random(shown.shape) < attraction[at] * look
    actions = (clicks & (rng.random(shown.shape) < bought[at])) * price[shown]
    log = ClickLog.from_arrays(
        [f"q {i}" for i in query],
        [[f"d{i}" for i in page] for page in shown],
        clicks,
        actions=actions,
        propensities=np.full(shown.shape, 1 / n_documents) if shuffled else None,
    )
    worth = attraction * bought * price
    run = {f"q {q}": {f"d{d}": float(worth[q, d]) for d in range(n_documents)} for q in range(n_queries)}
    per_query = (look * -np.sort(-worth, axis=1)[:, :K]).sum(axis=1)
    return log, run, per_query[query].mean()


def test_purchases_of_a_new_ranker_without_propensities():
    """The truth is known: over worlds the estimate is right, where the log itself is far off."""
    errors, logged = [], []
    for seed in range(12):
        log, run, true = shop(seed, 6000)
        result = evaluate_off_policy(log, run, "model", model=PBM().fit(log), k=K, reward="actions")
        errors.append(result.value / true - 1)
        logged.append(result.logged / true - 1)
    assert abs(np.mean(errors)) < 0.04 and np.std(errors) < 0.1
    assert np.mean(logged) < -0.4


def test_the_interval_of_purchases_has_the_error_of_what_clicks_are_worth():
    log, run, true = shop(1, 3000)
    model = PBM().fit(log)
    short, honest = (
        evaluate_off_policy(log, run, "model", model=model, k=K, reward="actions", n_bootstrap=n) for n in (0, 25)
    )
    fixed = evaluate_off_policy(log, run, "model", model=model, k=K, n_bootstrap=25)
    assert honest.lower < true < honest.upper and honest.value == short.value
    compared = compare_off_policy(log, {"new": run}, "model", model=model, k=K, reward="actions")
    assert compared["actions_per_page"].to_list() == [short.value]
    assert honest.error / honest.value > fixed.error / fixed.value  # purchases are rarer than clicks


def test_purchases_by_two_ways_one_of_which_is_wrong():
    """Propensities mend a click model that knows nothing of documents."""
    log, run, true = shop(0, 40_000, shuffled=True)
    wrong = RankCTR().fit(log)
    alone = evaluate_off_policy(log, run, "model", model=wrong, k=K, reward="actions", warn=False)
    mended = evaluate_off_policy(log, run, "doubly-robust", model=wrong, k=K, reward="actions", warn=False)
    assert abs(alone.value / true - 1) > 0.15
    assert abs(mended.value - true) < 3 * mended.error < 0.15 * true


def test_what_a_click_is_worth():
    log = ClickLog.from_arrays(
        ["q", "q", "p"],
        [["a", "b"], ["a", "b"], ["a", "c"]],
        [[1, 0], [1, 1], [1, 0]],
        actions=[[6, 0], [0, 3], [0, 7]],
        weight=[1, 1, 2],
    )
    worth = ClickWorth(log)
    mean = 9 / 5  # of five clicks; the seven was not clicked for
    a, b, c = (6 + mean) / 5, (3 + mean) / 2, mean
    np.testing.assert_allclose(worth.of(log), [(6 + a) / 3, (3 + b) / 2, (6 + a) / 3, (3 + b) / 2, a / 3, c])
    other = ClickLog.from_arrays(["p", "new"], [["b", "z"], ["c", "a"]], [[0, 0], [0, 0]])
    np.testing.assert_allclose(worth.of(other), [b, mean, c, a])
    assert worth.without_click == pytest.approx(14 / 23)
    assert "only 2 clicks were followed by actions" in worth.doubts()[0]
    assert "61% of the actions were on documents without a click" in worth.doubts()[1]
    with pytest.raises(pk.DataError, match="reward='actions'"):
        evaluate_off_policy(other, {"p": {"b": 1.0}}, "model", reward="actions")


def test_rankers_and_scores_stand_for_runs():
    """With the documents of the queries, whatever scores them can be evaluated."""
    data = pk.datasets.make_ranking(n_queries=6, docs_per_query=4, n_features=3, random_state=0)
    log = simulate_log(data, n_pages=2000, k=4, random_state=0)
    ranker = pk.LinearRegression().fit(data)
    scores = ranker.predict(data)
    run = pk.run_frame(data, scores)
    expected = evaluate_off_policy(log, run, warn=False)
    for given in (ranker, scores):
        assert evaluate_off_policy(log, given, data=data, warn=False).value == expected.value
        assert safe_choices(log, given, data=data).equals(safe_choices(log, run))
        look = 1 / np.arange(1, 5)
        assert exposure_bound(log, given, look, data=data).lower == exposure_bound(log, run, look).lower
    both = compare_off_policy(log, {"a": ranker, "b": -scores}, data=data, warn=False)
    assert both["clicks_per_page"][0] == expected.value
    with pytest.raises(pk.DataError, match="a LinearRegression needs the documents that it ranks: give data="):
        evaluate_off_policy(log, ranker)
    with pytest.raises(pk.DataError, match="unknown method"):
        safe_choices(log, run, np.ones(4))
