"""Optional libraries: the one place that imports them and says what to install if one is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from plackett._base.errors import MissingExtraError


class Library(NamedTuple):
    """What people call a library, and the extra of this package that installs it."""

    title: str
    extra: str


#: By the name of the top-level module. ``pyproject.toml`` and the README list the same extras.
LIBRARIES = {
    "torch": Library("PyTorch", "neural"),
    "plotly": Library("plotly", "report"),
    "matplotlib": Library("Matplotlib", "static"),
    "jinja2": Library("jinja2", "report"),
    "optuna": Library("Optuna", "tune"),
    "mlflow": Library("MLflow", "mlflow"),
    "zstandard": Library("zstandard", "zstd"),
    "pandas": Library("pandas", "pandas"),
    "pyarrow": Library("pyarrow", "pandas"),
    "onnx": Library("ONNX", "export"),
    "treelite": Library("treelite", "export"),
    "uvicorn": Library("uvicorn", "serve"),
    "httptools": Library("httptools", "serve"),
    "orjson": Library("orjson", "serve"),
    "starlette": Library("Starlette", "serve"),
    "dask": Library("Dask", "cluster"),
    "distributed": Library("Dask", "cluster"),
    "Stemmer": Library("PyStemmer", "text"),
    "yaml": Library("PyYAML", "text"),
    "selectolax": Library("selectolax", "text"),
}


def optional(module: str, purpose: str) -> Any:
    """Import an optional module.

    Parameters
    ----------
    module
        Its name, such as ``"torch"`` or ``"plotly.offline"``.
    purpose
        What needs it, to begin the error message with, such as ``"neural models need"``.

    Raises
    ------
    MissingExtraError
        The library is not installed; the message has the command that installs it.

    Examples
    --------
    >>> optional("numpy", "this needs").__name__  # any module will do
    'numpy'
    """
    try:
        return import_module(module)
    except ImportError as error:
        top = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != top:
            raise  # installed, but one of its own imports is missing
        library = LIBRARIES[top]
        raise MissingExtraError(
            f"{purpose} {library.title}, which is not installed: pip install 'plackett[{library.extra}]'", name=top
        ) from error
