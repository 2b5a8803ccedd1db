"""A page of several blocks, web results, news, images, an answer: which block goes into which slot?"""

from itertools import permutations

import numpy as np

from plackett.applications import Block, CandidateLists, IntentUsers, PageComposer, assign_blocks

KINDS = ("web", "news", "images", "answer")
users = IntentUsers(stay=0.8)


def some_pages(n, seed):
    """Queries with their true intents, and blocks with their true qualities; the composer sees both through noise."""
    rng = np.random.default_rng(seed)
    lists = []
    for _ in range(n):
        intents = dict(zip(KINDS, rng.dirichlet(np.full(4, 0.7)).tolist(), strict=True))
        guess = {kind: share * np.exp(rng.normal(0, 0.4)) for kind, share in intents.items()}
        blocks = [Block(str(rng.choice(KINDS)), float(rng.uniform(0.1, 0.95))) for _ in range(6)]
        seen = [float(np.clip(block.quality + rng.normal(0, 0.1), 0.01, 0.99)) for block in blocks]
        lists.append(((intents, guess), list(zip(blocks, seen, strict=True))))
    return CandidateLists.of(lists)


def reward(query, page):
    """Share of simulated users who leave satisfied: by the true intents and qualities."""
    return users.reward(query[0], [block for block, _ in page])


def describe(query, chosen, candidates):
    """What a block promises, alone and after the blocks above it; the guesses only."""
    guess, left = query[1], dict(query[1])
    for block, seen in chosen:
        left[block.kind] *= 1 - seen
    return [[guess[b.kind] * seen, left[b.kind] * seen, seen, left[b.kind]] for b, seen in candidates]


train, test = some_pages(150, seed=0), some_pages(200, seed=1)
composer = PageComposer(describe=describe, n_slots=4).fit(train, reward)

values = {"each block by itself": [], "page composed": [], "best of all pages": []}
for query, start, end in zip(test.queries, test.offsets[:-1], test.offsets[1:], strict=True):
    blocks = test.items[start:end]
    promise = np.array(describe(query, [], blocks))[:, 0]
    # utilities by block and slot: a block is worth less further down, whatever is above it
    slots = assign_blocks(np.outer(promise, users.stay ** np.arange(4)))
    values["each block by itself"].append(reward(query, [blocks[i] for i in slots]))
    values["page composed"].append(reward(query, composer.compose(query, blocks)))
    values["best of all pages"].append(max(reward(query, page) for page in permutations(blocks, 4)))
for name, own in values.items():
    print(f"{name:22} {np.mean(own):.4f} of the users are satisfied")

difference = np.array(values["page composed"]) - np.array(values["each block by itself"])
rng = np.random.default_rng(0)
signs = rng.choice([-1, 1], (10_000, difference.size))
p = (1 + (np.abs(signs @ difference) >= abs(difference.sum())).sum()) / 10_001
print(f"composed − by itself: {difference.mean():+.4f}, p = {p:.4f} (randomisation test)")
