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
    # rankers, and what they are made of
    from plackett._load import load as load
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
    from plackett.experiments.compare_evaluations import compare_evaluations as compare_evaluations
    from plackett.experiments.compare_runs import compare_runs as compare_runs
    from plackett.experiments.cross_validate import cross_validate as cross_validate
    from plackett.experiments.evaluate import evaluate as evaluate
    from plackett.experiments.evaluate_run import evaluate_run as evaluate_run
    from plackett.experiments.friedman import friedman as friedman
    from plackett.experiments.friedman import mean_ranks as mean_ranks
    from plackett.experiments.friedman import nemenyi as nemenyi
    from plackett.experiments.risk import geo_risk as geo_risk
    from plackett.experiments.risk import trisk as trisk
    from plackett.experiments.risk import urisk as urisk
    from plackett.experiments.winning_number import winning_number as winning_number
    from plackett.losses.custom import loss as loss

    # measures
    from plackett.measures.curves import measure_curve as measure_curve
    from plackett.measures.curves import precision_recall_curve as precision_recall_curve
    from plackett.measures.custom import measure as measure
    from plackett.measures.informativeness import informativeness as informativeness
    from plackett.measures.kendall_tau import kendall_tau as kendall_tau
    from plackett.measures.pair_precision import pair_precision as pair_precision
    from plackett.measures.rbo import rbo as rbo
    from plackett.measures.rc import weighted_kendall as weighted_kendall
    from plackett.measures.rc_omega import weighted_kendall_omega as weighted_kendall_omega
    from plackett.measures.roc_curve import roc_curve as roc_curve
    from plackett.measures.spearman import spearman_rho as spearman_rho
    from plackett.measures.tau_ap import tau_ap as tau_ap
    from plackett.models.linear import Linear as Linear
    from plackett.models.neural import Neural as Neural
    from plackett.models.trees import Trees as Trees
    from plackett.rankers.gradient_ranker import GradientRanker as GradientRanker
    from plackett.rankers.listwise.approx_ndcg import ApproxNDCG as ApproxNDCG
    from plackett.rankers.listwise.listmle import ListMLE as ListMLE
    from plackett.rankers.listwise.listnet import ListNet as ListNet
    from plackett.rankers.pairwise.lambdamart import LambdaMART as LambdaMART
    from plackett.rankers.pairwise.lambdarank import LambdaRank as LambdaRank
    from plackett.rankers.pairwise.pair_hinge import PairHinge as PairHinge
    from plackett.rankers.pairwise.ranknet import RankNet as RankNet
    from plackett.rankers.pointwise.linear_regression import LinearRegression as LinearRegression
    from plackett.rankers.pointwise.mart import MART as MART
    from plackett.rankers.pointwise.mcrank import McRank as McRank
    from plackett.rankers.scorer import scorer as scorer

    # packages that give all their items when called
    def losses() -> dict[str, Any]: ...
    def measures() -> dict[str, Any]: ...
    def rankers() -> dict[str, Any]: ...


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
