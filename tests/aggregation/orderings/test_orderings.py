"""What is proved about the ways from preferences to an order, and what all of them have in common."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from plackett import DataError
from plackett.aggregation.orderings import (
    ExactOrder,
    GreedyOrder,
    QuickSort,
    SortByDegree,
    agreement,
    find_ordering,
    symmetrised,
)
from plackett.theory.risks.emphasis import partite_emphasis, top_k_emphasis
from plackett.theory.risks.preference_losses import preference_loss, ranking_loss
from plackett.theory.risks.preference_regrets import two_stage_bound

ALL = [GreedyOrder(), GreedyOrder(components=False), SortByDegree(), ExactOrder(), QuickSort()]
CYCLE = np.array([[0.5, 0.0, 1.0], [1.0, 0.5, 0.0], [0.0, 1.0, 0.5]])


def random_table(rng, n, binary=False):
    h = (rng.random((n, n)) < 0.5).astype(float) if binary else rng.random((n, n))
    h = np.triu(h, 1)
    return h + np.tril(1.0 - h.T, -1) + 0.5 * np.eye(n)


def table_of_scores(scores):
    return 1.0 / (1.0 + np.exp(scores[None, :] - scores[:, None]))


def quicksort_orders(h, documents):
    """Every order that QuickSort can give, with its probability: all pivots, all coins."""
    if not documents:
        return [(1.0, ())]
    result = []
    for pivot in documents:
        others = [v for v in documents if v != pivot]
        for sides in product((True, False), repeat=len(others)):
            chance = np.prod([h[v, pivot] if left else h[pivot, v] for v, left in zip(others, sides, strict=True)])
            if chance == 0:
                continue
            before = [v for v, left in zip(others, sides, strict=True) if left]
            behind = [v for v, left in zip(others, sides, strict=True) if not left]
            for p, a in quicksort_orders(h, before):
                for q, b in quicksort_orders(h, behind):
                    result.append((chance * p * q / len(documents), (*a, pivot, *b)))
    return result


def expected_loss(chances, labels, emphasis=None):
    return sum(p * ranking_loss(order, labels, emphasis) for order, p in chances.items())


def order_chances(h):
    """Probability of each order that QuickSort can give."""
    chances = {}
    for p, order in quicksort_orders(h, list(range(len(h)))):
        chances[order] = chances.get(order, 0.0) + p
    return chances


class Counting:
    """A preference function that counts what it is asked."""

    def __init__(self, scores):
        self.scores, self.pairs, self.calls = scores, 0, 0

    def __call__(self, first, second):
        self.pairs += first.size
        self.calls += 1
        return (self.scores[first] > self.scores[second]).astype(float)


# ------------------------------------------------------------------------------------------------------- all methods


@pytest.mark.parametrize("ordering", ALL, ids=repr)
def test_preferences_that_are_an_order_give_it(ordering):
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 8, 40):
        scores = rng.normal(size=n)
        assert ordering.order(table_of_scores(scores)).tolist() == np.argsort(-scores).tolist()


@pytest.mark.parametrize("ordering", [*ALL, QuickSort(decide="draw", repeats=3), QuickSort(k=2)], ids=repr)
def test_lists_side_by_side_are_as_alone(ordering):
    rng = np.random.default_rng(1)
    tables = [random_table(rng, n) for n in (4, 1, 0, 7, 3, 12)]
    offsets = np.concatenate(([0], np.cumsum([len(t) for t in tables])))
    whole = np.zeros((offsets[-1], offsets[-1]))
    for a, table in zip(offsets, tables, strict=False):
        whole[a : a + len(table), a : a + len(table)] = table
    together = ordering.scores(lambda u, v: whole[u, v], offsets)
    for a, b, table in zip(offsets, offsets[1:], tables, strict=False):
        np.testing.assert_array_equal(together[a:b], ordering.scores(lambda u, v, t=table: t[u, v], [0, b - a]))


@pytest.mark.parametrize("ordering", [GreedyOrder(components=False), SortByDegree()], ids=repr)
def test_the_numbering_of_the_documents_does_not_matter(ordering):
    rng = np.random.default_rng(2)
    for _ in range(20):
        h, p = random_table(rng, 9), rng.permutation(9)
        assert p[ordering.order(h[np.ix_(p, p)])].tolist() == ordering.order(h).tolist()


def test_names_and_refusals():
    assert find_ordering("QuickSort", random_state=5) == QuickSort(random_state=5)
    assert find_ordering(QuickSort(k=3)) == QuickSort(k=3)
    for call, match in (
        (lambda: find_ordering("bubble"), "unknown ordering 'bubble'"),
        (lambda: SortByDegree().order([[0.5, 0.9], [0.3, 0.5]]), "add up to 1"),
        (lambda: SortByDegree().order([[0.5, 0.9]]), "square"),
        (lambda: SortByDegree().order(lambda u, v: u), "give n"),
        (lambda: SortByDegree().order(lambda u, v: u + 2.0, 3), r"h\(0, 1\) is 2"),
        (lambda: SortByDegree().order(lambda u, v: u[:1] * 0.0, 3), "shape"),
        (lambda: QuickSort(k=0), "k=0"),
        (lambda: QuickSort(decide="often"), "majority"),
        (lambda: QuickSort(repeats=0), "repeats"),
        (lambda: ExactOrder(exact=40), "exact=40"),
    ):
        with pytest.raises(DataError, match=match):
            call()


def test_symmetrised_preferences_add_up_to_one():
    table = np.random.default_rng(0).random((5, 5))
    h = symmetrised(lambda u, v: table[u, v])
    u, v = np.indices((5, 5)).reshape(2, -1)
    np.testing.assert_allclose(h(u, v) + h(v, u), 1.0, rtol=1e-15)


# ------------------------------------------------------------------------------------------------------------- greedy


ORDERS = np.array(list(permutations(range(6))))


def greatest_agreement(h):
    """The most that any order of six documents agrees."""
    first, second = np.triu_indices(6, 1)
    return h[ORDERS[:, first], ORDERS[:, second]].sum(axis=1).max()


@pytest.mark.parametrize("components", [True, False])
def test_greedy_has_half_of_the_greatest_agreement(components):
    rng = np.random.default_rng(3)
    ratios = []
    for i in range(60):
        h = random_table(rng, 6, binary=i % 2 == 0)
        best = greatest_agreement(h)
        ratios.append(agreement(h, GreedyOrder(components=components).order(h)) / best)
    assert min(ratios) >= 0.5 and max(ratios) <= 1.0 + 1e-12


def naive_greedy(h):
    left, order = list(range(len(h))), []
    while left:
        best = max(left, key=lambda v: sum(h[v, u] - h[u, v] for u in left))
        order.append(best)
        left.remove(best)
    return order


def test_greedy_is_the_algorithm_as_printed():
    rng = np.random.default_rng(4)
    for n in (2, 5, 9, 20):
        h = random_table(rng, n)
        assert GreedyOrder(components=False).order(h).tolist() == naive_greedy(h)


def test_components_are_never_crossed():
    """Blocks of which each beats the later ones stay in order, and each is ordered as if alone."""
    rng = np.random.default_rng(5)
    sizes = (3, 1, 4, 3)
    block = np.repeat(np.arange(4), sizes)
    for _ in range(10):
        h = np.where(block[:, None] < block, 0.6, np.where(block[:, None] > block, 0.4, 0.5))
        for b, size in enumerate(sizes):
            mine = np.flatnonzero(block == b)
            inner = CYCLE if size == 3 else random_table(rng, size)
            h[np.ix_(mine, mine)] = inner
        order = GreedyOrder().order(h)
        assert block[order].tolist() == block.tolist()
        for b in range(4):
            mine = np.flatnonzero(block == b)
            own = GreedyOrder().order(h[np.ix_(mine, mine)])
            assert (order[block[order] == b] - mine[0]).tolist() == own.tolist()


def test_exact_order_is_the_best_of_all():
    rng = np.random.default_rng(6)
    for i in range(30):
        h = random_table(rng, 6, binary=i % 2 == 0)
        best = greatest_agreement(h)
        np.testing.assert_allclose(agreement(h, ExactOrder().order(h)), best, rtol=1e-12)
        assert agreement(h, ExactOrder(exact=0).order(h)) <= best + 1e-12


# ------------------------------------------------------------------------------------------------------------- degree


def test_degree_is_the_mean_preference():
    rng = np.random.default_rng(7)
    h = random_table(rng, 700)  # several blocks of pairs
    expected = (h.sum(axis=1) - 0.5) / 699
    np.testing.assert_allclose(SortByDegree().scores(h, [0, 700]), expected, rtol=1e-12)


def test_degree_loses_at_most_twice_and_sometimes_so_much():
    """All tournaments of four documents with all labels: the worst case over the orders of ties is exactly 2."""
    pairs = list(zip(*np.triu_indices(4, 1), strict=True))
    worst = 0.0
    for bits in product((0.0, 1.0), repeat=6):
        h = np.full((4, 4), 0.5)
        for (u, v), bit in zip(pairs, bits, strict=True):
            h[u, v], h[v, u] = bit, 1.0 - bit
        degree = SortByDegree().scores(h, [0, 4])
        for labels in product((0, 1), repeat=4):
            lost = preference_loss(h, labels)
            # equal degrees in the worst order
            order = np.lexsort((labels, -degree))
            result = ranking_loss(order, labels)
            assert result <= two_stage_bound(lost, "degree") + 1e-12
            if lost > 0:
                worst = max(worst, result / lost)
    assert worst == pytest.approx(2.0)


# ---------------------------------------------------------------------------------------------------------- quicksort


@pytest.mark.parametrize("binary", [True, False])
def test_quicksort_loses_in_expectation_what_the_preferences_lose(binary):
    rng = np.random.default_rng(8)
    for _ in range(6):
        h = random_table(rng, 4, binary)
        chances = order_chances(h)
        assert sum(chances.values()) == pytest.approx(1.0)
        for labels in product((0, 1), repeat=4):
            np.testing.assert_allclose(expected_loss(chances, labels), preference_loss(h, labels), rtol=0, atol=1e-14)
        labels = (1, 0, 1, 0)
        weight = partite_emphasis(labels)
        np.testing.assert_allclose(
            expected_loss(chances, labels, weight), preference_loss(h, labels, weight), atol=1e-14
        )


def test_quicksort_loses_at_most_twice_for_any_truth():
    rng = np.random.default_rng(9)
    for i in range(15):
        h = random_table(rng, 4, binary=i % 2 == 0)
        chances = order_chances(h)
        for labels in permutations(range(4)):
            for weight in (None, top_k_emphasis(2)):
                lost = preference_loss(h, labels, weight)
                assert expected_loss(chances, labels, weight) <= two_stage_bound(lost, bipartite=False) + 1e-12


@pytest.mark.parametrize("h", [CYCLE, random_table(np.random.default_rng(10), 4)], ids=["cycle", "random"])
def test_the_draws_have_the_distribution_of_the_algorithm(h):
    expected = order_chances(h)
    runs = 4000
    drawn = [tuple(QuickSort(decide="draw", random_state=seed).order(h).tolist()) for seed in range(runs)]
    assert set(drawn) <= set(expected)
    chi = sum((drawn.count(o) - runs * p) ** 2 / (runs * p) for o, p in expected.items())
    degrees = len(expected) - 1
    assert chi < degrees + 5 * np.sqrt(2 * degrees)  # five deviations
    if h is CYCLE:
        assert len(expected) == 3 and all(p == pytest.approx(1 / 3) for p in expected.values())


def test_number_of_comparisons():
    """2 (n + 1) H_n − 4 n in expectation, in few calls."""
    n, runs = 1000, 30
    expected = 2 * (n + 1) * (1.0 / np.arange(1, n + 1)).sum() - 4 * n  # 10 986
    rng = np.random.default_rng(11)
    counts = []
    for seed in range(runs):
        h = Counting(rng.normal(size=n))
        assert QuickSort(random_state=seed).order(h, n).tolist() == np.argsort(-h.scores).tolist()
        counts.append(h.pairs)
        assert h.calls < 60
    assert abs(np.mean(counts) - expected) < 5 * 0.65 * n / np.sqrt(runs)  # the deviation is 0.648 n


def test_top_k_is_the_head_of_the_full_sort_for_less():
    n, k = 1000, 10
    rng = np.random.default_rng(12)
    counts = []
    for seed in range(30):
        h = Counting(rng.normal(size=n))
        head = QuickSort(random_state=seed, k=k).scores(h, [0, n])
        counts.append(h.pairs)
        assert np.argsort(-head)[:k].tolist() == np.argsort(-h.scores)[:k].tolist()
        assert head.sum() == n * (n + 1) / 2
    assert 1600 < np.mean(counts) < 2700  # about 2 114
    for seed in range(20):
        table = random_table(rng, 30)
        for decide in ("draw", "majority"):
            whole, part = (QuickSort(random_state=seed, k=m, decide=decide).order(table) for m in (None, 5))
            assert whole[:5].tolist() == part[:5].tolist()


def test_seeds_and_repeats():
    h = random_table(np.random.default_rng(13), 30)
    one, again, other = (QuickSort(random_state=s).scores(h, [0, 30]) for s in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()
    # many runs come near the expected place, so their mean varies less
    few = np.std([QuickSort(random_state=s).scores(h, [0, 30]) for s in range(10)], axis=0).mean()
    many = np.std([QuickSort(random_state=s, repeats=20).scores(h, [0, 30]) for s in range(10)], axis=0).mean()
    assert many < 0.5 * few


def test_keys_decide_the_draws():
    """With a key for each document the result does not depend on where it stands."""
    rng = np.random.default_rng(14)
    h, p = random_table(rng, 12), rng.permutation(12)
    keys = rng.integers(2**63, size=12).astype(np.uint64)
    for decide in ("draw", "majority"):
        ordering = QuickSort(decide=decide)
        scores = ordering.scores(h, [0, 12], keys=keys)
        np.testing.assert_array_equal(ordering.scores(h[np.ix_(p, p)], [0, 12], keys=keys[p]), scores[p])
