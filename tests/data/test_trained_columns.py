"""Frames: columns put in order by name, and columns of categories for tree rankers."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

import plackett as pk
from plackett import DataError, LossError
from plackett.rankers.packing import pack
from plackett.scorers.model import ScoringModel

SMALL = {"n_estimators": 8, "num_leaves": 5, "min_child_samples": 2, "n_jobs": 1}
BRANDS = ["acme", "globex", "initech", "umbrella"]


@pytest.fixture(scope="module")
def shop():
    """Products whose grade depends on the brand, not in the order of its name."""
    rng = np.random.default_rng(0)
    n = 400
    code = rng.integers(0, 4, n)
    price = rng.normal(size=n).astype(np.float32)
    y = np.where(np.isin(code, [0, 2]), 2.0, 0.0) + (price > 0)
    frame = pd.DataFrame({"price": price, "brand": pd.Categorical.from_codes(code, BRANDS), "size": rng.normal(size=n)})
    return frame.assign(qid=[f"q{i // 10}" for i in range(n)]), y, code


def test_categories_are_codes_that_are_no_amounts(shop):
    frame, y, code = shop
    ranker = pk.LambdaMART(**SMALL).fit(frame, y)
    assert ranker.categories_ == {"brand": BRANDS}
    numbers = frame.assign(brand=code)
    for features in ((1,), ("brand",)):
        by_hand = pk.LambdaMART(**SMALL, categorical_features=features).fit(numbers, y)
        np.testing.assert_array_equal(by_hand.predict(numbers), ranker.predict(frame))
    amounts = pk.LambdaMART(**SMALL).fit(numbers, y)
    assert not np.array_equal(amounts.predict(numbers), ranker.predict(frame))
    splits = ranker.booster_.trees_to_dataframe()
    assert (splits.decision_type == "==").any()


@pytest.mark.parametrize("make", [pk.LambdaMART, pk.MART])
def test_polars_text_and_other_orders_of_categories_mean_the_same(shop, make):
    frame, y, _ = shop
    ranker = make(**SMALL).fit(frame, y)
    expected = ranker.predict(frame)
    turned = frame.assign(brand=frame["brand"].cat.set_categories(BRANDS[::-1]))
    text = frame.assign(brand=frame["brand"].astype(str))
    table = pl.DataFrame({name: text[name].to_list() for name in text})
    for other in (
        turned,
        text,
        table,
        table.with_columns(pl.col("brand").cast(pl.Categorical)),
        table.with_columns(pl.col("brand").cast(pl.Enum(BRANDS[::-1]))),
    ):
        np.testing.assert_array_equal(ranker.predict(other), expected)
    for kind in (pl.Categorical, pl.Enum(BRANDS)):
        from_polars = make(**SMALL).fit(table.with_columns(pl.col("brand").cast(kind)), y)
        np.testing.assert_array_equal(from_polars.predict(frame), expected)


def test_text_is_refused_with_what_trees_could_do_with_it(shop):
    frame, y, _ = shop
    with pytest.raises(pk.DataError, match=r"'brand' .*holds no number; for tree rankers, make it a column of categ"):
        pk.LambdaMART(**SMALL).fit(frame.assign(brand=frame["brand"].astype(str)), y)


def test_unknown_categories_are_missing_and_files_keep_them(shop, tmp_path):
    frame, y, _ = shop
    ranker = pk.LambdaMART(**SMALL).fit(frame, y)
    unknown = frame.assign(brand="no such brand")
    missing = frame.assign(brand=pd.Categorical([None] * len(frame), categories=BRANDS))
    np.testing.assert_array_equal(ranker.predict(unknown), ranker.predict(missing))
    ranker.save(tmp_path / "m.plackett")
    loaded = pk.load(tmp_path / "m.plackett")
    assert loaded.categories_ == ranker.categories_
    np.testing.assert_array_equal(loaded.predict(frame), ranker.predict(frame))
    refitted = loaded.fit(frame[["price", "size", "qid"]], y)
    assert not hasattr(refitted, "categories_")


def test_numbers_as_categories_and_models_by_name(shop):
    frame, y, code = shop
    frame = frame.assign(brand=pd.Categorical(code * 10))
    ranker = pk.GradientRanker(loss="Logistic", model=pk.Trees(**SMALL)).fit(frame, y)
    assert ranker.categories_ == {"brand": [0, 10, 20, 30]}
    assert ranker.score(frame, y) > 0.95
    assert (ranker.booster_.trees_to_dataframe().decision_type == "==").any()


def test_validation_data_and_scores_use_the_same_codes(shop):
    frame, y, _ = shop
    part = frame.iloc[::-1][["size", "qid", "brand", "price"]]
    part = part.assign(brand=part["brand"].astype(str))
    ranker = pk.LambdaMART(**SMALL).fit(frame, y, eval_set=(part, y[::-1]))
    assert ranker.best_score_["valid_0"]["nDCG@10"] == pytest.approx(ranker.score(frame, y), rel=1e-12)
    assert pk.scorer("nDCG@10")(ranker, frame, y) == pytest.approx(ranker.score(frame, y), rel=1e-12)
    with pytest.raises(DataError, match="eval_set lacks the column 'size'"):
        pk.LambdaMART(**SMALL).fit(frame, y, eval_set=(part.drop(columns="size"), y[::-1]))


def test_refusals(shop):
    frame, y, _ = shop
    with pytest.raises(DataError, match=r"column 'brand' .* only tree rankers"):
        pk.ListNet().fit(frame, y)
    with pytest.raises(DataError, match="no feature 'brnd'"):
        pk.LambdaMART(**SMALL, categorical_features=("brnd",)).fit(frame, y)
    dates = frame.assign(brand=pd.Categorical(pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(400), "D")))
    with pytest.raises(DataError, match=r"categories of column 'brand' are of type Timestamp"):
        pk.LambdaMART(**SMALL).fit(dates, y)
    ranker = pk.LambdaMART(**SMALL).fit(frame, y)
    with pytest.raises(DataError, match=r"X has the column 'title', which LambdaMART was not trained on"):
        ranker.predict(frame.assign(title="text"))
    with pytest.raises(DataError, match=r"X lacks the columns 'price', 'size'$"):
        ranker.predict(frame[["brand", "qid"]])
    # a fit that fails leaves what was learned
    expected = ranker.predict(frame)
    with pytest.raises(LossError):
        ranker.set_params(boosting="no such").fit(frame.assign(brand=pd.Categorical(["x"] * 400)), y)
    np.testing.assert_array_equal(ranker.predict(frame), expected)


def test_damaged_categories_are_refused(shop):
    frame, y, _ = shop
    header, arrays = pack(pk.LambdaMART(**SMALL).fit(frame, y))
    for bad in ({"nobody": ["a"]}, {"brand": "abc"}, {"brand": [["a"]]}, {"brand": ["a", "a"]}):
        damaged = json.loads(json.dumps(header))
        damaged["fitted"]["categories_"] = bad
        with pytest.raises((DataError, TypeError)):
            ScoringModel(damaged, dict(arrays))


def test_datasets_with_names_are_put_in_order(shop):
    frame, y, _ = shop
    data = pk.RankingDataset.from_arrays(
        frame[["price", "size"]].to_numpy(), y, frame["qid"].to_numpy(), feature_names=["price", "size"]
    )
    turned = pk.RankingDataset.from_arrays(
        frame[["size", "price"]].to_numpy(), y, frame["qid"].to_numpy(), feature_names=["size", "price"]
    )
    ranker = pk.ListNet().fit(data)
    np.testing.assert_array_equal(ranker.predict(turned), ranker.predict(data))
    assert ranker.score(turned) == ranker.score(data)
    pruned = pk.prune(pk.LambdaMART(**SMALL).fit(data), turned, 2)
    np.testing.assert_array_equal(pruned.predict(turned), pruned.predict(data))


def test_columns_to_leave_out_are_named():
    """The column of labels, say, of the frame that the ranker was trained on."""
    frame = pk.datasets.make_ranking(10, 5, 3, random_state=0).to_polars()
    ranker = pk.ListNet(max_iter=2).fit(frame.drop("label"), frame["label"])
    with pytest.raises(DataError, match="^X has the column 'label', which ListNet was not trained on; leave it out$"):
        ranker.predict(frame)
    with pytest.raises(DataError, match=r"instead of X \(of a frame: pk\.RankingDataset\.from_frame\(X\)\)"):
        pk.ListNet().fit(frame)
