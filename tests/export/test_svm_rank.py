"""Models of svm_rank: a hand-written file, and ours written and read again."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett.export.svm_rank import read_svm_rank, write_svm_rank
from plackett.scorers.linear import LinearScorer

MODEL = """SVM-light Version V6.20
0 # kernel type
3 # kernel parameter -d 
1 # kernel parameter -g 
1 # kernel parameter -s 
1 # kernel parameter -r 
empty# kernel parameter -u 
5 # highest feature index 
12 # number of training documents 
3 # number of support vectors plus 1 
0.5 # threshold b, each following line is a SV (starting with alpha*y)
1 qid:0 1:0.25 3:-1.5 4:0 #
-2 3:0.5 #
"""  # noqa: W291 - svm_rank writes these blanks


def test_scores_by_hand(tmp_path):
    path = tmp_path / "model.dat"
    path.write_text(MODEL)
    for ranker in (read_svm_rank(path), pk.load(path)):
        scores = ranker.predict([[4.0, 9.0, 2.0, 9.0], [0.0, 0.0, 1.0, 0.0]])
        assert scores.tolist() == [0.25 * 4 - 2.5 * 2 - 0.5, -2.5 - 0.5]
    assert read_svm_rank(path, n_features=6).n_features_in_ == 6


def test_round_trip(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    data = pk.RankingDataset.from_arrays(X, (X[:, 0] > 0).astype(float), np.arange(60) // 6)
    for name in ("RankSVM", "ListNet", "LinearRegression"):
        ranker = pk.rankers()[name]().fit(data)
        write_svm_rank(ranker, tmp_path / "model.dat")
        np.testing.assert_array_equal(read_svm_rank(tmp_path / "model.dat").predict(data), ranker.predict(data))
    assert "60 # number of training documents" in (tmp_path / "model.dat").read_text()
    with pytest.raises(ValueError, match="not a fitted linear ranker"):
        write_svm_rank(pk.LambdaMART(n_estimators=2, n_jobs=1).fit(data), tmp_path / "model.dat")


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (":1: not an svm_rank model", "0 # kernel type"),
        (":2: kernel '2'", MODEL.replace("0 # kernel type", "2 # kernel type")),
        (":3: expected a line", MODEL.replace("parameter -d", "parameter -e")),
        ("1 support vectors instead of 2", MODEL.rsplit("-2 ", 1)[0]),
        ("ends before '# threshold b'", "\n".join(MODEL.split("\n")[:10])),
        (":12: expected the weight of feature 3", MODEL.replace("-1.5", "oops")),
        (":13: expected a coefficient", MODEL.replace("-2 3:", "inf 3:")),
        (":11: expected the threshold", MODEL.replace("0.5 # thr", "b # thr")),
    ],
)
def test_damaged_files_are_refused_by_line(tmp_path, match, text):
    path = tmp_path / "model.dat"
    path.write_text(text)
    with pytest.raises(ValueError, match=match):
        read_svm_rank(path)


def test_too_few_features_are_refused(tmp_path):
    path = tmp_path / "model.dat"
    path.write_text(MODEL)
    with pytest.raises(ValueError, match="uses feature 4, and n_features=3"):
        read_svm_rank(path, n_features=3)


def test_the_weights_say_how_many_features_there_are(tmp_path):
    """svm_rank's header counts one more: 47 for the 46 features of MQ2008."""
    path = tmp_path / "model.dat"
    path.write_text(MODEL)
    assert read_svm_rank(path).n_features_in_ == 4
    ranker = pk.ListNet().fit([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0]], [0, 1, 2], qid=[1, 1, 1])
    ranker.scorer_ = LinearScorer(np.array([[1.0], [0.0]]), np.zeros(1))
    write_svm_rank(ranker, path)
    assert read_svm_rank(path).n_features_in_ == 2  # a weight of 0 at the end is written
