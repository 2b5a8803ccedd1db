"""plackett: learning to rank.

The names below are the public surface. They are imported when first used, so that ``import plackett`` costs nothing;
`plackett._index` maps each to its module and is generated from this file by ``python -m plackett.catalogue``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plackett._errors import DataError, LossError, MeasureError, PlackettWarning
from plackett._index import PUBLIC

if TYPE_CHECKING:
    # data
    from plackett.data.concat import concat as concat
    from plackett.data.dataset import RankingDataset as RankingDataset
    from plackett.data.files import read as read
    from plackett.data.files import write as write
    from plackett.data.judgements import order_to_grades as order_to_grades
    from plackett.data.judgements import to_order as to_order
    from plackett.data.judgements import to_pairwise as to_pairwise
    from plackett.data.judgements import to_pointwise as to_pointwise
    from plackett.data.kfold import QueryKFold as QueryKFold
    from plackett.data.letor import letor_comment_fields as letor_comment_fields
    from plackett.data.letor import read_letor as read_letor
    from plackett.data.letor import read_letor_chunks as read_letor_chunks
    from plackett.data.letor import write_letor as write_letor
    from plackett.data.normalise import QueryNormalizer as QueryNormalizer
    from plackett.data.permutations import PermutationSet as PermutationSet
    from plackett.data.permutations import best_order as best_order
    from plackett.data.permutations import sample_order as sample_order
    from plackett.data.pooling import pool as pool
    from plackett.data.preferences import Preferences as Preferences
    from plackett.data.profile import profile as profile
    from plackett.data.splits import Fold as Fold
    from plackett.data.splits import letor_folds as letor_folds
    from plackett.data.splits import split_queries as split_queries
    from plackett.data.trec import read_qrels as read_qrels
    from plackett.data.trec import read_run as read_run
    from plackett.data.trec import run_frame as run_frame
    from plackett.data.trec import write_qrels as write_qrels
    from plackett.data.trec import write_run as write_run
    from plackett.data.trec_diversity import read_diversity_qrels as read_diversity_qrels
    from plackett.data.trec_diversity import write_diversity_qrels as write_diversity_qrels
    from plackett.data.trec_join import join_run as join_run

    # experiments
    from plackett.experiments.compare import compare as compare
    from plackett.experiments.compare import compare_runs as compare_runs
    from plackett.experiments.cross_validate import cross_validate as cross_validate
    from plackett.experiments.evaluate import evaluate as evaluate
    from plackett.experiments.evaluate_run import evaluate_run as evaluate_run
    from plackett.experiments.friedman import friedman as friedman
    from plackett.experiments.risk import geo_risk as geo_risk
    from plackett.experiments.risk import trisk as trisk
    from plackett.experiments.risk import urisk as urisk
    from plackett.experiments.winning_number import winning_number as winning_number

    # measures
    from plackett.measures.curves import measure_curve as measure_curve
    from plackett.measures.curves import precision_recall_curve as precision_recall_curve
    from plackett.measures.informativeness import informativeness as informativeness
    from plackett.measures.roc_curve import roc_curve as roc_curve

__version__ = "0.1.0"

#: Sub-packages that are meant to be used by name, such as ``plackett.datasets.load``.
_PACKAGES = ("data", "datasets", "experiments", "losses", "measures", "models", "rankers")

__all__ = ["DataError", "LossError", "MeasureError", "PlackettWarning", *_PACKAGES, *PUBLIC]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"plackett.{name}")
    module = PUBLIC.get(name)
    if module is None:
        raise AttributeError(f"module 'plackett' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
