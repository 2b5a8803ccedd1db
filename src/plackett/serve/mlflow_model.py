"""Rankers as MLflow models: with a flavour of their own, and as ``python_function`` for MLflow's tools.

An MLflow model is a folder with the model file and a description of it. What is stored is plackett's own file: loading
it runs no code from the folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._base.version import __version__
from plackett._names.optional import optional

__all__ = ["load_model", "log_model", "save_model"]

FLAVOUR = "plackett"
_FILE = "model.plackett"
#: The column of a frame that says which list a document belongs to.
_QID = "qid"


def save_model(
    model: Any,
    path: Any,
    mlflow_model: Any = None,
    *,
    signature: Any = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Write a fitted ranker, or a pipeline that ends in one, as an MLflow model.

    Parameters
    ----------
    path
        Folder to write.
    mlflow_model
        The description to fill in; MLflow passes it.
    signature
        An `mlflow.models.ModelSignature`; by default the ranker's features, by name if they have names.
    metadata
        Stored with the model.
    """
    optional("mlflow", "MLflow models need")
    from mlflow import pyfunc
    from mlflow.models import Model

    from plackett.rankers.storage import save

    folder = Path(path)
    if (folder / "MLmodel").exists():
        raise DataError(f"{folder} has an MLflow model already; name another folder")
    folder.mkdir(parents=True, exist_ok=True)
    save(model, folder / _FILE)
    (folder / "requirements.txt").write_text(f"plackett=={__version__}\n", "utf-8")
    described = Model() if mlflow_model is None else mlflow_model
    described.signature = signature or _signature(model)
    if metadata:
        described.metadata = metadata
    python = ".".join(map(str, sys.version_info[:3]))
    (folder / "python_env.yaml").write_text(f"python: {python}\ndependencies:\n- -r requirements.txt\n", "utf-8")
    pyfunc.add_to_model(described, loader_module=__name__, data=_FILE, python_env="python_env.yaml")
    described.add_flavor(FLAVOUR, plackett_version=__version__, data=_FILE)
    described.save(str(folder / "MLmodel"))


def log_model(model: Any, name: str = "model", *, registered_model_name: str | None = None, **options: Any) -> Any:
    """Log a fitted ranker to the current MLflow run.

    Parameters
    ----------
    name
        Name of the logged model.
    registered_model_name
        Register it under this name, too.
    options
        ``signature`` and ``metadata``, as in `save_model`, and what MLflow's `Model.log` takes.

    Returns
    -------
    MLflow's `ModelInfo`; its ``model_uri`` is what `load_model` takes.
    """
    optional("mlflow", "MLflow models need")
    from mlflow.models import Model

    return Model.log(
        artifact_path=None,
        name=name,
        flavor=sys.modules[__name__],
        registered_model_name=registered_model_name,
        model=model,
        **options,
    )


def load_model(model_uri: str) -> Any:
    """Load the ranker or pipeline of an MLflow model, given its address (``runs:/…``, ``models:/…``, a folder)."""
    optional("mlflow", "MLflow models need")
    from mlflow.models import Model
    from mlflow.tracking.artifact_utils import _download_artifact_from_uri

    from plackett.rankers.storage import load

    folder = Path(_download_artifact_from_uri(artifact_uri=str(model_uri)))
    flavours = Model.load(str(folder / "MLmodel")).flavors
    if FLAVOUR not in flavours:
        raise DataError(f"{model_uri}: not a plackett model; its flavours are {', '.join(flavours)}")
    return load(folder / _FILE)


def _signature(model: Any) -> Any:
    """Features by name, or a table of that many; scores out."""
    from mlflow.models import ModelSignature
    from mlflow.types import ColSpec, DataType, Schema, TensorSpec

    first = model.steps[0][1] if hasattr(model, "steps") else model
    names = getattr(first, "feature_names_in_", None)
    if names is None:
        inputs = Schema([TensorSpec(np.dtype(np.float32), (-1, int(first.n_features_in_)))])
    else:
        text = getattr(first, "categories_", {})
        kinds = {name: DataType.string if name in text else DataType.double for name in map(str, names)}
        inputs = Schema([ColSpec(kind, name) for name, kind in kinds.items()])
    return ModelSignature(inputs, Schema([TensorSpec(np.dtype(np.float64), (-1,))]))


class _Scores:
    """What MLflow calls a ``python_function``: a frame or a table in, scores out."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> np.ndarray:
        """Scores in row order; a column ``qid`` of a frame says which list a row belongs to."""
        if isinstance(model_input, dict):
            import polars as pl

            model_input = pl.DataFrame(model_input)
        return self.model.predict(model_input)


def _load_pyfunc(path: str) -> _Scores:
    """Called by MLflow with the path of the model file."""
    from plackett.rankers.storage import load

    return _Scores(load(path))
