"""A model file: a description in JSON and named arrays, and what scores without the estimator that learned it.

Loading never runs code from the file: classes are looked up by name, and their arguments are checked.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from plackett._base.errors import DataError
from plackett._files import storage
from plackett.scorers.calibration import CALIBRATIONS
from plackett.scorers.fields import scorer_class
from plackett.scorers.plain_values import from_plain
from plackett.scorers.scoring import Scoring
from plackett.scorers.steps import made

if TYPE_CHECKING:
    from plackett.scorers.fused import FusedPipeline

#: Prefixes of the names of calibration arrays and of other learned arrays.
CALIBRATION, LEARNED = "calibration/", "learned/"
#: Pattern of learned attributes, and those that are stored separately.
NAME = re.compile(r"[a-z][a-z0-9_]*_")
APART = ("scorer_", "history_", "card_", "calibration_", "n_features_in_", "feature_names_in_", "categories_")

#: Parts inside parts, as dots in the names of arrays: each takes a copy of the names inside it.
_MOST_DOTS = 100


class ScoringModel(Scoring):
    """What a model file says about scoring: the scorer, the columns, calibration and steps before it.

    Parameters
    ----------
    header, arrays
        The content of a model file, or of a member inside one.

    Attributes
    ----------
    header
        The description as it was read, with the parameters of the estimator.
    learned
        Other learned attributes of the estimator, as they were read.
    card_
        The model card.
    steps
        Of a pipeline only: names and fitted transformers, and last the model that scores their result.
    """

    def __init__(self, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.header, self.n_jobs = header, None
        fitted = header["fitted"]
        for name in ("algorithm", "strict_part"):
            if not isinstance(header[name], str):
                raise DataError(f"the description of the model is damaged: {name} is no text")
        self.n_features_in_ = int(fitted["n_features_in_"])
        self.card_ = dict(header["card"])
        if "feature_names_in_" in fitted:
            self.feature_names_in_ = np.array([str(name) for name in fitted["feature_names_in_"]], dtype=object)
        if "categories_" in fitted:
            self.categories_ = _categories(fitted["categories_"], getattr(self, "feature_names_in_", ()))
        self.learned: dict[str, Any] = {
            name: from_plain(value)
            for name, value in (fitted.get("learned", {}) | taken(arrays, LEARNED)).items()
            if NAME.fullmatch(name) and name not in APART
        }
        self.reference_ = self.learned.get("reference_")
        if "calibration" in header:
            self.calibration_ = CALIBRATIONS[header["calibration"]].from_arrays(taken(arrays, CALIBRATION))
        self.scorer_ = scorer_class(header["scorer"]).from_arrays(arrays)
        self.check_loaded()
        self._fused: FusedPipeline | None = None
        if "pipeline" in header:
            *before, last = header["pipeline"]
            steps = [(str(step["step"]), made(step)) for step in before]
            self._lead_to(steps, str(last["step"]), copy.copy(self))

    def _lead_to(self, before: list[tuple[str, Any]], name: str, model: ScoringModel) -> None:
        """Let steps come before a model."""
        from plackett.scorers.fused import FusedPipeline  # which needs transformers

        self.steps = [*before, (name, model)]
        self._fused = FusedPipeline.of([step for _, step in self.steps])

    def with_exit(self, exit: bool | tuple[int, int]) -> Self:
        """The same with its early exit (True), with another one, or without one (False)."""
        other = super().with_exit(exit)
        if hasattr(self, "steps") and other is not self:
            *before, (name, last) = self.steps
            other._lead_to(before, name, last.with_exit(exit))
        return other

    @property
    def algorithm(self) -> str:
        """Name of the ranker that learned it."""
        return str(self.header["algorithm"])

    @property
    def strict_part(self) -> str:
        """Name of what refuses to score missing values, as the file says."""
        return str(self.header["strict_part"])

    def predict(
        self, X: Any, *, qid: Any = None, pred_contrib: bool = False, exit: bool | tuple[int, int] | None = None
    ) -> np.ndarray:
        """Score each document; larger is better. As `plackett.rankers.base.Ranker.predict`, after all steps."""
        if self._fused is not None and not pred_contrib and exit is None:
            scores = self._fused.predict(X, qid)
            if scores is not None:
                return scores
        return super().predict(X, qid=qid, pred_contrib=pred_contrib, exit=exit)

    def rows(self, X: Any, qid: Any = None) -> Any:
        """The input of `predict`, transformed by the steps and checked."""
        for _, step in getattr(self, "steps", ())[:-1]:
            takes_queries = qid is not None and "qid" in inspect.signature(step.transform).parameters
            X = step.transform(X, **({"qid": qid} if takes_queries else {}))
        return super().rows(X, qid)

    def pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The content of a model file."""
        arrays = dict(self.scorer_.to_arrays())
        arrays |= {LEARNED + name: array for name, array in self.learned.items() if isinstance(array, np.ndarray)}
        if hasattr(self, "calibration_"):
            arrays |= {CALIBRATION + name: array for name, array in self.calibration_.to_arrays().items()}
        return self.header, arrays

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.algorithm}, {self.n_features_in_} features>"


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The content of a model file, if it is as it was written."""
    arrays, metadata = storage.read(path, kind="model", mmap=False)
    text = metadata.get("ranker", "")
    if metadata.get("digest") != digest(text, arrays):
        raise DataError(f"{path}: the model is damaged (its content does not match its digest)")
    if any(name.count(".") > _MOST_DOTS for name in arrays):
        raise DataError(f"{path}: the model is damaged (its parts are inside one another, more than {_MOST_DOTS} deep)")
    header = json.loads(text)
    if not isinstance(header, dict):
        raise DataError(f"{path}: the description of the model is damaged (it is not a JSON object)")
    return header, arrays


def write(path: str | os.PathLike[str], header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a model file, which appears complete or not at all."""
    text = json.dumps(header, ensure_ascii=False)
    storage.write(path, arrays, {"kind": "model", "ranker": text, "digest": digest(text, arrays)})


def trains(model: Any) -> bool:
    """Whether a ranker or model, or one inside it, trains while it predicts."""
    return model.scorer_.trains or any(trains(member) for member in model.scorer_.members)


def _categories(categories: Any, names: Any) -> dict[str, list[Any]]:
    """Categories of columns, checked: features that exist, and plain values that differ."""
    for name, values in categories.items():
        if name not in names or not isinstance(values, list) or len({(type(v), v) for v in values}) != len(values):
            raise DataError(f"the categories of column {name!r} are damaged")
        if not all(isinstance(value, (str, bool, int, float)) for value in values):
            raise DataError(f"the categories of column {name!r} are damaged")
    return dict(categories)


def taken(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Remove and return the arrays whose names start with a prefix; the prefix is stripped."""
    return {name.removeprefix(prefix): arrays.pop(name) for name in list(arrays) if name.startswith(prefix)}


def digest(text: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Hash of everything: LightGBM and PyTorch must not be given damaged models."""
    hashed = hashlib.blake2b(text.encode(), digest_size=16)
    for name in sorted(arrays):
        hashed.update(f"{name} {arrays[name].shape} ".encode())
        hashed.update(np.ascontiguousarray(arrays[name]).data)
    return hashed.hexdigest()
