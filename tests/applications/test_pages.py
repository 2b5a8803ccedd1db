from __future__ import annotations

import runpy
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from plackett._base.errors import DataError
from plackett.applications import Block, CandidateLists, IntentUsers, PageComposer, assign_blocks
from plackett.applications.pages import _completed

KINDS = ("web", "news", "images")


def _query(rng):
    shares = rng.dirichlet(np.ones(3)).round(3)
    return dict(zip(KINDS, (shares / shares.sum()).tolist(), strict=True))


def _lists(n, seed, n_blocks=6):
    rng = np.random.default_rng(seed)
    return CandidateLists.of(
        (_query(rng), [Block(str(rng.choice(KINDS)), float(rng.uniform(0.2, 0.9))) for _ in range(n_blocks)])
        for _ in range(n)
    )


def _describe(query, chosen, candidates):
    """What a block promises, and what is left of it once the chosen ones have served their share."""
    left = dict(query)
    for block in chosen:
        left[block.kind] *= 1 - block.quality
    return [[query[b.kind] * b.quality, left[b.kind] * b.quality] for b in candidates]


def _blocks(lists):
    return [lists.items[a:b] for a, b in zip(lists.offsets[:-1], lists.offsets[1:], strict=True)]


def test_assignment_by_brute_force():
    rng = np.random.default_rng(0)
    for n_blocks in range(1, 7):
        for n_slots in range(1, 5):
            table = rng.normal(size=(n_blocks, n_slots)).round(1)
            result = assign_blocks(table)
            used = result[result >= 0]
            assert used.size == min(n_blocks, n_slots) == np.unique(used).size
            value = sum(table[b, s] for s, b in enumerate(result) if b >= 0)
            if n_blocks >= n_slots:
                best = max(table[list(p), np.arange(n_slots)].sum() for p in permutations(range(n_blocks), n_slots))
            else:
                best = max(table[np.arange(n_blocks), list(p)].sum() for p in permutations(range(n_slots), n_blocks))
            assert value == pytest.approx(best)
    with pytest.raises(DataError, match="blocks × slots"):
        assign_blocks([1.0, 2.0])


def test_one_kind_is_ordinary_ranking():
    """Utilities that fall with the slot alike for all blocks: the order of the scores. Likewise for the composer."""
    rng = np.random.default_rng(1)
    scores = rng.random(6)
    assert assign_blocks(np.outer(scores, 0.8 ** np.arange(6))).tolist() == np.argsort(-scores).tolist()
    lists = CandidateLists.of(({"web": 1.0}, [Block("web", float(q)) for q in rng.random(5)]) for _ in range(20))
    composer = PageComposer(describe=lambda query, chosen, rest: [[b.quality] for b in rest], n_slots=5, n_rounds=1)
    composer.fit(lists, IntentUsers().reward)
    for query, blocks in zip(lists.queries, _blocks(lists), strict=True):
        assert composer.compose(query, blocks) == sorted(blocks, key=lambda block: -block.quality)


def test_reward_by_simulated_users():
    users, rng = IntentUsers(stay=0.7), np.random.default_rng(0)
    lists = _lists(1, 3, 4)
    query, page = lists.queries[0], lists.items
    slots = np.array([users.draw(query, page, rng) for _ in range(6_000)])
    assert (slots > 0).mean() == pytest.approx(users.reward(query, page), abs=0.025)
    assert users.reward(query, []) == 0.0
    # by slot: what a longer page adds
    parts = np.diff([users.reward(query, page[:n]) for n in range(5)])
    np.testing.assert_allclose([(slots == s).mean() for s in (1, 2, 3, 4)], parts, atol=0.025)


def test_composed_pages_are_nearly_the_best():
    """With features that say enough, learned pages are close to the best, and better than independent ranking."""
    users = IntentUsers()
    composer = PageComposer(describe=_describe, n_slots=3, n_rounds=2).fit(_lists(30, 0), users.reward)
    test = _lists(30, 1)
    result, alone, best, greedy = [], [], [], []
    for query, blocks in zip(test.queries, _blocks(test), strict=True):
        result.append(users.reward(query, composer.compose(query, blocks)))
        order = sorted(blocks, key=lambda b: -query[b.kind] * b.quality)
        alone.append(users.reward(query, order[:3]))
        best.append(max(users.reward(query, page) for page in permutations(blocks, 3)))
        greedy.append(_completed(query, blocks, [], 3, users.reward))
    assert np.mean(alone) < np.mean(result) <= np.mean(best)
    assert np.mean(result) > 0.98 * np.mean(best)
    assert (np.array(result) <= np.array(best) + 1e-12).all()
    assert np.mean(greedy) > 0.63 * np.mean(best)


def test_labels_are_rewards_of_completed_pages():
    query, blocks = {"web": 0.5, "news": 0.5}, [Block("web", 0.9), Block("web", 0.8), Block("news", 0.5)]
    reward = IntentUsers(stay=1.0).reward
    ways = [reward(query, [blocks[1], blocks[0]]), reward(query, [blocks[1], blocks[2]])]
    assert _completed(query, blocks, [1], 2, reward) == pytest.approx(max(ways))


def test_wrong_input():
    lists = _lists(3, 0)
    with pytest.raises(DataError, match="n_slots=0"):
        PageComposer(describe=_describe, n_slots=0).fit(lists, IntentUsers().reward)
    with pytest.raises(DataError, match="a row for each of 6"):
        PageComposer(describe=lambda *a: [[1.0]], n_slots=2).fit(lists, IntentUsers().reward)
    with pytest.raises(DataError, match="leaves a choice"):
        PageComposer(describe=_describe, n_slots=2).fit(_lists(2, 0, 1), IntentUsers().reward)
    with pytest.raises(DataError, match="not trained"):
        PageComposer(describe=_describe, n_slots=2).compose({}, [])


@pytest.mark.full
def test_numbers_of_the_page(capsys):
    """What the guide says of the example."""
    result = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "page.py"))
    capsys.readouterr()
    means = [np.mean(own) for own in result["values"].values()]
    assert means == pytest.approx([0.4924, 0.5041, 0.5142], abs=0.001)


def test_users_are_shares():
    with pytest.raises(DataError, match="stay=2"):
        IntentUsers(stay=2)
    with pytest.raises(DataError, match="sum to 1"):
        IntentUsers().draw({"web": 0.5}, [Block("web", 0.5)], np.random.default_rng(0))
