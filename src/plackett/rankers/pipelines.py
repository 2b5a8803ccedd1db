"""Pipelines on disk: the steps before a ranker."""

from __future__ import annotations

import inspect
from abc import ABCMeta
from importlib import import_module
from typing import Any

import numpy as np

from plackett._base.estimator import Parameters, derives_from
from plackett.scorers.fused import FusedPipeline
from plackett.scorers.steps import described, made


class _WithoutSklearn(Parameters, metaclass=ABCMeta):
    """The part of a pipeline that prediction needs; the rest is scikit-learn's and is imported on demand."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and not name.startswith("__sklearn_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        import_module("sklearn.pipeline")
        return getattr(self, name)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        import_module("sklearn.pipeline")
        return self[index]


@derives_from("sklearn.pipeline", "Pipeline")
class Pipeline(_WithoutSklearn):
    """A loaded pipeline: plackett's own transformers, then a ranker.

    It differs from scikit-learn's `Pipeline` in three ways. `predict` passes ``qid`` to every step that takes it,
    whether metadata routing is enabled or not. Prediction does not import scikit-learn. Arrays and datasets are checked
    and grouped once for all steps (`plackett.scorers.fused`); scores are bit-identical.

    Parameters
    ----------
    steps
        Names and estimators.
    """

    # settings of scikit-learn's pipelines
    memory = None
    verbose = False
    transform_input = None

    def __init__(self, steps: list[tuple[str, Any]]) -> None:
        self.steps = steps

    def predict(self, X: Any, *, qid: Any = None, **params: Any) -> np.ndarray:
        """Scores, as the ranker gives them for the transformed features."""
        if not params:
            fused = self._fused()
            scores = None if fused is None else fused.predict(X, qid)
            if scores is not None:
                return scores
        routed = {} if qid is None else {"qid": qid}
        for _, step in self.steps[:-1]:
            X = step.transform(X, **(routed if "qid" in inspect.signature(step.transform).parameters else {}))
        return self.steps[-1][1].predict(X, **routed, **params)

    def _fused(self) -> FusedPipeline | None:
        """The steps as one function, rebuilt if the steps have changed since the last call."""
        steps = [step for _, step in self.steps]
        known, fused = self.__dict__.get("_as_one", ((), None))
        if len(known) != len(steps) or any(a is not b for a, b in zip(known, steps, strict=True)):
            fused = FusedPipeline.of(steps)
            self._as_one = steps, fused
        return fused


def take_apart(model: Any) -> tuple[Any, list[dict[str, Any]] | None]:
    """The ranker at the end of a pipeline and a description of its steps; None if the model is not a pipeline."""
    if not hasattr(model, "steps"):
        return model, None
    steps = [described(name, step) for name, step in model.steps[:-1]]
    name, ranker = model.steps[-1]
    return ranker, [*steps, {"step": name}]


def put_together(ranker: Any, steps: list[dict[str, Any]]) -> Any:
    """Rebuild the pipeline from the result of `take_apart`."""
    before = [(str(description["step"]), made(description)) for description in steps[:-1]]
    return Pipeline([*before, (str(steps[-1]["step"]), ranker)])
