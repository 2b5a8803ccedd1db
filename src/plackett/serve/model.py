"""A model under a name and a version: what it takes, its limits, its drift."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.cached import cached_property
from plackett._base.errors import DataError, PlackettWarning
from plackett._files.checks import open_regular
from plackett.serve.drift import Drift
from plackett.serve.http import Deferred, RefusedError, Response, to_json
from plackett.serve.scoring import TableScoring
from plackett.serve.settings import Settings

#: Numbers of rows that are scored before a model counts as ready: each takes a different path through the kernels.
_WARM_UP = (1, 2, 7, 100, 1_000)
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
    path
        The model file, if it is from one.
    threads
        Threads that a large request may use.
    """

    def __init__(
        self, model: Any, name: str, version: str = "1", *, path: Path | None = None, threads: int = 1
    ) -> None:
        self.name, self.version, self.path = name, version, path
        try:
            self.scoring = TableScoring(model, name, threads)
            to_json(self.card)
        except DataError as error:
            raise self._unfit(str(error)) from None
        except TypeError as error:
            raise self._unfit(f"the model card cannot be written as JSON ({error})") from None
        self.n_features, self.feature_names = self.scoring.n_features, self.scoring.feature_names
        self.feature_set = frozenset(self.feature_names)
        self.codes = self.scoring.codes
        self.loaded_at = time.time()
        self.drift = Drift(self.scoring.reference, self.n_features, by_feature=not self.scoring.steps)

    def _unfit(self, reason: str) -> DataError:
        return DataError(f"{self.path or self.name}: {reason}")

    @property
    def card(self) -> dict[str, Any]:
        """The model card."""
        return self.scoring.card

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of the model file, which tells versions apart that have the same name."""
        if self.path is None:
            return ""
        with open_regular(self.path) as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:16]

    def answered(
        self, X: np.ndarray, qid: Any, settings: Settings, answer: Callable[[], Response], *, long: bool = False
    ) -> Response | Deferred:
        """The answer to a request for scores, if its table is not too large; made in a thread if it takes long."""
        settings.check_size(*X.shape)
        if self.scoring.compares:
            longest = len(X) if qid is None else int(np.unique(qid, return_counts=True)[1].max(initial=0))
            if longest > settings.max_list:
                raise RefusedError(
                    413,
                    f"a list of {longest} documents; {self.name} looks at whole lists, of which at most "
                    f"{settings.max_list} documents are accepted",
                )
            long = long or longest > _LONG_LIST
        return Deferred(answer) if long else answer()

    def score(self, X: np.ndarray, qid: Any = None, exit: bool | None = None) -> np.ndarray:
        """Scores of a float32 table in C order, in its row order; without query ids all rows are one list.

        ``exit`` as in `Ranker.predict`: False for all trees, True for a model that must have an early exit.
        """
        if exit is not None and not isinstance(exit, bool):
            raise RefusedError(400, "exit must be true or false")
        if exit and not self.scoring.exits:
            raise RefusedError(400, f"exit is true, but {self.name} has no early exit")
        if X.shape[1] != self.n_features:
            raise RefusedError(400, f"{X.shape[1]} features, but {self.name} has {self.n_features}")
        if len(X) == 0:
            return np.empty(0)
        self._check_values(X)
        scoring = self._all_trees if exit is False and self.scoring.exits else self.scoring
        scores = scoring.score(X, qid)
        self.drift.note(X, scores)
        return scores

    @cached_property
    def _all_trees(self) -> TableScoring:
        """The same model without its early exit."""
        return self.scoring.without_exit()

    def _check_values(self, X: np.ndarray) -> None:
        with np.errstate(invalid="ignore"):
            if np.isfinite(X.sum(dtype=np.float64)):
                return
        infinite = np.isinf(X)
        if infinite.any():
            i, j = (int(k) for k in np.argwhere(infinite)[0])
            name = self.scoring.named(j)
            raise RefusedError(400, f"feature {name} of document {i} is infinite; give a finite number")
        if not self.scoring.steps:  # which may fill in what is missing
            self.scoring.check_missing(X)

    def warm_up(self) -> None:
        """Score made-up rows of several sizes, so that no request waits for a compiler."""
        rng = np.random.default_rng(0)
        drift, self.drift = self.drift, Drift(None, self.n_features)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PlackettWarning)
                for n in _WARM_UP:
                    X = rng.random((n, self.n_features), np.float32)
                    shape = self.score(X).shape
                    if self.scoring.exits:
                        self.score(X, exit=False)
                    if shape != (n,):
                        raise DataError(f"scores of shape {shape} for {n} documents")
        except (RefusedError, DataError) as error:
            raise self._unfit(f"cannot score: {error}") from None
        finally:
            self.drift = drift
