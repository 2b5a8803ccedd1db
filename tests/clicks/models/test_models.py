"""What every click model must do: probabilities, likelihoods, simulation, files."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import plackett as pk
from plackett.clicks.loading import load_model, make_model, model_names
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import perplexity

MODELS = model_names()
#: Models fitted by passes that never lower the likelihood.
BY_EM = ["PBM", "UBM", "DCM", "DBN", "SDBN", "CCM", "Mixture", "PBMMixture", "AdditiveTwoTower"]


def pages(n_pages=3000, n_queries=3, n_documents=6, length=4, seed=0):
    """Shuffled pages without clicks."""
    rng = np.random.default_rng(seed)
    lists = np.argsort(rng.random((n_pages, n_documents)), axis=1)[:, :length]
    return ClickLog.from_arrays(rng.integers(0, n_queries, n_pages), lists, np.zeros(lists.shape, int))


def clicked_log(seed=0, **sizes):
    """Clicks of users who read from the top, stop when satisfied, and look less at low ranks."""
    rng = np.random.default_rng(seed)
    log = pages(seed=seed, **sizes)
    attraction = rng.uniform(0.15, 0.6, log.n_pairs)
    clicks = np.zeros(log.n_rows, np.int32)
    reading = np.ones(log.n_pages, bool)
    for i in range(log.longest):
        rows = log.offsets[:-1] + i
        hit = reading & (rng.random(log.n_pages) < attraction[log.pair[rows]])
        clicks[rows] = hit
        reading &= rng.random(log.n_pages) < np.where(hit, 0.5, 0.85)
    return log.replace(clicks=clicks)


@pytest.fixture(scope="module")
def log():
    return clicked_log()


@pytest.fixture(scope="module")
def fitted(log):
    return {name: make_model(name, max_iter=15).fit(log) for name in MODELS}


def every_click_vector(length):
    """The same page with every possible set of clicks."""
    vectors = np.array(list(itertools.product([0, 1], repeat=length)))
    return ClickLog.from_arrays(np.zeros(len(vectors), int), np.tile(np.arange(length), (len(vectors), 1)), vectors)


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_of_all_click_vectors(fitted, name):
    model, every = fitted[name], every_click_vector(4)
    chance = np.exp(
        np.bincount(
            every.page,
            np.log(
                np.where(
                    every.clicked,
                    np.maximum(model.conditional_probabilities(every), 1e-300),
                    1 - model.conditional_probabilities(every),
                )
            ),
        )
    )
    assert chance.sum() == pytest.approx(1.0, abs=1e-9)
    marginal = (every.clicked.reshape(-1, 4) * chance[:, None]).sum(axis=0)
    np.testing.assert_allclose(model.click_probabilities(every)[:4], marginal, atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_simulated_click_rates_are_the_marginals(fitted, log, name):
    model = fitted[name]
    drawn = model.simulate(log, random_state=1)
    expected = model.click_probabilities(log)
    for rank in range(1, 5):
        at = log.rank == rank
        error = drawn.clicked[at].mean() - expected[at].mean()
        assert abs(error) < 4 * np.sqrt(0.25 / at.sum())


@pytest.mark.parametrize("name", BY_EM)
def test_passes_never_lower_the_likelihood(log, name):
    model = make_model(name, prior=None, max_iter=30, tol=0).fit(log)
    assert np.diff(model.log_likelihoods_).min() > -1e-6
    if name != "AdditiveTwoTower":  # which counts its penalty too
        after = model.log_likelihood(log)
        assert after >= model.log_likelihoods_[-1] - 1e-6


@pytest.mark.parametrize("name", ["DBN", "PBM"])
def test_passes_never_lower_the_posterior_of_a_given_prior(log, name):
    a, b = 2.0, 7.0
    values = []
    for n in range(1, 12):
        model = make_model(name, prior=(a, b), max_iter=n, tol=0).fit(log)
        density = (a * np.log(model.attraction_) + b * np.log1p(-model.attraction_)).sum()
        if name == "DBN":
            density += (np.log(model.satisfaction_) + np.log1p(-model.satisfaction_)).sum()
        values.append(model.log_likelihood(log) + density)
    assert np.diff(values).min() > -1e-6
    assert values[-1] > values[0] + 0.1


@pytest.mark.parametrize("name", MODELS)
def test_collapsed_logs_give_the_same_estimates(fitted, log, name):
    small = log.collapse()
    model = make_model(name, max_iter=15).fit(small)
    at = model.pairs_.in_log(log)
    np.testing.assert_allclose(model.attraction_[at], fitted[name].attraction_, rtol=1e-6)
    assert model.log_likelihood(small) == pytest.approx(fitted[name].log_likelihood(log), rel=1e-9)


@pytest.mark.parametrize("name", MODELS)
def test_threads_do_not_matter(log, fitted, name):
    model = make_model(name, max_iter=15, n_jobs=1).fit(log)
    assert np.array_equal(model.attraction_, fitted[name].attraction_)


@pytest.mark.parametrize("name", MODELS)
def test_saved_models_are_the_same(fitted, log, tmp_path, name):
    model = fitted[name]
    model.save(tmp_path / "model.plackett")
    again = load_model(tmp_path / "model.plackett")
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.click_probabilities(log), model.click_probabilities(log))
    np.testing.assert_array_equal(again.conditional_probabilities(log), model.conditional_probabilities(log))
    if name != "BBM":  # which has intervals of a Beta distribution once its counts are gone
        assert again.relevance().equals(model.relevance())
    assert again.log_likelihoods_ == pytest.approx(model.log_likelihoods_)


@pytest.mark.parametrize("name", MODELS)
def test_unknown_pairs_and_longer_pages(fitted, name):
    strange = ClickLog.from_arrays(
        [0, 99, 1], [[0, 1, 2, 3, 4, 5, 77], [1], [88, 0]], [[0, 0, 1, 0, 0, 0, 1], [0], [1, 0]]
    )
    for chance in (fitted[name].click_probabilities(strange), fitted[name].conditional_probabilities(strange)):
        assert np.isfinite(chance).all()
        assert ((chance >= 0) & (chance <= 1)).all()
    assert np.isfinite(fitted[name].log_likelihood(strange))


def test_relevance_has_an_interval_and_the_counts(fitted, log):
    frame = fitted["DBN"].relevance()
    assert frame.columns == ["query", "document", "relevance", "lower", "upper", "shown", "clicks"]
    assert frame.height == log.n_pairs
    assert (frame["lower"] <= frame["relevance"]).all()
    assert (frame["relevance"] <= frame["upper"]).all()
    assert frame["shown"].sum() == log.n_rows


def test_perplexity_of_a_perfect_guess_and_of_a_coin(log):
    assert perplexity(log.clicked.astype(float), log).mean == pytest.approx(1.0, abs=1e-4)
    assert perplexity(np.full(log.n_rows, 0.5), log).per_rank == pytest.approx(np.full(4, 2.0))


def test_unfitted_models_and_bad_parameters_are_refused(log):
    with pytest.raises(pk.DataError, match="not fitted"):
        make_model("PBM").attraction(log)
    with pytest.raises(pk.DataError, match="prior='none'"):
        make_model("PBM", prior="none").fit(log)
    with pytest.raises(pk.DataError, match="gamma=2"):
        make_model("DBN", gamma=2).fit(log)
    with pytest.raises(pk.DataError, match="did you mean"):
        make_model("PBMM")
