"""Compiled comparisons against the methods themselves, page by page."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

import plackett as pk
from plackett._base.errors import DataError
from plackett.online._lists import click
from plackett.online.comparisons import Comparisons, simulate_comparisons
from plackett.online.interleaving.interleave import METHODS
from plackett.online.interleaving.optimised import Optimised
from plackett.online.users import user_model

K = 5


@pytest.fixture(scope="module")
def case():
    data = pk.datasets.make_ranking(n_queries=3, docs_per_query=9, random_state=1)
    rng = np.random.default_rng(0)
    return data, [data.labels + scale * rng.normal(size=data.n_rows) for scale in (0.5, 1.0, 3.0)]


def pages_of(name, data, scores, n):
    """Preference for the first ranker on each page, by the Python methods."""
    model = user_model("informational", data, K)
    starts = data.offsets[:-1]
    lists = [[(a + np.argsort(-s[a : a + 9], kind="stable")[:K]).tolist() for a in starts] for s in scores]
    rng, state, clicks = Random(1), np.array([7], np.uint64), np.zeros(K, bool)
    method = Optimised(most_lists=32) if name == "optimised" else METHODS.get(name)
    result = []
    for i in range(n):
        q = rng.randrange(3)
        shown = None if method is None else method.make([lists[0][q], lists[1][q]], K, rng)
        documents = lists[i % 2][q] if shown is None else shown.documents
        click(
            np.array(documents), np.arange(K), K, model.attraction, model.stop, model.look, model.right, model.wrong,
            model.leave, state, clicks,
        )  # fmt: skip
        clicked = [d for d, hit in zip(documents, clicks, strict=True) if hit]
        if shown is not None:
            result.append(np.subtract(*shown.score(clicked)))
        elif name == "A/B, clicks":
            result.append(len(clicked))
        else:
            result.append(1 / (1 + documents.index(clicked[0])) if clicked else 0.0)
    return np.array(result, float)


@pytest.mark.parametrize("name", [*METHODS, "A/B, clicks", "A/B, first click"])
def test_compiled_pages_have_the_mean_and_spread_of_the_method(case, name):
    data, scores = case
    result = simulate_comparisons(data, scores, [(0, 2)], users="informational", methods=[name], k=K, pages=40_000)
    gap = pages_of(name, data, [scores[0], scores[2]], 1500)
    groups = 2 if name.startswith("A/B") else 1
    mean = gap[::2].mean() - gap[1::2].mean() if groups == 2 else gap.mean()
    error = groups * gap.std() * np.sqrt(1 / 1500 + 1 / 40_000)
    assert result.mean[name][0, -1] == pytest.approx(mean, abs=3.5 * error)
    assert result.deviation[name][0, -1] == pytest.approx(gap.std(), rel=0.1)


def test_pairs_repeat_mirror_and_find_the_better_ranker(case):
    data, scores = case
    options = {"users": "perfect", "methods": ["team-draft", "A/B, clicks"], "k": K, "pages": 4000, "marks": 4}
    both = simulate_comparisons(data, scores, [(0, 2), (2, 0), (1, 1)], n_jobs=2, **options)
    one = simulate_comparisons(data, scores, [(0, 2)], n_jobs=1, **options)
    for name in options["methods"]:
        assert np.array_equal(both.mean[name][:1], one.mean[name])
    assert both.marks.tolist()[-1] == 4000 and (np.diff(both.marks) > 0).all()
    assert both.agreement([1, -1, 1])["team-draft"][-1] >= 2 / 3
    worse = both.agreement([-1, 1, 1])["team-draft"][-1]
    assert worse <= 1 / 3
    needed = both.pages_needed("team-draft")
    z = both.mean["team-draft"][:, -1] / both.deviation["team-draft"][:, -1]
    np.testing.assert_allclose(needed, (1.95996 + 0.84162) ** 2 / z**2, rtol=1e-4)


def test_wrong_input_is_named(case):
    data, scores = case
    with pytest.raises(DataError, match="methods"):
        simulate_comparisons(data, scores, [(0, 1)], methods=["x"])
    with pytest.raises(DataError, match="ranker 9"):
        simulate_comparisons(data, scores, [(0, 9)])
    with pytest.raises(DataError, match="scores have shape"):
        simulate_comparisons(data, [[1.0]], [(0, 0)])


def test_rankers_without_any_difference_need_endless_pages():
    result = Comparisons(
        np.array([10]), {"optimised": np.array([[0.0], [0.5]])}, {"optimised": np.array([[0.0], [1.0]])}
    )
    needed = result.pages_needed("optimised")
    assert needed[0] == np.inf and 0 < needed[1] < np.inf
