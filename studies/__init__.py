"""Studies: the experiments suggested by the book and the papers, one per file, each a function of the same name.

``python studies/run.py --list`` lists them, ``python studies/run.py NAME`` runs one; docs/studies.md shows the results.
Files that begin with an underscore are shared by several studies.
"""
