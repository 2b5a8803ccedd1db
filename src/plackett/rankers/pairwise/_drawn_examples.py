"""Rankers that learn from examples drawn one at a time, and that further queries teach more."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

from plackett._base.arguments import whole
from plackett._base.errors import DataError, LossError
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import training_data
from plackett.rankers.base import Ranker
from plackett.scorers.base import Scorer
from plackett.solvers.monitor import Monitor


class DrawnExamples(Ranker):
    """Base of these rankers: the rounds of `fit`, and `partial_fit`. A subclass has the steps."""

    takes_preferences: ClassVar[bool] = True
    allow_nan: ClassVar[bool] = False
    effort: ClassVar[str | None] = "n_steps"
    #: What is learned depends on the order of the examples: weights are probabilities, not sums.
    one_at_a_time: ClassVar[bool] = True

    n_steps: int
    n_rounds: int

    @property
    def _title(self) -> str:
        """What progress is reported of."""
        return type(self).__name__

    @abstractmethod
    def _check_settings(self) -> None:
        """Refuse parameters that cannot be used."""

    @abstractmethod
    def _begin(self, data: RankingDataset) -> Any:
        """What is learned step by step, before the first one."""

    @abstractmethod
    def _steps_on(self, descent: Any, data: RankingDataset) -> Callable[[int], None]:
        """A function that takes a number of steps on these data."""

    @abstractmethod
    def _scorer(self, descent: Any) -> Scorer:
        """Scores with what was learned so far."""

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Rounds are equal parts of the steps."""
        return {"n_steps": max(1, self.n_steps * rounds // self.n_rounds), "n_rounds": rounds}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        self._check_settings()
        descent = self._begin(data)
        take_steps, start = self._steps_on(descent, data), self._scorer(descent)
        with monitor.training(self.n_rounds, self._title):
            for round_ in range(self.n_rounds):
                end = self.n_steps * (round_ + 1) // self.n_rounds
                take_steps(end - self.n_steps * round_ // self.n_rounds)
                if monitor.keep(self._scorer(descent)):
                    break
        self.scorer_, self.descent_ = monitor.best or start, descent

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        n_steps: int | None = None,
    ) -> Self:
        """Continue training on more queries, which need not be kept.

        Parameters
        ----------
        X, y, qid, group, sample_weight, query_weight
            As in `fit`. Whole queries: pairs are drawn among the documents given here.
        n_steps
            Number of examples to draw; None draws as many as there are documents.

        Notes
        -----
        The first call fixes the scale of the features. After `fit`, training continues from there. A ranker loaded from
        a file has only its weights and cannot continue; pickle it instead if it should.
        """
        self._check_settings()
        self._refuse_validation("partial_fit", "fit takes it, or set it to None")
        columns = self.columns_in if hasattr(self, "scorer_") else None
        data = self.prepared(training_data(X, y, qid, group, sample_weight, query_weight, columns=columns))
        if hasattr(self, "scorer_"):
            self.check_features(data)
            if not hasattr(self, "descent_"):
                raise DataError("a loaded ranker cannot continue training: only its weights were saved; fit it again")
        else:
            self.descent_ = self._begin(data)
        steps = data.n_rows if n_steps is None else check_count("n_steps", n_steps)
        self._steps_on(self.descent_, data)(steps)
        self.scorer_ = self._scorer(self.descent_)
        self._note_part(data)
        return self


def check_count(name: str, number: Any) -> int:
    """A parameter that is a whole number of 1 or more."""
    whole(name, number, least=1, error=LossError)
    return int(number)
