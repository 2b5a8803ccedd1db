from __future__ import annotations

import pytest

from plackett import DataError
from plackett.datasets.registry import DATASETS, info


def test_totals_of_the_book():
    gov = [d for d in DATASETS.values() if d.version == "LETOR 3.0" and d.corpus == "Gov"]
    assert len(gov) == 6
    assert sum(d.n_queries for d in gov) == 575
    assert sum(d.n_queries for d in DATASETS.values() if d.version == "LETOR 3.0") == 681
    assert sum(d.version == "LETOR 4.0" for d in DATASETS.values()) == 8  # four settings, two query sets
    assert {d.n_features for d in gov} == {64}
    assert info("OHSUMED").n_features == 45


def test_yahoo_totals_and_transfer():
    one, two = info("yahoo-set1"), info("yahoo-set2")
    assert (one.n_queries, one.n_rows) == (29_921, 709_877)
    assert (two.n_queries, two.n_rows) == (6_330, 172_870)
    assert info(two.transfer_from) is one
    assert one.n_features == two.n_features == 700


def test_mslr():
    assert info("mslr-web30k").n_queries == 31_531
    assert info("mslr-web10k").n_queries == 10_000
    for name in ("mslr-web10k", "mslr-web30k"):
        assert (info(name).n_features, info(name).n_folds, info(name).labels) == (136, 5, (0, 1, 2, 3, 4))


def test_istella_totals():
    """33,018 queries; 10,454,629 and 3,408,630 documents, by the release notes."""
    assert (info("istella").n_queries, info("istella").n_rows) == (33_018, 10_454_629)
    assert (info("istella-s").n_queries, info("istella-s").n_rows) == (33_018, 3_408_630)


def test_names_are_forgiving():
    assert info("MSLR_WEB10K") is info("mslr-web10k")
    with pytest.raises(DataError, match=r"unknown dataset 'mq2009'; the datasets are .*mq2008"):
        info("mq2009")
