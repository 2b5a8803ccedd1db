"""What holds for all tests and examples: matrices of one thread, and no examples that need an extra that is missing."""

import os
from importlib.util import find_spec

# Read when NumPy is imported. The matrices of the tests are small: threads of BLAS would only wait for each other,
# which took most of the processor time of some tests where all cores are busy with other workers.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_NEEDS = {"torch": "src/plackett/models/neural.py", "plotly": "src/plackett/experiments/report/write.py"}
collect_ignore = [path for module, path in _NEEDS.items() if find_spec(module) is None]
