"""Published figures: sums, ranges and relations that the papers state, none of them pasted from the tables."""

from __future__ import annotations

import numpy as np
import pytest

import plackett as pk
from plackett import DataError
from plackett.datasets import make_ranking
from plackett.evaluation.winning_number import winning_number
from plackett.experiments.experiment import experiment
from plackett.experiments.published import compare_with_published, published, published_table, stability_figures
from plackett.experiments.tables.published_figures import stability, tables

LETOR3 = [table for table in tables() if table.version == "LETOR 3.0"]


def best(dataset, measure):
    figures = {method: row[measure] for method, row in published_table(dataset).figures.items()}
    top = max(figures.values())
    return top, {method for method, value in figures.items() if value == top}


def test_letor3_tables():
    """Seven tables of seven methods; the winning numbers of MAP and nDCG@10 are those that the book prints."""
    assert len(LETOR3) == 7 and all(len(table.figures) == 7 for table in LETOR3)
    for measure, printed in (
        ("AP", {"Regression (linear)": 4, "Ranking SVM": 24, "RankBoost": 19, "FRank": 15, "ListNet": 33,
                "AdaRank": 27, "SVM-map": 25}),
        ("nDCG@10", {"Regression (linear)": 4, "Ranking SVM": 22, "RankBoost": 22, "FRank": 18, "ListNet": 33,
                     "AdaRank": 26, "SVM-map": 22}),
    ):  # fmt: skip
        results = {t.dataset: {method: row[measure] for method, row in t.figures.items()} for t in LETOR3}
        assert winning_number(results) == printed
    for table in LETOR3:
        if table.dataset != "ohsumed":  # binary labels
            assert all(row["nDCG@1"] == row["P@1"] for row in table.figures.values())
    assert best("td2003", "AP") == (0.275, {"ListNet"})
    assert best("hp2004", "nDCG@1") == (0.627, {"SVM-map"})
    assert best("ohsumed", "nDCG@10") == (0.443, {"FRank"})


@pytest.mark.parametrize(("dataset", "n"), [("td2003", 50), ("td2004", 75), ("np2003", 150), ("hp2004", 75)])
def test_precision_at_1_is_a_count_of_queries(dataset, n):
    """Folds of equal size: P@1 is a number of queries divided by all of them."""
    for row in published_table(dataset).figures.values():
        assert abs(row["P@1"] * n - round(row["P@1"] * n)) <= 0.0005 * n + 1e-9


def test_letor4_tables():
    for dataset, low, high in (("mq2007", 0.458, 0.466), ("mq2008", 0.470, 0.478)):
        values = [row["AP"] for row in published_table(dataset).figures.values()]
        assert (min(values), max(values), len(values)) == (low, high, 4)
    assert best("mq2008", "AP")[1] == {"RankBoost", "ListNet"}


def test_isorank_tables():
    assert best("ohsumed-letor2", "AP") == (0.457, {"IsoRank"})
    assert best("ohsumed-letor2", "P@1") == (0.708, {"QBRank"})
    assert best("td2003-letor2", "AP")[1] == {"ListNet"} and best("td2004-letor2", "AP") == (0.384, {"RankBoost"})
    for dataset in ("td2003-letor2", "td2004-letor2"):
        assert all(row["nDCG@1"] == row["P@1"] for row in published_table(dataset).figures.values())


def test_stability():
    """Printed maximum and variance; the printed mean 1.23 is 1.22 by the table itself."""
    for name, mean, top, variance, digits in (("RankSVM", 1.221, 4.53, 0.72, 2), ("IRSVM", 0.118, 0.27, 0.003, 3)):
        values = np.array(stability_figures(name))
        assert values.size == 30 and values.max() == top
        assert round(values.mean(), 3) == mean and round(values.var(ddof=1), digits) == variance
    assert set(stability()) == {"RankSVM", "IRSVM"}
    with pytest.raises(DataError, match="RankSVM, IRSVM, but not for 'ListNet'"):
        stability_figures("ListNet")


def test_lookup():
    assert published("OHSUMED", "linear regression").filter(measure="AP")["value"].to_list() == [0.422]
    assert published("ohsumed-letor2", "AdaRank").filter(measure="AP")["method"].to_list() == ["AdaRank.MAP"]
    assert published("ohsumed-letor2", "FRank").filter(measure="P@1")["value"].to_list() == [0.671]
    assert published("mq2008").columns == ["method", "measure", "value", "source"]
    assert "table 11.7" in published("ohsumed")["source"][0]


def test_nothing_published_is_an_error_with_the_nearest_names():
    with pytest.raises(pk.DataError, match="'mq208'; did you mean mq2008"):
        published("mq208")
    with pytest.raises(pk.DataError, match="'AdaRnk' are published for mq2008; did you mean AdaRank"):
        published("mq2008", "AdaRnk")
    data = make_ranking(12, 5, 3, random_state=0)
    unnamed = experiment(data, ["LinearRegression"], ["AP"], folds=3, search=None, n_jobs=1)
    with pytest.raises(pk.DataError, match=r"Name the datasets .* experiment\(\{'mq2008'"):
        compare_with_published(unnamed)
    other = experiment({"mq2008": data}, ["LinearRegression"], ["RR"], folds=3, search=None, n_jobs=1)
    with pytest.raises(pk.DataError, match="any of the rankers LinearRegression by any of the measures RR"):
        compare_with_published(other)


def test_beside_an_experiment():
    """Known by the name of the dataset and the class of the ranker, whatever that is called; others are left out."""
    data = make_ranking(12, 5, 3, random_state=0)
    rankers = {"mine": "ListNet", "ridge": "sklearn.linear_model.Ridge"}
    result = experiment({"mq2008": data, "other": data}, rankers, ["AP", "RR"], folds=3, search=None, n_jobs=1)
    table = compare_with_published(result)
    assert table.select("dataset", "ranker", "measure", "published").rows() == [("mq2008", "mine", "AP", 0.478)]
    measured = np.mean([cell.evaluation.mean["AP"] for cell in result.of("mq2008", "mine")])
    assert table["measured"].item() == measured and table["difference"].item() == measured - 0.478
