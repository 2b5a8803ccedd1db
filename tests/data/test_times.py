"""Times of queries: from the table to a split by time."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pytest

import plackett as pk
from plackett import DataError, RankingDataset
from plackett.data.times import duration, times

DAY = 86_400.0
UTC = dt.UTC
DATES = [dt.date(1970, 1, 3), dt.date(1970, 1, 1), dt.date(1970, 1, 2)]
FORMS = {
    "dates": DATES,
    "datetimes": [dt.datetime(d.year, d.month, d.day) for d in DATES],
    "with zone": [dt.datetime(d.year, d.month, d.day, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))) for d in DATES],
    "text": [str(d) for d in DATES],
    "text with time": [f"{d}T00:00:00" for d in DATES],
    "text with fractions": [f"{d} 00:00:00.000" for d in DATES],
    "text in minutes": [f"{d} 00:00" for d in DATES],
    "text in UTC": [f" {d} 00:00:00Z" for d in DATES],
    "seconds": [2 * DAY, 0, DAY],
    "seconds in text": ["172800", "0", "86400.0"],
    "numpy": np.array(DATES, "datetime64[D]"),
    "numpy hours": np.array(DATES, "datetime64[h]"),
}


@pytest.mark.parametrize("given", FORMS.values(), ids=FORMS)
def test_dates_are_seconds_since_1970(given):
    assert times(given, "cutoffs").tolist() == [2 * DAY, 0.0, DAY]
    frame = {"qid": ["a", "b", "c"], "label": [1, 0, 1], "x": [1, 2, 3]}
    frame["asked"] = given.astype("datetime64[ms]") if isinstance(given, np.ndarray) else given
    assert RankingDataset.from_frame(frame, time="asked").query_time.tolist() == [2 * DAY, 0.0, DAY]


def test_pandas():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    for zone, asked in ((None, "1970-01-02"), ("Europe/Berlin", "1970-01-02 01:00")):
        frame = pd.DataFrame({"qid": [1], "label": [0], "x": [1.0], "asked": pd.to_datetime([asked]).tz_localize(zone)})
        assert RankingDataset.from_frame(frame, time="asked").query_time.tolist() == [DAY]


def test_the_earliest_row_is_the_time_of_the_query():
    frame = pl.DataFrame({"qid": [1, 2, 1], "label": [0, 1, 2], "time": [5.0, 1.0, 3.0], "x": [1, 2, 3]})
    data = RankingDataset.from_frame(frame, time="time")
    assert data.query_time.tolist() == [3.0, 1.0]
    assert data.feature_names == ("x",)
    assert RankingDataset.from_frame(data.to_polars()).query_time.tolist() == [3.0, 1.0]
    assert RankingDataset.from_frame(frame).feature_names == ("time", "x")  # a number, unless it is said


@pytest.mark.parametrize("values", [DATES[:2], FORMS["datetimes"][:2], [dt.time(1)] * 2, [dt.timedelta(1)] * 2])
def test_a_date_is_never_a_number_in_silence(values):
    frame = pl.DataFrame({"qid": [1, 1], "label": [0, 1], "x": [1, 2], "asked": values})
    with pytest.raises(DataError, match=r"'asked' is \w+.*drop=\['asked'\], or say that it is the time with time='ask"):
        RankingDataset.from_frame(frame)
    assert RankingDataset.from_frame(frame, drop_text=True).feature_names == ("x",)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([None, DATES[0]], "row 0 .*: the time is missing"),
        ([1.0, float("nan")], "row 1 .*: the time is missing"),
        (["2024-05-31", "last week"], "row 1 .*: 'last week' is not a time; write 2024-05-31 or"),
        (["2024-05-31", "2024-13-01"], "'2024-13-01' is not a time"),
        ([dt.time(1)] * 2, "'asked' is Time; a time is a date"),
        ([True, False], "'asked' is Boolean"),
        ([[1], [2]], "'asked' is List"),
    ],
)
def test_bad_times_are_refused(values, message):
    frame = pl.DataFrame({"qid": [1, 1], "label": [0, 1], "x": [1, 2], "asked": values})
    with pytest.raises(DataError, match=message):
        RankingDataset.from_frame(frame, time="asked")


@pytest.mark.parametrize("values", [[1, 2], [1, 2, np.inf], [["a"]] * 3, 7, [1, "x", 2], [None] * 3])
def test_bad_times_of_arrays_are_refused(values):
    data = pk.datasets.make_ranking(n_queries=3, random_state=0)
    for give in (
        lambda: data.replace(query_time=values),
        lambda: pk.split_by_time(data, time=values),
        lambda: RankingDataset.from_arrays(data.X, data.y, data.qid, query_time=values),
    ):
        with pytest.raises((DataError, TypeError)) as error:
            give()
        assert isinstance(error.value, DataError) or values == 7


@pytest.mark.parametrize("name", ["a.plackett", "a.parquet", "a.csv"])
def test_files_keep_times(name, tmp_path):
    data = pk.datasets.make_ranking(n_queries=5, random_state=0).replace(query_time=[5, 4, 3, 2.5, 1])
    pk.write(data, tmp_path / name)
    again = pk.read(tmp_path / name)
    assert again.query_time.tolist() == [5, 4, 3, 2.5, 1]
    assert again.n_features == data.n_features


def dated(n=20):
    data = pk.datasets.make_ranking(n_queries=n, random_state=0)
    when = np.random.default_rng(0).permutation(n) * DAY
    return data.replace(query_time=when)


def test_the_past_trains_and_the_future_tests():
    data = dated()
    train, valid, test = parts = pk.split_by_time(data)
    assert [part.n_queries for part in parts] == [12, 4, 4]
    assert train.query_time.max() < valid.query_time.min()
    assert valid.query_time.max() < test.query_time.min()
    assert set().union(*(part.qids.tolist() for part in parts)) == set(data.qids.tolist())


def test_cutoffs_begin_a_part():
    early, late = pk.split_by_time(dated(), cutoffs=["1970-01-06"])
    assert sorted(early.query_time / DAY) == [0, 1, 2, 3, 4]
    assert late.query_time.min() == 5 * DAY
    for cutoffs in (5 * DAY, [np.datetime64("1970-01-06")], dt.date(1970, 1, 6), "1970-01-06"):
        assert pk.split_by_time(dated(), cutoffs=cutoffs)[0].qids.tolist() == early.qids.tolist()


@pytest.mark.parametrize("embargo", [2 * DAY, dt.timedelta(days=2), np.timedelta64(2, "D")])
def test_the_embargo_leaves_a_gap(embargo):
    whole, gap = (pk.split_by_time(dated(), embargo=length) for length in (0, embargo))
    for before, after in zip(whole[:-1], gap[:-1], strict=True):
        assert sorted(after.query_time / DAY) == sorted(before.query_time / DAY)[:-2]
    assert gap[-1].qids.tolist() == whole[-1].qids.tolist()


def test_rows_and_their_times():
    """A query is not cut: its earliest row decides."""
    qid, when = ["a", "b", "a", "c"], [9, 5, 1, 7]
    parts = pk.split_by_time(qid, cutoffs=[5, 7], time=when)
    assert [part.tolist() for part in parts] == [[0, 2], [1], [3]]
    data = RankingDataset.from_arrays(None, [1, 0, 1, 0], qid)
    of_rows = pk.split_by_time(data, cutoffs=[5, 7], time=np.array(when)[[0, 2, 1, 3]])
    of_queries = pk.split_by_time(data, cutoffs=[5, 7], time=[1, 5, 7])
    assert [p.qids.tolist() for p in of_rows] == [p.qids.tolist() for p in of_queries] == [["a"], ["b"], ["c"]]


def test_equal_times_stay_together():
    data = dated(10).replace(query_time=[0, 0, 0, 0, 0, 1, 1, 1, 2, 2])
    first, second = pk.split_by_time(data, (0.3, 0.7), cutoffs=[1])
    assert (first.n_queries, second.n_queries) == (5, 5)
    with pytest.raises(DataError, match="part 1 of 3 has no queries"):
        pk.split_by_time(data, (0.3, 0.3, 0.4))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": (0.5, 0.6)}, "add up to 1"),
        ({"sizes": 0.7}, "such as"),
        ({"cutoffs": [5.0, 2.0]}, "cutoffs must ascend"),
        ({"cutoffs": []}, "two parts or more"),
        ({"sizes": (1.0,)}, "two parts or more"),
        ({"cutoffs": ["soon"]}, "'soon' is not a time"),
        ({"cutoffs": [1e12]}, "part 2 of 2 has no queries: the times are from 0 to 1641600"),
        ({"embargo": 100 * DAY}, "part 1 of 3 has no queries.*embargo is 8640000"),
        ({"embargo": -1.0}, "embargo=-1.0; give a timedelta"),
        ({"embargo": "7 days"}, "embargo='7 days'"),
        ({"time": [1, 2]}, "time has 2 entries for 20 queries"),
    ],
)
def test_impossible_splits_are_refused(options, message):
    with pytest.raises(DataError, match=message):
        pk.split_by_time(dated(), **options)


def test_data_without_times_are_refused():
    with pytest.raises(DataError, match="no queries to split"):
        pk.split_by_time([], time=[])
    with pytest.raises(DataError, match="the data have no times: give time=…, or name the column"):
        pk.split_by_time(dated().replace(query_time=None))
    with pytest.raises(DataError, match="the data have no times: give time=…$"):
        pk.split_by_time([1, 2, 3])


def test_experiments_take_the_split():
    data = dated(30)
    both = [
        pk.experiment(given, ["LinearRegression"], ["nDCG@10"], folds=folds, search=None, n_jobs=1)
        for given, folds in ((data, "time"), (pk.split_by_time(data), 5))
    ]
    folds = [result.folds["data"][1] for result in both]
    assert [fold.test.qids.tolist() for fold in folds] == [folds[0].test.qids.tolist()] * 2
    assert folds[0].train.query_time.max() < folds[0].test.query_time.min()
    with pytest.raises((DataError, TypeError), match="a number of parts, 'time', or a splitter"):
        pk.experiment(data, ["LinearRegression"], ["nDCG@10"], folds="times", search=None)


def test_lengths_of_time():
    assert duration(dt.timedelta(hours=1), "embargo") == 3600.0
    for wrong in (True, "1", None, np.nan, np.inf, -1):
        with pytest.raises(DataError, match="embargo="):
            duration(wrong, "embargo")
