"""Five-fold MAP on LETOR beside the published figures, with settings fixed and the round chosen on validation data."""

from __future__ import annotations

import pytest

import plackett as pk
from plackett.rankers.listwise.adarank import AdaRank
from plackett.rankers.pairwise.frank import FRank
from plackett.rankers.pairwise.rank_boost import RankBoost

WATCHED = {"eval_measure": "AP", "early_stopping_rounds": 100, "n_jobs": 1}


@pytest.mark.full
@pytest.mark.parametrize(
    ("ranker", "dataset", "published"),
    [
        (AdaRank(measure="AP", **WATCHED), "ohsumed", 0.449),
        (AdaRank(measure="nDCG", **WATCHED), "ohsumed", 0.450),
        (AdaRank(measure="AP", **WATCHED), "mq2008", 0.476),
        (FRank(n_thresholds=10, **WATCHED), "ohsumed", 0.444),
        (RankBoost(**WATCHED), "ohsumed", 0.441),
        (RankBoost(**WATCHED), "mq2008", 0.478),
    ],
    ids=[
        "AdaRank-MAP ohsumed",
        "AdaRank-NDCG ohsumed",
        "AdaRank-MAP mq2008",
        "FRank ohsumed",
        "RankBoost ohsumed",
        "RankBoost mq2008",
    ],
)
def test_published_map(ranker, dataset, published, data_dir, monkeypatch):
    monkeypatch.setenv("PLACKETT_DATA", str(data_dir))
    folds = {f"Fold{fold}": pk.datasets.load(dataset, fold=fold) for fold in range(1, 6)}
    preset = "letor3" if dataset == "ohsumed" else "letor4"
    result = pk.cross_validate(folds, ranker, ["AP"], preset=preset, early_stopping=True)
    assert result.mean["AP"] > published - 0.01
