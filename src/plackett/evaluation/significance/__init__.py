"""Significance tests for systems on the same queries, corrections, effect sizes and confidence intervals.

One test per file; `PAIRED` lists the tests of two systems by name, `FAMILYWISE` those of all systems at once.

>>> from plackett.evaluation.significance import PAIRED
>>> PAIRED["fisher"]([0.9, 0.8, 0.7], [0.5, 0.7, 0.4]).pvalue
0.25
"""

from __future__ import annotations

from collections.abc import Callable

from plackett.evaluation.significance.bootstrap import bootstrap
from plackett.evaluation.significance.corrections import (
    CORRECTIONS,
    benjamini_hochberg,
    bonferroni,
    correct,
    holm,
)
from plackett.evaluation.significance.effects import (
    EFFECTS,
    WinTieLoss,
    cliffs_delta,
    cohens_dz,
    standardised_mean_difference,
    win_tie_loss,
)
from plackett.evaluation.significance.fisher import fisher
from plackett.evaluation.significance.intervals import INTERVALS, Interval, confidence_interval
from plackett.evaluation.significance.paired import PairedTest
from plackett.evaluation.significance.sign import sign
from plackett.evaluation.significance.student import student
from plackett.evaluation.significance.tukey import TukeyTest, tukey
from plackett.evaluation.significance.wilcoxon import wilcoxon

__all__ = [
    "CORRECTIONS",
    "EFFECTS",
    "FAMILYWISE",
    "INTERVALS",
    "PAIRED",
    "Interval",
    "PairedTest",
    "TukeyTest",
    "WinTieLoss",
    "benjamini_hochberg",
    "bonferroni",
    "bootstrap",
    "cliffs_delta",
    "cohens_dz",
    "confidence_interval",
    "correct",
    "fisher",
    "holm",
    "sign",
    "standardised_mean_difference",
    "student",
    "tukey",
    "wilcoxon",
    "win_tie_loss",
]

#: Tests of two systems: ``test(a, b, *, alternative, random_state)`` with one value per query.
PAIRED: dict[str, Callable[..., PairedTest]] = {
    "fisher": fisher,
    "student": student,
    "t": student,
    "wilcoxon": wilcoxon,
    "sign": sign,
    "bootstrap": bootstrap,
}

#: Tests of all pairs at once, whose p-values need no correction: ``test(values, *, random_state)``, queries × systems.
FAMILYWISE: dict[str, Callable[..., TukeyTest]] = {"tukey": tukey}
