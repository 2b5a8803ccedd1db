"""Examples in the sources that need an optional extra are left out where it is missing."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/plackett/models/neural.py"]
