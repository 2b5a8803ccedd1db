"""Studies: the experiments suggested by the book and the papers, one per file, each a plain function.

``plackett study --list`` lists them, ``plackett study NAME`` runs one, and docs/studies.md shows the results.
"""

from __future__ import annotations

from plackett._names.lazy import open_package

open_package(__name__)
