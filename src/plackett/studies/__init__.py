"""Studies: the experiments that the book and the papers ask for, one per file, each a plain function.

``plackett study --list`` names them, ``plackett study NAME`` runs one, and docs/studies.md says what came out.
"""

from __future__ import annotations

from plackett._lazy import open_package

open_package(__name__)
