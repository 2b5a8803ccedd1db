"""Which features matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.experiments.report.numbers import short, tidy
from plackett.experiments.report.plots import axis, bars_height, category_axis, layout, plain
from plackett.explanations.model_importance import model_importance
from plackett.plot._figure import figure

if TYPE_CHECKING:
    import polars as pl

__all__ = ["importances"]


def importances(source: Any, data: RankingDataset | None = None, *, n_features: int = 15) -> Any:
    """Plot the most important features as bars.

    Parameters
    ----------
    source
        A fitted ranker: gain of the splits for trees, |weight| for linear rankers, and with ``data`` what
        `plackett.model_importance` says. Or the frame of `plackett.permutation_importance`,
        `plackett.single_feature_importance` or `plackett.model_importance`; standard deviations are shown if it has
        them.
    data
        Documents whose features show how much a weight matters.
    n_features
        How many features to show.

    Examples
    --------
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(20, n_features=4, random_state=0)
    >>> len(pk.plot.importances(pk.LambdaMART(n_estimators=5).fit(data), n_features=3).data[0].y)
    3
    """
    title, frame = _frame(source, data)
    whole("n_features", n_features, least=1)
    frame = frame.sort("importance", descending=True, maintain_order=True).head(n_features)
    labels = [plain(name) for name in frame["feature"]]
    values = frame["importance"].to_numpy()
    bars: dict[str, Any] = {
        "type": "bar",
        "orientation": "h",
        "x": tidy(values),
        "y": labels,
        "marker": {"color": "--s0"},
        "hoverinfo": "text",
        "hovertext": [f"{label}: {short(float(value))}" for label, value in zip(labels, values, strict=True)],
    }
    if "std" in frame.columns:
        bars["error_x"] = {"type": "data", "array": tidy(frame["std"].to_numpy()), "color": "--ink", "thickness": 1}
    y = category_axis("", labels)
    return figure([bars], layout(axis(title), y, height=bars_height(len(labels)), bargap=0.25))


def _frame(source: Any, data: RankingDataset | None) -> tuple[str, pl.DataFrame]:
    """What the importance is, and a frame of feature and importance."""
    import polars as pl

    if isinstance(source, pl.DataFrame):
        if not {"feature", "importance"} <= set(source.columns):
            raise DataError(f"the frame has the columns {source.columns}; there must be 'feature' and 'importance'")
        return ("loss when shuffled" if "std" in source.columns else "importance"), source
    if data is not None:
        frame = model_importance(source, data)
        if frame is None:
            raise DataError(
                f"the model of {type(source).__name__} has no feature importance of its own; give the frame of "
                "plackett.permutation_importance(ranker, data)"
            )
        return str(frame["kind"][0]), frame
    if hasattr(source, "feature_importances_"):
        title, values = "total gain of the splits", source.feature_importances_
    elif hasattr(source, "coef_") and source.coef_.ndim == 1:
        title, values = "|weight|", np.abs(source.coef_)
    else:
        raise DataError(
            f"{type(source).__name__} has neither feature_importances_ nor coef_; give a fitted tree or linear ranker, "
            "or the frame of plackett.permutation_importance(ranker, data)"
        )
    names = getattr(source, "feature_names_in_", np.arange(1, len(values) + 1))
    return title, pl.DataFrame({"feature": [str(name) for name in names], "importance": values})
