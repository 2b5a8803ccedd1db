"""Warnings of trials, given once for each ranker with the number of trials, in whatever process they were trained."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable

from plackett._base.errors import PlackettWarning
from plackett._names.nearest import plural
from plackett.experiments.cells.cell import Cell

#: Figures in a message, which differ from trial to trial.
_FIGURES = re.compile(r"[-+]?\d[\d.,]*(e[-+]?\d+)?")


def warn_of_trials(cells: Iterable[Cell]) -> None:
    """Warn of what the trials of an experiment warned of."""
    messages_of: dict[tuple[str, str], list[str]] = {}
    total: dict[str, int] = {}
    for cell in cells:
        total[cell.ranker] = total.get(cell.ranker, 0) + len(cell.trials)
        for trial in cell.trials:
            for kind, message in {_FIGURES.sub("#", message): message for message in trial.warnings}.items():
                messages_of.setdefault((cell.ranker, kind), []).append(message)
    for (ranker, _), messages in messages_of.items():
        count = f"{len(messages):,} of {plural(total[ranker], 'trial')}"
        warnings.warn(f"{ranker}, {count}: {messages[0]}", PlackettWarning, stacklevel=3)
