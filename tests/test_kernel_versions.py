"""Common calls compile one version of each kernel: arrays always have the same types and layouts."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import plackett as pk

#: First uses, with arrays that are writable, read-only, float32, mapped, or put in order by the names of columns.
USES = """
import gc, sys
import numpy as np
import plackett as pk
from plackett._kernels.kernel import Kernel
from plackett.datasets import make_ranking

data = make_ranking(n_queries=30, docs_per_query=6, n_features=3, random_state=0).replace(feature_names=["a", "b", "c"])
X, y, qid = np.array(data.X), np.array(data.y), np.array(data.qid)
scores = X[:, 0].astype(float)
frozen = scores.copy()
frozen.flags.writeable = False
pk.write(data, sys.argv[1])
mapped = pk.read(sys.argv[1])
for some in (data, mapped, pk.RankingDataset.from_arrays(X, y, qid)):
    for given in (scores, frozen, scores.astype(np.float32)):
        pk.evaluate(some, given, ["nDCG@10", "AP"])
turned = data.replace(X=data.X[:, [2, 1, 0]], feature_names=["c", "b", "a"])
for ranker in (pk.RankSVM(), pk.LambdaMART(n_estimators=2, min_child_samples=2)):
    ranker.fit(X, y, qid=qid).predict(X)
    ranker.fit(mapped, eval_set=data)
    for rows in (data, mapped, turned):
        ranker.predict(rows)
from scipy.sparse import csr_matrix
from plackett.scorers.products import block_sums, table_times, transposed_times
for rows in (X, data.X, csr_matrix(X), data.replace(X=csr_matrix(X)).X):
    for column in (scores[:, None], frozen[:, None]):
        transposed_times(rows, column)
        block_sums(rows, column, data.offsets)
    for weights in (np.ones((3, 1)), np.broadcast_to(1.0, (3, 1))):
        table_times(rows, weights)
kernels = [each for each in gc.get_objects() if type(each) is Kernel and each.compiled is not None]
assert len(kernels) > 10
for each in kernels:
    if len(each.compiled.signatures) > 1:
        print(each.__module__, each.__name__, *each.compiled.signatures, sep="\\n  ")
"""


def test_kernels_are_compiled_once(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", USES, tmp_path / "d.plackett"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""


def test_the_order_of_columns_changes_no_digit():
    """A dataset with selected columns has its rows in memory like any other."""
    data = pk.datasets.make_ranking(n_queries=30, docs_per_query=10, n_features=7, random_state=0)
    data = data.replace(feature_names=list("abcdefg"))
    backwards = np.arange(7)[::-1]
    turned = data.replace(X=data.X[:, backwards], feature_names=list("gfedcba"))
    assert turned.X.flags.c_contiguous and not turned.X.flags.writeable
    ranker = pk.RankSVM(C=1e-3).fit(data)
    np.testing.assert_array_equal(ranker.predict(turned), ranker.predict(data))
    some = pk.datasets.make_ranking(n_queries=30, n_features=40, random_state=0).replace(feature_names=None)
    cut, copied = some.replace(X=some.X[:, 1:]), some.replace(X=some.X[:, 1:].copy())
    assert cut.X.flags.c_contiguous
    ranker = pk.RankSVM(C=1e-3).fit(copied)
    np.testing.assert_array_equal(ranker.predict(cut), ranker.predict(copied))
