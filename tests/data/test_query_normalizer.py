from __future__ import annotations

import pickle
import warnings

import numpy as np
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_matrix
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from plackett import DataError, PlackettWarning, RankingDataset
from plackett.data.query_normalizer import QueryNormalizer
from plackett.data.scaling import METHODS


def naive(x, method):
    """One feature of one query, without NaN."""
    if method == "sum":
        total = np.abs(x).sum()
        return x / total if total else x
    if x.size < 2 or x.min() == x.max():
        return np.zeros_like(x)
    if method == "minmax":
        return (x - x.min()) / (x.max() - x.min())
    if method == "zscore":
        return (x - x.mean()) / x.std(ddof=1)
    return (rankdata(x) - 1) / (x.size - 1)


def table(seed=0, n=120):
    rng = np.random.default_rng(seed)
    X = np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(0, 3, n),
            np.full(n, 0.1),
            rng.lognormal(size=n),
            np.zeros(n),
            rng.normal(size=n),
        ]
    )
    X[rng.random(n) < 0.3, 5] = np.nan
    return X, np.array([f"q{i}" for i in rng.integers(0, 15, n)])


@pytest.mark.parametrize("method", METHODS)
def test_equals_the_plain_formula_in_every_query(method):
    X, qid = table()
    X[qid == "q3", 5] = np.nan
    out = QueryNormalizer(method).fit_transform(X, qid=qid)
    for q in np.unique(qid):
        for j in range(X.shape[1]):
            rows = np.flatnonzero(qid == q)
            known = rows[~np.isnan(X[rows, j])]
            np.testing.assert_allclose(out[known, j], naive(X[known, j], method), atol=1e-14)
            assert np.isnan(out[np.setdiff1d(rows, known), j]).all()


def test_the_query_range_of_scikit_learn():
    X, qid = table()
    out = QueryNormalizer().fit_transform(X, qid=qid)
    for q in np.unique(qid):
        expected = MinMaxScaler().fit_transform(X[qid == q])
        np.testing.assert_allclose(out[qid == q], expected, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_single_document_and_threads(method):
    X = np.array([[3.0, -2.0], [0.0, np.nan]])
    out = QueryNormalizer(method).fit_transform(X, qid=[1, 2])
    expected = [[1.0, -1.0], [0.0, np.nan]] if method == "sum" else [[0.0, 0.0], [0.0, np.nan]]
    np.testing.assert_array_equal(out, expected)
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(50_000, 3)), np.sort(rng.integers(0, 400, 50_000))
    one, four = (QueryNormalizer(method, n_jobs=n).fit_transform(X, qid=qid) for n in (1, 4))
    np.testing.assert_array_equal(one, four)


def test_forms_of_input_agree():
    X, qid = table()
    names = [f"f{j}" for j in range(6)]
    expected = QueryNormalizer().fit_transform(X, qid=qid)
    frame = pl.DataFrame(X, names).insert_column(2, pl.Series("qid", qid))
    for form in (frame, frame.to_pandas()):
        out = QueryNormalizer().fit_transform(form)
        assert type(out) is type(form)
        assert list(out.columns) == list(form.columns)
        assert list(out["qid"]) == list(qid)
        np.testing.assert_array_equal(out[names].to_numpy(), expected)
    pandas_index = frame.to_pandas().set_index(np.arange(120)[::-1])
    assert list(QueryNormalizer().fit_transform(pandas_index).index) == list(pandas_index.index)
    data = RankingDataset.from_arrays(X, np.zeros(120), qid, feature_names=names)
    out = QueryNormalizer().fit_transform(data)
    assert isinstance(out, RankingDataset)
    assert out.feature_names == tuple(names)
    np.testing.assert_allclose(out.to_input_order(out.X), expected, rtol=1e-4, atol=1e-5)
    named = QueryNormalizer().fit(frame.to_pandas().drop(columns="qid"), qid=qid)
    assert named.get_feature_names_out().tolist() == names
    half = QueryNormalizer().fit_transform(X.astype(np.float32), qid=qid)
    assert half.dtype == np.float32


