"""What commands import, and the base class of rankers in their processes and in others."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.model_selection import BaseCrossValidator
from sklearn.pipeline import make_pipeline

import plackett as pk
from plackett.data.native import save_dataset
from plackett.data.transformer import QueryTransformer
from plackett.models.networks.neural import Neural
from plackett.rankers.base import Ranker
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
from plackett._base.process import own_process
own_process()
import numpy as np
import plackett as pk

rows = np.load("rows.npz")
for name in sys.argv[1:]:
    scores = pk.load(f"{name}.plackett").predict(rows["X"], qid=rows["qid"])
    np.testing.assert_array_equal(scores, rows[name], err_msg=name)
print(*sys.modules)
"""

COMMAND = """
import sys
from plackett._base.process import own_process
own_process()
import plackett as pk
from plackett._base.estimator import clone

ranker = pk.ListNet(alpha=0.5)
assert repr(ranker) == "ListNet(alpha=0.5)" and ranker.get_params()["alpha"] == 0.5
assert ranker.set_params(max_iter=7) is ranker and ranker.max_iter == 7
try:
    ranker.set_params(alpa=1.0)
except ValueError as error:
    assert "Invalid parameter 'alpa' for estimator ListNet" in str(error)
blend = clone(pk.Blend(members=(ranker, pk.LinearRegression())))
assert blend.members[0] is not ranker and repr(blend.members[0]) == "ListNet(alpha=0.5, max_iter=7)"
assert [len(test.qids) for _, test in pk.QueryKFold(3).split(pk.datasets.make_ranking(9))] == [3, 3, 3]
assert "sklearn" not in sys.modules

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags
assert not isinstance(ranker, BaseEstimator)
assert get_tags(pk.LambdaMART()).input_tags.allow_nan and not get_tags(ranker).input_tags.allow_nan
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


def test_rankers_in_the_process_of_a_command_are_no_estimators_of_scikit_learn():
    run(COMMAND)


def test_rankers_are_estimators_of_scikit_learn():
    assert BaseEstimator in Ranker.__bases__
    assert issubclass(QueryTransformer, (TransformerMixin, BaseEstimator))
    assert isinstance(pk.QueryKFold(3), BaseCrossValidator)
    assert pk.QueryNormalizer().set_output(transform="pandas").transform is not QueryTransformer.transform
    ranker = pk.ListNet(alpha=0.5, max_iter=7).fit(pk.datasets.make_ranking(9, random_state=0))
    assert repr(clone(ranker)) == "ListNet(alpha=0.5, max_iter=7)" and not hasattr(clone(ranker), "scorer_")
    again = pickle.loads(pickle.dumps(ranker))
    assert again.get_params() == ranker.get_params() and again.coef_.tolist() == ranker.coef_.tolist()


def test_request_of_a_further_parameter():
    class Own(pk.ListNet):
        def predict(self, X, *, qid=None, extra=None):
            return super().predict(X, qid=qid)

    with sklearn.config_context(enable_metadata_routing=True):
        routing = Own().set_predict_request(extra=True).get_metadata_routing()
    assert routing.predict.requests["extra"] is True


def command(*arguments: str, cwd) -> None:
    run(f"import sys; sys.argv = ['plackett', *{arguments!r}]; from plackett.cli import main; main()", cwd=cwd)


def test_an_imputer_before_the_ranker_in_the_process_of_a_command(tmp_path):
    data = pk.datasets.make_ranking(12, n_features=4, random_state=0)
    holes = data.replace(X=np.where(np.random.default_rng(0).random(data.X.shape) < 0.1, np.nan, data.X))
    save_dataset(holes, tmp_path / "train.plackett")
    command("train", "ListNet", "train.plackett", "--out", "m.plackett", "--impute", "median", cwd=tmp_path)
    command("predict", "m.plackett", "train.plackett", "--out", "scores.txt", cwd=tmp_path)
    expected = make_pipeline(pk.Imputer("median"), pk.ListNet()).fit(holes).predict(holes)
    np.testing.assert_allclose(np.loadtxt(tmp_path / "scores.txt"), expected, rtol=1e-5)
    command(
        *(
            "experiment",
            "train.plackett",
            "-a",
            "ListNet",
            "-a",
            "MART",
            "-a",
            "lightgbm.LGBMRanker",
            "--impute",
            "median",
        ),
        *("-m", "AP", "--folds", "3", "--trials", "2"),
        cwd=tmp_path,
    )


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
