"""How a loaded ranker, or a pipeline that ends in one, gives scores: the one place that calls what was trained."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError
from plackett._base.time_limit import check_time
from plackett.data.dataset import RankingDataset
from plackett.data.reference import typical_rows
from plackett.data.transformer import QueryTransformer
from plackett.scorers.scoring import Scoring

#: Rows that are scored at once, where a score does not depend on the other rows.
_BLOCK = 8_192


class TableScoring:
    """Scores and explanations of tables whose columns are features in training order.

    Parameters
    ----------
    model
        What `plackett.load` returned.
    name
        What errors call it.
    threads
        Threads that a large table may use.

    Examples
    --------
    >>> import plackett as pk
    >>> ranker = pk.rankers.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> TableScoring(ranker, "shop").score(np.float32([[0.0], [1.0]])).argmax()
    np.int64(1)
    """

    def __init__(self, model: Any, name: str, threads: int = 1) -> None:
        self.model, self.name = model, name
        self.steps = [step for _, step in model.steps[:-1]] if hasattr(model, "steps") else []
        self.ranker = model.steps[-1][1] if hasattr(model, "steps") else model
        if not hasattr(self.ranker, "scorer_"):
            raise DataError("has no fitted ranker to serve")
        self.ranker.n_jobs = threads
        first = self.steps[0] if self.steps else self.ranker
        self.n_features = int(getattr(first, "n_features_in_", self.ranker.n_features_in_))
        names = getattr(first, "feature_names_in_", None)
        self.feature_names: list[str] = [] if names is None else [str(n) for n in names]
        if self.feature_names and len(self.feature_names) != self.n_features:
            raise DataError(f"{len(self.feature_names)} feature names for {self.n_features} features")

    # ------------------------------------------------------------------------------------------------ what was stored

    @property
    def card(self) -> dict[str, Any]:
        """The model card."""
        return getattr(self.ranker, "card_", {})

    @property
    def codes(self) -> dict[int, dict[Any, float]]:
        """For each feature that is categorical, the number of each category."""
        return {
            self.feature_names.index(name): {value: float(code) for code, value in enumerate(values)}
            for name, values in getattr(self.ranker, "categories_", {}).items()
            if name in self.feature_names
        }

    @property
    def reference(self) -> np.ndarray | None:
        """What training noted of its documents and scores; see `plackett.data.reference`."""
        return getattr(self.ranker, "reference_", None)

    @property
    def exits(self) -> bool:
        """Whether most documents of a list are scored by some of the trees only."""
        return bool(self.ranker.scorer_.has_exit)

    @property
    def takes_missing(self) -> bool:
        """Whether the ranker accepts missing values."""
        return not self.ranker.strict_part

    @property
    def compares(self) -> bool:
        """Whether the time of a list may go with the square of its length, as the ranker looks at all of it."""
        return bool(self.ranker.scorer_.list_aware) and not self.exits

    # ---------------------------------------------------------------------------------------------------------- score

    def score(self, X: np.ndarray, qid: Any = None) -> np.ndarray:
        """Scores of a float32 table in C order, in its row order; without query ids all rows are one list."""
        if qid is not None and (self.steps or self.ranker.scorer_.list_aware):
            return self.model.predict(X, qid=qid)
        if not self._own_steps:
            return self.model.predict(self.dataset(X))
        X = self._transformed(X)
        if len(X) <= _BLOCK or self.ranker.scorer_.list_aware:
            return self.score_rows(X)
        scores = []
        for begin in range(0, len(X), _BLOCK):
            check_time()
            scores.append(self.score_rows(X[begin : begin + _BLOCK]))
        return np.concatenate(scores)

    @cached_property
    def score_rows(self) -> Callable[[np.ndarray], np.ndarray]:
        """Scores of the rows of one list: what the ranker does, without the setup it repeats in every call."""
        scorer, jobs = self.ranker.scorer_, self.ranker.n_jobs
        return lambda X: scorer.predict(X, np.array([0, len(X)]), jobs)

    @cached_property
    def _own_steps(self) -> bool:
        """Whether all steps are transformers of ours, whose arithmetic can be used without their checks."""
        return all(isinstance(step, QueryTransformer) for step in self.steps)

    def _transformed(self, X: np.ndarray) -> np.ndarray:
        """The rows of one list as the ranker sees them."""
        if not self.steps:
            return X
        offsets = np.array([0, len(X)])
        for step in self.steps:
            X = np.ascontiguousarray(step.apply(X, offsets), np.float32)
        self.check_missing(X)
        return X

    def check_missing(self, X: np.ndarray) -> None:
        """Refuse missing values that the ranker does not accept."""
        if not self.takes_missing and np.isnan(X).any():
            i, j = (int(k) for k in np.argwhere(np.isnan(X))[0])
            raise DataError(
                f"feature {self.named(j)} of document {i} is missing (NaN or null), which {self.name} does not accept"
            )

    def named(self, j: int) -> str:
        """A feature as errors call it: by its name or its number."""
        return repr(self.feature_names[j]) if j < len(self.feature_names) else str(j)

    def without_exit(self) -> TableScoring:
        """The same with all trees for every document."""
        if isinstance(self.model, Scoring):
            model: Any = self.model.with_exit(False)
        else:
            model = copy.copy(self.model)
            model.steps = [*self.model.steps[:-1], (self.model.steps[-1][0], self.ranker.with_exit(False))]
        return TableScoring(model, self.name, self.ranker.n_jobs)

    def relevance(self, scores: np.ndarray) -> np.ndarray | None:
        """Probability of relevance at each score; None if the model was fitted without calibration."""
        calibration = getattr(self.ranker, "calibration_", None)
        return None if calibration is None else calibration.probability(scores)

    def dataset(self, X: np.ndarray) -> RankingDataset:
        """The rows as one query."""
        return RankingDataset(X=X, y=None, offsets=np.array([0, len(X)]), qids=_ONE_QUERY)

    # -------------------------------------------------------------------------------------------------------- explain

    @cached_property
    def _background(self) -> RankingDataset | None:
        """Documents as in training, from its deciles; None if the model file has none."""
        rows = typical_rows(self.reference, int(self.ranker.n_features_in_))
        return None if rows is None else self.dataset(rows)

    @property
    def explained_against(self) -> str:
        """What the contributions of `explain` are relative to: ``"training"`` or ``"list"``."""
        of_training = self._background is not None or self.ranker.scorer_.ignores_background
        return "training" if of_training else "list"

    def explain(self, X: np.ndarray, documents: np.ndarray) -> Any:
        """The explanation of the scores of some documents of a list; for a pipeline, of what its last step sees.

        Contributions are relative to the documents of training, so that a list of one document has some, too.
        """
        from plackett.explanations.explain import explain

        data = self.dataset(X)
        for step in self.steps:
            data = step.transform(data)
        if self.feature_names and data.n_features == len(self.feature_names):
            data = data.replace(feature_names=tuple(self.feature_names))
        return explain(self.ranker, data, documents=documents.tolist(), background=self._background)


_ONE_QUERY = np.zeros(1, np.int64)
