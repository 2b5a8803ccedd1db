"""Base of the query-likelihood models."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from plackett.text.retrieval.base import TermModel
from plackett.text.retrieval.matches import Matches


class LanguageModel(TermModel):
    r"""Query likelihood: :math:`\log p(q \mid d) = \sum_{t \in q} \mathrm{qtf} \cdot \log p(t \mid d)`.

    Smoothing gives terms that the document lacks a probability. Terms that the collection lacks are left out.
    """

    absent: ClassVar[bool] = True
    #: Scores are log-probabilities.
    log_probability: ClassVar[bool] = True

    def _constants(self, matches: Matches) -> tuple[np.ndarray, ...]:
        return matches.weights, background(matches)


def background(matches: Matches) -> np.ndarray:
    """Probability of each query term in the collection."""
    return matches.collection_frequency / max(matches.collection.total_length, 1)
