"""plackett: learning to rank.

The names below are the public surface. They are imported when first used, so that ``import plackett`` costs nothing;
`plackett._index` maps each to its module and is generated from this file by ``python -m plackett.catalogue``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plackett._errors import DataError, LossError, MeasureError, MissingExtraError, PlackettWarning
from plackett._index import PUBLIC

if TYPE_CHECKING:
    from plackett._load import load as load
    from plackett.aggregation.fusing import aggregate as aggregate
    from plackett.aggregation.fusing import fuse as fuse
    from plackett.aggregation.lists import RankLists as RankLists
    from plackett.data.concat import concat as concat
    from plackett.data.dataset import RankingDataset as RankingDataset
    from plackett.data.files import read as read
    from plackett.data.files import write as write
    from plackett.data.fold_folder import read_folds as read_folds
    from plackett.data.judgements import order_to_grades as order_to_grades
    from plackett.data.judgements import to_order as to_order
    from plackett.data.judgements import to_pairwise as to_pairwise
    from plackett.data.judgements import to_pointwise as to_pointwise
    from plackett.data.kfold import QueryKFold as QueryKFold
    from plackett.data.labelled_pairs import labelled_pairs as labelled_pairs
    from plackett.data.leaks import leaks as leaks
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
    from plackett.evaluation.compare import compare as compare
    from plackett.evaluation.compare_evaluations import compare_evaluations as compare_evaluations
    from plackett.evaluation.compare_runs import compare_runs as compare_runs
    from plackett.evaluation.evaluate import evaluate as evaluate
    from plackett.evaluation.evaluate_run import evaluate_run as evaluate_run
    from plackett.evaluation.friedman import friedman as friedman
    from plackett.evaluation.friedman import mean_ranks as mean_ranks
    from plackett.evaluation.friedman import nemenyi as nemenyi
    from plackett.evaluation.importance import model_importance as model_importance
    from plackett.evaluation.importance import permutation_importance as permutation_importance
    from plackett.evaluation.importance import single_feature_importance as single_feature_importance
    from plackett.evaluation.risk import geo_risk as geo_risk
    from plackett.evaluation.risk import trisk as trisk
    from plackett.evaluation.risk import urisk as urisk
    from plackett.evaluation.risk import zrisk as zrisk
    from plackett.evaluation.winning_number import winning_number as winning_number
    from plackett.experiments.baselines import letor_baselines as letor_baselines
    from plackett.experiments.components import components as components
    from plackett.experiments.cross_validate import cross_validate as cross_validate
    from plackett.experiments.experiment import experiment as experiment
    from plackett.experiments.published import beside_published as beside_published
    from plackett.experiments.published import published as published
    from plackett.experiments.result import Experiment as Experiment
    from plackett.experiments.tracking import log_to_mlflow as log_to_mlflow
    from plackett.explanations.explain import explain as explain
    from plackett.export.quickrank import read_quickrank as read_quickrank
    from plackett.export.ranklib import read_ranklib as read_ranklib
    from plackett.export.ranklib import write_ranklib as write_ranklib
    from plackett.export.ranklib_scores import read_ranklib_scores as read_ranklib_scores
    from plackett.export.ranklib_scores import write_ranklib_scores as write_ranklib_scores
    from plackett.export.svm_rank import read_svm_rank as read_svm_rank
    from plackett.export.svm_rank import write_svm_rank as write_svm_rank
    from plackett.losses.custom import loss as loss
    from plackett.losses.pairwise.isotonic import isotonic_update as isotonic_update
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
    from plackett.models.dropout_trees import DropoutTrees as DropoutTrees
    from plackett.models.linear import Linear as Linear
    from plackett.models.neural import Neural as Neural
    from plackett.models.oblivious import Oblivious as Oblivious
    from plackett.models.search_space import Integer as Integer
    from plackett.models.search_space import Real as Real
    from plackett.models.trees import Trees as Trees
    from plackett.permutation_models.bradley_terry import BradleyTerry as BradleyTerry
    from plackett.permutation_models.mallows import Mallows as Mallows
    from plackett.permutation_models.plackett_luce import PlackettLuce as PlackettLuce
    from plackett.permutation_models.thurstone import Thurstone as Thurstone
    from plackett.rankers.blend import Blend as Blend
    from plackett.rankers.calibration import calibrate as calibrate
    from plackett.rankers.gradient_ranker import GradientRanker as GradientRanker
    from plackett.rankers.listwise.adarank import AdaRank as AdaRank
    from plackett.rankers.listwise.approx_ap import ApproxAP as ApproxAP
    from plackett.rankers.listwise.approx_ndcg import ApproxNDCG as ApproxNDCG
    from plackett.rankers.listwise.arranger import ARRANGER as ARRANGER
    from plackett.rankers.listwise.boltzrank import BoltzRank as BoltzRank
    from plackett.rankers.listwise.combined_components import CombinedComponents as CombinedComponents
    from plackett.rankers.listwise.coordinate_ascent import CoordinateAscent as CoordinateAscent
    from plackett.rankers.listwise.cps_ranker import CPSRanker as CPSRanker
    from plackett.rankers.listwise.decision_theoretic import DecisionTheoretic as DecisionTheoretic
    from plackett.rankers.listwise.listmle import ListMLE as ListMLE
    from plackett.rankers.listwise.listnet import ListNet as ListNet
    from plackett.rankers.listwise.listnet_top_k import ListNetTopK as ListNetTopK
    from plackett.rankers.listwise.measure_search import MeasureSearch as MeasureSearch
    from plackett.rankers.listwise.permurank import PermuRank as PermuRank
    from plackett.rankers.listwise.rankgp import RankGP as RankGP
    from plackett.rankers.listwise.smoothrank import SmoothRank as SmoothRank
    from plackett.rankers.listwise.softrank import SoftRank as SoftRank
    from plackett.rankers.listwise.softrank_gp import SoftRankGP as SoftRankGP
    from plackett.rankers.listwise.structrank import StructRank as StructRank
    from plackett.rankers.listwise.svm_map import SVMMAP as SVMMAP
    from plackett.rankers.listwise.svm_mrr import SVMMRR as SVMMRR
    from plackett.rankers.listwise.svm_ndcg import SVMNDCG as SVMNDCG
    from plackett.rankers.listwise.trotman_gp import TrotmanGP as TrotmanGP
    from plackett.rankers.listwise.xendcg import XENDCG as XENDCG
    from plackett.rankers.pairwise.bartell_ranker import BartellRanker as BartellRanker
    from plackett.rankers.pairwise.frank import FRank as FRank
    from plackett.rankers.pairwise.gbrank import GBRank as GBRank
    from plackett.rankers.pairwise.gp_preference import GPPreference as GPPreference
    from plackett.rankers.pairwise.hedge_ranker import HedgeRanker as HedgeRanker
    from plackett.rankers.pairwise.ir_svm import IRSVM as IRSVM
    from plackett.rankers.pairwise.isorank import IsoRank as IsoRank
    from plackett.rankers.pairwise.kernel_rank_svm import KernelRankSVM as KernelRankSVM
    from plackett.rankers.pairwise.lambdaloss_mart import LambdaLossMART as LambdaLossMART
    from plackett.rankers.pairwise.lambdamart import LambdaMART as LambdaMART
    from plackett.rankers.pairwise.lambdarank import LambdaRank as LambdaRank
    from plackett.rankers.pairwise.linear_discriminant import LinearDiscriminant as LinearDiscriminant
    from plackett.rankers.pairwise.margin_lp import MarginLP as MarginLP
    from plackett.rankers.pairwise.mpboost import MPBoost as MPBoost
    from plackett.rankers.pairwise.mprank import MPRank as MPRank
    from plackett.rankers.pairwise.multiple_hyperplane_ranker import (
        MultipleHyperplaneRanker as MultipleHyperplaneRanker,
    )
    from plackett.rankers.pairwise.nested_ranker import NestedRanker as NestedRanker
    from plackett.rankers.pairwise.oblivious_lambdamart import ObliviousLambdaMART as ObliviousLambdaMART
    from plackett.rankers.pairwise.online_rank_svm import OnlineRankSVM as OnlineRankSVM
    from plackett.rankers.pairwise.owpc import OWPC as OWPC
    from plackett.rankers.pairwise.pair_classifier import PairClassifier as PairClassifier
    from plackett.rankers.pairwise.pair_hinge import PairHinge as PairHinge
    from plackett.rankers.pairwise.pnorm_push import PNormPush as PNormPush
    from plackett.rankers.pairwise.pnorm_push_boost import PNormPushBoost as PNormPushBoost
    from plackett.rankers.pairwise.position_bias_lambdamart import PositionBiasLambdaMART as PositionBiasLambdaMART
    from plackett.rankers.pairwise.qbrank import QBRank as QBRank
    from plackett.rankers.pairwise.ramp_rank import RampRank as RampRank
    from plackett.rankers.pairwise.rank_boost import RankBoost as RankBoost
    from plackett.rankers.pairwise.rank_svm import RankSVM as RankSVM
    from plackett.rankers.pairwise.ranking_perceptron import RankingPerceptron as RankingPerceptron
    from plackett.rankers.pairwise.ranknet import RankNet as RankNet
    from plackett.rankers.pairwise.risk_sensitive_lambdamart import RiskSensitiveLambdaMART as RiskSensitiveLambdaMART
    from plackett.rankers.pairwise.robust_sparse_ranker import RobustSparseRanker as RobustSparseRanker
    from plackett.rankers.pairwise.sigmoid_rank import SigmoidRank as SigmoidRank
    from plackett.rankers.pairwise.smooth_margin_ranking import SmoothMarginRanking as SmoothMarginRanking
    from plackett.rankers.pairwise.sortnet import SortNet as SortNet
    from plackett.rankers.pairwise.stochastic_rank import StochasticRank as StochasticRank
    from plackett.rankers.pairwise.tie_boost import TieBoost as TieBoost
    from plackett.rankers.pairwise.unbiased_lambdamart import UnbiasedLambdaMART as UnbiasedLambdaMART
    from plackett.rankers.pairwise.xdart import XDART as XDART
    from plackett.rankers.pointwise.all_threshold import AllThreshold as AllThreshold
    from plackett.rankers.pointwise.association_rules import AssociationRules as AssociationRules
    from plackett.rankers.pointwise.averaged_prank import AveragedPRank as AveragedPRank
    from plackett.rankers.pointwise.bayes_point_machine import BayesPointMachine as BayesPointMachine
    from plackett.rankers.pointwise.fixed_margin_svm import FixedMarginSVM as FixedMarginSVM
    from plackett.rankers.pointwise.gp_ordinal import GPOrdinal as GPOrdinal
    from plackett.rankers.pointwise.immediate_threshold import ImmediateThreshold as ImmediateThreshold
    from plackett.rankers.pointwise.kernel_svm import KernelSVM as KernelSVM
    from plackett.rankers.pointwise.linear_regression import LinearRegression as LinearRegression
    from plackett.rankers.pointwise.logistic_regression import LogisticRegression as LogisticRegression
    from plackett.rankers.pointwise.mart import MART as MART
    from plackett.rankers.pointwise.mcrank import McRank as McRank
    from plackett.rankers.pointwise.oblivious_mart import ObliviousMART as ObliviousMART
    from plackett.rankers.pointwise.ordinal_tree import OrdinalTree as OrdinalTree
    from plackett.rankers.pointwise.pointwise_svm import PointwiseSVM as PointwiseSVM
    from plackett.rankers.pointwise.polynomial_regression import PolynomialRegression as PolynomialRegression
    from plackett.rankers.pointwise.prank import PRank as PRank
    from plackett.rankers.pointwise.random_forest import RandomForest as RandomForest
    from plackett.rankers.pointwise.rankcosine import RankCosine as RankCosine
    from plackett.rankers.pointwise.staged_logistic import StagedLogistic as StagedLogistic
    from plackett.rankers.pointwise.sum_of_margins_svm import SumOfMarginsSVM as SumOfMarginsSVM
    from plackett.rankers.pointwise.svor_explicit import SVORExplicit as SVORExplicit
    from plackett.rankers.pointwise.svor_implicit import SVORImplicit as SVORImplicit
    from plackett.rankers.pointwise.weighted_regression import WeightedRegression as WeightedRegression
    from plackett.rankers.pruning import prune as prune
    from plackett.rankers.scorer import scorer as scorer

    # packages that give all their items when called
    def aggregation() -> dict[str, Any]: ...
    def losses() -> dict[str, Any]: ...
    def measures() -> dict[str, Any]: ...
    def rankers() -> dict[str, Any]: ...


__version__ = "0.1.0"

#: Sub-packages that are meant to be used by name, such as ``plackett.datasets.load``.
_PACKAGES = (
    "aggregation",
    "data",
    "datasets",
    "experiments",
    "export",
    "losses",
    "measures",
    "models",
    "permutation_models",
    "plot",
    "rankers",
    "studies",
    "testing",
    "theory",
)

__all__ = ["DataError", "LossError", "MeasureError", "MissingExtraError", "PlackettWarning", *_PACKAGES, *PUBLIC]


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
