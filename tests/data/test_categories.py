"""Features that hold categories, from the table to the scores."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LinearRegression

import plackett as pk
from plackett import DataError, RankingDataset
from plackett._files import storage
from plackett.data.categories import category_codes, recoded

pd = pytest.importorskip("pandas", reason="pandas is not installed")
TREES = {"n_estimators": 8, "num_leaves": 4, "min_child_samples": 2, "n_jobs": 1}


def shop(seed=0, brands=("z", "y", "a"), missing=0.1, n=200):
    """A frame of pandas in which the brand decides, with categories in an order of their own."""
    rng = np.random.default_rng(seed)
    brand = rng.choice(brands, n)
    frame = pd.DataFrame({"qid": [f"q{i // 10}" for i in range(n)], "price": rng.normal(size=n).round(2)})
    frame["label"] = 2 * (brand == brands[-1]) + (frame.price > 0)
    frame["brand"] = pd.Categorical(np.where(rng.random(n) < missing, None, brand), categories=brands)
    return frame


def in_polars(frame, kind):
    brand = pl.Series("brand", frame.brand.astype(object).where(frame.brand.notna(), None).tolist())
    dtype = pl.Enum(list(frame.brand.cat.categories)) if kind == "enum" else pl.Categorical
    columns = {name: frame[name].tolist() for name in ("qid", "price", "label")}
    return pl.DataFrame(columns).with_columns(brand.cast(dtype))


FORMS = {
    "pandas": lambda frame: frame,
    "categorical": lambda frame: in_polars(frame, "categorical"),
    "enum": lambda frame: in_polars(frame, "enum"),
    "arrow": lambda frame: in_polars(frame, "categorical").to_arrow(),
}


@pytest.mark.parametrize("form", FORMS)
def test_fitted_to_a_dataset_as_to_the_frame(form, tmp_path):
    if form == "arrow":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    frame, test = (FORMS[form](shop(seed)) for seed in (0, 1))
    data, new = RankingDataset.from_frame(frame), RankingDataset.from_frame(test)
    columns = ["price", "brand"]
    features, unseen = (part.select(columns) if form == "arrow" else part[columns] for part in (frame, test))
    from_frame = pk.LambdaMART(**TREES).fit(features, data.y, qid=data.qid)
    ranker = pk.LambdaMART(**TREES).fit(data)
    assert ranker.categories_ == from_frame.categories_
    assert ranker.categories_["brand"] == (["z", "y", "a"] if form in ("pandas", "enum") else ["a", "y", "z"])
    assert ranker.scorer_.booster.model_to_string() == from_frame.scorer_.booster.model_to_string()
    np.testing.assert_array_equal(ranker.predict(new), from_frame.predict(unseen))
    ranker.save(tmp_path / "m.plackett")
    np.testing.assert_array_equal(pk.load(tmp_path / "m.plackett").predict(new), ranker.predict(new))


@pytest.mark.parametrize("values", [[3, 1, 2], [True, False], [0.5, 1.5]])
def test_values_that_are_not_text(values, tmp_path):
    frame = shop(brands=values)
    data = RankingDataset.from_frame(frame)
    assert data.categories == {"brand": tuple(values)}
    ranker = pk.LambdaMART(**TREES).fit(data)
    expected = ranker.predict(data)
    np.testing.assert_array_equal(ranker.predict(frame[["price", "brand"]]), expected)
    for name in ("a.plackett", "a.parquet"):
        pk.write(data, tmp_path / name)
        np.testing.assert_array_equal(ranker.predict(pk.read(tmp_path / name)), expected)


@pytest.mark.parametrize("name", ["a.plackett", "a.parquet"])
def test_files_keep_categories(name, tmp_path):
    data = RankingDataset.from_frame(shop())
    pk.write(data, tmp_path / name)
    again = pk.read(tmp_path / name)
    assert again.categories == data.categories == {"brand": ("z", "y", "a")}
    assert again.fingerprint() == data.fingerprint()


def test_separated_text_needs_the_names_of_the_columns(tmp_path):
    data = RankingDataset.from_frame(shop())
    ranker = pk.LambdaMART(**TREES).fit(data)
    pk.write(data, tmp_path / "a.csv")
    with pytest.raises(DataError, match="'brand' is String.* tree rankers, it may hold categories: categories='brand'"):
        pk.read(tmp_path / "a.csv")
    again = pk.read(tmp_path / "a.csv", categories="brand")
    assert again.categories == {"brand": ("a", "y", "z")}
    np.testing.assert_array_equal(ranker.predict(again), ranker.predict(data))


def test_numbers_that_are_declared_as_categories():
    frame = pl.DataFrame({"qid": [1, 1, 1], "label": [0, 1, 2], "zip": [80331, None, 10115]})
    data = RankingDataset.from_frame(frame, categories="zip")
    assert data.categories == {"zip": (10115, 80331)}
    np.testing.assert_array_equal(data.X[:, 0], [1, np.nan, 0])
    back = RankingDataset.from_frame(data.to_polars())
    assert back.categories == {"zip": ("10115", "80331")}
    np.testing.assert_array_equal(back.X, data.X)


def test_nan_is_a_missing_category():
    frame = pl.DataFrame({"qid": [1, 1, 1], "label": [0, 1, 2], "size": [1.5, None, float("nan")]})
    for each in (frame, pd.DataFrame(frame.to_dict(as_series=False))):
        data = RankingDataset.from_frame(each, categories="size")
        assert data.categories == {"size": (1.5,)}
        np.testing.assert_array_equal(data.X[:, 0], [0, np.nan, np.nan])


def test_other_lists_of_values_are_translated():
    """The same brand has another code in another file; a brand that training did not see is a missing value."""
    data = RankingDataset.from_frame(shop())
    ranker = pk.LambdaMART(**TREES).fit(data)
    frame = shop(3)
    other = frame.assign(brand=frame.brand.cat.set_categories(["new", "a", "y", "z"]))
    expected = ranker.predict(RankingDataset.from_frame(frame))
    np.testing.assert_array_equal(ranker.predict(RankingDataset.from_frame(other)), expected)
    np.testing.assert_array_equal(ranker.predict(other[["price", "brand"]]), expected)
    gone = frame.assign(brand=frame.brand.cat.rename_categories({"a": "new"}))
    nothing = frame.assign(brand=frame.brand.cat.remove_categories("a"))
    scores = [ranker.predict(RankingDataset.from_frame(each)) for each in (gone, nothing)]
    np.testing.assert_array_equal(*scores)
    valid = RankingDataset.from_frame(other)
    same = RankingDataset.from_frame(frame)
    watched = [pk.LambdaMART(**TREES).fit(data, eval_set=each).history_ for each in (valid, same)]
    assert watched[0] == watched[1]


def test_concatenated_datasets_share_the_values():
    first, second = shop(0), shop(1, brands=("b", "y", "a")).assign(qid=lambda f: "r" + f.qid)
    parts = [RankingDataset.from_frame(each) for each in (first, second)]
    whole = pk.concat(parts)
    assert whole.categories == {"brand": ("z", "y", "a", "b")}
    column = whole.to_polars()["brand"].to_list()
    expected = [*first.brand, *second.brand]
    assert column == [None if value != value else value for value in expected]
    with pytest.raises(DataError, match="'brand' holds categories in dataset 0, and numbers in dataset 1"):
        pk.concat([parts[0], parts[1].replace(categories=None)])


def test_rankers_of_numbers_refuse_categories():
    data = RankingDataset.from_frame(shop())
    numbers = data.replace(categories=None)
    advice = r"'brand': \w+ takes numbers, not categories; .*drop=\['brand'\].*OrderedTargetEncoder"
    for ranker in (
        pk.ListNet(),
        pk.RankBoost(),
        pk.Blend(members=("LambdaMART", "MART")),
        pk.QueryNormalizer(),
        pk.Imputer(),
    ):
        with pytest.raises(DataError, match=advice):
            ranker.fit(data)
    with pytest.raises(DataError, match=advice):
        pk.LambdaMART(**TREES).fit(numbers).predict(data)
    with pytest.raises(DataError, match=advice):
        pk.LambdaMART(**TREES).fit(numbers, eval_set=data)
    failed = pk.experiment(
        data, {"sklearn": LinearRegression(), "trees": pk.LambdaMART(**TREES)}, ["nDCG"], search=None, n_jobs=1
    )
    assert {failure.ranker for failure in failed.failures} == {"sklearn"}
    assert all("takes numbers, not categories" in failure.error for failure in failed.failures)


def test_encoded_categories_are_numbers_for_every_ranker():
    data, new = (RankingDataset.from_frame(shop(seed)) for seed in (0, 1))
    encoder = pk.OrderedTargetEncoder()
    encoded = encoder.fit_transform(data)
    assert encoded.categories is None
    assert encoded.X[:, 0].tolist() == data.X[:, 0].tolist()
    ranker = pk.ListNet().fit(encoded)
    expected = encoder.transform(new)
    other = new.to_polars().with_columns(pl.col("brand").cast(pl.String).cast(pl.Categorical))
    np.testing.assert_array_equal(encoder.transform(RankingDataset.from_frame(other)).X, expected.X)
    assert ranker.score(expected, None) > 0.8
    unknown = RankingDataset.from_frame(other.with_columns(brand=pl.lit("new").cast(pl.Categorical)))
    assert set(encoder.transform(unknown).X[:, 1].tolist()) == {0.0}  # the prior, not the rate of missing brands


def test_explained_and_exported_like_numbers(tmp_path):
    data = RankingDataset.from_frame(shop())
    ranker = pk.LambdaMART(**TREES).fit(data)
    other = RankingDataset.from_frame(in_polars(shop(), "categorical"))  # other codes
    one, two = (pk.explain(ranker, each, "q3") for each in (data, other))
    np.testing.assert_array_equal(one.contributions, two.contributions)
    pk.write_elasticsearch(ranker, tmp_path / "m.json")
    for each in (data, other):
        assert pk.verify_export(ranker, tmp_path / "m.json", each, to="elasticsearch").holds


def test_auto_ranker_takes_them():
    data = RankingDataset.from_frame(shop())
    auto = pk.AutoRanker(n_trials=1, time_budget=None, candidates=["ListNet", "LambdaMART"], n_folds=2, n_seeds=1).fit(
        data
    )
    assert auto.categories_ == {"brand": ["z", "y", "a"]}
    other = RankingDataset.from_frame(in_polars(shop(), "categorical"))
    np.testing.assert_array_equal(auto.predict(data), auto.predict(other))


@pytest.mark.parametrize(
    ("codes", "categories", "message"),
    [
        ([0, 3], {"b": ["x", "y"]}, "feature 'b', row 1: 3 is not the number of one of its 2 categories"),
        ([0, 0.5], {"b": ["x", "y"]}, "row 1: 0.5 is not"),
        ([0, 1], {"c": ["x", "y"]}, "there is no feature 'c'"),
        ([0, 1], {"b": ["x", "x"]}, "differ as text"),
        ([0, 1], {"b": [1, "1"]}, "differ as text"),
        ([0, 1], {"b": "xy"}, "in a list"),
        ([0, 1], {"b": [None, "x"]}, "text or numbers"),
        ([0, 1], ["b"], "a mapping"),
    ],
)
def test_wrong_categories_are_refused(codes, categories, message):
    with pytest.raises(DataError, match=message):
        RankingDataset.from_arrays(np.array([codes]).T, feature_names=["b"], categories=categories)


def test_sparse_features_hold_no_categories():
    with pytest.raises(DataError, match="sparse features cannot hold categories"):
        RankingDataset.from_arrays(csr_matrix([[1.0]]), feature_names=["b"], categories={"b": ["x", "y"]})


def test_selected_features_keep_their_categories():
    data = RankingDataset.from_frame(shop())
    assert data.replace(X=data.X[:, [1]], feature_names=["brand"]).categories == data.categories
    assert data.replace(X=data.X[:, [0]], feature_names=["price"]).categories is None
    with pytest.raises(TypeError):
        data.categories["brand"] = ()


@pytest.mark.parametrize(
    "text", ["[]", '{"x": ["a"]}', '{"brand": "za"}', '{"brand": [["z"]]}', '{"brand": ["a", "a"]}', "{", "null", "7"]
)
def test_damaged_files_are_refused(text, tmp_path):
    path = tmp_path / "a.plackett"
    pk.write(RankingDataset.from_frame(shop()), path)
    arrays, metadata = storage.read(path, mmap=False)
    assert json.loads(metadata["categories"]) == {"brand": ["z", "y", "a"]}
    storage.write(path, arrays, metadata | {"categories": text})
    with pytest.raises(DataError, match=r"a\.plackett"):
        pk.read(path)


def test_codes_in_a_file_that_do_not_exist_are_missing_values(tmp_path):
    path = tmp_path / "a.plackett"
    data = RankingDataset.from_frame(shop())
    pk.write(data, path)
    arrays, metadata = storage.read(path, mmap=False)
    X = arrays["X"].copy()
    X[:3, 1] = 7, -1, 1e30
    storage.write(path, arrays | {"X": X}, metadata)
    assert pk.read(path).to_polars()["brand"][:3].to_list() == [None] * 3
    assert np.isnan(recoded(X[:3, 1], data.categories["brand"], ["a", "y", "z"])).all()


def test_text_and_numbers_that_are_written_alike_are_the_same_value():
    assert category_codes(pl.Series([1, 2, 3]), ["2", "1"]).tolist()[:2] == [1.0, 0.0]
    assert category_codes(pd.Series(["1", "2", None]), [2, 1]).tolist()[:2] == [1.0, 0.0]
    assert category_codes(pd.Series([], dtype=object), ["a"]).size == 0
