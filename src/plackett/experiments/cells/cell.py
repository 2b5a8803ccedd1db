"""One cell of an experiment: a ranker tuned, trained and tested in one fold of one dataset."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett._files import storage
from plackett.data.dataset import RankingDataset
from plackett.data.strings import pack_ids, unpack_ids
from plackett.evaluation.evaluate import Evaluation, measure_scored
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.scorers.plain_values import from_plain, to_plain


@dataclass(frozen=True)
class CellTrial:
    """One setting that was tried.

    Attributes
    ----------
    setting
        The parameters that differ from the ranker as given.
    validation
        Value of the selecting measure on the validation part; None if there is none.
    seconds
        Time to train.
    share
        Part of the full effort that was spent; below 1 in the early rounds of successive halving.
    selected
        Whether this is the setting that was chosen.
    error
        Why training failed.
    warnings
        Warnings that plackett gave during training.
    """

    setting: dict[str, Any]
    validation: float | None
    seconds: float
    share: float = 1.0
    selected: bool = False
    error: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """A cell that failed: its dataset, fold and ranker, the error in one line, and where it happened."""

    dataset: str
    fold: Any
    ranker: str
    error: str
    traceback: str = ""


@dataclass(frozen=True, eq=False)
class Cell:
    """The result of one ranker in one fold of one dataset.

    Attributes
    ----------
    dataset, fold, ranker
        Which cell of the experiment it is.
    key
        Hash of everything that the result depends on; the name of its file.
    setting
        The chosen parameters that differ from the ranker as given.
    trials
        Everything that was tried, in order.
    select
        The measure used for selection, including its rules.
    chosen_by
        Value of ``select`` on the ``train``, ``valid`` and ``test`` parts, for the chosen ranker.
    qids, scores
        The queries of the test part, and the score of each of its documents in the order of the dataset.
    valid_scores
        Scores of the validation part; None if there is none.
    measures, values
        The measures by name, and one number per test query for each; NaN marks queries that the measure skipped.
    history
        Learning curve: the value of ``select`` on the validation part after each round, if the ranker has rounds.
    seconds
        ``search`` (all trials), ``train`` (the chosen one, or the retraining with ``refit``) and ``score`` (the test
        part).
    effort
        What the ``share`` of a trial refers to: a parameter of the ranker, or ``"training queries"``.
    refit
        Whether the ranker was retrained on the training and validation parts together.
    versions
        Versions of plackett, Python and the libraries that matter.
    model_path
        File of the fitted ranker; None for other libraries' rankers, which are not saved.
    """

    dataset: str
    fold: Any
    ranker: str
    key: str
    setting: dict[str, Any]
    trials: tuple[CellTrial, ...]
    select: str
    chosen_by: dict[str, float | None]
    qids: np.ndarray
    scores: np.ndarray
    valid_scores: np.ndarray | None
    history: np.ndarray
    seconds: dict[str, float]
    effort: str
    refit: bool
    versions: dict[str, str]
    measures: dict[str, Measure] = field(default_factory=dict)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    model_path: Path | None = None

    @property
    def validation(self) -> float | None:
        """Value of the selecting measure on the validation part, for the chosen setting."""
        return next(trial.validation for trial in self.trials if trial.selected)

    @property
    def evaluation(self) -> Evaluation:
        """The values on the test part, as returned by `evaluate`."""
        return Evaluation(self.measures, self.qids, self.values)

    def model(self) -> Any:
        """The fitted ranker, read from its file."""
        if self.model_path is None:
            raise DataError(f"{self.ranker} has no model file: only rankers of plackett are saved")
        from plackett.rankers.storage import load

        return load(self.model_path)

    def measured(self, test: RankingDataset, measures: list[Measure], preset: str | None, random_state: int) -> Cell:
        """The cell with values of these measures, from its scores."""
        evaluation = measure_scored(Scored(test, self.scores, random_state=random_state), measures, preset)
        return replace(self, measures=evaluation.measures, values=evaluation.values)


# ------------------------------------------------------------------------------------------------------------ on disk

_PLAIN = ("dataset", "fold", "ranker", "key", "select", "chosen_by", "seconds", "effort", "refit", "versions")


def write_cell(cell: Cell, path: str | os.PathLike[str]) -> None:
    """Write a cell to one file, completely or not at all."""
    header = {name: getattr(cell, name) for name in _PLAIN}
    header["setting"] = to_plain(cell.setting, "setting")
    header["trials"] = [asdict(trial) | {"setting": to_plain(trial.setting, "setting")} for trial in cell.trials]
    header["measures"] = {name: str(measure) for name, measure in cell.measures.items()}
    header["model"] = None if cell.model_path is None else cell.model_path.name
    arrays = {"scores": cell.scores, "history": cell.history}
    if cell.valid_scores is not None:
        arrays["valid_scores"] = cell.valid_scores
    arrays |= pack_ids("qids", cell.qids)
    arrays |= {f"values.{name}": values for name, values in cell.values.items()}
    storage.write(path, arrays, {"kind": "cell", "cell": json.dumps(header, ensure_ascii=False)})


def read_cell(path: str | os.PathLike[str]) -> Cell:
    """Read a cell written by `write_cell`."""
    arrays, metadata = storage.read(path, kind="cell", mmap=False)
    try:
        header = json.loads(metadata["cell"])
        plain_fields = {name: header[name] for name in _PLAIN}
        trials = tuple(_trial(t) for t in header["trials"])
        qids = unpack_ids(arrays, "qids")
        if qids is None:
            raise KeyError("qids")
        return Cell(
            **plain_fields,
            setting=from_plain(header["setting"]),
            trials=trials,
            qids=qids,
            scores=arrays["scores"],
            valid_scores=arrays.get("valid_scores"),
            history=arrays["history"],
            measures={name: parse(text) for name, text in header["measures"].items()},
            values={name: arrays[f"values.{name}"] for name in header["measures"]},
            model_path=None if header["model"] is None else Path(path).with_name(Path(header["model"]).name),
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: damaged cell of an experiment ({error!r})") from None


def _trial(entry: dict[str, Any]) -> CellTrial:
    warnings = tuple(str(message) for message in entry.get("warnings", ()))
    return CellTrial(**(entry | {"setting": from_plain(entry["setting"]), "warnings": warnings}))
