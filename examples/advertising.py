"""Which ad goes on top? Rank by bid, by clicks, by both, or train for revenue; then run the auction with a reserve."""

import numpy as np

import plackett as pk
from plackett.applications import best_reserve, rank_logistic, second_price
from plackett.clicks import PositionUsers, simulate_log
from plackett.online import ClickPerceptron, simulate_online

rng = np.random.default_rng(0)
# Ads with features and a true quality (the grade). Good ads pay less for a click: ranking by bid alone hurts.
ads = pk.datasets.make_ranking(n_queries=600, docs_per_query=10, n_features=8, random_state=0)
bids = rng.lognormal(0.0, 0.6, ads.n_rows) * np.exp(-0.15 * ads.y)
ads = ads.replace(X=np.column_stack([ads.X, np.log(bids)]).astype(np.float32), docids=np.arange(ads.n_rows))
users = PositionUsers(noise=0.02, miss=0.4, strength=1.0)
quality = users.attraction(ads.y, ads.y.max())  # probability of a click on an examined ad: only the simulation knows
train, test = ads.select(np.arange(200)), ads.select(np.arange(200, 600))

# A log of pages in random order. Lower slots are examined less often, so each click counts 1 / examination.
log = simulate_log(train, None, n_pages=20_000, k=6, users=users, random_state=0)
row = log.documents[log.document]
look = users.examination(6)[log.rank - 1]
clicked = log.clicked / look
page = pk.RankingDataset.from_arrays(ads.X[row], clicked, log.page)
paid = page.replace(y=clicked * bids[row])
print(f"{log.n_pages} pages, {int(log.clicked.sum())} clicks")

by_click = rank_logistic(alpha=1e-3).fit(page.replace(y=(clicked > 0).astype(float)))
# the slot is a feature while training; afterwards every ad is taken to stand on top
chance = pk.GradientRanker(loss="BinaryLogistic", model=pk.Linear(alpha=1e-3))
chance.fit(np.column_stack([ads.X[row], np.log(look)]), log.clicked, qid=log.page)
for_revenue = pk.GradientRanker(loss="Revenue", model=pk.Linear(alpha=1e-3)).fit(paid)


def expected_click(data):
    """Probability of a click by the pointwise model."""
    on_top = np.column_stack([data.X, np.zeros(data.n_rows)])
    return 1 / (1 + np.exp(-chance.predict(on_top, qid=data.qid)))


own = bids[test.docids]
systems = {
    "highest bid": own,
    "clicks (RankLogistic)": by_click.predict(test),
    "bid × probability of a click": own * expected_click(test),
    "trained for revenue": for_revenue.predict(test),
}
# What the ad on top is expected to pay, next to the best that was possible.
worth = test.replace(y=own * quality[test.docids])
best = np.maximum.reduceat(worth.y, test.offsets[:-1]).mean()
print(pk.compare(worth, systems, ['DCG(gain="linear")@1'], baseline="trained for revenue"))
print(f"best possible: {best:.4f}")

# The auction: the bid × quality of the next ad sets the price. The reserve is chosen on the training ads.
slots = users.examination(3)
offers = bids[train.docids]
reserve, _ = best_reserve(train, offers, expected_click(train), examination=slots)
for price in (0.0, reserve):
    outcome = second_price(test, own, expected_click(test), reserve=price, examination=slots)
    earned = (outcome.payment / np.maximum(expected_click(test), 1e-9) * quality[test.docids]).sum()
    print(f"second price, reserve {price:.2f}: {earned / test.n_queries:.3f} per page")

# Or learn while showing: a clicked ad should have been above the ads that were skipped.
learner = ClickPerceptron(n_features=ads.n_features, k=6, learning_rate=0.01)
curves = simulate_online(learner, train, test, users="perfect", n_interactions=5000, runs=4, marks=20)
(before,) = pk.evaluate(test, np.zeros(test.n_rows), "nDCG@6").mean.values()
print(f"on-line perceptron: nDCG@6 {before:.3f} in random order, {curves.offline.mean():.3f} while it learns")
