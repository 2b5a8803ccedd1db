"""The constraints of each way of interleaving, by exact enumeration where lists are short."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from plackett._base.errors import DataError
from plackett.online.interleaving.balanced import Balanced
from plackett.online.interleaving.interleave import METHODS, interleave
from plackett.online.interleaving.optimised import Optimised
from plackett.online.interleaving.probabilistic import Probabilistic
from plackett.online.interleaving.team_draft import TeamDraft


class Script(Random):
    """Random decisions that are read from a script; decisions beyond its end are 0 and are recorded."""

    def __new__(cls, *_):
        return super().__new__(cls)

    def __init__(self, script):
        super().__init__(0)
        self.script, self.sizes, self.chance = list(script), [], 1.0

    def _choose(self, n):
        i = len(self.sizes)
        self.sizes.append(n)
        self.chance /= n
        return self.script[i] if i < len(self.script) else 0

    def shuffle(self, x):
        x[:] = list(itertools.permutations(sorted(x)))[self._choose(len(list(itertools.permutations(x))))]


def outcomes(method, lists, k):
    """Every list that can come out, with its probability."""
    waiting = [()]
    while waiting:
        rng = Script(waiting.pop())
        shown = method.make(lists, k, rng)
        yield shown, rng.chance
        for i in range(len(rng.script), len(rng.sizes)):
            done = rng.script + [0] * (i - len(rng.script))
            waiting.extend((*done, choice) for choice in range(1, rng.sizes[i]))


def random_lists(rng, m, n, pool):
    return [rng.permutation(pool)[: (n if np.isscalar(n) else n[i])].tolist() for i in range(m)]


@pytest.mark.parametrize("case", range(8))
@pytest.mark.parametrize(("m", "sizes"), [(2, (4, 4)), (2, (2, 4)), (3, (4, 3, 4))])
def test_team_draft_is_fair_and_teams_are_even(case, m, sizes):
    lists = random_lists(np.random.default_rng(case), m, sizes, 5)
    expected, total = np.zeros((4, m)), 0.0
    for shown, chance in outcomes(TeamDraft(), lists, 4):
        credit = np.array(shown.credits)
        assert len(set(shown.documents)) == len(shown.documents)
        assert np.ptp(credit.sum(axis=0)) <= 1
        expected[: len(credit)] += chance * credit
        total += chance
    assert total == pytest.approx(1)
    np.testing.assert_allclose(np.ptp(expected, axis=1), 0, atol=1e-12)  # whatever rank is clicked


@pytest.mark.parametrize("lists", [("aefghij", "acd"), ("abcdef", "bg"), ("abcde", "dafg"), ("dgca", "gdbe", "hgab")])
def test_team_draft_is_fair_in_who_wins_a_page_of_lists_of_different_lengths(lists):
    k = 4
    wins = {}
    for shown, chance in outcomes(TeamDraft(), [list(each) for each in lists], k):
        for n in range(1, k + 1):
            for clicked in itertools.combinations(range(len(shown.documents)), n):
                credit = shown.score([shown.documents[i] for i in clicked])
                for i, j in itertools.permutations(range(len(lists)), 2):
                    wins[clicked, i, j] = wins.get((clicked, i, j), 0.0) + chance * (credit[i] > credit[j])
    for (clicked, i, j), share in wins.items():
        assert share == pytest.approx(wins[clicked, j, i]), (clicked, i, j)


def test_team_draft_of_short_lists_that_share_nothing_counts_all_but_the_last_round():
    shown = interleave([["a", "b", "c"], ["x", "y", "z"]], k=6, seed=0)
    assert np.array(shown.credits).sum(axis=1).tolist() == [1, 1, 1, 1, 0, 0]


def test_team_draft_needs_only_as_many_documents_as_are_shown():
    lists = [[*range(10)] for _ in range(100)]
    shown = interleave(lists, k=10, seed=0)
    assert np.array(shown.credits).sum() == 10


@pytest.mark.parametrize("case", range(10))
def test_prefixes_of_balanced_lists_are_unions_of_prefixes(case):
    lists = random_lists(np.random.default_rng(case), 2, 5, 7)
    for shown, _ in outcomes(Balanced(), lists, 5):
        for n in range(1, len(shown.documents) + 1):
            prefix = set(shown.documents[:n])
            assert any(
                set(lists[0][:a]) | set(lists[1][:b]) == prefix and abs(a - b) <= 1 for a in range(6) for b in range(6)
            )


def test_balanced_interleaving_prefers_one_of_two_rankers_for_random_clicks():
    """The known fault of the method, which the docstring names."""
    lists = [["a", "b", "c", "d"], ["b", "c", "d", "a"]]
    sign = [
        chance * np.sign(np.subtract(*shown.score([document])))
        for shown, chance in outcomes(Balanced(), lists, 4)
        for document in "abcd"
    ]
    # either start: of a, b, c, d only a is higher in the first list
    assert sum(sign) / 4 == pytest.approx(-0.5)


def posterior(lists, tau, documents):
    """Probability of a list and of each ranker at each rank, from the definition."""
    pool = sorted({d for each in lists for d in each})
    total, rows = 1.0, []
    for i, document in enumerate(documents):
        left = [d for d in pool if d not in documents[:i]]
        chance = []
        for each in lists:
            weight = {d: (each.index(d) + 1 if d in each else len(each) + 1) ** -tau for d in left}
            chance.append(weight[document] / sum(weight.values()))
        total *= np.mean(chance)
        rows.append(np.array(chance) / np.sum(chance))
    return total, np.array(rows)


@pytest.mark.parametrize("m", [2, 3])
def test_probabilistic_lists_and_credit_follow_the_definition(m):
    lists = random_lists(np.random.default_rng(m), m, 3, 4)
    pool = sorted({d for each in lists for d in each})
    exact = {documents: posterior(lists, 3.0, documents) for documents in itertools.permutations(pool, 3)}
    expected = sum(chance * credit for chance, credit in exact.values())
    np.testing.assert_allclose(expected, 1 / m)  # fair at every rank, in expectation over lists
    rng, seen = Random(0), dict.fromkeys(exact, 0)
    n = 4000
    for _ in range(n):
        shown = Probabilistic().make(lists, 3, rng)
        seen[tuple(shown.documents)] += 1
        np.testing.assert_allclose(shown.credits, exact[tuple(shown.documents)][1])
    p = np.array([exact[documents][0] for documents in seen])
    z = (np.array(list(seen.values())) - n * p) / np.sqrt(n * p)
    assert (z**2).sum() < 3 * len(p)


@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("credit", ["inverse", "linear"])
def test_optimised_mixtures_are_fair_at_every_rank(case, credit):
    lists = random_lists(np.random.default_rng(case), 2, 4, 6)
    plan = Optimised(credit=credit).plan(lists, 4)
    names = list(dict.fromkeys(d for each in lists for d in each))
    assert plan.probability.sum() == pytest.approx(1)
    np.testing.assert_allclose(np.einsum("l,lkm->km", plan.probability, plan.credit[plan.lists]), 0, atol=1e-8)
    for row in plan.lists:  # only best remaining documents are added
        for i, document in enumerate(row):
            above = {names[d] for d in row[:i]}
            assert names[document] in {next(d for d in each if d not in above) for each in lists}


@pytest.mark.parametrize("most", [400, 30])
def test_optimised_multileaving_is_fair_in_what_is_credited(most):
    lists = random_lists(np.random.default_rng(0), 5, 6, 6)
    method = Optimised(most_lists=most)
    plan = method.plan(lists, 4)
    assert np.abs(plan.residual).max() > 0.01  # three documents are first in five lists: no mixture is fair
    credit, rng = np.zeros((4, 5)), Random(0)
    for _ in range(4000):
        credit += np.array(method.make(lists, 4, rng).credits) / 4000
    np.testing.assert_allclose(credit, 0, atol=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_equal_rankers_tie(method):
    lists = [["a", "b", "c"]] * 2
    scores = np.zeros(2)
    for seed in range(400):
        scores += interleave(lists, k=3, method=method, seed=seed).score(["b"])
    assert abs(np.subtract(*scores)) <= 60


@pytest.mark.parametrize("method", METHODS)
def test_a_list_repeats_and_survives_a_record(method):
    lists = [["a", "b", "c", "e"], ["c", "d", "a", "b"]]
    first, second = (interleave(lists, k=3, method=method, seed="session 5") for _ in range(2))
    assert first == second and len(set(first.documents)) == 3
    clicks = {first.documents[0]: 1.0, first.documents[2]: 4.0}
    assert METHODS[method].restore(first.record()).score(clicks) == first.score(clicks)
    assert first.score([]) == [0, 0]


@pytest.mark.parametrize("method", METHODS)
def test_short_and_empty_lists(method):
    assert interleave([[], []], method=method).documents == []
    assert sorted(interleave([["a"], ["b", "c"]], k=9, method=method, seed=1).documents) == ["a", "b", "c"]
    assert interleave([[], ["b"]], method=method, seed=1).documents == ["b"]


def test_wrong_input_is_named():
    with pytest.raises(DataError, match="two rankers"):
        interleave([["a"]])
    with pytest.raises(DataError, match="'b' is in the list twice"):
        interleave([["a"], ["b", "b"]])
    with pytest.raises(DataError, match="'z' is not in the list"):
        interleave([["a"], ["b"]]).score(["z"])
    with pytest.raises(DataError, match="team-draft, balanced"):
        interleave([["a"], ["b"]], method="x")


@pytest.mark.parametrize(
    "call",
    [
        lambda: interleave([["a"], ["b"]], k=1.5),
        lambda: interleave([["a"], ["b"]], k=float("nan")),
        lambda: interleave([["a"], ["b"]], seed=(1, 2)),
        lambda: interleave([["a"], ["b"]], method=["team-draft"]),
        lambda: Probabilistic(tau=-1.0),
        lambda: Probabilistic(tau=float("nan")),
        lambda: Optimised(most_lists=0),
        lambda: Optimised(credit="other"),
        lambda: interleave([["a"], ["b"]]).score("a"),
        lambda: interleave([["a"], ["b"]]).score({"a": "5"}),
        lambda: interleave([["a"], ["b"]]).score({"a": None}),
        lambda: interleave([["a"], ["b"]]).score({"a": float("nan")}),
    ],
)
def test_what_means_nothing_is_refused(call):
    with pytest.raises(DataError):
        call()


def test_names_and_seeds_may_be_written_in_several_ways():
    lists = [list("abcdef"), list("fdbeca")]
    assert interleave(lists, method="Team_Draft", seed=np.int64(7)) == interleave(lists, seed=7)


def test_a_steep_probabilistic_list_is_drawn_to_its_end():
    lists = [list(range(100)), list(range(99, -1, -1))]
    shown = interleave(lists, method=Probabilistic(tau=400.0), k=100, seed=1)
    assert sorted(shown.documents) == lists[0]
    np.testing.assert_allclose(np.sum(shown.credits, axis=1), 1)
