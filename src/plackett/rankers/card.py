"""The model card of a ranker that was just trained."""

from __future__ import annotations

from typing import Any

from plackett._base.version import __version__
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.solvers.monitor import Monitor


def training_card(algorithm: str, measure: str, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
    """The model card: what was trained on what, and how good it was on validation data."""
    card: dict[str, Any] = {
        "algorithm": algorithm,
        "plackett": __version__,
        "data": {
            "fingerprint": data.fingerprint(),
            "queries": data.n_queries,
            "rows": data.n_rows,
            "features": data.n_features,
        },
    }
    if monitor.interrupted:
        card["interrupted"] = True
    if monitor.history:
        card["validation"] = {
            "measure": str(parse(measure)),
            "value": monitor.best_value,
            "round": monitor.best_round + 1,
            "rounds": len(monitor.history),
        }
    return card