def test_sparse_stays_sparse_or_is_refused():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 7)) * (rng.random((40, 7)) < 0.3)
    qid = rng.integers(0, 5, 40)
    out = QueryNormalizer("sum").fit_transform(csr_matrix(X), qid=qid)
    assert out.format == "csr" and out.nnz == csr_matrix(X).nnz
    np.testing.assert_allclose(out.toarray(), QueryNormalizer("sum").fit_transform(X, qid=qid))
    for method in set(METHODS) - {"sum"}:
        with pytest.raises(DataError, match="X is sparse"):
            QueryNormalizer(method).fit_transform(csr_matrix(X), qid=qid)


def test_errors_and_warnings():
    with pytest.raises(DataError, match="method='max'; give one of 'minmax', 'zscore', 'sum', 'rank'"):
        QueryNormalizer("max").fit(np.zeros((2, 1)), qid=[1, 2])
    with pytest.raises(DataError, match="X has 2 rows, qid 3"):
        QueryNormalizer().fit_transform(np.zeros((2, 1)), qid=[1, 2, 3])
    with pytest.warns(PlackettWarning, match="one query"):
        QueryNormalizer().fit_transform(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="2 features"):
        QueryNormalizer().fit(np.zeros((2, 1)), qid=[1, 2]).transform(np.zeros((2, 2)), qid=[1, 2])


def test_is_a_scikit_learn_transformer():
    fitted = QueryNormalizer("rank", n_jobs=1).fit(np.zeros((3, 2)), qid=[1, 1, 1])
    assert clone(fitted).get_params() == {"method": "rank", "keep": False, "n_jobs": 1}
    X = np.random.default_rng(0).normal(size=(3, 2))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(X, qid=[1, 1, 2]), fitted.transform(X, qid=[1, 1, 2]))


@pytest.mark.filterwarnings("ignore::plackett.PlackettWarning")
@pytest.mark.parametrize("method", ["minmax", "sum"])
def test_check_estimator(method):
    from sklearn.utils.estimator_checks import check_estimator

    subset = "a query is normalised by itself: the rows of a part of it come out differently"
    expected = {"check_methods_subset_invariance": subset}
    results = check_estimator(QueryNormalizer(method, n_jobs=1), expected_failed_checks=expected, on_fail=None)
    failed = {r["check_name"]: str(r["exception"]) for r in results if r["status"] == "failed"}
    assert not failed


class Recorder(BaseEstimator):
    """Last step of a pipeline that keeps what reaches it."""

    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__predict = {"qid": True}  # noqa: RUF012

    def fit(self, X, y, *, qid=None):
        self.X_, self.qid_ = X, qid
        return self

    def predict(self, X, *, qid=None):
        self.seen_, self.seen_qid_ = X, qid
        return np.zeros(len(X))


def test_pipeline_routes_qid_past_the_scalers_of_scikit_learn():
    X, qid = table()
    y = np.zeros(len(X))
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = make_pipeline(StandardScaler(), QueryNormalizer("zscore"), Recorder())
        pipe.fit(X[:80], y[:80], qid=qid[:80])
        pipe.predict(X[80:], qid=qid[80:])
    scaler = StandardScaler().fit(X[:80])
    expected = [
        QueryNormalizer("zscore").fit_transform(scaler.transform(X[p]), qid=qid[p])
        for p in (slice(80), slice(80, None))
    ]
    np.testing.assert_allclose(pipe[-1].X_, expected[0])
    np.testing.assert_allclose(pipe[-1].seen_, expected[1])
    assert list(pipe[-1].seen_qid_) == list(qid[80:])


def test_pipeline_without_routing_takes_the_column():
    X, qid = table()
    frame = pl.DataFrame(X, [f"f{j}" for j in range(6)]).with_columns(qid=pl.Series(qid)).to_pandas()
    pipe = make_pipeline(QueryNormalizer(), Recorder()).set_output(transform="pandas")
    pipe.fit(frame, np.zeros(len(X)))
    assert list(pipe[-1].X_.columns) == list(frame.columns)
    assert list(pipe[-1].X_["qid"]) == list(qid)


@pytest.mark.golden
def test_letor_query_level_norm(data_dir):
    """LETOR 3.0 ships OHSUMED raw (missing values filled) and normalised: one must become the other."""
    from sklearn.datasets import load_svmlight_file

    for part in ("S1", "S2", "S3", "S4", "S5"):
        raw, normed = (
            load_svmlight_file(
                str(data_dir / "LETOR3.0-OHSUMED" / variant / f"{part}.txt"), n_features=45, query_id=True
            )
            for variant in ("Feature-min", "QueryLevelNorm")
        )
        np.testing.assert_array_equal(raw[2], normed[2])
        out = QueryNormalizer().fit_transform(raw[0].toarray(), qid=raw[2])
        np.testing.assert_allclose(out, normed[0].toarray(), rtol=0, atol=1.01e-6)


