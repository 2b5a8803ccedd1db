"""One query on which two rankers differ: their lists, and a pair of documents explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from plackett.data.dataset import RankingDataset
from plackett.evaluation.importance import feature_names, feature_scores
from plackett.experiments.cells.cell import Cell
from plackett.experiments.result import Experiment
from plackett.explanations.explain import explain
from plackett.explanations.explanation import Explanation
from studies.base import Study, per_query

#: Numbers of documents per list and features per pair to show.
_DOCUMENTS = 10
_FEATURES = 6


@dataclass
class Case:
    """One query and the two rankers."""

    experiment: Experiment
    row: dict[str, Any]

    def __post_init__(self) -> None:
        (dataset,) = self.experiment.datasets
        self.test: RankingDataset = self.experiment.folds[dataset][self.row["fold_key"]].test
        self.list = self.test.select([self.row["number"]])
        self.qid = self.list.qids[0]
        self.cells: dict[str, Cell] = {
            r: self.experiment.cell(r, self.row["fold_key"]) for r in self.experiment.rankers
        }
        a, b = self.experiment.rankers
        self.winner, self.loser = (a, b) if self.row["difference"] > 0 else (b, a)
        rows = slice(*self.test.offsets[self.row["number"] : self.row["number"] + 2])
        self.orders = {r: np.argsort(-cell.scores[rows], kind="stable") for r, cell in self.cells.items()}

    def parts(self) -> list[Study]:
        """The lists, and the pair explained."""
        return [self._lists(), self._pair()]

    def _name(self, document: int) -> str:
        return f"document {document + 1}" if self.list.docids is None else str(self.list.docids[document])

    def _lists(self) -> Study:
        import polars as pl

        top = min(_DOCUMENTS, self.list.n_rows)
        columns: dict[str, Any] = {"position": [str(i + 1) for i in range(top)]}
        for ranker, order in self.orders.items():
            columns[ranker] = [self._name(i) for i in order[:top]]
            columns[f"label ({ranker})"] = [f"{self.list.labels[i]:g}" for i in order[:top]]
        figures = " against ".join(f"{self.row[ranker]:.4f} ({ranker})" for ranker in self.cells)
        title = (
            f"Query {self.qid} of fold {self.row['fold']}, {next(iter(self.experiment.measures))} {figures}: the lists"
        )
        return Study(pl.DataFrame(columns), title)

    def _pair(self) -> Study:
        import polars as pl

        pair = self._telling_pair()
        if pair is None:
            return Study(pl.DataFrame({"feature": []}), f"Query {self.qid}: the lists differ among equal labels only")
        good, bad = pair
        parts = {r: _parts(explain(cell.model(), self.list), good, bad) for r, cell in self.cells.items()}
        win, lose = parts[self.winner], parts[self.loser]
        shown = np.argsort(-np.abs(win - lose), kind="stable")[:_FEATURES].tolist()
        X = self.list.dense()
        features = [self._feature(j, X[good, j], X[bad, j]) for j in shown]
        rest = {r: float(values.sum() - values[shown].sum()) for r, values in parts.items()}
        frame = pl.DataFrame(
            {
                "feature": [*(feature.name for feature in features), "all others", "together"],
                self._name(good): [*X[good, shown].astype(float), None, None],
                self._name(bad): [*X[bad, shown].astype(float), None, None],
                **{r: [*values[shown].tolist(), rest[r], float(values.sum())] for r, values in parts.items()},
                "alone, here": [*(feature.here for feature in features), None, None],
                "alone, mean": [*(feature.mean for feature in features), None, None],
            }
        )
        title = f"Why {self.winner} has {self._name(good)} above {self._name(bad)}, and {self.loser} below"
        return Study(frame, title, self._sentences(pair, features, win[shown], lose[shown]))

    def _telling_pair(self) -> tuple[int, int] | None:
        """A relevant document that the winner ranks higher, and one that it overtakes there."""
        ranks = {r: np.argsort(order) for r, order in self.orders.items()}
        win, lose, labels = ranks[self.winner], ranks[self.loser], self.list.labels
        better = (labels[:, None] > labels) & (win[:, None] < win) & (lose[:, None] > lose)
        moved = np.where(better.any(axis=1) & (labels > 0), 1 / (1 + win) - 1 / (1 + lose), -np.inf)
        good = int(np.argmax(moved))
        if not np.isfinite(moved[good]):
            return None
        passed = np.flatnonzero(better[good])
        return good, int(passed[np.argmin(lose[passed])])

    def _feature(self, number: int, good: float, bad: float) -> Feature:
        """The feature ranks in the direction that is better on the training part."""
        ((_, measure),) = self.experiment.measures.items()
        (dataset,) = self.experiment.datasets
        train = self.experiment.folds[dataset][self.row["fold_key"]].train
        up, down = (measure.mean(per_query(train, feature_scores(train, number, s), measure)) for s in (1, -1))
        sign = 1 if up == down or (up > down) == measure.ascending else -1
        values = per_query(self.test, feature_scores(self.test, number, sign), measure)
        here, mean = float(values[self.row["number"]]), measure.mean(values)
        worse = here < mean if measure.ascending else here > mean
        return Feature(feature_names(self.list)[number], here, mean, worse, sign * (good - bad) > 0)

    def _sentences(
        self, pair: tuple[int, int], features: list[Feature], win: np.ndarray, lose: np.ndarray
    ) -> tuple[str, ...]:
        """The explanation in sentences."""
        good, bad = pair
        ranks = {
            r: {i: int(np.flatnonzero(order == i)[0]) + 1 for i in (good, bad)} for r, order in self.orders.items()
        }
        labels = {i: f"{self.list.labels[i]:g}" for i in (good, bad)}
        sentences = [
            f"{self._name(good)} (label {labels[good]}) is at {ranks[self.winner][good]} in {self.winner} and at "
            f"{ranks[self.loser][good]} in {self.loser}; {self._name(bad)} (label {labels[bad]}) is at "
            f"{ranks[self.winner][bad]} and {ranks[self.loser][bad]}."
        ]
        for sign, towards in ((1, self.winner), (-1, self.loser)):
            most = [i for i in np.argsort(-sign * (win - lose), kind="stable")[:2] if sign * (win - lose)[i] > 0]
            reasons = "; ".join(
                f"feature {features[i].name}, which adds {win[i]:+.2f} in {self.winner} and {lose[i]:+.2f} in "
                f"{self.loser}" + (features[i].mistake(self.loser) if sign > 0 and lose[i] < 0 else "")
                for i in most
            )
            sentences += [f"Towards the order of {towards}: {reasons}."] if most else []
        return tuple(sentences)


@dataclass(frozen=True)
class Feature:
    """One feature in a case: the value of the measure if it ranks alone, and whether it prefers the right document."""

    name: str
    here: float
    mean: float
    worse: bool
    prefers_good: bool

    def mistake(self, loser: str) -> str:
        """A remark for a feature that pulls the loser towards the wrong document."""
        if self.prefers_good:
            return f" ({loser} uses it against the direction in which it ranks best alone)"
        return f" (it misleads {loser}: alone {self.here:.2f} here, {self.mean:.2f} on average)" if self.worse else ""


def _parts(explained: Explanation, good: int, bad: int) -> np.ndarray:
    """Contribution of each feature to the difference of two scores, in standard deviations of the list's scores."""
    spread = float(explained.scores.std())
    return (explained.contributions[good] - explained.contributions[bad]) / (spread if spread > 0 else 1.0)
