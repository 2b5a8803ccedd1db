"""Known parameters come back from simulated logs; worked examples."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from plackett.clicks.log import ClickLog
from plackett.clicks.models._prior import FLAT, estimate_prior
from plackett.clicks.models.additive import AdditiveTwoTower
from plackett.clicks.models.bbm import BBM
from plackett.clicks.models.cascade import CascadeModel
from plackett.clicks.models.ccm import CCM, BayesianCCM, factors
from plackett.clicks.models.ctr import IndependentClickModel
from plackett.clicks.models.dbn import DBN, SDBN, SDBNCounting
from plackett.clicks.models.dcm import DCM, DCMClosedForm
from plackett.clicks.models.mixture import MixtureModel, PBMMixture
from plackett.clicks.models.pbm import PBM
from plackett.clicks.models.ubm import UBM
from plackett.clicks.pairs import PairTable

N = 100_000
R = np.linspace(0.1, 0.65, 8)


def shuffled(n_pages=N, n_documents=8, length=5, seed=0):
    rng = np.random.default_rng(seed)
    lists = np.argsort(rng.random((n_pages, n_documents)), axis=1)[:, :length]
    log = ClickLog.from_arrays(np.zeros(n_pages, int), lists, np.zeros(lists.shape, int))
    return log, log.documents[log.pair_document]  # document of each pair


def with_parameters(model, log, attraction, **values):
    """A model that was not fitted but told."""
    model.pairs_, model.n_ranks_, model.prior_ = PairTable.of(log), log.longest, FLAT
    model.attraction_ = attraction
    model.shown_ = np.ones(attraction.size)
    for name, value in values.items():
        setattr(model, name, value)
    return model


def test_pbm():
    log, documents = shuffled()
    look = 1 / np.arange(1, 6)
    truth = with_parameters(PBM(), log, R[documents], examination_=look)
    model = PBM(prior=None, max_iter=500, tol=1e-9).fit(truth.simulate(log, random_state=0))
    np.testing.assert_allclose(model.examination_, look, atol=0.015)
    np.testing.assert_allclose(model.attraction_, R[documents], atol=0.015)


def test_ubm_and_its_special_case():
    log, documents = shuffled()
    rng = np.random.default_rng(5)
    gamma = rng.uniform(0.3, 0.95, 15)
    gamma[0] = 1.0
    truth = with_parameters(UBM(), log, R[documents], examination_=gamma)
    drawn = truth.simulate(log, random_state=1)
    model = UBM(prior=None, max_iter=500, tol=1e-9).fit(drawn)
    np.testing.assert_allclose(model.examination_, gamma, atol=0.06)
    np.testing.assert_allclose(model.attraction_, R[documents], atol=0.015)
    by_rank = 1 / np.arange(1, 6)
    cells = np.array([by_rank[t + s] for t in range(5) for s in range(5 - t)])
    flat = with_parameters(UBM(), log, R[documents], examination_=cells)
    position = with_parameters(PBM(), log, R[documents], examination_=by_rank)
    np.testing.assert_allclose(flat.conditional_probabilities(drawn), position.conditional_probabilities(drawn))
    assert model.table.shape == (5, 5)
    assert model.table[2, 3] == model.examination_[5 + 4 + 1]


def test_cascade_and_independent_clicks():
    log, documents = shuffled()
    truth = with_parameters(CascadeModel(), log, R[documents])
    drawn = truth.simulate(log, random_state=2)
    assert np.bincount(drawn.page, drawn.clicked).max() == 1
    model = CascadeModel(prior=None).fit(drawn)
    np.testing.assert_allclose(model.attraction_, R[documents], atol=0.012)
    same = with_parameters(DCM(), log, R[documents], continuation_=np.zeros(5))
    np.testing.assert_allclose(same.conditional_probabilities(drawn), truth.conditional_probabilities(drawn))
    free = with_parameters(IndependentClickModel(), log, R[documents]).simulate(log, random_state=3)
    np.testing.assert_allclose(IndependentClickModel(prior=None).fit(free).attraction_, R[documents], atol=0.012)
    whole = with_parameters(DCM(), log, R[documents], continuation_=np.ones(5))
    np.testing.assert_allclose(whole.conditional_probabilities(free), R[documents][free.pair])
    dropped = CascadeModel(several="drop", prior=None).fit(free)
    assert dropped.examined_.sum() < CascadeModel(prior=None).fit(free).examined_.sum()


def test_dcm_is_exact_and_its_closed_form_is_not():
    log, documents = shuffled()
    go = np.array([0.7, 0.6, 0.5, 0.4, 0.5])
    truth = with_parameters(DCM(), log, R[documents], continuation_=go)
    drawn = truth.simulate(log, random_state=4)
    model = DCM(prior=None, max_iter=300, tol=1e-9).fit(drawn)
    np.testing.assert_allclose(model.continuation_[:4], go[:4], atol=0.03)
    np.testing.assert_allclose(model.attraction_, R[documents], atol=0.015)
    closed = DCMClosedForm(prior=None).fit(drawn)
    assert (closed.continuation_[:4] < go[:4] - 0.05).all()
    assert (closed.attraction_ - R[documents]).mean() > 0.02
    # the closed form maximises its bound: no parameter can be moved to a better one
    seen = [(page.tolist(), clicks.tolist()) for page, clicks in _few(drawn, 300)]
    small = ClickLog.from_arrays([0] * 300, [page for page, _ in seen], [clicks for _, clicks in seen])
    best = DCMClosedForm(prior=None).fit(small)

    def bound(r, g):
        total = 0.0
        for page, clicks in seen:
            last = max((i for i, c in enumerate(clicks) if c), default=None)
            for i in range(len(page) if last is None else last + 1):
                total += np.log(r[page[i]] if clicks[i] else 1 - r[page[i]])
                if clicks[i]:
                    total += np.log(1 - g[i] if i == last else g[i])
        return total

    r = np.zeros(8)
    r[small.documents[small.pair_document]] = best.attraction_
    g = best.continuation_
    top = bound(r, g)
    for i, step in itertools.product(range(8), (-0.01, 0.01)):
        moved = r.copy()
        moved[i] += step
        assert bound(moved, g) <= top + 1e-9
    for i, step in itertools.product(range(4), (-0.01, 0.01)):
        moved = g.copy()
        moved[i] = np.clip(moved[i] + step, 1e-9, 1 - 1e-9)
        assert bound(r, moved) <= top + 1e-9


def _few(log, n):
    for i in range(n):
        rows = slice(log.offsets[i], log.offsets[i + 1])
        yield log.documents[log.document[rows]], log.clicks[rows]


def one_page(clicks):
    return ClickLog.from_arrays([0], [list(range(len(clicks)))], [clicks])


def test_dcm_by_hand():
    log = one_page([1, 0, 0])
    model = with_parameters(DCM(), log, np.array([0.4, 0.5, 0.2]), continuation_=np.array([0.7, 0.6, 0.5]))
    np.testing.assert_allclose(model.click_probabilities(log), [0.4, 0.44, 0.1408])
    assert np.exp(model.log_likelihood(log)) == pytest.approx(0.232)
    sums = model._chain_sums(model.pages_of(log))
    assert sums.examined[1] == pytest.approx(0.28 / 0.58)
    assert sums.log_likelihood == pytest.approx(np.log(0.232))


def test_dbn_by_hand():
    log = one_page([1, 0, 0])
    values = {"gamma_": 0.9, "satisfaction_": np.array([0.6, 0.5, 0.5])}
    model = with_parameters(DBN(gamma=0.9), log, np.array([0.4, 0.5, 0.2]), **values, satisfaction_prior_=FLAT)
    sums = model._chain_sums(model.pages_of(log))
    assert np.exp(sums.log_likelihood) == pytest.approx(0.31504)
    np.testing.assert_allclose(sums.examined, [1, 0.187405, 0.164551], atol=1e-6)
    satisfied = (1 - sums.gone_on[0]) * 0.6 / (1 - 0.9 * 0.4)
    assert satisfied == pytest.approx(0.761808, abs=1e-6)


def chain_by_enumeration(r, skip_go, click_go, clicks):
    """Likelihood and examination of each rank, by summing over where the user stopped."""
    n, total, seen = len(r), 0.0, np.zeros(len(r))
    for stop in range(1, n + 1):  # examined ranks are 1 … stop
        if any(clicks[stop:]):
            continue
        chance = 1.0
        for i in range(stop):
            chance *= r[i] if clicks[i] else 1 - r[i]
            go = click_go[i] if clicks[i] else skip_go[i]
            if i < stop - 1:
                chance *= go
            elif stop < n:
                chance *= 1 - go
        total += chance
        seen[:stop] += chance
    return total, seen / total


@pytest.mark.parametrize("seed", range(5))
def test_the_chain_kernel_is_the_sum_over_all_stops(seed):
    rng = np.random.default_rng(seed)
    n = 5
    r, stop = rng.uniform(0.05, 0.95, n), rng.uniform(0, 0.9, n)
    gamma = 0.8
    for clicks in itertools.product([0, 1], repeat=n):
        log = one_page(list(clicks))
        model = with_parameters(DBN(), log, r, gamma_=gamma, satisfaction_=stop, satisfaction_prior_=FLAT)
        sums = model._chain_sums(model.pages_of(log))
        value, seen = chain_by_enumeration(r, np.full(n, gamma), gamma * (1 - stop), clicks)
        assert sums.log_likelihood == pytest.approx(np.log(value))
        np.testing.assert_allclose(sums.examined, seen, atol=1e-12)


def test_the_slope_by_the_stop_probability():
    rng = np.random.default_rng(0)
    r, stop, gamma = rng.uniform(0.1, 0.9, 4), rng.uniform(0.1, 0.8, 4), 0.85
    for clicks in itertools.product([0, 1], repeat=4):
        log = one_page(list(clicks))

        def at(stop, log=log):
            model = with_parameters(DBN(), log, r, gamma_=gamma, satisfaction_=stop, satisfaction_prior_=FLAT)
            return model._chain_sums(model.pages_of(log))

        for i in range(4):
            step = np.zeros(4)
            step[i] = 1e-6
            slope = (at(stop + step).log_likelihood - at(stop - step).log_likelihood) / 2e-6
            assert at(stop).stop_score[i] == pytest.approx(slope, abs=1e-6)


def test_dbn_and_its_kin():
    log, documents = shuffled()
    satisfied = np.linspace(0.7, 0.2, 8)[documents]
    truth = with_parameters(DBN(), log, R[documents], gamma_=0.85, satisfaction_=satisfied, satisfaction_prior_=FLAT)
    drawn = truth.simulate(log, random_state=6)
    model = DBN(prior=None, max_iter=400, tol=1e-9).fit(drawn)
    assert model.gamma_ == pytest.approx(0.85, abs=0.01)
    np.testing.assert_allclose(model.attraction_, R[documents], atol=0.02)
    np.testing.assert_allclose(model.satisfaction_, satisfied, atol=0.06)
    wrong = DBN(gamma=1.0, prior=None, max_iter=100).fit(drawn)
    assert np.abs(wrong.attraction_ - R[documents]).mean() > 0.05  # what a wrong γ costs
    whole = with_parameters(SDBN(), log, R[documents], gamma_=1.0, satisfaction_=satisfied, satisfaction_prior_=FLAT)
    drawn = whole.simulate(log, random_state=7)
    exact = SDBN(prior=None, max_iter=400, tol=1e-9).fit(drawn)
    np.testing.assert_allclose(exact.satisfaction_, satisfied, atol=0.05)
    same = DBN(gamma=1.0, prior=None, max_iter=400, tol=1e-9).fit(drawn)
    assert np.array_equal(same.attraction_, exact.attraction_)
    counted = SDBNCounting(prior=None).fit(drawn)
    assert (counted.satisfaction_ - satisfied).mean() > 0.1
    closed = DCMClosedForm(prior=None).fit(drawn)
    np.testing.assert_allclose(counted.attraction_, closed.attraction_)  # they differ in what stops the reading


def test_ccm():
    log, documents = shuffled()
    truth = with_parameters(CCM(), log, R[documents], alphas_=(0.8, 0.9, 0.3))
    model = CCM(prior=None, max_iter=600, tol=1e-9).fit(truth.simulate(log, random_state=8))
    np.testing.assert_allclose(model.alphas_, (0.8, 0.9, 0.3), atol=0.06)
    np.testing.assert_allclose(model.attraction_, R[documents], atol=0.02)


def test_factors_of_the_click_chain_against_enumeration():
    """Ratios of the likelihood of a page at two relevances of one document, the others integrated out."""
    alphas = (0.8, 0.7, 0.25)
    a1, a2, a3 = alphas
    n = 60  # long enough to be endless

    def likelihood(clicks, position, value):
        # others have a uniform relevance: means of R, 1 − R, R(1 − R) and R²; the chain is a forward pass
        last = max((i for i, c in enumerate(clicks) if c), default=-1)
        tail = 1.0
        for i in range(n - 1, last, -1):
            miss = 1 - (value if i == position else 0.5)
            tail = miss * (1 - a1 + a1 * tail)
        total = 1.0
        for i in range(last + 1):
            if i == position:
                hit, go = value, value * (a2 * (1 - value) + a3 * value)
            else:
                hit, go = 0.5, a2 / 6 + a3 / 3
            if i == last:
                return total * (hit - go + go * tail)
            total *= go if clicks[i] else (1 - hit) * a1
        return tail

    table = factors(alphas, n, np.array([0.3, 0.8]))
    clicks = [0, 1, 0, 1] + [0] * (n - 4)
    cells = {0: 0, 1: 1, 3: 2, 4: 3, 6: 5}
    for position, cell in cells.items():
        ratio = likelihood(clicks, position, 0.3) / likelihood(clicks, position, 0.8)
        assert table[cell, 0] / table[cell, 1] == pytest.approx(ratio, rel=1e-6)
    for position in (0, 3):
        ratio = likelihood([0] * n, position, 0.3) / likelihood([0] * n, position, 0.8)
        cell = 3 + n + position
        assert table[cell, 0] / table[cell, 1] == pytest.approx(ratio, rel=1e-6)


def test_bayesian_ccm_on_long_lists():
    rng = np.random.default_rng(0)
    n_pages, length = 4_000, 40
    relevance = rng.random(n_pages * length)  # a new document each time: the prior of the model
    documents = np.arange(n_pages * length)
    log = ClickLog.from_arrays(np.zeros(n_pages, int), documents.reshape(n_pages, length), np.zeros((n_pages, length)))
    truth = with_parameters(CCM(), log, relevance[log.pair_document], alphas_=(0.8, 0.6, 0.3))
    model = BayesianCCM(ratio=0.5).fit(truth.simulate(log, random_state=1))
    a1, a2, a3 = model.alphas_
    assert a1 == pytest.approx(0.8, abs=0.02)
    assert a2 + 2 * a3 == pytest.approx(1.2, abs=0.1)


def test_bbm():
    rng = np.random.default_rng(3)
    log, documents = shuffled(n_documents=60, length=5)
    relevance = rng.random(60)
    beta = np.linspace(0.9, 0.3, 15)
    truth = with_parameters(BBM(), log, relevance[documents], examination_=beta)
    model = BBM().fit(truth.simulate(log, random_state=2))
    error = model.examination_ - beta
    assert np.abs(error[:5]).max() < 0.1  # sixty relevances are not quite uniform
    assert np.corrcoef(model.attraction_, relevance[documents])[0, 1] > 0.97


def test_bbm_posteriors_with_certain_examination_are_beta():
    from scipy.stats import beta

    shown = [[0, 1, 2]] * 4
    clicks = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0]]
    log = ClickLog.from_arrays([0] * 4, shown, clicks)
    model = BBM().fit(log)
    model.examination_ = np.ones_like(model.examination_)
    density = model.density(0, 0)  # two clicks, two skips
    edges = np.linspace(0, 1, density.size + 1)
    np.testing.assert_allclose(np.cumsum(density), beta(3, 3).cdf(edges[1:]), atol=1e-4)
    mean, variance, lower, upper = model._posterior(0.9)
    assert mean[0] == pytest.approx(0.5, abs=1e-4)
    assert variance[0] == pytest.approx(beta(3, 3).var(), abs=1e-4)
    assert (lower[0], upper[0]) == pytest.approx(beta(3, 3).interval(0.9), abs=1e-3)
    assert model.preference(0, 0, 1) + model.preference(0, 1, 0) == pytest.approx(1.0)
    assert model.preference(0, 1, 2) == pytest.approx(0.5)  # the same counts


def test_bbm_preference_of_two_betas():
    # P(Beta(3, 2) > Beta(2, 4)) = 5/6: two clicks and one skip, one click and three skips
    log = ClickLog.from_arrays([0] * 7, [["a"]] * 3 + [["b"]] * 4, [[1], [1], [0], [1], [0], [0], [0]])
    model = BBM().fit(log)
    model.examination_ = np.ones_like(model.examination_)
    assert model.preference(0, "a", "b") == pytest.approx(5 / 6, abs=1e-4)


def test_mixture_logistic_and_several_kinds_of_users():
    log, documents = shuffled()
    blind = np.array([0.6, 0.4, 0.3, 0.2, 0.1])
    truth = with_parameters(MixtureModel(), log, R[documents], blind_=blind, mix_=1.0)
    drawn = truth.simulate(log, random_state=1)
    np.testing.assert_allclose(truth.click_probabilities(drawn), R[documents][drawn.pair])  # λ = 1 is no bias
    truth = with_parameters(MixtureModel(), log, R[documents], blind_=blind, mix_=0.6)
    drawn = truth.simulate(log, random_state=1)
    model = MixtureModel(prior=None, max_iter=500, tol=1e-9).fit(drawn)
    np.testing.assert_allclose(model.click_probabilities(drawn), truth.click_probabilities(drawn), atol=0.015)
    effect, ranks = np.linspace(-1.5, 0.5, 8), np.array([0.0, -0.5, -0.8, -1.0, -1.5])
    truth = with_parameters(AdditiveTwoTower(), log, R[documents], pair_effect_=effect[documents], rank_effect_=ranks)
    model = AdditiveTwoTower(prior=None, max_iter=200, tol=1e-10).fit(truth.simulate(log, random_state=2))
    np.testing.assert_allclose(np.diff(model.rank_effect_), np.diff(ranks), atol=0.05)
    shift = (model.pair_effect_ - effect[documents]).mean()
    np.testing.assert_allclose(model.pair_effect_ - shift, effect[documents], atol=0.05)
    look = np.array([[0.999, 0.95, 0.9, 0.9, 0.85], [0.95, 0.3, 0.15, 0.1, 0.05]])
    truth = with_parameters(PBMMixture(), log, R[documents], examination_=look, share_=np.array([0.6, 0.4]))
    model = PBMMixture(prior=None, max_iter=500, tol=1e-6).fit(truth.simulate(log, random_state=3))
    order = np.argsort(-model.examination_[:, 4])
    products = model.examination_[order][:, :, None] * model.attraction_
    np.testing.assert_allclose(products, look[:, :, None] * R[documents], atol=0.08)
    np.testing.assert_allclose(model.share_[order], [0.6, 0.4], atol=0.08)


def test_the_prior_is_found():
    rng = np.random.default_rng(0)
    for a, b, n in ((2.0, 8.0, 5), (0.5, 1.5, 3), (1.0, 1.0, 20)):
        prior = estimate_prior(rng.binomial(n, rng.beta(a, b, 40_000)).astype(float), np.full(40_000, float(n)))
        assert prior == pytest.approx((a, b), rel=0.1)


def test_intervals_cover_and_the_prior_helps_rare_pairs():
    rng = np.random.default_rng(0)
    n_queries, n_pages = 400, 6000
    query = rng.integers(0, n_queries, n_pages)
    lists = np.argsort(rng.random((n_pages, 6)), axis=1)
    log = ClickLog.from_arrays(query, lists, np.zeros(lists.shape, int))
    attraction = rng.beta(1.5, 4, log.n_pairs)
    look = np.array([1.0, 0.7, 0.5, 0.4, 0.3, 0.25])
    drawn = with_parameters(PBM(), log, attraction, examination_=look).simulate(log, random_state=1)
    model = PBM(max_iter=200).fit(drawn)
    frame = model.relevance(0.9)
    covered = (frame["lower"].to_numpy() <= attraction) & (attraction <= frame["upper"].to_numpy())
    assert 0.85 < covered.mean() < 0.96
    plain = PBM(prior=None, max_iter=200).fit(drawn)
    assert np.square(model.attraction_ - attraction).mean() < 0.6 * np.square(plain.attraction_ - attraction).mean()
    assert model.prior_ == pytest.approx((1.5, 4), rel=0.4)


def test_the_prior_of_satisfaction_helps():
    rng = np.random.default_rng(0)
    n_queries, n_pages = 300, 15_000
    lists = np.argsort(rng.random((n_pages, 6)), axis=1)
    log = ClickLog.from_arrays(rng.integers(0, n_queries, n_pages), lists, np.zeros(lists.shape, int))
    a, s = rng.beta(3, 5, log.n_pairs), rng.beta(4, 3, log.n_pairs)
    drawn = with_parameters(DBN(), log, a, gamma_=0.9, satisfaction_=s, satisfaction_prior_=FLAT).simulate(
        log, random_state=1
    )
    model = DBN(max_iter=100).fit(drawn)
    plain = DBN(prior=None, max_iter=100).fit(drawn)
    true = a * s
    result, raw = (m.attraction_ * m.satisfaction_ for m in (model, plain))
    assert np.square(result - true).mean() < 0.7 * np.square(raw - true).mean()
    frame = model.relevance(0.9)
    covered = (frame["lower"].to_numpy() <= true) & (true <= frame["upper"].to_numpy())
    assert 0.83 < covered.mean() < 0.97
