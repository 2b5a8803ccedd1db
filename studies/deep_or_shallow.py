"""The same number of judgements: few queries with all documents, or all queries with few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from plackett.datasets.generate import make_ranking
from plackett.rankers.named import ranker_named
from plackett.selection.depth import deep_sample, shallow_sample
from studies.base import Study, named_folds_of, per_query
from studies.what_to_label import difference


def deep_or_shallow(
    data: Any = None,
    *,
    ranker: str = "ListNet(alpha=0.01)",
    shares: Sequence[float] = (0.05, 0.1, 0.2, 0.5),
    n_repeats: int = 10,
    random_state: int = 0,
) -> Study:
    """Should few queries be judged deeply, or many queries shallowly?

    A ranker is trained on p % of the queries with all their documents (deep), and on all queries with p % of the
    documents of each (shallow), and tested on other queries. Each repetition draws another sample.

    Parameters
    ----------
    data
        A dataset, or folds (the first is used); None generates data.
    ranker
        The ranker to train.
    shares
        p / 100.

    References
    ----------
    Yilmaz, Robertson: Deep versus shallow judgments in learning to rank. SIGIR 2009.
    """
    import polars as pl

    if data is None:
        whole: Any = make_ranking(220, 40, 12, noise=1.0, random_state=random_state)
        train, test = whole.select(np.arange(120)), whole.select(np.arange(120, 220))
    else:
        fold = next(iter(named_folds_of(data)[1].values()))
        train, test = fold.train, fold.test
    base = ranker_named(ranker)[0]
    base.n_jobs = 1

    def quality(part: Any) -> float:
        return float(np.nanmean(per_query(test, clone(base).fit(part).predict(test), "nDCG@10")))

    full, rows = quality(train), []
    for share in shares:
        deep, shallow = (
            [quality(draw(train, share, random_state=(random_state, repeat))) for repeat in range(n_repeats)]
            for draw in (deep_sample, shallow_sample)
        )
        documents = shallow_sample(train, share).n_rows / train.n_queries
        rows.append((share, documents, float(np.mean(deep)), float(np.mean(shallow)), *difference(shallow, deep)))
    names = ["share", "documents per query, shallow", "deep", "shallow", "shallow minus deep", "from", "to"]
    return Study(
        pl.DataFrame(rows, names, orient="row"),
        f"nDCG@10 of {ranker}: means over {n_repeats} samples; with all judgements {full:.4f}",
    )
