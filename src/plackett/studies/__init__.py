"""Studies: the experiments that the book and the papers ask for, one per file, each a plain function.

``plackett study --list`` names them, ``plackett study NAME`` runs one, and docs/studies.md says what came out.
"""
