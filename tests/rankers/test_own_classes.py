"""A class of the user's own is treated as the class of the package that it derives from, wherever its file is."""

from __future__ import annotations

from dataclasses import dataclass

import lightgbm
import numpy as np
import pytest

import plackett as pk
from plackett import DataError, losses
from plackett.experiments.components import components
from plackett.experiments.effort import settled
from plackett.rankers.query_dependent._losses import TopLoss
from plackett.testing.rankers import easy_task
from plackett.theory.risks.associate_losses import as_associate_loss


class Mine(pk.RankSVM):
    """A ranker in a file of its own."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Logistic(losses.Logistic):
    """A loss with the name of the built-in one."""


@dataclass(frozen=True, kw_only=True, repr=False)
class OwnSquare(losses.Square):
    """A pointwise loss."""


def some_unjudged():
    X, y, qid = easy_task(n_queries=12)
    return pk.RankingDataset.from_arrays(X, np.where(qid < 6, y, -1), qid), pk.RankingDataset.from_arrays(X, y, qid)


def test_it_learns_from_pairs_where_its_parent_does():
    data, full = some_unjudged()
    for wrapper in (pk.WeakSupervision, pk.PreferencePropagation):
        mine, theirs = (wrapper(base=base).fit(data).predict(data) for base in (Mine(C=0.1), pk.RankSVM(C=0.1)))
        np.testing.assert_array_equal(mine, theirs)
    settings = {"source": full.replace(y=(full.labels[::-1] > 0).astype(float))}
    mine, theirs = (
        pk.InstanceTransfer(base=base).fit(full, **settings).predict(full) for base in (Mine(C=0.1), pk.RankSVM(C=0.1))
    )
    np.testing.assert_array_equal(mine, theirs)


def test_losses_keep_their_approach():
    _, data = some_unjudged()
    scores = np.linspace(0.0, 1.0, data.n_rows)
    for own, parent in ((Logistic(), losses.Logistic()), (OwnSquare(), losses.Square())):
        assert losses.QueryMean(loss=own)(scores, data) == losses.QueryMean(loss=parent)(scores, data)
        assert TopLoss(loss=own, k=2)(scores, data) == TopLoss(loss=parent, k=2)(scores, data)
        assert as_associate_loss(own).associate == as_associate_loss(parent).associate != "list"


@pytest.mark.parametrize("loss", pk.losses().values(), ids=lambda loss: loss.__name__)
def test_approach_is_the_folder_of_a_built_in_loss(loss):
    folder = loss.__module__.split(".")[2]
    assert loss().approach == ("pairwise" if folder == "query_mean" else folder)


def test_components_name_the_approach_of_the_parent():
    assert components(Mine()).approach == "pairwise"
    assert components(pk.GradientRanker(loss=OwnSquare(), model="linear")).approach == "pointwise"


def test_best_round_of_a_subclass_of_another_library():
    class Booster(lightgbm.LGBMRanker):
        pass

    X, y, qid = easy_task()
    sizes = np.bincount(qid)
    ranker = Booster(n_estimators=40, early_stopping_rounds=3, min_child_samples=1, verbose=-1)
    ranker.fit(X, y.astype(int), group=sizes, eval_set=[(X, y.astype(int))], eval_group=[sizes])
    assert settled(ranker) == {"early_stopping_rounds": None, "n_estimators": ranker.best_iteration_}


def test_a_file_that_could_not_be_read_back_is_not_written(tmp_path):
    _, data = some_unjudged()
    with pytest.raises(DataError, match="a Mine of .*test_own_classes cannot be saved: model files hold the rankers"):
        Mine(C=0.1).fit(data).save(tmp_path / "mine.plackett")
    own_loss = pk.GradientRanker(loss=Logistic(), model="linear").fit(data)
    with pytest.raises(DataError, match="loss=.* cannot be saved: a Logistic is not a plain value"):
        own_loss.save(tmp_path / "loss.plackett")
    assert not list(tmp_path.iterdir())
