"""Pipelines on disk: the steps before a ranker."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from plackett._base.estimator import Parameters
from plackett._base.process import is_own_process
from plackett.scorers.fused import FusedPipeline
from plackett.scorers.steps import described, made

if TYPE_CHECKING or not is_own_process():
    from sklearn.pipeline import Pipeline as _Steps
else:

    class _Steps(Parameters):
        """What commands use of scikit-learn's `Pipeline`; see `plackett._base.estimator`."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """The steps, and with ``deep`` also each of them and its parameters."""
            params: dict[str, Any] = {"steps": self.steps}
            for name, step in self.steps if deep else ():
                params[name] = step
                params |= {f"{name}__{inner}": value for inner, value in step.get_params().items()}
            return params

        def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
            """Learn step by step; parameters are those of the ranker, with its name before them."""
            name, ranker = self.steps[-1]
            for _, step in self.steps[:-1]:
                X = step.fit_transform(X, y)
            ranker.fit(X, y, **{key.removeprefix(f"{name}__"): value for key, value in params.items()})
            return self


class Pipeline(_Steps):
    """Plackett's own transformers, then a ranker.

    It differs from scikit-learn's `Pipeline` in two ways. `predict` passes ``qid`` to every step that takes it,
    whether metadata routing is enabled or not. Arrays and datasets are checked and grouped once for all steps
    (`plackett.scorers.fused`); scores are bit-identical.

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
