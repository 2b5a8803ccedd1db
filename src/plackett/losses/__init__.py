"""Losses, one per file. ``plackett.losses()`` gives them all by name.

>>> from plackett.losses import Logistic
>>> Logistic(margin=1.0)
Logistic(margin=1.0)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plackett._lazy import open_package

if TYPE_CHECKING:
    from plackett.losses.base import Loss as Loss
    from plackett.losses.listwise.approx_ap import ApproxAPLoss as ApproxAPLoss
    from plackett.losses.listwise.approx_err import ApproxERRLoss as ApproxERRLoss
    from plackett.losses.listwise.approx_err import ApproxRRLoss as ApproxRRLoss
    from plackett.losses.listwise.approx_ndcg import ApproxNDCGLoss as ApproxNDCGLoss
    from plackett.losses.listwise.boltzrank import BoltzRankLoss as BoltzRankLoss
    from plackett.losses.listwise.listmle import ListMLELoss as ListMLELoss
    from plackett.losses.listwise.listmle_gamma import ListMLEGammaLoss as ListMLEGammaLoss
    from plackett.losses.listwise.listmle_set import ListMLEBestLoss as ListMLEBestLoss
    from plackett.losses.listwise.listmle_set import ListMLESetLoss as ListMLESetLoss
    from plackett.losses.listwise.listnet import ListNetLoss as ListNetLoss
    from plackett.losses.listwise.listnet_top_k import ListNetTopKLoss as ListNetTopKLoss
    from plackett.losses.listwise.plackett_luce_policy import PlackettLucePolicy as PlackettLucePolicy
    from plackett.losses.listwise.query_softmax import QuerySoftmaxLoss as QuerySoftmaxLoss
    from plackett.losses.listwise.query_square import QuerySquare as QuerySquare
    from plackett.losses.listwise.smoothrank import SmoothRankLoss as SmoothRankLoss
    from plackett.losses.listwise.soft_ap import SoftAPLoss as SoftAPLoss
    from plackett.losses.listwise.softrank import SoftNDCGLoss as SoftNDCGLoss
    from plackett.losses.listwise.softrank import SoftPCLoss as SoftPCLoss
    from plackett.losses.listwise.stochastic_smoothing import StochasticSmoothing as StochasticSmoothing
    from plackett.losses.listwise.structrank import StructRankLoss as StructRankLoss
    from plackett.losses.listwise.xendcg import XENDCGLoss as XENDCGLoss
    from plackett.losses.pairwise.exponential import Exponential as Exponential
    from plackett.losses.pairwise.fidelity import Fidelity as Fidelity
    from plackett.losses.pairwise.hinge import Hinge as Hinge
    from plackett.losses.pairwise.hinge_magnitude import HingeMagnitude as HingeMagnitude
    from plackett.losses.pairwise.isotonic import Isotonic as Isotonic
    from plackett.losses.pairwise.lambda_loss import LambdaLoss as LambdaLoss
    from plackett.losses.pairwise.lambdas import Lambda as Lambda
    from plackett.losses.pairwise.logistic import Logistic as Logistic
    from plackett.losses.pairwise.magnitude_preserving import MagnitudePreserving as MagnitudePreserving
    from plackett.losses.pairwise.owa import OWA as OWA
    from plackett.losses.pairwise.pair_svr import PairSVR as PairSVR
    from plackett.losses.pairwise.pnorm_push import PNormPushLoss as PNormPushLoss
    from plackett.losses.pairwise.quadratic_bound import QuadraticBound as QuadraticBound
    from plackett.losses.pairwise.ramp import Ramp as Ramp
    from plackett.losses.pairwise.rao_kupper import RaoKupper as RaoKupper
    from plackett.losses.pairwise.sigmoid import Sigmoid as Sigmoid
    from plackett.losses.pairwise.squared_hinge import SquaredHinge as SquaredHinge
    from plackett.losses.pairwise.thurstone_mosteller import ThurstoneMosteller as ThurstoneMosteller
    from plackett.losses.pairwise.unbiased_lambda import UnbiasedLambda as UnbiasedLambda
    from plackett.losses.pairwise.yetirank import YetiRankLoss as YetiRankLoss
    from plackett.losses.pointwise.all_threshold import AllThresholdLoss as AllThresholdLoss
    from plackett.losses.pointwise.binary_hinge import BinaryHinge as BinaryHinge
    from plackett.losses.pointwise.binary_logistic import BinaryLogistic as BinaryLogistic
    from plackett.losses.pointwise.cosine import Cosine as Cosine
    from plackett.losses.pointwise.cumulative import Cumulative as Cumulative
    from plackett.losses.pointwise.immediate_threshold import ImmediateThresholdLoss as ImmediateThresholdLoss
    from plackett.losses.pointwise.softmax import Softmax as Softmax
    from plackett.losses.pointwise.square import Square as Square
    from plackett.losses.pointwise.subset_square import SubsetSquare as SubsetSquare
    from plackett.losses.pointwise.weighted_square import WeightedSquare as WeightedSquare
    from plackett.losses.query_mean import QueryMean as QueryMean

open_package(__name__, "loss", {"Loss": "base"}, lambda item, cls: cls)
