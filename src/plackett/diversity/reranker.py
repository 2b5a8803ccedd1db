"""Base class of re-rankers: what they take, and how the chosen documents become scores again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, whole_or_none
from plackett._base.errors import DataError
from plackett._kernels.kernel import over_queries
from plackett.data.dataset import RankingDataset
from plackett.diversity.candidates import ScoredCandidates

__all__ = ["Reranker"]

#: How scores become relevance from 0 to 1.
_RELEVANCE = ("minmax", "sum", "none")


@dataclass(frozen=True, kw_only=True)
class Reranker:
    """Base class of re-rankers.

    The ``depth`` best documents of each query by the given scores are the candidates. The method chooses ``k`` of them,
    one after the other; the remaining documents follow in their old order.

    Parameters
    ----------
    k
        Number of documents to choose; None for all candidates.
    depth
        Number of candidates; None for the whole list.
    relevance
        How scores become relevance, over the whole list of a query: ``"minmax"`` (from 0 to 1), ``"sum"`` (shares of
        the sum of the scores above the smallest), or ``"none"`` (as they are).
    """

    name: ClassVar[str]
    #: Whether the method needs aspects, and whether it needs a similarity.
    needs_aspects: ClassVar[bool] = False
    needs_similarity: ClassVar[bool] = False

    k: int | None = 20
    depth: int | None = 100
    relevance: str = "minmax"

    def rerank(
        self,
        data: RankingDataset,
        scores: Any,
        *,
        aspects: Any = None,
        aspect_weight: Any = None,
        similarity: Any = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """New scores, whose order is the diversified one: the first document of m has m, the next m − 1, ….

        Parameters
        ----------
        data
            The dataset; its labels are not used.
        scores
            Scores of any ranker, in the grouped order of the dataset; ties are broken by row order.
        aspects
            How well each document serves each aspect of its query, from 0 to 1, ``(n_rows, T)``; NaN counts as 0. They
            are estimates, such as the scores for suggested queries or the probabilities of a classifier, not the
            judged subtopics that the result is measured by.
        aspect_weight
            Probability of each aspect, ``(n_queries, T)``; None for equal ones.
        similarity
            What makes two documents alike, from 0 to 1: the name of a relation of the dataset, a `Relation`, or vectors
            ``(n_rows, dimensions)``, compared by their cosine (below 0 counts as 0). A pair that is given in one
            direction counts in both. None takes the relation ``"similarity"`` or, if there is none, the features.
        n_jobs
            Number of threads; None uses all cores.
        """
        order = self.order(
            data,
            scores,
            aspects=aspects,
            aspect_weight=aspect_weight,
            similarity=similarity,
            n_jobs=n_jobs,
        )
        out = np.empty(data.n_rows)
        out[order] = np.repeat(data.offsets[1:], data.group) - np.arange(data.n_rows)
        return out

    def order(
        self,
        data: RankingDataset,
        scores: Any,
        *,
        aspects: Any = None,
        aspect_weight: Any = None,
        similarity: Any = None,
        n_jobs: int | None = None,
    ) -> np.ndarray:
        """Rows of the dataset in the diversified order, query by query; parameters as in `rerank`."""
        self._check()
        pool = ScoredCandidates.of(data, scores, self.k, self.depth, self.relevance)
        if self.needs_aspects:
            pool = pool.with_aspects(aspects, aspect_weight)
        elif aspects is not None:
            raise DataError(f"{type(self).__name__} does not use aspects; leave them out, or use IASelect")
        if self.needs_similarity:
            pool = pool.with_similarity(similarity)
        elif similarity is not None:
            raise DataError(f"{type(self).__name__} does not use a similarity; leave it out, or use MMR")
        order = pool.order.copy()
        over_queries(self._kernel(), data.offsets, *self._arguments(pool), order, n_jobs=n_jobs)
        return order

    def _check(self) -> None:
        for name in ("k", "depth"):
            value = getattr(self, name)
            whole_or_none(name, value, least=1)
        choice("relevance", self.relevance, _RELEVANCE)

    def _kernel(self) -> Any:
        """The kernel ``(lo, hi, offsets, *arguments, order)`` that puts the chosen documents first."""
        raise NotImplementedError

    def _arguments(self, pool: ScoredCandidates) -> tuple[Any, ...]:
        """The arguments of the kernel."""
        raise NotImplementedError
