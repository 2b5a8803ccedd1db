"""Relations of documents in scores: how they are found, functions of scores that respect them, and their solvers."""
