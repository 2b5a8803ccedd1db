"""Which fashion item to show? Smoothed click rates on the Open Bandit sample, judged by off-policy evaluation.

    python benchmarks/open_bandit.py FOLDER

FOLDER has the small sample of the Open Bandit dataset (``random/men/men.csv``, …). The first half of each random log,
by time, is what rates are learned from; the second half says what showing the items with the best rates would have
earned: inverse propensity scores, with 95 % intervals from 2,000 bootstrap samples of rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl

from plackett.applications import Ad, AdFeatures, CandidateLists


def interval(values: np.ndarray, rng: np.random.Generator) -> str:
    """Mean and bootstrap interval, per thousand."""
    means = [values[rng.integers(0, values.size, values.size)].mean() for _ in range(2000)]
    low, high = np.quantile(means, [0.025, 0.975])
    return f"{1000 * values.mean():5.2f} [{1000 * low:5.2f}, {1000 * high:5.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    print("clicks per thousand shows")
    for campaign in ("men", "women"):
        log = pl.read_csv(folder / "random" / campaign / f"{campaign}.csv").sort("timestamp")
        other = pl.read_csv(folder / "bts" / campaign / f"{campaign}.csv")
        half, rng = log.height // 2, np.random.default_rng(0)
        item, click = log["item_id"].to_numpy(), log["click"].to_numpy()
        ads = [Ad("", ad=str(i), account=campaign) for i in range(int(item.max()) + 1)]
        shown = CandidateLists.of([("", [ads[i]], [c]) for i, c in zip(item[:half], click[:half], strict=True)])
        features = AdFeatures(smoothing=100.0).fit(shown)
        rates = np.array([features.rates(ad)[0] for ad in ads])
        later = slice(half, None)
        weight = 1.0 / log["propensity_score"].to_numpy()[later]
        print(f"{campaign}: {click[:half].sum()} clicks to learn from, {click[later].sum()} to judge by")
        print(f"  random          {interval(click[later].astype(float), rng)}")
        for k in (1, 5, 10):
            chosen = np.isin(item[later], np.argsort(-rates, kind="stable")[:k])
            print(f"  best {k:2} items   {interval(click[later] * chosen * weight / k, rng)}")
        print(
            f"  the other policy of the data, on its own log: {interval(other['click'].to_numpy().astype(float), rng)}"
        )


if __name__ == "__main__":
    main()
