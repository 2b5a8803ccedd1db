"""Sums over blocks of pages: the same fit as on the whole log."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from plackett import DataError
from plackett.clicks.loading import make_model
from plackett.clicks.log import ClickLog
from plackett.clicks.models.statistics import Sums, Totals

EM = ["PBM", "UBM", "DCM", "DBN", "SDBN", "CCM", "TrustBias", "Mixture", "PBMMixture", "AdditiveTwoTower"]


def blocks_of(n_blocks=3, strings=True):
    """Blocks of whole queries that share documents, with pages of different lengths."""
    rng = np.random.default_rng(0)
    blocks = []
    for block in range(n_blocks):
        n, longest = 60, 3 + block
        query = rng.integers(0, 3, n) + 3 * block
        documents = [rng.permutation(7)[:longest] for _ in range(n)]
        clicks = [rng.random(longest) < 0.4 / np.arange(1, longest + 1) for _ in range(n)]
        if strings:
            documents = [[f"d{each}" for each in page] for page in documents]
        blocks.append(ClickLog.from_arrays(query, documents, clicks, weight=rng.integers(1, 4, n)))
    return blocks


def fit_in_blocks(model, blocks):
    n_ranks = max(block.longest for block in blocks)
    totals = Totals.join([model.totals(block, n_ranks) for block in blocks])
    pages = [model.prepare(block, n_ranks) for block in blocks]
    ends = np.cumsum([0, *(block.n_pairs for block in blocks)]).tolist()

    def statistics(parameters):
        parts = [model.block_parameters(parameters, a, b) for a, b in itertools.pairwise(ends)]
        # a worker has a model of its own, which knows nothing but its arguments
        fresh = [type(model)(prior=model.prior) for _ in blocks]
        return Sums.join([m.statistics(*each) for m, each in zip(fresh, zip(pages, parts, strict=True), strict=True)])

    return model.fit_blocks(totals, statistics)


@pytest.mark.parametrize("name", EM)
def test_blocks_give_the_fit_of_the_whole(name):
    blocks = blocks_of()
    options = {} if name == "AdditiveTwoTower" else {"prior": "estimated"}
    apart = fit_in_blocks(make_model(name, max_iter=10, **options), blocks)
    together = make_model(name, max_iter=10, **options).fit(ClickLog.concat(blocks))
    np.testing.assert_allclose(apart.log_likelihoods_, together.log_likelihoods_, rtol=1e-8)
    log = ClickLog.concat(blocks)
    np.testing.assert_allclose(apart.attraction(log), together.attraction(log), rtol=1e-6)
    np.testing.assert_allclose(apart.click_probabilities(log), together.click_probabilities(log), rtol=1e-6)
    assert apart.relevance().sort("query", "document").height == together.relevance().height


def test_whole_numbers_as_ids():
    blocks = blocks_of(strings=False)
    apart, log = fit_in_blocks(make_model("PBM", max_iter=3), blocks), ClickLog.concat(blocks)
    together = make_model("PBM", max_iter=3).fit(log)
    np.testing.assert_allclose(apart.attraction(log), together.attraction(log), rtol=1e-8)


def test_a_query_in_two_blocks_is_refused():
    block = blocks_of()[0]
    with pytest.raises(DataError, match="more than one block"):
        fit_in_blocks(make_model("PBM"), [block, block])


def test_models_of_one_pass_say_so():
    block = blocks_of()[0]
    with pytest.raises(DataError, match="Cascade is fitted in one pass"):
        make_model("Cascade").totals(block, 3)
