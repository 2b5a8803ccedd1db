"""Fitted attributes under the names that users of scikit-learn and LightGBM expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett.rankers.callbacks import VALIDATION

if TYPE_CHECKING:
    from lightgbm import Booster


class FittedAttributes:
    """Learned attributes under the names that scikit-learn and LightGBM give them.

    Attributes of a model exist only if the model has them (check with `hasattr`): ``coef_`` and ``intercept_`` on
    linear models, ``booster_`` and ``feature_importances_`` on trees, ``members_`` on rankers around others.
    """

    scorer_: Any
    card_: dict[str, Any]
    history_: list[float]
    n_features_in_: int

    def check_fitted(self) -> None:
        """Raise an error if it is not fitted yet."""
        raise NotImplementedError

    @property
    def best_iteration_(self) -> int | None:
        """The round that was kept, from 1; 0 is the model that training began with. None without validation data."""
        self.check_fitted()
        return self.card_.get("validation", {}).get("round")

    @property
    def best_score_(self) -> dict[str, dict[str, float]]:
        """Value of the measure on the validation data in the best round, by dataset and measure; empty without any."""
        self.check_fitted()
        valid = self.card_.get("validation")
        return {VALIDATION: {valid["measure"]: valid["value"]}} if valid else {}

    @property
    def evals_result_(self) -> dict[str, dict[str, list[float]]]:
        """Value of the measure on the validation data after each round, by dataset and measure; empty without any."""
        self.check_fitted()
        valid = self.card_.get("validation")
        return {VALIDATION: {valid["measure"]: list(self.history_)}} if valid else {}

    @property
    def booster_(self) -> Booster:
        """The trees as a `lightgbm.Booster`; those of a ranker with an early exit, too."""
        self.check_fitted()
        if self.scorer_.tree_arrays is None:
            raise AttributeError(f"the model of this {type(self).__name__} has no trees")
        return self.scorer_.booster

    @property
    def members_(self) -> list[Any]:
        """The trained rankers inside, such as those of a blend or the stages of a cascade."""
        self.check_fitted()
        if not self.scorer_.members:
            raise AttributeError(f"there are no rankers inside this {type(self).__name__}")
        return list(self.scorer_.members)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Total gain of the splits on each feature; ``booster_.feature_importance("split")`` counts the splits."""
        return np.asarray(self.booster_.feature_importance("gain"), np.float64)

    @property
    def coef_(self) -> np.ndarray:
        """Weight of each feature; one row per output if there are several."""
        weights = self._line()[0]
        return weights[:, 0] if weights.shape[1] == 1 else weights.T

    @property
    def intercept_(self) -> Any:
        """Constant added to the weighted sum: a number, or one per output if there are several."""
        intercept = self._line()[1]
        return float(intercept[0]) if intercept.size == 1 else intercept

    def _line(self) -> tuple[np.ndarray, np.ndarray]:
        self.check_fitted()
        line = self.scorer_.line
        if line is None:
            raise AttributeError(f"the model of this {type(self).__name__} has no weights, one per feature")
        return line
