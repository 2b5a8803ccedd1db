"""What serving and training import, and rankers that meet scikit-learn late."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import plackett as pk
from plackett.models.networks.neural import Neural
from plackett.rankers.storage import save

FORBIDDEN = ("sklearn", "lightgbm", "scipy.stats", "pandas", "torch", "polars")
RANKERS = {
    "trees": pk.LambdaMART(n_estimators=3),
    "oblivious": pk.ObliviousLambdaMART(n_estimators=2),
    "linear": pk.ListNet(max_iter=5),
    "products": pk.PolynomialRegression(),
    "rules": pk.AssociationRules(),
    "formula": pk.RankGP(**pk.RankGP._test_settings),
    "additive": pk.RankBoost(n_estimators=3),
    "utility": pk.DecisionTheoretic(**pk.DecisionTheoretic._test_settings),
    "network": pk.RankNet(max_epochs=1),
    "attention": pk.GradientRanker(loss="ListNet", model=Neural(architecture="attention", hidden=(8,), max_epochs=1)),
    "blend": pk.Blend(members=(pk.ListNet(max_iter=5), pk.LambdaMART(n_estimators=2))),
}

SERVE = """
import sys
import numpy as np
import plackett as pk

rows = np.load("rows.npz")
for name in sys.argv[1:]:
    scores = pk.load(f"{name}.plackett").predict(rows["X"], qid=rows["qid"])
    np.testing.assert_array_equal(scores, rows[name], err_msg=name)
print(*sys.modules)
"""

LATE = """
import sys
import plackett as pk

ranker, normalizer, folds = pk.ListNet(alpha=0.5), pk.QueryNormalizer("rank"), pk.QueryKFold(3)
assert repr(ranker) == "ListNet(alpha=0.5)" and ranker.get_params()["alpha"] == 0.5
assert ranker.set_params(max_iter=7) is ranker and ranker.max_iter == 7
try:
    ranker.set_params(alpa=1.0)
except ValueError as error:
    assert "Invalid parameter 'alpa' for estimator ListNet" in str(error)
assert "sklearn" not in sys.modules

class Own(pk.ListNet):
    def predict(self, X, *, qid=None, extra=None):
        return super().predict(X, qid=qid)

own = Own()
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import BaseCrossValidator, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted
from sklearn import set_config

assert isinstance(ranker, BaseEstimator) and isinstance(own, BaseEstimator) and issubclass(pk.LambdaMART, BaseEstimator)
assert isinstance(normalizer, TransformerMixin) and isinstance(folds, BaseCrossValidator)
assert repr(clone(ranker)) == "ListNet(alpha=0.5, max_iter=7)"
set_config(enable_metadata_routing=True)
assert Own().set_predict_request(extra=True).get_metadata_routing().predict.requests["extra"] is True
data = pk.datasets.make_ranking(20, n_features=3, random_state=0)
search = GridSearchCV(make_pipeline(normalizer, ranker), {"listnet__alpha": [0.1, 1.0]}, cv=folds)
search.fit(data.X, data.y, qid=data.qid)
check_is_fitted(search.best_estimator_[-1])
assert normalizer.set_output(transform="pandas") is normalizer
print("done")
"""


def run(code: str, *arguments: str, cwd=None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_serving_imports_no_training_library(tmp_path):
    pytest.importorskip("torch")  # to train the networks
    data = pk.datasets.make_ranking(12, n_features=4, random_state=0)
    expected = {}
    for name, ranker in RANKERS.items():
        fitted = ranker.fit(data)
        fitted.save(tmp_path / f"{name}.plackett")
        expected[name] = fitted.predict(data.X, qid=data.qid)
    for method in ("rank", "zscore"):
        pipeline = make_pipeline(pk.QueryNormalizer(method), pk.ListNet(max_iter=5)).fit(data)
        save(pipeline, tmp_path / f"{method}.plackett")
        scaled = pk.QueryNormalizer(method).fit_transform(data.X, qid=data.qid)
        expected[method] = pipeline[-1].predict(scaled, qid=data.qid)
    np.savez(tmp_path / "rows.npz", X=data.X, qid=data.qid, **expected)
    modules = run(SERVE, *expected, cwd=tmp_path).split()
    assert [name for name in FORBIDDEN if name in modules] == []


def test_rankers_become_estimators_of_scikit_learn():
    assert run(LATE) == "done\n"


@pytest.mark.parametrize(("algorithm", "absent"), [("RankSVM", ("sklearn", "lightgbm")), ("LambdaMART", ("sklearn",))])
def test_training_imports_what_it_uses(tmp_path, algorithm, absent):
    pk.write_letor(pk.datasets.make_ranking(10, random_state=0), tmp_path / "train.txt")
    code = f"""
import sys
sys.argv = ["plackett", "train", "{algorithm}", "train.txt", "--out", "m.plackett"]
from plackett.cli import main
try:
    main()
except SystemExit as exit:
    assert not exit.code
print(*sys.modules)
"""
    modules = run(code, cwd=tmp_path).split()
    assert (tmp_path / "m.plackett").exists()
    assert [name for name in (*absent, "scipy.stats", "pandas", "torch") if name in modules] == []


def test_a_loaded_pipeline_is_one_of_scikit_learn(tmp_path):
    data = pk.datasets.make_ranking(12, n_features=4, random_state=0)
    pipeline = make_pipeline(pk.QueryNormalizer(), pk.ListNet(max_iter=5)).fit(data)
    save(pipeline, tmp_path / "m")
    again = pk.load(tmp_path / "m")
    assert isinstance(again, type(pipeline)) and again[-1].get_params() == pipeline[-1].get_params()
    rows = np.random.default_rng(0).permutation(data.n_rows)
    scores = again.predict(data.X[rows], qid=data.qid[rows])  # routing is off: sent to both steps all the same
    np.testing.assert_allclose(scores, pipeline.predict(data)[rows], rtol=1e-5)
    save(again, tmp_path / "n")
    assert pk.load(tmp_path / "n").get_params().keys() == again.get_params().keys()
    assert again.fit(data).predict(data).tolist() == pipeline.predict(data).tolist()
