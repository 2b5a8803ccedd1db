"""What holds for all tests and examples: matrices of one thread, and where examples are looked for."""

import os
from importlib.util import find_spec

import pytest

# Read when NumPy is imported. The matrices of the tests are small: threads of BLAS would only wait for each other,
# which took most of the processor time of some tests where all cores are busy with other workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

#: Modules whose examples need an extra.
_NEEDS = {
    "src/plackett/models/networks/neural.py": "torch",
    "src/plackett/losses/autograd.py": "torch",
    "src/plackett/experiments/report/write.py": "plotly",
    "src/plackett/plot/save.py": "matplotlib",
}
collect_ignore = [path for path, module in _NEEDS.items() if find_spec(module) is None]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path):
    """Look for examples only where there are some: pytest would import every module, and search every test."""
    collectors = yield
    if file_path.suffix == ".py" and ">>>" not in file_path.read_text(encoding="utf-8"):
        return [collector for collector in collectors if type(collector).__name__ != "DoctestModule"]
    return collectors
