"""The failed cells of an experiment, grouped by cause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plackett.experiments.cells.finished import Finished


@dataclass(frozen=True)
class FailedCells:
    """The folds of a dataset in which a ranker failed with the same error.

    >>> print(FailedCells("web", "ListNet", ("1", "2"), "DataError: no relevant document"))
    ListNet in folds 1, 2 of web: DataError: no relevant document
    """

    dataset: str
    ranker: str
    folds: tuple[str, ...]
    error: str

    def __str__(self) -> str:
        word = "fold" if len(self.folds) == 1 else "folds"
        return f"{self.ranker} in {word} {', '.join(self.folds)} of {self.dataset}: {self.error}"


def failed_cells(experiment: Finished) -> list[FailedCells]:
    """The failures in the order of the experiment, with folds of the same error grouped."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for failure in experiment.failures:
        folds.setdefault((failure.dataset, failure.ranker, failure.error), []).append(str(failure.fold))
    datasets, rankers = list(experiment.datasets), list(experiment.rankers)
    order = sorted(folds, key=lambda key: (datasets.index(key[0]), rankers.index(key[1])))
    return [FailedCells(key[0], key[1], tuple(folds[key]), key[2]) for key in order]
