"""Bandits: their rules, and their guarantees by simulation."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from plackett._base.errors import DataError
from plackett.online.bandits.explore_commit import RankedExploreCommit
from plackett.online.bandits.linear import LinearBandit
from plackett.online.bandits.ranked_bandits import RankedBandits
from plackett.online.bandits.top_k import TopKBandit
from plackett.online.journal import Journal
from plackett.online.recency import RecencyRanker
from plackett.online.stability import bounded_update, rank_change

#: Each kind of user finds some of six documents relevant; users click the first relevant one.
KINDS = [{0, 1}, {0, 2}, {0}, {3}, {3, 4}, {1, 2, 5}]


def first_click(order, kind):
    hits = np.array([d in kind for d in order])
    return hits & (np.cumsum(hits) == 1)


def best_rate(k):
    return max(np.mean([bool(kind & set(each)) for kind in KINDS]) for each in itertools.combinations(range(6), k))


def test_explore_and_commit_keeps_its_promise():
    learner = RankedExploreCommit(6, k=2, epsilon=0.5, delta=0.1)
    fails = [6 * 2 * math.exp(-tries * 0.5**2 / (2 * 2**2)) for tries in (learner.tries - 1, learner.tries)]
    assert fails[0] > 0.1 >= fails[1]  # the least number of trials whose errors add up to delta
    rng, pages = np.random.default_rng(0), 0
    while len(learner.committed) < 2:
        page = learner.show()
        assert len(set(page.order)) == 2
        learner.learn(page, first_click(page.order, KINDS[rng.integers(6)]))
        pages += 1
    assert pages == 6 * learner.tries + 5 * learner.tries  # the committed document is not tried again
    assert learner.committed == [0, 3]  # the greedy list, which is also the best one
    assert np.array_equal(learner.learn(page, [1, 1]).show().order, [0, 3])  # late pages change nothing


def test_explore_and_commit_errs_no_more_often_than_delta():
    """One document is better by epsilon: with T₀ trials it must be found with probability 1 − delta."""
    epsilon, delta, n = 0.3, 0.2, 8
    tries = RankedExploreCommit(n, k=1, epsilon=epsilon, delta=delta).tries
    rng = np.random.default_rng(0)
    worse, best = rng.binomial(tries, 0.4, (2000, n - 1)), rng.binomial(tries, 0.4 + epsilon, 2000)
    assert np.mean(best <= worse.max(axis=1)) <= delta


@pytest.mark.parametrize(("policy", "reached"), [("exp3", 0.67), ("ucb", 0.67), ("thompson", 0.77)])
def test_ranked_bandits_reach_the_guarantee(policy, reached):
    """Random lists have .53, the guarantee is .53, the best list .83."""
    n = 2500
    learner = RankedBandits(6, k=2, policy=policy, horizon=n, random_state=0)
    rng, hits = np.random.default_rng(1), []
    for _ in range(n):
        page = learner.show()
        clicks = first_click(page.order, KINDS[rng.integers(6)])
        learner.learn(page, clicks)
        hits.append(clicks.any())
    assert best_rate(2) > np.mean(hits[n // 2 :]) > reached > (1 - 1 / np.e) * best_rate(2)


def test_replaced_proposals_get_nothing():
    learner = RankedBandits(3, k=3, policy="thompson", random_state=0)
    replaced = 0
    for _ in range(50):
        page = learner.show()
        assert sorted(page.order) == [0, 1, 2]
        before = learner.wins.copy()
        learner.learn(page, [1, 1, 1])
        gained = (learner.wins - before).sum(axis=1)
        assert np.array_equal(gained, page.order == np.array(page.detail["proposals"]))
        replaced += int((gained == 0).sum())
    assert replaced > 0


def cascade(order, attraction, rng):
    hits = rng.random(len(order)) < attraction[order]
    return hits & (np.cumsum(hits) == 1)


@pytest.mark.parametrize("policy", ["ucb", "thompson"])
@pytest.mark.parametrize("look", [None, 1 / np.arange(1, 6)])
def test_regret_of_the_top_k_bandit_is_sublinear(policy, look):
    attraction = np.array([0.05, 0.1, 0.1, 0.2, 0.8, 0.9])
    learner = TopKBandit(5, policy=policy, look=look, random_state=0)
    rng, regret = np.random.default_rng(0), []
    assert np.array_equal(learner.show(6).order, np.arange(6))
    for _ in range(1200):
        page = learner.show(6)
        assert page.order[5] == 5  # beyond K nothing moves
        seen = page.order[:5]
        clicks = cascade(seen, attraction, rng) if look is None else rng.random(5) < np.asarray(look) * attraction[seen]
        learner.learn(page, [*clicks, False])
        regret.append(0.8 - attraction[seen[0]])
    thirds = np.array(regret).reshape(3, -1).mean(axis=1)
    assert thirds[0] > 0 and thirds[1] <= 0.2 * thirds[0] and thirds[2] <= 0.1 * thirds[0]


def test_documents_stay_near_their_place():
    learner = TopKBandit(8, distance=2, policy="thompson", random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(100):
        page = learner.show(10)
        assert sorted(page.order) == list(range(10))
        assert np.abs(page.order - np.arange(10)).max() <= 2
        learner.learn(page, rng.random(10) < page.order / 10)
    assert TopKBandit(8, distance=0).learn(page, np.ones(10)).show(8).order.tolist() == list(range(8))


@pytest.mark.parametrize("policy", ["ucb", "thompson"])
@pytest.mark.parametrize("look", [None, np.array([1.0, 0.5, 0.3])])
def test_regret_of_linear_bandits_is_sublinear(policy, look):
    rng, truth = np.random.default_rng(0), np.array([0.5, 0.3, 0.0, 0.1])
    learner = LinearBandit(4, k=3, policy=policy, look=look, width=0.5, random_state=0)
    regret = []
    for _ in range(900):
        X = rng.random((8, 4))
        page = learner.show(X)
        a = X @ truth
        clicks = cascade(page.order, a, rng) if look is None else rng.random(3) < look * a[page.order]
        learner.learn(X, page, clicks)
        regret.append(a.max() - a[page.order[0]])
    thirds = np.array(regret).reshape(3, -1).mean(axis=1)
    assert thirds[2] < 0.3 * thirds[0]
    np.testing.assert_allclose(learner.weights, truth, atol=0.07)


def test_linear_bandit_solves_least_squares():
    rng = np.random.default_rng(0)
    look = np.array([1.0, 0.5])
    learner = LinearBandit(3, k=2, look=look, ridge=0.7)
    A, b = 0.7 * np.eye(3), np.zeros(3)
    for _ in range(20):
        X = rng.normal(size=(4, 3))
        page, clicks = learner.show(X), rng.random(2) < 0.5
        learner.learn(X, page, clicks)
        for v, row, hit in zip(look, page.order, clicks, strict=True):
            A += v * v * np.outer(X[row], X[row])
            b += v * hit * X[row]
    np.testing.assert_allclose(learner.weights, np.linalg.solve(A, b), atol=1e-9)


def test_buzz_is_calibrated_on_a_steady_stream_and_finds_a_spike():
    rng = np.random.default_rng(0)
    queries, documents = [], []
    for _ in range(40):
        ranker, times = RecencyRanker(), np.sort(rng.random(1500) * 100)
        for time in times:
            ranker.observe(time, "q", ["d"], rng.random(1) < 0.3)
        queries.append(ranker.query_buzz(100.0, "q"))
        documents.append(ranker.document_buzz(100.0, "q", "d"))
    for values in (queries, documents):
        assert abs(np.mean(values)) < 0.4 and 0.7 < np.std(values) < 1.3
    relevance = np.array([1.0, 2.0])
    np.testing.assert_allclose(ranker.scores(100.0, "q", ["d", "e"], relevance), relevance, atol=0.05)
    for time in 100 + np.sort(rng.random(120)):  # eight times the usual traffic, and they all want d
        ranker.observe(time, "q", ["d"], [True])
    assert ranker.sensitivity(101.0, "q") > 0.95
    assert np.argmax(ranker.scores(101.0, "q", ["d", "e"], relevance)) == 0
    assert ranker.sensitivity(101.0, "other") < 0.05


def test_late_pages_count_with_their_age():
    events = [(1.0, True), (2.0, False), (3.5, True), (4.0, True)]
    ordered, late = RecencyRanker(), RecencyRanker()
    for time, clicked in events:
        ordered.observe(time, "q", ["d"], [clicked])
    for time, clicked in [events[0], events[3], events[1], events[2]]:
        late.observe(time, "q", ["d"], [clicked])
    assert late.document_buzz(6.0, "q", "d") == pytest.approx(ordered.document_buzz(6.0, "q", "d"))


def test_updates_stay_within_their_bound():
    rng = np.random.default_rng(0)
    X, offsets = rng.normal(size=(60, 4)), np.arange(0, 61, 10)
    old, new = rng.normal(size=4), rng.normal(size=4)
    far = 0.0
    for most in (0.0, 0.1, 0.3, 1.0):
        result = bounded_update(old, new, X, offsets, most=most, k=3)
        assert rank_change(X, old, result, offsets, 3) <= most
        length = np.linalg.norm(result - old)
        assert length >= far
        far = length
    np.testing.assert_allclose(result, new)


def dcg(order, gains):
    return gains[list(order)] @ (1 / np.log2(np.arange(2, 2 + len(order))))


@pytest.mark.parametrize("policy", ["ucb", "thompson"])
def test_no_page_of_the_top_k_bandit_is_worse_than_the_limit(policy):
    worst = {}
    for least in (0.0, 0.95):
        learner, rng, worth = TopKBandit(4, policy=policy, least=least, random_state=0), np.random.default_rng(0), []
        for _ in range(300):
            page, mean = learner.show(8), learner.clicks / learner.seen
            worth.append(dcg(page.order[:4], mean) / dcg(np.argsort(-mean), mean))
            learner.learn(page, rng.random(8) < 0.5)
        worst[least] = min(worth)
    assert worst[0.0] < 0.93 and worst[0.95] >= 0.95


@pytest.mark.parametrize("kind", ["exp3", "ucb", "thompson", "commit"])
def test_no_page_of_a_ranked_bandit_is_worse_than_the_limit(kind):
    relevance = np.array([3.0, 0.0, 2.0, 1.0, 0.5, 0.0])
    worst = {}
    for least in (0.0, 0.8):
        limit = {"relevance": relevance, "least": least}
        learner = (
            RankedExploreCommit(6, k=3, tries=20, **limit)
            if kind == "commit"
            else RankedBandits(6, k=3, policy=kind, random_state=0, **limit)
        )
        rng, pages = np.random.default_rng(0), set()
        for _ in range(200):
            page = learner.show()
            pages.add(tuple(page.order))
            learner.learn(page, first_click(page.order, KINDS[rng.integers(6)]))
        worst[least] = min(dcg(order, relevance) for order in pages) / dcg([0, 2, 3], relevance)
        assert len(pages) > 5
    assert worst[0.0] < 0.75 and worst[0.8] >= 0.8


BANDITS = {
    "ranked": lambda: RankedBandits(6, k=3, random_state=0),
    "commit": lambda: RankedExploreCommit(6, k=3, tries=2),
    "top": lambda: TopKBandit(4, policy="thompson", random_state=0),
    "linear": lambda: LinearBandit(2, k=3, policy="thompson", random_state=0),
}


@pytest.mark.parametrize("name", BANDITS)
def test_bandits_live_in_a_journal(name, tmp_path):
    rng, straight = np.random.default_rng(0), BANDITS[name]()
    X = rng.random((6, 2))
    given = {"top": (6,), "linear": (X,)}.get(name, ())
    for i in range(20):
        page = straight.show(*given)
        clicks = rng.random(page.order.size) < 0.3
        event = straight.event(X, page, clicks) if name == "linear" else straight.event(page, clicks)
        with Journal(tmp_path, BANDITS[name](), snapshot_every=7) as journal:
            assert journal.record(f"page {i}", event) and not journal.record(f"page {i}", event)
            for wrong in ({}, event | {"clicks": []}, event | {"order": [9] * page.order.size}, 3):
                with pytest.raises(DataError):
                    journal.record("wrong", wrong)
        straight.apply(event)
    with Journal(tmp_path, BANDITS[name]()) as journal:
        again = journal.learner.state()
    again.pop("random", None)
    expected = straight.state()
    expected.pop("random", None)
    assert again == expected and len(journal) == 20
    copy = BANDITS[name]().set_state(json.loads(json.dumps(straight.state())))
    assert np.array_equal(copy.show(*given).order, straight.show(*given).order)
    with pytest.raises(DataError, match="state"):
        copy.set_state({"x": 1})


def test_wrong_settings_are_named():
    for make in (
        lambda: RankedBandits(3, k=4),
        lambda: RankedBandits(3, k=1, policy="x"),
        lambda: RankedExploreCommit(3, k=4),
        lambda: TopKBandit(policy="x"),
        lambda: TopKBandit(5, look=[1.0]),
        lambda: LinearBandit(3, ridge=0),
        lambda: TopKBandit(5, least=2),
        lambda: LinearBandit(3, least=-1),
        lambda: RankedBandits(3, k=2, least=0.5),
        lambda: RankedBandits(3, k=2, relevance=[1.0]),
        lambda: RankedExploreCommit(3, k=2, tries=0),
        lambda: RecencyRanker(recent=3, long=2),
        lambda: bounded_update([1.0], [1.0, 2.0], np.zeros((1, 1)), [0, 1]),
    ):
        with pytest.raises(DataError):
            make()


@pytest.mark.parametrize(
    "call",
    [
        lambda: LinearBandit(2, k=2, look=[np.nan, 1.0]),
        lambda: LinearBandit(2, k=2, look=[-1.0, 0.5]),
        lambda: LinearBandit(2, k=2, look=0.5),
        lambda: LinearBandit(2, k=2, width=np.nan),
        lambda: TopKBandit(K=2, look=["a", 1.0]),
        lambda: TopKBandit(K=2, look=[1.0, 2.0]),
        lambda: TopKBandit(K=2).show(-1),
        lambda: RankedBandits(5, k=2, horizon=0),
        lambda: RecencyRanker().observe(np.nan, "q", ["a"], [True]),
        lambda: RecencyRanker().observe(0.0, "q", ["a"], []),
        lambda: bounded_update([1.0, 0.0], [np.nan, 0.0], np.eye(2), [0, 2]),
        lambda: rank_change(np.eye(2), [1.0, 0.0], [0.0, 1.0], [0, 5]),
    ],
)
def test_what_means_nothing_is_refused(call):
    with pytest.raises(DataError):
        call()


def test_the_query_called_query_is_a_query_like_any_other():
    ranker = RecencyRanker()
    for day in range(100):
        ranker.observe(float(day), "query", ["shoes"], [True])
    never_asked = RecencyRanker()
    never_asked.observe(0.0, "other", [], [])
    assert ranker.query_buzz(99.0, "shoes") == never_asked.query_buzz(99.0, "shoes") == 0


def test_a_late_page_from_before_the_first_moves_the_start_back():
    ahead, late = RecencyRanker(), RecencyRanker()
    pages = [(float(day), "q", ["a"], [True]) for day in range(60)]
    for page in pages:
        ahead.observe(*page)
    for page in [*pages[30:], *pages[:30]]:
        late.observe(*page)
    assert late.query_buzz(60.0, "q") == pytest.approx(ahead.query_buzz(60.0, "q"))


def test_thompson_sampling_survives_huge_features():
    rng = np.random.default_rng(0)
    bandit = LinearBandit(6, k=5, policy="thompson", random_state=0)
    for _ in range(30):
        X = 1e8 * rng.random((10, 6))
        page = bandit.show(X)
        assert np.unique(page.order).size == 5
        bandit.learn(X, page, rng.random(5) < 0.05)
