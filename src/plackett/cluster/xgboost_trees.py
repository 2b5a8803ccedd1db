"""XGBoost's trees, on a GPU where there is one, grown on the gradients of our losses."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.arguments import choice
from plackett._base.errors import LossError
from plackett._base.version import __version__
from plackett._kernels.torch_threads import load_torch
from plackett._names.optional import optional
from plackett.data.dataset import RankingDataset
from plackett.losses.base import BoundLoss, DeviceForm
from plackett.losses.pairwise.device import MOST_PAIRS
from plackett.models.networks.device_pairs import PaddedTable, cut_by_pairs
from plackett.models.trees.model import Trees

__all__ = ["fit_xgboost"]


def fit_xgboost(
    ranker: Any, data: RankingDataset, *, device: str = "cpu", gradients: str = "auto", **parameters: Any
) -> Any:
    """Fit a tree ranker with XGBoost's trees instead of LightGBM's.

    With ``device="cuda"`` XGBoost bins and grows on the GPU (XGBoost with CUDA has to be installed). Losses that have a
    form for an accelerator (`BoundLoss.device_form`: pair losses such as `Logistic`, `ListNetLoss`, `Square`) are
    differentiated there by PyTorch, and XGBoost takes the gradient from the GPU's memory through the array interface;
    the gradients of other losses, the lambdas of `LambdaMART` among them, come from our kernels on the host. The result
    is a ranker like any other: it predicts with our own scorer and needs neither XGBoost nor a GPU.

    Parameters
    ----------
    ranker
        A ranker made of a loss and boosted trees. ``n_estimators``, ``learning_rate``, ``num_leaves``, ``max_bin``,
        ``min_child_weight``, ``reg_alpha``, ``reg_lambda``, ``colsample_bytree`` and ``random_state`` are used.
    data
        The training data, dense.
    device
        ``"cpu"``, ``"cuda"`` or ``"cuda:1"``.
    gradients
        ``"device"``: by PyTorch on the device, with curvature 1 (first-order boosting, as the form of a loss has no
        curvature). ``"host"``: by our kernels, with their curvature. ``"auto"``: on the device if it is a GPU, the loss
        has a form for it and loses nothing there, as its curvature is constant or not used. Trees of a softmax or of
        pairs take far too small steps without their curvature.
    parameters
        Further parameters under XGBoost's own names.

    Returns
    -------
    The ranker, fitted.
    """
    from plackett.rankers.base import GradientTrained

    xgb = optional("xgboost", "fit_xgboost needs")
    if not isinstance(ranker, GradientTrained) or not isinstance(ranker.make_model(), Trees):
        raise LossError(f"{type(ranker).__name__} is not a loss with boosted trees")
    choice("gradients", gradients, ("auto", "device", "host"), error=LossError)
    if device != "cpu" and not xgb.build_info().get("USE_CUDA"):
        raise LossError(f"device={device!r}: the installed XGBoost has no CUDA; use device='cpu'")
    for name in ("early_stopping_rounds", "validation_fraction", "calibration"):
        if getattr(ranker, name) is not None:
            raise LossError(f"{name}={getattr(ranker, name)!r} needs validation data, which fit_xgboost does not use")
    model: Any = ranker.make_model()
    data = ranker.prepared(data)
    if not isinstance(data.X, np.ndarray):
        raise LossError("fit_xgboost takes dense features")
    loss = ranker.make_loss().settle(data)
    bound = loss.bind(data, n_jobs=model.n_jobs)
    if bound.n_outputs != 1:
        raise LossError(f"{loss} has {bound.n_outputs} outputs; fit_xgboost grows trees for one")
    wanted = gradients == "device" or (gradients == "auto" and device != "cpu" and _is_flat(bound, loss.curvature))
    form = bound.device_form() if wanted else None
    if gradients == "device" and form is None:
        raise LossError(f"{loss} has no form for an accelerator; use gradients='host'")
    derivative = _OnHost(bound, loss.curvature) if form is None else _OnDevice(form, data, device)
    booster = _grown(xgb, model, data, device, derivative, parameters)
    _adopt(ranker, booster, data)
    ranker.card_ = {
        "algorithm": type(ranker).__name__,
        "plackett": __version__,
        "data": {"queries": data.n_queries, "rows": data.n_rows, "features": data.n_features},
        "trees": {"XGBoost": xgb.__version__, "device": device, "gradients": "host" if form is None else "device"},
    }
    ranker.note_distribution(data)
    return ranker


def _grown(xgb: Any, model: Any, data: RankingDataset, device: str, derivative: Any, parameters: dict[str, Any]) -> Any:
    chosen = {
        "device": device,
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": model.chosen(data).get("num_leaves", model.num_leaves),
        "max_depth": max(model.max_depth, 0),
        "learning_rate": model.learning_rate,
        "max_bin": model.max_bin,
        "min_child_weight": model.min_child_weight,
        "reg_alpha": model.reg_alpha,
        "reg_lambda": model.reg_lambda,
        "colsample_bytree": model.colsample_bytree,
        "seed": int(np.random.default_rng(model.random_state).integers(2**31)),
        "base_score": 0.0,
        "disable_default_eval_metric": True,
        "verbosity": 0,
    } | parameters
    if model.n_jobs is not None:
        chosen.setdefault("nthread", model.n_jobs)
    table = xgb.QuantileDMatrix(data.X, label=np.zeros(data.n_rows), max_bin=chosen["max_bin"])
    booster = xgb.Booster(chosen, [table])
    for step in range(model.n_estimators):
        margin = booster.predict(table, output_margin=True, training=True)
        gradient, curvature = derivative(margin)
        booster.boost(table, step, grad=gradient, hess=curvature)
    return booster


def _is_flat(bound: BoundLoss, curvature: str) -> bool:
    """Whether a curvature of 1 serves as well as the loss's own: it has none, or the same at all scores."""
    if curvature == "none":
        return True
    scores = np.random.default_rng(0).normal(size=bound.data.n_rows)
    flat, bent = (bound.evaluate(at, value=False)[2].copy() for at in (np.zeros_like(scores), scores))
    return bool(np.allclose(flat, bent))


