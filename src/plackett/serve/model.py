"""A loaded model, ready to score what comes over the wire."""

from __future__ import annotations

import copy
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError, PlackettWarning
from plackett._base.time_limit import check_time
from plackett._files.checks import open_regular
from plackett.data.dataset import RankingDataset
from plackett.data.reference import typical_rows
from plackett.data.transformer import QueryTransformer
from plackett.scorers.scoring import Scoring
from plackett.serve.drift import Drift
from plackett.serve.http import Deferred, RefusedError, Response, to_json
from plackett.serve.settings import Settings
from plackett.serve.tables import check_size

#: Numbers of rows that are scored before a model counts as ready: each takes a different path through the kernels.
_WARM_UP = (1, 2, 7, 100, 1_000)
#: Rows that are scored at once, where a score does not depend on the other rows.
_BLOCK = 8_192
#: Longer lists are scored in a thread by a model that looks at the whole list: its time may go with their square.
_LONG_LIST = 500


class ServedModel:
    """A ranker, or a pipeline that ends in one, under a name and a version.

    Parameters
    ----------
    model
        What `plackett.load` returned.
    name, version
        What requests call it.
    threads
        Threads that a large request may use.
    """

    def __init__(
        self, model: Any, name: str, version: str = "1", *, path: Path | None = None, threads: int = 1
    ) -> None:
        self.model, self.name, self.version, self.path = model, name, version, path
        self.steps = [step for _, step in model.steps[:-1]] if hasattr(model, "steps") else []
        self.ranker = model.steps[-1][1] if hasattr(model, "steps") else model
        if not hasattr(self.ranker, "scorer_"):
            raise DataError(f"{path or name}: has no fitted ranker to serve")
        self.ranker.n_jobs = threads
        first = self.steps[0] if self.steps else self.ranker
        self.n_features = int(getattr(first, "n_features_in_", self.ranker.n_features_in_))
        names = getattr(first, "feature_names_in_", None)
        self.feature_names: list[str] = [] if names is None else [str(n) for n in names]
        if self.feature_names and len(self.feature_names) != self.n_features:
            raise DataError(f"{path or name}: {len(self.feature_names)} feature names for {self.n_features} features")
        try:
            to_json(self.card)
        except TypeError as error:
            raise DataError(f"{path or name}: the model card cannot be written as JSON ({error})") from None
        self.feature_set = frozenset(self.feature_names)
        self.codes = self._category_codes()
        self.list_aware = bool(self.ranker.scorer_.list_aware) or bool(self.steps)
        self.loaded_at = time.time()
        self.drift = Drift(getattr(self.ranker, "reference_", None), self.n_features, by_feature=not self.steps)

    @property
    def card(self) -> dict[str, Any]:
        """The model card."""
        return getattr(self.ranker, "card_", {})

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of the model file, which tells versions apart that have the same name."""
        import hashlib

        if self.path is None:
            return ""
        with open_regular(self.path) as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:16]

    def _category_codes(self) -> dict[int, dict[Any, float]]:
        categories = getattr(self.ranker, "categories_", {})
        return {
            self.feature_names.index(name): {value: float(code) for code, value in enumerate(values)}
            for name, values in categories.items()
            if name in self.feature_set
        }

    # ------------------------------------------------------------------------------------------------------ scoring

    def answered(
        self, X: np.ndarray, qid: Any, settings: Settings, answer: Callable[[], Response], *, long: bool = False
    ) -> Response | Deferred:
        """The answer to a request for scores, if its table is not too large; made in a thread if it takes long."""
        check_size(settings, *X.shape)
        if self.exits or not self.ranker.scorer_.list_aware:  # linear in the documents
            return Deferred(answer) if long else answer()
        longest = len(X) if qid is None else int(np.unique(qid, return_counts=True)[1].max(initial=0))
        if longest > settings.max_list:
            raise RefusedError(
                413,
                f"a list of {longest} documents; {self.name} looks at whole lists, of which at most "
                f"{settings.max_list} documents are accepted",
            )
        return Deferred(answer) if long or longest > _LONG_LIST else answer()

    def score(self, X: np.ndarray, qid: Any = None, exit: bool | None = None) -> np.ndarray:
        """Scores of a float32 table in C order, in its row order; without query ids all rows are one list.

        ``exit`` as in `Ranker.predict`: False for all trees, True for a model that must have an early exit.
        """
        if exit is not None and not isinstance(exit, bool):
            raise RefusedError(400, "exit must be true or false")
        if exit is not None and exit is not self.exits:
            if exit:
                raise RefusedError(400, f"exit is true, but {self.name} has no early exit")
            return self._all_trees.score(X, qid)
        if X.shape[1] != self.n_features:
            raise RefusedError(400, f"{X.shape[1]} features, but {self.name} has {self.n_features}")
        if len(X) == 0:
            return np.empty(0)
        self._check_values(X)
        if self.steps and qid is None and self._own_steps:
            scores = self._in_blocks(self._transformed(X))
        elif self.steps or (qid is not None and self.list_aware):
            scores = self._score_lists(X, qid)
        else:
            scores = self._in_blocks(X)
        self.drift.note(X, scores)
        return scores

    def _in_blocks(self, X: np.ndarray) -> np.ndarray:
        if len(X) <= _BLOCK or self.ranker.scorer_.list_aware:
            return self.score_rows(X)
        scores = []
        for begin in range(0, len(X), _BLOCK):
            check_time()
            scores.append(self.score_rows(X[begin : begin + _BLOCK]))
        return np.concatenate(scores)

    @property
    def exits(self) -> bool:
        """Whether most documents of a list are scored by some of the trees only."""
        return bool(self.ranker.scorer_.has_exit)

    @cached_property
    def _all_trees(self) -> ServedModel:
        """The same model without its early exit; it shares the counts of drift."""
        if isinstance(self.model, Scoring):
            model: Any = self.model.with_exit(False)
        else:
            model = copy.copy(self.model)
            model.steps = [*self.model.steps[:-1], (self.model.steps[-1][0], self.ranker.with_exit(False))]
        twin = ServedModel(model, self.name, self.version, path=self.path, threads=self.ranker.n_jobs)
        twin.drift = self.drift
        return twin

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
        offsets = np.array([0, len(X)])
        for step in self.steps:
            X = np.ascontiguousarray(step.apply(X, offsets), np.float32)
        if self.ranker.strict_part and np.isnan(X).any():
            i, j = (int(k) for k in np.argwhere(np.isnan(X))[0])
            raise RefusedError(
                400,
                f"feature {self._named(j)} of document {i} is missing (NaN or null), which {self.name} does not accept",
            )
        return X

    def _score_lists(self, X: np.ndarray, qid: Any) -> np.ndarray:
        try:
            return self.model.predict(self.dataset(X) if qid is None else X, **({} if qid is None else {"qid": qid}))
        except DataError as error:
            raise RefusedError(400, str(error)) from None

    def dataset(self, X: np.ndarray, docids: Any = None) -> RankingDataset:
        """The rows as one query."""
        return RankingDataset(X=X, y=None, offsets=np.array([0, len(X)]), qids=_ONE_QUERY, docids=docids)

    def _check_values(self, X: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):
            if np.isfinite(X.sum(dtype=np.float64)):
                return
        infinite = np.isinf(X)
        if infinite.any():
            i, j = (int(k) for k in np.argwhere(infinite)[0])
            raise RefusedError(400, f"feature {self._named(j)} of document {i} is infinite; give a finite number")
        if self.ranker.strict_part and not self.steps:
            i, j = (int(k) for k in np.argwhere(np.isnan(X))[0])
            raise RefusedError(
                400,
                f"feature {self._named(j)} of document {i} is missing (NaN or null), which {self.name} does not accept",
            )

    def _named(self, j: int) -> str:
        return repr(self.feature_names[j]) if j < len(self.feature_names) else str(j)

    def relevance(self, scores: np.ndarray) -> np.ndarray | None:
        """Probability of relevance at each score; None if the model was fitted without calibration."""
        calibration = getattr(self.ranker, "calibration_", None)
        return None if calibration is None else calibration.probability(scores)

    @cached_property
    def _background(self) -> RankingDataset | None:
        """Documents as in training, from its deciles; None if the model file has none."""
        rows = typical_rows(getattr(self.ranker, "reference_", None), int(self.ranker.n_features_in_))
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
        try:
            return explain(self.ranker, data, documents=documents.tolist(), background=self._background)
        except DataError as error:
            raise RefusedError(400, str(error)) from None

    def warm_up(self) -> None:
        """Score made-up rows of several sizes, so that no request waits for a compiler."""
        rng = np.random.default_rng(0)
        drift, self.drift = self.drift, Drift(None, self.n_features)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PlackettWarning)
                for n in _WARM_UP:
                    X = rng.random((n, self.n_features), np.float32)
                    scores = self.score(X)
                    if self.exits:
                        self.score(X, exit=False)
                    if scores.shape != (n,):
                        raise DataError(
                            f"{self.path or self.name}: gives scores of shape {scores.shape} for {n} documents"
                        )
        except RefusedError as error:
            raise DataError(f"{self.path or self.name}: cannot score: {error.reason}") from None
        finally:
            self.drift = drift


_ONE_QUERY = np.zeros(1, np.int64)
