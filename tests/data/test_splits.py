from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from plackett import DataError, RankingDataset
from plackett.data.splits import Fold, letor_folds, split_queries


def dataset(n_queries, seed=0):
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_queries), rng.integers(1, 12, n_queries))
    return RankingDataset.from_arrays(rng.normal(size=(qid.size, 2)), rng.integers(0, 3, qid.size), qid)


def test_rotation_of_table_10_5():
    """Fold k: train S_k S_k+1 S_k+2, validation S_k+3, test S_k+4."""
    parts = [dataset(4 + i, seed=i) for i in range(5)]
    parts = [RankingDataset.from_arrays(p.X, p.y, [f"S{i + 1}-{q}" for q in p.qid]) for i, p in enumerate(parts)]
    roles = [tuple(sorted({str(q)[:2] for q in part.qids}) for part in fold) for fold in letor_folds(parts)]
    assert roles == [
        (["S1", "S2", "S3"], ["S4"], ["S5"]),
        (["S2", "S3", "S4"], ["S5"], ["S1"]),
        (["S3", "S4", "S5"], ["S1"], ["S2"]),
        (["S1", "S4", "S5"], ["S2"], ["S3"]),
        (["S1", "S2", "S5"], ["S3"], ["S4"]),
    ]
    fold = letor_folds(parts)[3]
    assert [str(q)[:2] for q in fold.train.qids] == ["S4"] * 7 + ["S5"] * 8 + ["S1"] * 4
    np.testing.assert_array_equal(fold.test.X, parts[2].X)


def test_parts_of_ohsumed_size_and_roles_of_every_query():
    data = dataset(106)
    folds = letor_folds(data)
    assert [fold.test.n_queries for fold in folds] == [21, 22, 21, 21, 21]  # S5, S1, …
    for role, times in (("train", 3), ("valid", 1), ("test", 1)):
        qids = np.concatenate([getattr(fold, role).qids for fold in folds])
        np.testing.assert_array_equal(np.bincount(qids), np.full(106, times))
    for fold in folds:
        assert sorted(np.concatenate([part.qids for part in fold]).tolist()) == list(range(106))


@pytest.mark.golden
def test_the_folds_of_mq2008_are_its_parts(data_dir):
    def qids(path):
        lines = (data_dir / "LETOR4.0-MQ2008" / path).read_text().splitlines()
        return [line.split(" ", 2)[1].removeprefix("qid:") for line in lines]

    parts = [RankingDataset.from_arrays(None, None, qids(f"S{i}.txt")) for i in range(1, 6)]
    for k, fold in enumerate(letor_folds(parts), 1):
        for part, file in zip(fold, ("train", "vali", "test"), strict=True):
            assert part.qid.tolist() == qids(f"Fold{k}/{file}.txt")


def test_rows_and_datasets_agree():
    data = dataset(23)
    shuffled = np.random.default_rng(1).permutation(data.n_rows)
    for by_row, by_data in zip(letor_folds(data.qid), letor_folds(data), strict=True):
        for rows, part in zip(by_row, by_data, strict=True):
            assert sorted(set(data.qid[rows])) == sorted(part.qids)
            assert len(rows) == part.n_rows
    rows = split_queries(data.qid[shuffled], y=data.y[shuffled], random_state=5)
    parts = split_queries(data, random_state=5)
    for r, part in zip(rows, parts, strict=True):
        assert set(data.qid[shuffled][r]) == set(part.qids)
        assert (np.diff(r) > 0).all()


@pytest.mark.parametrize("stratify", [True, False])
def test_split_sizes_and_determinism(stratify):
    data = dataset(203)
    parts = split_queries(data, (0.5, 0.3, 0.2), stratify=stratify, random_state=1)
    assert [p.n_queries for p in parts] == [102, 60, 41] or [p.n_queries for p in parts] == [102, 61, 40]
    assert sorted(np.concatenate([p.qids for p in parts]).tolist()) == list(range(203))
    again = split_queries(data, (0.5, 0.3, 0.2), stratify=stratify, random_state=1)
    other = split_queries(data, (0.5, 0.3, 0.2), stratify=stratify, random_state=2)
    assert [p.fingerprint() for p in again] == [p.fingerprint() for p in parts]
    assert [p.fingerprint() for p in other] != [p.fingerprint() for p in parts]


def test_stratified_parts_are_alike():
    rng = np.random.default_rng(0)
    sizes = np.rint(rng.lognormal(2.5, 1, 400)).astype(int) + 1
    rate = np.repeat(rng.beta(0.5, 2, 400), sizes)
    y = rng.binomial(4, rate)
    data = RankingDataset.from_arrays(None, y, group=sizes)

    gain = np.array([np.mean(2.0 ** y[a:b] - 1) for a, b in pairwise(data.offsets)])

    def spread(stratify):
        """Deviation, over seeds, of the share of rows and of the mean gain of one half."""
        halves = [split_queries(data, (0.5, 0.5), stratify=stratify, random_state=seed)[0] for seed in range(40)]
        return np.std([half.n_rows for half in halves]), np.std([gain[half.qids].mean() for half in halves])

    stratified, plain = spread(True), spread(False)
    assert stratified[0] < 0.5 * plain[0]
    assert stratified[1] < 0.5 * plain[1]


def test_each_query_is_equally_likely_in_every_part():
    data = dataset(10)
    counts = np.zeros(10)
    for seed in range(400):
        train, _ = split_queries(data, (0.7, 0.3), random_state=seed)
        counts[train.qids] += 1
    # 400 draws of probability 0.7 have deviation 9.2
    assert np.abs(counts - 280).max() < 5 * 9.2


@pytest.mark.parametrize("sizes", [(0.5, 0.4), (1.2, -0.2), (), 0.7])
def test_bad_sizes(sizes):
    with pytest.raises(DataError, match="add up to 1"):
        split_queries(["a", "b"], sizes)


def test_too_few_queries():
    with pytest.raises(DataError, match="2 queries are too few"):
        split_queries(["a", "b"])
    with pytest.raises(DataError, match="4 queries are too few for 5 parts"):
        letor_folds(["a", "b", "c", "d"])
    with pytest.raises(DataError, match="at least 3 parts"):
        letor_folds(["a", "b", "c", "d"], n_parts=2)


def test_a_fold_unpacks():
    assert tuple(Fold(1, 2, 3)) == (1, 2, 3)


def test_a_frame_is_not_split():
    with pytest.raises(DataError, match=r"make a dataset of it: pk\.RankingDataset\.from_frame"):
        split_queries(pl.DataFrame({"qid": [1, 2], "a": [1, 2]}), (0.5, 0.5))
    with pytest.raises(DataError, match="^1 query is too few"):
        split_queries(["a", "a"], (0.5, 0.5))
