"""The measure by which folds of the training data are judged."""

from __future__ import annotations

import warnings
from typing import Any

from plackett._base.errors import PlackettWarning
from plackett.data.dataset import RankingDataset
from plackett.measures.base import Measure
from plackett.measures.gains import has_gains
from plackett.measures.language import parse


def fold_measure(ranker: Any, data: RankingDataset, parameter: str) -> Measure:
    """The ``eval_measure`` of a ranker, to choose a parameter by cross-validation over its training data.

    Training needs no gains. Where labels are too large for those of the default measure, nobody asked for that measure,
    and its linear gain is used with a warning. A measure other than the default was asked for, and refuses such labels.
    """
    measure = parse(ranker.eval_measure)
    gain = getattr(measure, "gain", None)
    if gain is None or measure != parse(type(ranker).eval_measure) or has_gains(data.labels, gain):
        return measure
    linear = measure(gain="linear")
    warnings.warn(
        f"labels up to {data.labels.max():g} are too large for the gain 2^label − 1 of {measure}: {parameter} is "
        f"chosen by {linear} instead; set eval_measure to choose another measure",
        PlackettWarning,
        stacklevel=2,
    )
    return linear
