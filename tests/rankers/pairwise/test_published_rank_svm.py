"""Five-fold MAP of the Ranking SVM beside the published figures."""

from __future__ import annotations

import pytest

import plackett as pk
from plackett.rankers.pairwise.rank_svm import RankSVM


@pytest.mark.golden
@pytest.mark.parametrize(
    ("dataset", "preset", "published"), [("ohsumed", "letor3", 0.433), ("mq2008", "letor4", 0.470)]
)
def test_published_map(dataset, preset, published, data_dir):
    folds = {f"Fold{fold}": pk.datasets.load(dataset, fold=fold, root=data_dir) for fold in range(1, 6)}
    result = pk.cross_validate(
        folds, RankSVM(n_jobs=1), ["AP"], settings={"C": [1e-5, 1e-3]}, select="AP", preset=preset
    )
    assert result.mean["AP"] > published - 0.005
