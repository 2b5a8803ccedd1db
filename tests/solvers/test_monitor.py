"""The monitor keeps the scorer of the best round."""

from __future__ import annotations

import numpy as np
import pytest

from plackett import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.scorers.linear import LinearScorer
from plackett.solvers.monitor import Monitor, SilentMonitor


def data():
    return RankingDataset.from_arrays([[3.0], [2.0], [1.0], [0.0]], [2, 1, 1, 0], qid=[1, 1, 1, 1])


def line(weight):
    return LinearScorer(np.array([[weight]]), np.zeros(1))


@pytest.mark.parametrize(("measure", "best"), [("nDCG", 1), ("ARP", 1)])
def test_the_best_round_is_kept(measure, best):
    """Larger is better for nDCG and smaller for ARP, and the first of equal rounds stays."""
    rounds = [line(0.0), line(1.0), line(2.0), line(-1.0)]
    monitor = Monitor(data(), parse(measure))
    assert [monitor.keep(scorer) for scorer in rounds] == [False] * 4
    assert monitor.best is rounds[best]
    assert monitor.best_round == best
    assert monitor.kept == best + 1


def test_without_validation_data_the_last_round_is_kept():
    for monitor in (Monitor(), SilentMonitor(patience=1)):
        rounds = [line(1.0), line(-1.0)]
        assert [monitor.keep(scorer) for scorer in rounds] == [False, False]
        assert monitor.best is rounds[1]
        assert monitor.kept is None


def test_patience_ends_training():
    monitor = Monitor(data(), parse("nDCG"), patience=2)
    assert [monitor.keep(line(weight)) for weight in (1.0, -1.0, -2.0)] == [False, False, True]
    assert monitor.out_of_patience
    assert monitor.best.weights[0, 0] == 1.0


def test_judge_scores_validation_data_only_where_there_are_some():
    def never(valid):
        raise AssertionError

    assert Monitor().judge(never) == (True, False)
    monitor = Monitor(data(), parse("nDCG"))
    assert monitor.judge(lambda valid: valid.X[:, 0]) == (True, False)
    assert monitor.judge(lambda valid: -valid.X[:, 0]) == (False, False)


def test_worth_is_larger_for_the_better_order():
    good, bad = np.array([3.0, 2.0, 1.0, 0.0]), np.array([0.0, 1.0, 2.0, 3.0])
    for name in ("nDCG", "ARP", "AP"):
        measure = parse(name)
        values = [measure.mean(measure.per_query(Scored(data(), scores))) for scores in (good, bad)]
        assert measure.worth(values[0]) > measure.worth(values[1])
        np.testing.assert_array_equal(measure.worth(np.array(values)), [measure.worth(v) for v in values])
