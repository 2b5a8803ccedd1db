"""Features that give the labels away are found, and features of public datasets are not taken for such."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import plackett as pk
from plackett._base.errors import PlackettWarning
from plackett.evaluation.giveaways import giveaways


def leaky(n_queries=40, n_documents=10, noise=0.0, sign=1, sparse=False, n_features=6, **parameters):
    """Generated data whose last feature is the label with noise."""
    data = pk.datasets.make_ranking(n_queries, n_documents, n_features, random_state=1, **parameters)
    leak = sign * (data.y + noise * np.random.default_rng(0).normal(size=data.n_rows))
    X = np.column_stack([data.X, leak]).astype(np.float32)
    names = [*data.feature_names, "leak"]
    return data.replace(X=sp.csr_matrix(X) if sparse else X, feature_names=names)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_leak_is_found_in_both_directions(sign, sparse):
    assert giveaways(leaky(sign=sign, sparse=sparse)) == {"leak": 1.0}


def test_little_noise_hides_nothing_and_much_noise_is_no_leak():
    near = giveaways(leaky(noise=0.3))
    assert list(near) == ["leak"] and 0.95 <= near["leak"] < 1.0
    assert giveaways(leaky(noise=1.0)) == {}


@pytest.mark.parametrize(("n_queries", "n_documents"), [(12, 20), (24, 4), (1, 500)])
def test_too_little_evidence_is_no_leak(n_queries, n_documents):
    assert giveaways(leaky(n_queries, n_documents)) == {}


def test_queries_of_one_label_do_not_count():
    data = leaky(60)
    flat = data.replace(y=np.where(data.query_of_row < 41, 1.0, data.y))
    assert giveaways(flat) == {} and giveaways(data) == {"leak": 1.0}


def test_a_leak_among_many_features_and_missing_values():
    data = leaky(n_features=400, missing=0.1)
    assert giveaways(data) == {"leak": 1.0}
    X = np.array(data.X)
    X[::7, -1] = np.nan
    assert giveaways(data.replace(X=X)) == {}  # a missing value of a relevant document is ranked last


def test_data_without_labels_or_features():
    data = leaky()
    assert giveaways(data.replace(y=None)) == {}
    assert giveaways(data.replace(X=np.empty((data.n_rows, 0), np.float32), feature_names=None)) == {}


def test_the_position_in_a_file_with_the_right_answers_first():
    lists = [[1, 1, 0, 0, 0], [1, 0, 0, 0, 0]] * 20
    y, qid = np.ravel(lists), np.repeat(np.arange(40), 5)
    X = np.column_stack([np.tile(np.arange(5), 40), np.random.default_rng(0).normal(size=200)])
    data = pk.RankingDataset.from_arrays(X, y, qid, feature_names=["position", "bm25"])
    assert giveaways(data) == {"position": 1.0}


def test_an_experiment_names_the_leak():
    with pytest.warns(PlackettWarning, match="mine: 1 feature alone orders .*: leak"):
        result = pk.experiment({"mine": leaky()}, "LinearRegression", "AP", search=None, n_jobs=1)
    assert "Beware: leak alone orders" in result.to_terminal()


def test_auto_names_the_leak():
    with pytest.warns(PlackettWarning, match="1 feature alone orders .*: leak"):
        ranker = pk.AutoRanker(candidates=["LinearRegression"], n_trials=1, n_folds=2, n_repeats=1).fit(leaky())
    assert any("leak alone order" in sentence for sentence in ranker.reasons_)


@pytest.mark.parametrize(
    "files",
    [
        "LETOR4.0-MQ2008/Fold1/train.txt",
        "LETOR3.0-OHSUMED/Feature-null/Fold1/train.txt",
        "LETOR2.0-OHSUMED/Fold1/train.txt",
        "LETOR4.0-MQ2007-agg/S1.txt",
        "letor4-MQ2008-agg/A1.txt",
        "MSLR-WEB-10K-sample-rankeval/msn1.fold1.train.5k.txt",
    ],
)
def test_no_false_alarm_on_public_data(data_dir, files):
    if not (data_dir / files).exists():
        pytest.skip(f"needs {files}")
    data = pk.read_letor(data_dir / files)
    assert giveaways(data) == {}
    X = np.column_stack([data.dense(), data.y]).astype(np.float32)
    assert list(giveaways(data.replace(X=X))) == [str(data.n_features + 1)]
