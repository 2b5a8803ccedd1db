"""The protocols that the service speaks, one per file: each has ``ROUTES``."""

from __future__ import annotations

from plackett.serve.protocols import documents, mlflow, open_inference, prometheus, rank, score, search

__all__ = ["PROTOCOLS"]

PROTOCOLS = (open_inference, mlflow, rank, search, score, prometheus, documents)