class _OnHost:
    """Gradient and curvature by our kernels."""

    def __init__(self, bound: BoundLoss, curvature: str) -> None:
        self.bound, self.flat = bound, curvature == "none"

    def __call__(self, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        _, gradient, curvature = self.bound.evaluate(np.asarray(margin, np.float64), value=False)
        return gradient.astype(np.float32), np.ones_like(margin) if self.flat else curvature.astype(np.float32)


class _OnDevice:
    """Gradient by PyTorch where the trees grow; curvature 1 times the weight of the query."""

    def __init__(self, form: DeviceForm, data: RankingDataset, device: str) -> None:
        torch = load_torch()
        self.form, self.device = form, torch.device(device)
        most = MOST_PAIRS if form.pairs else 1 << 62
        self.tables = [PaddedTable(form, data, queries, self.device) for queries in cut_by_pairs(data.group, most)]
        weight = np.repeat(form.scale, data.group).astype(np.float32)
        self.curvature = self._given(torch.from_numpy(weight).to(self.device))

    def __call__(self, margin: Any) -> tuple[Any, Any]:
        torch = load_torch()
        scores = torch.as_tensor(margin, dtype=torch.float32, device=self.device)
        gradient = torch.zeros_like(scores)
        with torch.no_grad():
            for table in self.tables:
                own = scores if table.rows is None else scores[table.rows]
                shape = table.per_row[0].shape
                s = own.new_zeros(shape.numel()).index_copy(0, table.place, own).view(shape)
                own_gradient = (self.form.gradient(torch, s, *table.per_row) * table.scale).view(-1)[table.place]
                if table.rows is None:
                    gradient = own_gradient
                else:
                    gradient[table.rows] = own_gradient
        return self._given(gradient), self.curvature

    def _given(self, tensor: Any) -> Any:
        """As XGBoost takes it: from the memory of a GPU through the array interface, or as an array."""
        return tensor.contiguous() if self.device.type == "cuda" else tensor.numpy()


def _adopt(ranker: Any, booster: Any, data: RankingDataset) -> None:
    """Make XGBoost's trees those of the ranker."""
    from plackett.export.xgboost import read_xgboost

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        booster.save_model(path)
        imported = read_xgboost(path, n_features=data.n_features)
    ranker.scorer_ = ranker.finished(imported.scorer_)
    ranker.n_features_in_, ranker.history_ = data.n_features, []
    ranker.__dict__.pop("feature_names_in_", None)
    if data.feature_names is not None:
        ranker.feature_names_in_ = np.array(data.feature_names, dtype=object)
