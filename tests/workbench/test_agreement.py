"""Agreement, pools and overlap against published figures and plain definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from plackett.workbench.agreement import agreement
from plackett.workbench.columns.base import Ranked
from plackett.workbench.overlap import overlaps
from plackett.workbench.pooling import pool
from plackett.workbench.store import Judgement


def judged(table):
    """Judgements from a table: document, then the grade of each rater or None."""
    rows = [(rater, doc, grade) for doc, grades in table.items() for rater, grade in zip("abcd", grades, strict=False)]
    return [Judgement(i, 0.0, r, "q", d, float(g), "") for i, (r, d, g) in enumerate(rows) if g is not None]


def test_alpha_is_the_published_one():
    rows = ["123321412...", "1233224125.3", ".3332342251.", "1233244125 1.".replace(" ", "")]
    table = {str(i): [None if row[i] == "." else int(row[i]) for row in rows] for i in range(12)}
    # Krippendorff 2011, Computing Krippendorff's alpha-reliability, section E: intervals
    assert agreement(judged(table))["alpha"] == pytest.approx(0.849, abs=5e-4)
    assert np.isnan(agreement(judged({"d": [1]}))["alpha"]) and np.isnan(agreement([])["alpha"])


def test_kappa_has_quadratic_weights():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, 15), rng.integers(0, 4, 15)
    observed = np.mean([(x - y) ** 2 for x, y in zip(a, b, strict=True)])
    expected = np.mean([(x - y) ** 2 for x, y in itertools.product(a, b)])
    result = agreement(judged({str(i): pair for i, pair in enumerate(zip(a, b, strict=True))}))
    assert result["pairs"][0]["kappa"] == pytest.approx(1 - observed / expected)


def test_conflicts_have_the_widest_first():
    given = [("a", "d1", 0), ("b", "d1", 3), ("a", "d2", 1), ("b", "d2", 2), ("a", "d3", 1), ("b", "d3", 1)]
    result = agreement(Judgement(i, 0.0, r, "q", d, float(g), "") for i, (r, d, g) in enumerate(given))
    assert [one["docid"] for one in result["conflicts"]] == ["d1", "d2"]
    assert result["pairs"][0]["n"] == 3 and result["pairs"][0]["same"] == pytest.approx(1 / 3)


def test_overlap_of_lists_is_that_of_the_definition():
    rng = np.random.default_rng(1)
    for _ in range(10):
        a, b = ([str(d) for d in rng.permutation(15)[:8]] for _ in range(2))
        (result,) = overlaps({"a": Ranked(a, [0.0] * 8), "b": Ranked(b, [0.0] * 8)})
        shares = [len(set(a[:d]) & set(b[:d])) / d for d in range(1, 9)]
        rbo = (1 - 0.9) / 0.9 * sum(x * 0.9**d for d, x in enumerate(shares, 1)) + shares[-1] * 0.9**8
        assert result["common"] == len(set(a) & set(b))
        assert result["rbo"] == pytest.approx(rbo)
    (empty,) = overlaps({"a": Ranked([], []), "b": Ranked([], [])})
    assert empty["rbo"] is None


def test_pool_has_what_any_ranker_has_near_the_top():
    lists = {"x": list("abcdef"), "y": list("gbahij")}
    assert {result.docid for result in pool(lists, 3)} == set("abcg")
    first = pool(lists, 3, "disagreement")[0]
    assert first.docid == "g" and first.ranks == {"x": None, "y": 1} and first.priority == 1.0
