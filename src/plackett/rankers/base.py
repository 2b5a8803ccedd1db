"""Base class of rankers: scikit-learn estimators that learn to score the documents of queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from plackett._base.arguments import choice, whole, whole_or_none
from plackett._base.errors import DataError, PlackettWarning
from plackett._base.estimator import Estimator, clone
from plackett._base.parameters import check_parameters
from plackett._base.search_space import SearchSpace
from plackett.data.canonical import canonical_order
from plackett.data.categories import refuse_categories
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import categories_of, training_data
from plackett.data.reference import reference_of, sample_of
from plackett.data.trained_columns import TrainedColumns
from plackett.data.zero_weights import without_zero_weights
from plackett.losses.base import Loss
from plackett.measures.blocks import measured
from plackett.measures.language import parse
from plackett.models.base import Model
from plackett.rankers.attributes import FittedAttributes
from plackett.rankers.callbacks import after_round
from plackett.rankers.card import training_card
from plackett.rankers.check_scores import check_scores
from plackett.rankers.packing import pack
from plackett.rankers.validation import give_validation, set_aside, validation_data
from plackett.scorers import model as model_file
from plackett.scorers.base import Scorer
from plackett.scorers.calibration import CALIBRATIONS, Calibration, calibrate
from plackett.scorers.combined import CombinedScorer
from plackett.scorers.scoring import Scoring, called, refuse_missing
from plackett.solvers.monitor import Monitor

__all__ = ["Ranker"]


@dataclass(kw_only=True, eq=False, repr=False)
class Ranker(Scoring, FittedAttributes, Estimator):
    """Base class of all rankers.

    A subclass is a dataclass: its fields are the parameters of the estimator (scikit-learn sees them in the generated
    constructor), its class attributes declare its properties, and `_fit` trains it on a dataset.

    Parameters
    ----------
    eval_measure
        Measure that `score` returns and that is monitored on the validation data.
    early_stopping_rounds
        Stop after this many rounds without improvement on the validation data, and keep the best round.
    validation_fraction
        Fraction of the training queries to set aside as validation data if no ``eval_set`` is given (inside a
        pipeline an ``eval_set`` would not be transformed).
    calibration
        ``"isotonic"`` or ``"logistic"``: learn on the validation data how likely a document is to be relevant given its
        score, for `predict_relevance`. None skips this.
    random_state
        Seed. The result does not depend on the order of rows or queries.
    n_jobs
        Number of threads; None uses all cores. The result does not depend on it.
    verbose
        Show progress.

    Attributes
    ----------
    n_features_in_, feature_names_in_
        Number and names of the features it was trained on.
    calibration_
        The function from scores to probabilities, if ``calibration`` is set.
    history_
        Value of `eval_measure` on the validation data after each round.
    best_iteration_, best_score_, evals_result_
        The round that was kept, its value and the values of all rounds, in LightGBM's form.
    booster_, feature_importances_
        Tree rankers only: the `lightgbm.Booster`, and the total gain of the splits on each feature.
    coef_, intercept_
        Linear rankers only: weight of each feature, and the constant added to the weighted sum.
    categories_
        Tree rankers fitted to a frame with categorical columns only: the values of each, in the order of their codes.
    card_
        The model card: what was trained on what, and how good it was on validation data.
    reference_
        Deciles and shares of the features and scores of training documents, by which a service detects drift.
    """

    #: Whether NaN features are treated as missing values (otherwise rejected). Set by the model or the ranker.
    allow_nan: ClassVar[bool]
    #: Whether it learns from the explicit preferences of a dataset; other rankers need labels.
    takes_preferences: ClassVar[bool] = False
    #: The parameter that controls training effort (``"n_estimators"``, ``"max_iter"``, …): half of it is about half
    #: of the work. None if there is no such parameter. Set by the model or the ranker.
    effort: ClassVar[str | None]
    #: The parameters worth tuning, with their ranges. Set by the model or the ranker.
    search_space: ClassVar[SearchSpace]
    #: For the tests: parameters for a quick check, further parameters to check with, and the names of checks that
    #: it cannot pass (with a comment why).
    _test_settings: ClassVar[dict[str, Any]] = {}
    _test_variants: ClassVar[tuple[dict[str, Any], ...]] = ()
    _test_skips: ClassVar[tuple[str, ...]] = ()

    # routes query ids and weights through pipelines and searches without any `set_…_request`
    __metadata_request__fit: ClassVar[dict[str, bool]] = {
        "qid": True,
        "sample_weight": True,
        "query_weight": True,
        "callbacks": True,
    }
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True, "pred_contrib": True, "exit": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    eval_measure: str = "nDCG@10"
    early_stopping_rounds: int | None = None
    validation_fraction: float | None = None
    calibration: str | None = None
    random_state: int | None = 0
    n_jobs: int | None = None
    verbose: bool = False

    # ---------------------------------------------------------------------------------------------------------- fit

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        eval_set: Any = None,
        eval_qid: Any = None,
        eval_group: Any = None,
        callbacks: Any = None,
    ) -> Self:
        """Learn from labelled documents.

        Parameters
        ----------
        X
            Features: an array, a SciPy matrix or a frame (which may carry the query ids in a column ``qid``), rows in
            any order; or a `RankingDataset`, alone. Tree rankers accept categorical columns (pandas' ``category``,
            polars' `Categorical` and `Enum`).
        y
            Relevance labels; larger is better, and a label below 0 means unjudged.
        qid
            Query of each row: integers or strings, in any order.
        group
            Number of rows of each query, as an alternative to ``qid``; rows must be grouped.
        sample_weight, query_weight
            Weight of each document; weight of each query, in order of first appearance.
        eval_set, eval_qid, eval_group
            Validation data ``(X, y)`` or a list of one, with its query ids or group sizes; or a `RankingDataset`.
        callbacks
            Functions called after each round with LightGBM's `CallbackEnv`, such as ``lightgbm.log_evaluation()``. A
            callback that returns True or raises LightGBM's `EarlyStopException` stops training.
        """
        categories = self._categories(X)
        columns = TrainedColumns(categories=categories, ranker=type(self).__name__)
        data = training_data(X, y, qid, group, sample_weight, query_weight, columns=columns)
        data = self.prepared(data)
        names = None if data.feature_names is None else tuple(data.feature_names)
        columns = TrainedColumns(names, categories, type(self).__name__)
        valid = validation_data(self.check_data, eval_set, eval_qid, eval_group, data.n_features, columns)
        before = self.__dict__.get("categories_")
        self.set_categories(categories)
        try:
            monitor = self.fit_prepared(data, valid, after_round(callbacks, self))
        except BaseException:
            self.set_categories(before)  # a failed fit leaves the ranker unchanged
            raise
        if monitor.interrupted:
            warnings.warn("training was interrupted; the model so far was kept", PlackettWarning, stacklevel=2)
        return self

    def fit_prepared(
        self, data: RankingDataset, valid: RankingDataset | None, after: Callable[[Monitor], bool] | None = None
    ) -> Monitor:
        """Train on prepared data, and record what the model card reports."""
        check_parameters(self)
        whole_or_none("random_state", self.random_state, least=0)
        if valid is None and self.validation_fraction is not None:
            data, valid = set_aside(data, self.validation_fraction, self.random_state)
        monitor = self.make_monitor(valid, after)
        if self.calibration is not None:
            choice("calibration", self.calibration, CALIBRATIONS)
            if valid is None:
                raise DataError(f"calibration needs validation data: {give_validation()}")
            if self.refits():
                raise DataError(
                    f"calibration={self.calibration!r} needs held-out data, but refit=True trains on all of it; use one"
                )
        self._fit(data, monitor)
        sample = sample_of(data)
        scores = self.scorer_.score_sample(sample, self.n_jobs)
        if not monitor.interrupted and not monitor.called_off:
            check_scores(self, data, sample, scores)
        self.note_training(data, monitor)
        self.calibrate_on(valid)
        self.note_reference(sample, scores)
        return monitor

    def refits(self) -> bool:
        """Whether the final model is also trained on the validation data."""
        return bool(getattr(self, "refit", False))

    def _categories(self, X: Any) -> dict[str, list[Any]]:
        """The categorical columns to learn from; none if the ranker accepts numbers only."""
        return {}

    def set_categories(self, categories: dict[str, list[Any]] | None) -> None:
        """Note the values of categorical columns; None or nothing forgets them."""
        self.__dict__.pop("categories_", None)
        if categories:
            self.categories_: dict[str, list[Any]] = categories

    def _refuse_validation(self, what: str, hint: str) -> None:
        """Reject parameters that need validation data if there are none."""
        for name in ("calibration", "validation_fraction", "early_stopping_rounds"):
            if getattr(self, name) is not None:
                raise DataError(f"{what} has no validation data, which {name}={getattr(self, name)!r} needs; {hint}")

    def prepared(self, data: RankingDataset, name: str = "X") -> RankingDataset:
        """The data as passed to `_fit`: checked, in canonical order, without queries of weight 0."""
        check_parameters(self)
        self.check_data(data, name)
        return without_zero_weights(canonical_order(data))

    def make_monitor(self, valid: RankingDataset | None, after: Callable[[Monitor], bool] | None = None) -> Monitor:
        """The monitor that follows training."""
        if self.early_stopping_rounds is not None:
            if valid is None:
                raise DataError(f"early_stopping_rounds needs validation data: {give_validation()}")
            whole("early_stopping_rounds", self.early_stopping_rounds, least=1)
        measure = parse(self.eval_measure)
        return Monitor(valid, measure, self.early_stopping_rounds, self.verbose, self.n_jobs, after_round=after)

    def note_training(self, data: RankingDataset, monitor: Monitor) -> None:
        """Record what the ranker was trained on."""
        self.n_features_in_ = data.n_features
        self.__dict__.pop("feature_names_in_", None)
        if data.feature_names is not None:
            self.feature_names_in_: np.ndarray = np.array(data.feature_names, dtype=object)
        self.history_ = monitor.history
        self.card_ = self._card(data, monitor)
        self.__dict__.pop("calibration_", None)  # it was learned for other weights

    def note_reference(self, sample: RankingDataset, scores: np.ndarray) -> None:
        """Record how features and scores are distributed, for a service to detect drift."""
        reference = reference_of(sample, scores)
        self.__dict__.pop("reference_", None)
        if reference is not None:
            self.reference_: np.ndarray = reference

    def note_distribution(self, data: RankingDataset) -> None:
        """Record how features and scores are distributed in these data, after the scorer has changed."""
        sample = sample_of(data)
        self.note_reference(sample, self.score_rows(sample))

    def _note_part(self, data: RankingDataset) -> None:
        """Record everything that `partial_fit` has seen so far."""
        before = getattr(self, "card_", {}).get("data", {})
        self.note_training(data, Monitor())
        if before:
            sizes = {name: before[name] + self.card_["data"][name] for name in ("queries", "rows")}
            self.card_["data"] = sizes | {"features": data.n_features, "parts": before.get("parts", 1) + 1}

    def calibrate_on(self, valid: RankingDataset | None) -> None:
        """Learn on validation data how likely a document is to be relevant given its score, if `calibration` is set."""
        self.__dict__.pop("calibration_", None)
        if self.calibration is not None and valid is not None:
            scores, weight = self.score_rows(valid), valid.sample_weight
            self.calibration_: Calibration = calibrate(scores, valid.labels, self.calibration, sample_weight=weight)

    def parts(self) -> list[Ranker]:
        """The rankers that this one is composed of; usually none."""
        return []

    def full_effort(self) -> int | None:
        """Value of the parameter that controls training effort; None if there is none."""
        name = getattr(self, "effort", None)
        return None if name is None else getattr(self, name)

    def settled(self) -> dict[str, Any]:
        """Parameters chosen on validation data, for retraining this ranker without such data.

        These are the best number of rounds (also for each member of a blend) and the members that were kept.

        >>> import plackett as pk
        >>> data = pk.datasets.make_ranking(n_queries=20, random_state=0)
        >>> ranker = pk.LambdaMART(n_estimators=9, validation_fraction=0.3).fit(data)
        >>> ranker.settled() == {"n_estimators": ranker.card_["validation"]["round"], "validation_fraction": None}
        True
        """
        rounds = self.card_.get("validation", {}).get("round")
        decided = self._as_long_as(rounds) if rounds else {}  # 0: no round was better than the start
        # calibration needs held-out queries of its own in any case
        names = ("early_stopping_rounds",) if self.calibration else ("early_stopping_rounds", "validation_fraction")
        return decided | {name: None for name in names if getattr(self, name) is not None}

    def _as_long_as(self, rounds: int) -> dict[str, Any]:
        """Parameters that make training stop after this many rounds of the monitor; empty if there are none."""
        name = getattr(self, "effort", None)
        return {} if name is None else {name: rounds}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        """Train, and set ``scorer_``."""
        raise NotImplementedError

    def train_on(self, data: RankingDataset, monitor: Monitor) -> None:
        """Train on prepared data under the monitor of another ranker, which checks and records what comes out."""
        self._fit(data, monitor)

    def check_data(self, data: RankingDataset, name: str) -> None:
        """Refuse data without documents or features, and features that it cannot learn from."""
        for size, unit in ((data.n_rows, "sample(s)"), (data.n_features, "feature(s)")):
            if size == 0:
                raise DataError(f"{called(name)} 0 {unit} (shape={data.X.shape}) while a minimum of 1 is required.")
        refuse_categories(data.categories, type(self).__name__)
        self.check_trainable(data, name)

    def check_trainable(self, data: RankingDataset, name: str) -> None:
        """Refuse missing values that cannot be learned from; ``name`` is what has them."""
        if self.untrainable_part():
            refuse_missing(data, name, self.untrainable_part())

    # ------------------------------------------------------------------------------------------------------ predict

    def untrainable_part(self) -> str:
        """Name of what refuses to learn from missing values (NaN), itself or a part; empty if it learns from them."""
        return "" if self.allow_nan else type(self).__name__

    @property
    def strict_part(self) -> str:
        """Name of what refuses to score missing values (NaN); as in training."""
        return self.untrainable_part()

    def score(self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None) -> float:
        """Mean of ``eval_measure`` over the queries, negated where smaller is better.

        ``sample_weight`` exists because scikit-learn's pipelines pass it on. Measures do not weight documents, so only
        None is accepted.
        """
        if sample_weight is not None:
            raise ValueError("score does not support sample_weight: measures weight all queries equally")
        self.check_fitted()
        data = training_data(X, y, qid, name="score", columns=self.columns_in)
        self.check_features(data)
        measure = parse(self.eval_measure)
        return measure.worth(measure.mean(measured([measure], data, self.score_rows, n_jobs=self.n_jobs)[0]))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "scorer_")

    # -------------------------------------------------------------------------------------------------- description

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        """The model card: what was trained on what, and how good it was on validation data."""
        return training_card(type(self).__name__, self.eval_measure, data, monitor)

    def save(self, path: Any) -> None:
        """Write the ranker to one file, which appears complete or not at all; `plackett.load` reads it."""
        model_file.write(path, *self.pack())

    def pack(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The fitted ranker as JSON and named arrays, as scorers with rankers inside store them."""
        return pack(self)

    def trained_copy(
        self, data: RankingDataset, valid: RankingDataset | None = None, start: Ranker | None = None
    ) -> Self:
        """A copy that is trained on a dataset, with ``warm_start`` continued from the scorer of ``start``.

        There is no warning if it learns nothing; that is up to the ranker around it.
        """
        copy = clone(self)
        if start is not None:
            copy.scorer_ = start.scorer_
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*learned nothing", PlackettWarning)
            monitor = copy.fit_prepared(without_zero_weights(data), valid)
        if monitor.interrupted:  # the copy stopped quietly; the ranker around it stops with it
            raise KeyboardInterrupt
        return copy

    def _html_repr(self) -> str:
        """What notebooks show: scikit-learn's diagram of the parameters and, once fitted, the model card."""
        from sklearn.utils import estimator_html_repr

        from plackett.rankers.display import card_html

        return estimator_html_repr(self) + (card_html(self) if hasattr(self, "scorer_") else "")

    _repr_html_inner = _html_repr

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        from sklearn import get_config

        html = {"text/html": self._html_repr()} if get_config()["display"] == "diagram" else {}
        return {"text/plain": repr(self)} | html

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "ranker"
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = self.allow_nan
        tags.target_tags.required = True
        return tags


@dataclass(kw_only=True, eq=False, repr=False)
class GradientTrained(Ranker):
    """A ranker made of a loss and a model. Subclasses also inherit from a model, whose fields become parameters."""

    def make_loss(self) -> Loss:
        """The loss to minimise."""
        raise NotImplementedError

    def make_model(self) -> Model:
        """The model to train; the ranker itself if it inherits from one."""
        return self  # type: ignore[return-value]

    @property
    def takes_preferences(self) -> bool:  # type: ignore[override]
        """Whether it learns from explicit preferences; decided by the loss."""
        return self.make_loss().takes_preferences

    def refits(self) -> bool:
        """Whether the final model is also trained on the validation data."""
        return bool(getattr(self.make_model(), "refit", False))

    def _categories(self, X: Any) -> dict[str, list[Any]]:
        return categories_of(X) if hasattr(self.make_model(), "categorical_features") else {}

    def _fit(self, data: RankingDataset, monitor: Monitor) -> None:
        model = self.make_model()
        if model is not self:
            check_parameters(model)
        self.scorer_ = self.finished(model.train(self.make_loss(), data, monitor, self.start()))

    def start(self) -> Scorer | None:
        """The trained model to continue from; None without ``warm_start``."""
        known = hasattr(self, "scorer_") and getattr(self, "warm_start", False)
        return self.scorer_.model if known else None

    def finished(self, model: Scorer) -> Scorer:
        """The scorer of a trained model: its output, or its several outputs as the loss combines them."""
        loss = self.make_loss()
        return CombinedScorer(model, loss) if loss.combines else model

    def _card(self, data: RankingDataset, monitor: Monitor) -> dict[str, Any]:
        card, model = super()._card(data, monitor), self.make_model()
        chosen = model.chosen(data) if hasattr(model, "chosen") else {}
        if chosen:
            card["chosen"] = chosen
        if getattr(model, "refit", False) and monitor.valid is not None and not monitor.interrupted:
            card["refit"] = {"queries": data.n_queries + monitor.valid.n_queries}
        return card
