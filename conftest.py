"""Examples in the sources that need an optional extra are left out where it is missing."""

from importlib.util import find_spec

_NEEDS = {"torch": "src/plackett/models/neural.py", "plotly": "src/plackett/experiments/report/write.py"}
collect_ignore = [path for module, path in _NEEDS.items() if find_spec(module) is None]
