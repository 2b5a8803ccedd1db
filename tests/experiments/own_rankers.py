"""Rankers of a user's own. They import little: every process that runs them imports this file."""

from __future__ import annotations

import os
import signal

import numpy as np

from plackett._base.estimator import Estimator


class Plain(Estimator):
    """Least squares with a penalty."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        self.weights_ = np.linalg.solve(X.T @ X + self.alpha * np.eye(X.shape[1]), X.T @ y)
        return self

    def predict(self, X):
        return X @ self.weights_


class Fails(Plain):
    """Fails where it is told to."""

    def __init__(self, alpha=1.0, how="raise", limit=0.0):
        super().__init__(alpha=alpha)
        self.how = how
        self.limit = limit

    def fit(self, X, y):
        if self.alpha > self.limit:
            if self.how == "die":
                os._exit(7)
            if self.how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError(f"alpha={self.alpha}\nis too large")
        return super().fit(X, y)


class Threads(Plain):
    """Scores every document with the number of threads that it was given, and those of its libraries."""

    def __init__(self, n_jobs=None):
        super().__init__()
        self.n_jobs = n_jobs

    def predict(self, X):
        from plackett._kernels.cores import n_threads

        return np.full(X.shape[0], 100.0 * self.n_jobs + 10 * n_threads() + int(os.environ["OMP_NUM_THREADS"]))
