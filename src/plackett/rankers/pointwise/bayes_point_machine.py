"""The Bayes point machine: the middle of all weights that make no mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.search_space import SearchSpace
from plackett.rankers.pointwise._perceptrons import OrdinalPerceptron

__all__ = ["BayesPointMachine"]


@dataclass(kw_only=True, eq=False, repr=False)
class BayesPointMachine(OrdinalPerceptron):
    r"""Bayes point machine for grades: the centre of mass of the version space, estimated by permuted perceptrons.

    The version space contains all unit vectors (w, b) of weights and thresholds that give every document its grade.
    Points in it are found by perceptrons with thresholds (`PRank`), each of which visits the documents in its own order
    until it makes no mistake. The machine is their mean, each scaled to length 1. The version space is a convex cone,
    so it contains the mean. If the grades are not separable it is empty, and the mean is over the perceptrons after
    ``max_iter`` passes.

    Parameters
    ----------
    n_models
        Number of perceptrons.

    Attributes
    ----------
    thresholds_
        The thresholds.
    mistakes_
        Grades missed in each pass, by all perceptrons; 0 at the end means that all of them are in the version space.
    rank_loss_
        By how many grades, summed over all passes and perceptrons.

    Examples
    --------
    >>> ranker = BayesPointMachine().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> ranker.predict_label([[0.0], [1.0], [2.0]])
    array([0., 1., 2.])

    References
    ----------
    Herbrich, Graepel, Campbell: Bayes point machines. JMLR 2001.
    """

    search_space: ClassVar[SearchSpace] = {"margin": (0.0, 10.0, 100.0, 1000.0)}

    n_models: int = 50

    def _shape(self) -> tuple[int, float]:
        return self.n_models, 1.0

    def _point(self, weights: np.ndarray, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        length = np.sqrt((weights**2).sum(axis=1) + (thresholds**2).sum(axis=1))[:, None]
        length[length == 0.0] = 1.0
        return (weights / length).mean(axis=0), (thresholds / length).mean(axis=0)
