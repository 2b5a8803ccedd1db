"""One more row of an experiment: in each fold, the blend of the rankers that are best on its validation part."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.estimators import predict
from plackett.experiments.cells.cell import Cell, CellTrial
from plackett.experiments.cells.folder import CellFolder
from plackett.experiments.cells.key import blended_key, describe, versions
from plackett.experiments.cells.trials import Protocol
from plackett.experiments.data import Folds
from plackett.measures.base import Measure
from plackett.measures.ranking import Scored


@dataclass(frozen=True)
class BestBlended:
    """The row: how many rankers are blended."""

    n_best: int

    @classmethod
    def checked(cls, n_best: Any, rankers: list[str]) -> BestBlended:
        """Check, before anything is trained, that there are enough rankers to blend."""
        if isinstance(n_best, bool) or not isinstance(n_best, (int, np.integer)) or n_best < 2:
            raise DataError(f"blend={n_best!r}; give the number of rankers to blend, 2 or more, or None")
        if len(rankers) < 2:
            raise DataError(f"blend={n_best} needs at least two rankers of plackett, but there are {len(rankers)}")
        return cls(int(n_best))

    @property
    def name(self) -> str:
        """What it is called."""
        return f"Blend of best {self.n_best}"

    @property
    def described(self) -> dict[str, Any]:
        """What it is, as the manifest of an experiment has it."""
        from plackett.rankers.blend import Blend

        return describe(Blend(n_best=self.n_best))


def blended_cells(
    cells: Iterable[Cell],
    splits: Folds,
    folder: CellFolder,
    protocol: Protocol,
    measures: list[Measure],
    preset: str | None,
    row: BestBlended,
    *,
    fresh: bool = False,
) -> list[Cell]:
    """The cell of the blend for every fold with at least two finished cells.

    Only plackett's own rankers are blended, because their models are on disk. A blend of the same cells is reused from
    the folder, unless ``fresh`` is set.
    """
    by_fold: dict[tuple[str, Any], list[Cell]] = {}
    for cell in cells:
        if cell.validation is not None and cell.model_path is not None:  # some parameters cannot be saved
            by_fold.setdefault((cell.dataset, cell.fold), []).append(cell)
    blends = []
    for (dataset, fold), candidates in by_fold.items():
        best = sorted(candidates, key=lambda cell: -protocol.select.worth(cell.validation or 0.0))[: row.n_best]
        if len(best) < 2:
            continue
        split, key = splits[dataset][fold], blended_key(best)
        kept = None if fresh else folder.finished(key)
        cell = kept or _blended(best, candidates, split, protocol, key, folder)
        cell = replace(cell, dataset=dataset, fold=fold, ranker=row.name)
        cell = cell.measured(split.test, measures, preset, protocol.random_state)
        if kept is None or cell.measures != kept.measures or cell.ranker != kept.ranker:
            folder.write(cell)
        blends.append(cell)
    return blends


def _blended(
    best: list[Cell], candidates: list[Cell], fold: Any, protocol: Protocol, key: str, folder: CellFolder
) -> Cell:
    """The cell of one blend; its ranker is written next to it."""
    from plackett.rankers.blend import Blend, spread_within_lists

    ranker = Blend.of([cell.model() for cell in best], fold.valid)
    # scores from before any refit, after which the models have seen the validation part
    own = [cell.valid_scores for cell in best if cell.valid_scores is not None]
    valid_scores = np.mean([scores / spread_within_lists(scores, fold.valid) for scores in own], axis=0)
    start = time.perf_counter()
    scores = predict(ranker, fold.test)
    score_seconds = time.perf_counter() - start

    def value(data: Any, of: np.ndarray) -> float:
        scored = Scored(data, of, random_state=protocol.random_state)
        return protocol.select.mean(protocol.select.per_query(scored))

    validation = value(fold.valid, valid_scores)
    train_seconds = sum(cell.seconds["train"] for cell in best)
    setting = {"members": tuple(cell.ranker for cell in best)}
    return Cell(
        dataset=best[0].dataset,
        fold=best[0].fold,
        ranker="",
        key=key,
        setting=setting,
        trials=(CellTrial(setting, validation, train_seconds, selected=True),),
        select=str(protocol.select),
        chosen_by={
            "train": value(fold.train, predict(ranker, fold.train)),
            "valid": validation,
            "test": value(fold.test, scores),
        },
        qids=fold.test.qids,
        scores=scores,
        valid_scores=valid_scores,
        history=np.empty(0),
        seconds={
            "search": sum(cell.seconds["search"] for cell in candidates),
            "train": train_seconds,
            "score": score_seconds,
        },
        effort="training queries",
        refit=best[0].refit,
        versions=versions(),
        model_path=folder.save_model(key, ranker),
    )