@pytest.mark.parametrize("method", METHODS)
def test_features_as_large_as_numbers_go(method):
    """The same as for small ones: no difference, sum or square overflows."""
    rng = np.random.default_rng(0)
    small = rng.uniform(-1.7, 1.7, (12, 2))
    small[3, 1] = np.nan
    qid = np.repeat([0, 1, 2], 4)
    expected = QueryNormalizer(method).fit_transform(small, qid=qid)
    result = QueryNormalizer(method).fit_transform(small * 2.0**1023, qid=qid)
    np.testing.assert_allclose(result, expected, rtol=1e-12)
    if method == "sum":
        sparse = QueryNormalizer(method).fit_transform(csr_matrix(small * 2.0**1023), qid=qid)
        np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_keep_appends_the_normalised_features(method):
    X, qid = table()
    both = QueryNormalizer(method, keep=True).fit_transform(X, qid=qid)
    np.testing.assert_array_equal(both[:, :6], X)
    np.testing.assert_array_equal(both[:, 6:], QueryNormalizer(method).fit_transform(X, qid=qid))


def test_keep_names_the_new_columns_in_frames_datasets_and_sparse_tables():
    X, qid = table()
    frame = pl.DataFrame({"a": X[:, 0], "qid": qid, "b": X[:, 1]})
    normalizer = QueryNormalizer("zscore", keep=True).fit(frame)
    assert normalizer.transform(frame).columns == ["a", "qid", "b", "a in list", "b in list"]
    assert normalizer.get_feature_names_out().tolist() == ["a", "qid", "b", "a in list", "b in list"]
    data = RankingDataset.from_arrays(X[:, :2], np.zeros(len(X)), qid, feature_names=["a", "b"])
    assert QueryNormalizer(keep=True).fit_transform(data).feature_names == ("a", "b", "a in list", "b in list")
    sums = QueryNormalizer("sum", keep=True).fit_transform(csr_matrix(X[:, :2]), qid=qid)
    np.testing.assert_array_equal(sums.toarray(), QueryNormalizer("sum", keep=True).fit_transform(X[:, :2], qid=qid))
    with pytest.raises(DataError, match="'a in list' already"):
        QueryNormalizer(keep=True).fit_transform(frame.rename({"b": "a in list"}))


def test_a_pipeline_with_kept_features_is_saved_but_not_exported(tmp_path):
    from plackett import ListNet, export, load, save

    X, qid = table()
    X = np.nan_to_num(X)
    model = make_pipeline(QueryNormalizer("zscore", keep=True), ListNet(alpha=1.0))
    data = RankingDataset.from_arrays(X, X[:, 0] > 0, qid)
    with sklearn.config_context(enable_metadata_routing=True):
        model.fit(X, X[:, 0] > 0, qid=qid)
    save(model, tmp_path / "m.plackett")
    loaded = load(tmp_path / "m.plackett")
    with sklearn.config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(loaded.predict(X, qid=qid), model.predict(X, qid=qid))
    grouped = data.from_input_order(loaded.predict(X, qid=qid))
    np.testing.assert_allclose(loaded.predict(data), grouped, atol=1e-6)  # a dataset rounds features to float32 first
    with pytest.raises(DataError, match="keep=True\\) cannot be exported"):
        export.write_c(loaded, tmp_path / "m.c")


def test_keep_in_frames_with_numbered_or_many_columns():
    """Columns without text as names are replaced, not repeated; many new ones come in one piece."""
    pd = pytest.importorskip("pandas")
    X, qid = np.random.default_rng(0).normal(size=(12, 120)), np.repeat([1, 2, 3], 4)
    frame = pd.DataFrame(X, index=np.zeros(12)).assign(qid=qid)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = QueryNormalizer(keep=True).fit_transform(frame)
    assert list(wide.columns) == [*range(120), "qid", *(f"{j} in list" for j in range(120))]
    np.testing.assert_array_equal(wide.drop(columns="qid"), QueryNormalizer(keep=True).fit_transform(X, qid=qid))
