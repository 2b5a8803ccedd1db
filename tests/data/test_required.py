"""Functions that need a dataset say so when they are given an array or a frame."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError, clicks


@pytest.fixture(scope="module")
def data():
    return pk.datasets.make_ranking(8, 6, 3, random_state=0)


@pytest.fixture(scope="module")
def ranker(data):
    return pk.LambdaMART(n_estimators=2, n_jobs=1).fit(data)


USES = {
    "explain": lambda ranker, data, _: pk.explain(ranker, data, 1),
    "latency": lambda ranker, data, _: pk.latency(ranker, data),
    "early_exit": lambda ranker, data, _: pk.early_exit(ranker, data),
    "prune": lambda ranker, data, _: pk.prune(ranker, data, 1),
    "churn": lambda ranker, data, _: pk.churn(ranker, ranker, data),
    "Blend.of": lambda ranker, data, _: pk.Blend.of([ranker, ranker], data),
    "write": lambda _, data, folder: pk.write(data, folder / "data.csv"),
    "write_letor": lambda _, data, folder: pk.write_letor(data, folder / "data.txt"),
    "Neighbours": lambda _, data, __: pk.Neighbours(k=2)(data),
    "learn_from_clicks": lambda _, data, __: clicks.learn_from_clicks(None, data),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_arrays_and_frames_are_refused_with_what_to_do(use, data, ranker, tmp_path):
    with pytest.raises(
        DataError, match=r"data is of type ndarray; make a dataset of it: pk\.RankingDataset\.from_arrays"
    ):
        use(ranker, data.X, tmp_path)
    with pytest.raises(
        DataError, match=r"data is of type DataFrame; make a dataset of it: pk\.RankingDataset\.from_frame"
    ):
        use(ranker, pl.DataFrame(np.asarray(data.X)), tmp_path)


def test_so_is_the_background_of_an_explanation(data, ranker):
    with pytest.raises(DataError, match="background is of type ndarray"):
        pk.explain(ranker, data, data.qids[0], background=data.X)
