"""What came out of the trainings of a search, and the folder that keeps it: one file for each, to resume from."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from plackett._base.errors import DataError, PlackettWarning
from plackett._files import storage
from plackett.experiments.auto.splits import Splits
from plackett.experiments.cells.key import data_digest, describe, versions


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a candidate on one split.

    Attributes
    ----------
    scores
        Stages × held-out documents: the scores after each stage, in units of their spread.
    spreads
        Standard deviation of the scores within lists, for each stage.
    train_seconds
        Time to train.
    document_seconds
        Time to score a document with all rounds.
    """

    scores: np.ndarray
    spreads: np.ndarray
    train_seconds: float
    document_seconds: float


class TrialFolder:
    """Outcomes on disk, each in a file that is written completely or not at all.

    The name of a file is a hash of the data, the split, the ranker with its parameters and source, and the versions of
    the libraries, so an outcome is reused only if none of these has changed.
    """

    def __init__(self, path: Any, splits: Splits) -> None:
        if str(path) == "":
            raise DataError("folder='': give the path of a folder, '.' for the current one, or None")
        self.path = Path(path)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DataError(f"folder={str(path)!r}: results cannot be written there ({error.strerror})") from None
        self.splits = splits
        #: Why nothing is written any more; None while writing works.
        self.failure: str | None = None
        self.data = [data_digest(splits.data), "" if splits.valid is None else data_digest(splits.valid)]

    def key(self, ranker: Any, stages: tuple[int | None, ...], split: int) -> str:
        """Hash of everything that an outcome depends on."""
        held_out = hashlib.blake2b(self.splits.held_out[split].astype(np.int64).tobytes(), digest_size=12).hexdigest()
        ingredients = [self.data, held_out, describe(ranker), list(stages), versions()]
        text = json.dumps(ingredients, sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

    def read(self, key: str) -> Outcome | None:
        """The outcome, if it exists. A damaged file counts as missing."""
        path = self.path / f"{key}.plackett"
        if not path.exists():
            return None
        try:
            arrays, _ = storage.read(path, kind="auto", mmap=False)
            train_seconds, document_seconds = arrays["seconds"].tolist()
            return Outcome(arrays["scores"], arrays["spreads"], train_seconds, document_seconds)
        except (DataError, KeyError, ValueError) as error:
            warnings.warn(f"{path}: damaged ({error}); computing it again", PlackettWarning, stacklevel=2)
            return None

    def write(self, key: str, outcome: Outcome) -> None:
        """Write an outcome. If that fails (a full disk), the search goes on without writing."""
        if self.failure is not None:
            return
        seconds = np.array([outcome.train_seconds, outcome.document_seconds])
        arrays = {"scores": outcome.scores, "spreads": outcome.spreads, "seconds": seconds}
        try:
            storage.write(self.path / f"{key}.plackett", arrays, {"kind": "auto"})
        except OSError as error:
            self.failure = error.strerror or str(error)

    def warn_of_failure(self) -> None:
        """Warn if something could not be written."""
        if self.failure is not None:
            warnings.warn(
                f"folder={str(self.path)!r}: not all results could be written there ({self.failure}); the search went "
                "on without it, but cannot be resumed from there",
                PlackettWarning,
                stacklevel=2,
            )
