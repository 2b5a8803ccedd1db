"""Tree ensembles: LightGBM's trees, grown on the gradients of any loss."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from plackett._base.arguments import choice, whole_or_none
from plackett._base.errors import LossError
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett._kernels.openmp import dismiss_waiting_threads, growing_threads
from plackett.data.canonical import canonical_order
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.feature_number import feature_costs, feature_number
from plackett.data.mapped import is_mapped, release_memory
from plackett.losses.base import BoundLoss, Loss
from plackett.models.trees.bin_cache import cached_bins
from plackett.models.trees.query_sample import QuerySample
from plackett.models.trees.tree_size import FOREST_LEAVES, leaf_size_for, leaves_for
from plackett.scorers.base import Scorer
from plackett.scorers.trees.scorer import TreeScorer
from plackett.scorers.trees.text import trees_only
from plackett.solvers.monitor import Monitor

__all__ = ["Trees"]


@dataclass(kw_only=True, eq=False)
class Trees:
    """Ensemble of regression trees, each a Newton step on the loss: leaf value −Σ gradient / (Σ curvature + λ).

    Parameters
    ----------
    n_estimators, learning_rate
        Maximum number of trees, and the weight of each.
    num_leaves, max_depth, min_child_samples, min_child_weight
        Size of a tree: leaves, depth (-1 is any), least number of documents and least curvature in a leaf.
        ``num_leaves="auto"`` uses 4 leaves up to 13,000 documents, and more for larger data, up to 64
        (`plackett.models.trees.tree_size.leaves_for`); always 31 in a forest. ``min_child_samples="auto"`` is 20, or a
        tenth of the documents if there are fewer than 200. The model card reports both numbers.
    max_bin
        Histogram bins per feature.
    reg_alpha, reg_lambda
        L1 and L2 penalty of leaf values.
    subsample, colsample_bytree, colsample_bynode
        Share of the queries and of the features that each tree sees, and of these features that each split sees.
    boosting
        ``"gbdt"``; ``"dart"`` (LightGBM's dropout; `plackett.models.DropoutTrees` has the variants);
        ``"forest"`` (every tree fits the loss at zero scores on a bootstrap of the queries, all count the same);
        ``"bagged"`` (the trees are split over ``n_bags`` ensembles, each boosted on its own bootstrap of the queries,
        and the scores are their mean).
    n_bags
        With 2 or more, this many ensembles of ``n_estimators`` trees are grown side by side, each on its own bootstrap
        of the queries, and the scores are their mean. They stop early together, by the measure of the mean. With
        ``boosting="bagged"`` it is the number of ensembles, 10 by default.
    refit
        If there are validation data, train again on training and validation data together, with the best number of
        rounds.
    monotone_constraints
        For each feature 1 (scores never decrease as it grows), -1 or 0.
    feature_costs
        Cost of using a feature at all: a number for each feature, or a dict from feature names or indices to costs, 0
        for the others. The first split of the ensemble on a feature must gain that much more, in the units of
        ``feature_importances_``; further ones are free. A feature is left out if its gain is not worth the cost.
    categorical_features
        Indices or names of the features whose values are codes (whole numbers from 0) rather than quantities.
        Categorical columns of a frame are detected.
    warm_start
        Continue from the trees of the last ``fit``.
    gradient_bins
        Round gradients and curvatures to this many levels while the trees are grown (at most 254), so that histograms
        are sums of small whole numbers: about twice as fast, and exact in any order. Leaf values use the exact
        gradients. Not suitable for gradients with rare huge values, next to which the others round to 0. None grows the
        trees on exact gradients, and so does sampling of the features or queries (``colsample_bytree``,
        ``colsample_bynode``, ``subsample``, ``n_bags``, ``boosting="bagged"`` or ``"forest"``), under which LightGBM's
        quantised training fails.
    lightgbm_params
        Further parameters under LightGBM's own names; they override the above.
    """

    allow_nan: ClassVar[bool] = True
    effort: ClassVar[str | None] = "n_estimators"
    search_space: ClassVar[SearchSpace] = {
        "learning_rate": Real(0.02, 0.2, log=True),
        "num_leaves": Integer(4, 32, log=True),
        "min_child_samples": Integer(5, 80, log=True),
    }

    n_estimators: int = 100
    learning_rate: float = 0.1
    num_leaves: int | str = "auto"
    max_depth: int = -1
    min_child_samples: int | str = "auto"
    min_child_weight: float = 1e-3
    max_bin: int = 255
    reg_alpha: float = 0.0
    reg_lambda: float = 0.0
    subsample: float = 1.0
    colsample_bytree: float = 1.0
    colsample_bynode: float = 1.0
    boosting: str = "gbdt"
    n_bags: int | None = None
    refit: bool = False
    monotone_constraints: tuple[int, ...] | None = None
    feature_costs: Any = None
    categorical_features: tuple[int | str, ...] | None = None
    warm_start: bool = False
    gradient_bins: int | None = None
    lightgbm_params: dict[str, Any] | None = None
    random_state: int | None = 0
    n_jobs: int | None = None

    def train(self, loss: Loss, data: RankingDataset, monitor: Monitor, start: Scorer | None = None) -> TreeScorer:
        """Grow the trees."""
        import lightgbm as lgb

        choice("boosting", self.boosting, _GRADIENTS, error=LossError)
        if start is not None and (not isinstance(start, TreeScorer) or start.booster.num_feature() != data.n_features):
            raise LossError("trees can only continue from trees with the same features")
        self._check_bags(loss, start)
        loss = loss.settle(data)
        monitor.consider(start, loss)
        bound = loss.bind(data, n_jobs=self.n_jobs)
        parameters = self.lightgbm_parameters(bound, data)
        categorical = self.categorical_numbers(data)

        def make() -> Any:
            return lightgbm_dataset(lgb, data, parameters, categorical)

        # trees to continue from score the features themselves, which a cache does not have
        train_set = make() if start is not None else cached_bins(lgb, data, parameters, categorical, make)
        valid_sets = []
        if monitor.valid is not None:
            valid_sets = [lightgbm_dataset(lgb, monitor.valid, parameters, reference=train_set)]
        bags = 1 if self.boosting == "bagged" else self.bags
        gradients = (_SideBySide if bags > 1 else _GRADIENTS[self.boosting])(self, loss, bound)
        drops = _Drops(gradients, parameters.get("drop_seed", parameters["seed"])) if self.boosting == "dart" else None

        def objective(scores: np.ndarray, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
            dismiss_waiting_threads()
            return (drops or gradients)(scores, dataset)

        parameters["objective"] = objective  # a function, as LightGBM copies its parameters deeply, and objects too
        watch = _Watch(monitor, loss, reweighs=self.boosting == "dart", trees_per_round=bags)
        with monitor.training(self.n_estimators, f"{loss.name} · {self.boosting}"):
            lgb.train(
                parameters,
                train_set,
                num_boost_round=self.n_estimators * bags,
                valid_sets=valid_sets,
                feval=watch.feval if valid_sets else None,
                callbacks=[watch] if drops is None else [watch, drops.before_round],
                init_model=None if start is None else start.booster,
            )
        if start is not None and monitor.kept == 0:
            return start
        scorer = TreeScorer(trees_only(watch.best()))
        return self._refitted(loss, data, monitor, scorer) if self.refit and valid_sets else scorer

    def _check_bags(self, loss: Loss, start: Scorer | None) -> None:
        for name in ("n_estimators", "n_bags"):
            value = getattr(self, name)
            whole_or_none(name, value, least=1, error=LossError)
        if self.bags > 1 and self.boosting not in ("gbdt", "bagged"):
            raise LossError(f"n_bags={self.n_bags} is for boosting='gbdt'; boosting={self.boosting!r} has no bags")
        if self.bags > 1 and loss.counts_rounds:
            raise LossError(f"n_bags={self.n_bags}: {loss.name} changes with the rounds, which bags do not share")
        if self.refit and start is not None:
            raise LossError(
                "refit=True trains from scratch and cannot continue from earlier trees; use it without warm_start"
            )

    def _refitted(self, loss: Loss, data: RankingDataset, monitor: Monitor, scorer: TreeScorer) -> TreeScorer:
        """The trees grown again on training and validation data; the first ones if that is interrupted."""
        if monitor.interrupted or monitor.valid is None:
            return scorer
        joint = concat([_numbered(data, 0), _numbered(monitor.valid, data.n_queries)])
        again = copy(self)
        again.refit = False
        again.n_estimators = monitor.kept or self.n_estimators
        for name, value in self.chosen(data).items():
            setattr(again, name, value)
        without_validation = Monitor(verbose=monitor.verbose, n_jobs=monitor.n_jobs)
        grown = again.train(loss, canonical_order(joint), without_validation)
        monitor.interrupted = without_validation.interrupted
        return scorer if without_validation.interrupted else grown

    @property
    def bags(self) -> int:
        """Number of ensembles whose mean is taken."""
        return self.n_bags or (10 if self.boosting == "bagged" else 1)

    def chosen(self, data: RankingDataset) -> dict[str, Any]:
        """The values of ``"auto"`` for these training data."""
        settings: dict[str, Any] = {}
        for name in ("num_leaves", "min_child_samples"):
            value = getattr(self, name)
            if isinstance(value, str) and value != "auto":
                raise LossError(f"{name}={value!r}; give a number, or 'auto'")
        if not isinstance(self.num_leaves, str) and not self.num_leaves >= 2:
            raise LossError(f"num_leaves={self.num_leaves}; a tree needs at least 2 leaves")
        if self.num_leaves == "auto":
            settings["num_leaves"] = FOREST_LEAVES if self.boosting == "forest" else leaves_for(data.n_rows)
        if self.min_child_samples == "auto":
            settings["min_child_samples"] = leaf_size_for(data.n_rows)
        return settings

    def categorical_numbers(self, data: RankingDataset) -> list[int]:
        """Numbers of the categorical features: those of the parameter, and a frame's columns of categories."""
        given = (*(self.categorical_features or ()), *getattr(self, "categories_", ()))
        return sorted({feature_number(data, name, "categorical_features") for name in given})

    def lightgbm_parameters(self, bound: BoundLoss, data: RankingDataset) -> dict[str, Any]:
        """The parameters of this model as LightGBM calls them."""
        chosen = {
            "learning_rate": self.learning_rate,
            "num_leaves": self.chosen(data).get("num_leaves", self.num_leaves),
            "max_depth": self.max_depth,
            "min_data_in_leaf": self.chosen(data).get("min_child_samples", self.min_child_samples),
            "min_sum_hessian_in_leaf": self.min_child_weight,
            "max_bin": self.max_bin,
            "bin_construct_sample_cnt": 50_000,  # some 200 values per bin say where bins lie; LightGBM looks at 200,000
            "lambda_l1": self.reg_alpha,
            "lambda_l2": self.reg_lambda,
            "feature_fraction": self.colsample_bytree,
            "feature_fraction_bynode": self.colsample_bynode,
            "boosting": "gbdt",
            "seed": int(np.random.default_rng(self.random_state).integers(2**31)),
            "num_threads": growing_threads(self.n_jobs, data.n_rows, data.n_features),
            "deterministic": True,
            "force_col_wise": True,  # the other way sums in an order that depends on the number of threads
            "verbosity": -1,
            "metric": "none",
            "num_class": bound.n_outputs,
            "feature_pre_filter": False,
        }
        if self.monotone_constraints is not None:
            if len(self.monotone_constraints) != data.n_features:
                given = len(self.monotone_constraints)
                raise LossError(f"monotone_constraints has {given} entries for {data.n_features} features")
            chosen["monotone_constraints"] = list(self.monotone_constraints)
        if self.feature_costs is not None:
            chosen["cegb_penalty_feature_coupled"] = feature_costs(data, self.feature_costs, 0.0).tolist()
        if self.boosting == "forest":
            chosen["learning_rate"] = 1.0 / self.n_estimators
            chosen["feature_fraction_bynode"] = self.colsample_bytree * self.colsample_bynode
            del chosen["feature_fraction"]
        elif self.bags > 1:
            chosen["learning_rate"] = self.learning_rate / self.bags
        elif self.boosting == "dart":
            chosen["boosting"] = "dart"
        whole_or_none("gradient_bins", self.gradient_bins, least=2, most=254, error=LossError)
        chosen |= self.lightgbm_params or {}
        if self.gradient_bins is not None and not self._sampled(chosen):
            quantised = {
                "use_quantized_grad": True,
                "num_grad_quant_bins": self.gradient_bins,
                "quant_train_renew_leaf": True,
                "stochastic_rounding": False,
            }
            # whole numbers add up to the same in any order, so the faster way is as repeatable as the other; it keeps
            # the bins twice, which data larger than memory have no room for
            if not is_mapped(data.X) and chosen.pop("force_col_wise", False):
                quantised["force_row_wise"] = True
            chosen = quantised | chosen
        return chosen

    def _sampled(self, chosen: dict[str, Any]) -> bool:
        """Whether trees see a part of the features or queries: splits of a few rows then end quantised training."""
        shares = [chosen.get(name, 1.0) for name in _SHARES_OF_FEATURES]
        if self.feature_costs is not None:  # costs are not known to quantised gains
            return True
        return self.bags > 1 or self.boosting in ("bagged", "forest") or self.subsample < 1.0 or min(shares) < 1.0


def _numbered(data: RankingDataset, first: int) -> RankingDataset:
    """The data with numbers as query ids, and without columns that trees do not use and the other part may lack."""
    weights: dict[str, Any] = {
        name: np.ones(size) if getattr(data, name) is None else getattr(data, name)
        for name, size in (("sample_weight", data.n_rows), ("query_weight", data.n_queries))
    }
    return RankingDataset(
        X=data.X,
        y=data.y,
        offsets=data.offsets,
        qids=np.arange(first, first + data.n_queries),
        feature_names=data.feature_names,
        preferences=data.preferences,
        positions=data.positions,
        **weights,
    )


def lightgbm_dataset(
    lgb: Any, data: RankingDataset, parameters: dict[str, Any], categorical: Any = None, reference: Any = None
) -> Any:
    """The data as a LightGBM dataset; for validation data, ``reference`` is that of the training data."""
    # a constant other than 0 is a feature, and cannot be split either
    X = np.ones(data.X.shape, np.float32) if reference is None and _nothing_to_split(data.X) else data.X
    made = lgb.Dataset(
        X,
        label=np.zeros(data.n_rows, np.float32),  # the gradients know the labels
        group=data.group,
        params={k: v for k, v in parameters.items() if not callable(v)},
        categorical_feature=list(categorical) if categorical else "auto",
        reference=reference,
        free_raw_data=False,
    )
    if is_mapped(X):  # data that may be larger than memory: what was needed to find the bins goes before training
        made.construct()
        release_memory()
    return made


#: LightGBM's names of the shares of features that a tree and a split see.
_SHARES_OF_FEATURES = (
    *("feature_fraction", "sub_feature", "colsample_bytree"),
    *("feature_fraction_bynode", "sub_feature_bynode", "colsample_bynode"),
)
#: LightGBM takes smaller values for 0.
_LEAST_VALUE = 1e-35


def _nothing_to_split(X: Any) -> bool:
    """Whether all values are 0 to LightGBM, which then has no feature and gives up."""
    values = X.data if not isinstance(X, np.ndarray) else X
    blocks = (values[start : start + 4_096] for start in range(0, values.shape[0], 4_096))
    return all(bool((np.abs(block) <= _LEAST_VALUE).all()) for block in blocks)


class _Watch:
    """Measure and callback: our measures on LightGBM's running scores of the validation data.

    It keeps a reference to the ensemble, which `lightgbm.train` would lose if interrupted.
    """

    order = 30
    before_iteration = False

    def __init__(self, monitor: Monitor, loss: Loss, reweighs: bool, trees_per_round: int = 1) -> None:
        self.monitor = monitor
        self.trees_per_round = trees_per_round
        self.steps = 0
        self.best_iteration = 0  # counted by LightGBM, which leaves out rounds in which nothing could be split
        self.loss = loss
        self.reweighs = reweighs  # later rounds change the weights of earlier trees, so the best state is copied
        self.stop = False
        self.booster: Any = None
        self.copied: tuple[int, str] = (-1, "")

    def feval(self, scores: np.ndarray, dataset: Any) -> tuple[str, float, bool]:
        if (self.steps + 1) % self.trees_per_round:  # bags that are not there yet
            return "measure", self.monitor.history[-1] if self.monitor.history else 0.0, True
        dismiss_waiting_threads()
        self.stop = self.monitor.update(self.loss.ranking_scores(scores))
        return "measure", self.monitor.history[-1], True

    def __call__(self, env: Any) -> None:
        from lightgbm.callback import EarlyStopException

        self.booster = env.model
        self.steps += 1
        if self.steps % self.trees_per_round:
            return
        if self.monitor.valid is None:
            self.stop = self.monitor.update()
        elif self.monitor.best_round == len(self.monitor.history) - 1:
            self.best_iteration = env.model.current_iteration()
        if self.reweighs and self.monitor.best_round not in (-1, self.copied[0]):
            self.copied = self.monitor.best_round, env.model.model_to_string(num_iteration=-1)
        if self.stop:
            raise EarlyStopException(env.iteration, [])

    def best(self) -> str:
        """Text of the best round, or of the last one without validation data."""
        if self.monitor.best_round < 0:
            return self.booster.model_to_string(num_iteration=-1)
        if self.reweighs:
            return self.copied[1]
        return self.booster.model_to_string(num_iteration=self.best_iteration)


class _Drops:
    """Restarts the draws of DART in its first round.

    There LightGBM's DART reads an uninitialised flag that decides whether the round draws a number, so results would
    differ from run to run.
    """

    def __init__(self, gradients: Any, seed: int) -> None:
        self.gradients = gradients
        self.seed = seed
        self.booster: Any = None
        self.started = False

    @property
    def before_round(self) -> Any:
        """The callback that keeps a reference to the ensemble."""

        def callback(env: Any) -> None:
            self.booster = env.model

        callback.before_iteration = True  # type: ignore[attr-defined]
        return callback

    def __call__(self, scores: np.ndarray, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        if not self.started:
            self.booster.reset_parameter({"drop_seed": self.seed})
            self.started = True
        return self.gradients(scores, dataset)


# ------------------------------------------------------------------------------------------------- gradients per round


def boosted_gradients(model: Trees, loss: Loss, bound: BoundLoss) -> Any:
    """Gradient at the current scores, of the queries drawn for this tree."""
    sample = QuerySample(bound.data, model.subsample, model.random_state, replace=False)

    def objective(scores: np.ndarray, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        _, gradient, curvature = bound.evaluate(np.ascontiguousarray(scores), value=False)
        return sample(gradient, curvature if loss.curvature != "none" else np.ones_like(gradient))

    return objective


def _bootstrapped(model: Trees, loss: Loss, bound: BoundLoss) -> Any:
    """Gradient at zero scores on a bootstrap of the queries, a new one for each tree."""
    sample = QuerySample(bound.data, model.subsample, model.random_state, replace=True)
    shape = (bound.data.n_rows,) if bound.n_outputs == 1 else (bound.data.n_rows, bound.n_outputs)
    _, gradient, curvature = bound.evaluate(np.zeros(shape), value=False)
    if loss.curvature == "none":
        curvature = np.ones_like(gradient)
    return lambda scores, dataset: sample(gradient, curvature)


class _Bagged:
    """Gradient of one ensemble after another, each at its own scores and on its own bootstrap.

    A tree counts 1 / n_bags of the learning rate in the sum, so the scores of the ensemble that is growing are n_bags
    times what was added since it began.
    """

    def __init__(self, model: Trees, loss: Loss, bound: BoundLoss) -> None:
        self.rounds = -(-model.n_estimators // model.bags)
        self.bags, self.bound, self.has_curvature = model.bags, bound, loss.curvature != "none"
        self.sample = QuerySample(bound.data, model.subsample, model.random_state, replace=True)
        self.round = 0

    def __call__(self, scores: np.ndarray, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.round % self.rounds == 0:
            self.before = scores.copy()
            self.times = self.sample.draw(scores.ndim)
        self.round += 1
        own = np.ascontiguousarray(self.bags * _added(scores, self.before))
        _, gradient, curvature = self.bound.evaluate(own, value=False)
        if not self.has_curvature:
            curvature = np.ones_like(gradient)
        return gradient * self.times, curvature * self.times


def _added(scores: np.ndarray, before: np.ndarray) -> np.ndarray:
    """What trees have added to scores, without the last bits, in which documents of the same leaf could differ."""
    unit = 2.0 ** (np.frexp(max(np.abs(scores).max(initial=0.0), 1e-300))[1] - 40)
    return np.round((scores - before) / unit) * unit


class _SideBySide:
    """Gradient of each ensemble in turn, one tree each, at its own scores and on its own bootstrap.

    The scores of an ensemble are the initial scores plus n_bags times what its trees have added.
    """

    def __init__(self, model: Trees, loss: Loss, bound: BoundLoss) -> None:
        self.n, self.bound, self.has_curvature = model.bags, bound, loss.curvature != "none"
        sample = QuerySample(bound.data, model.subsample, model.random_state, replace=True)
        self.times = [sample.draw(1 if bound.n_outputs == 1 else 2) for _ in range(self.n)]
        self.own: list[np.ndarray] = []
        self.before = np.empty(0)
        self.step = 0

    def __call__(self, scores: np.ndarray, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.step == 0:
            self.own = [np.array(scores) for _ in range(self.n)]
        else:
            last = self.own[(self.step - 1) % self.n]
            last += self.n * _added(scores, self.before)
        self.before = np.array(scores)
        bag = self.step % self.n
        self.step += 1
        _, gradient, curvature = self.bound.evaluate(np.ascontiguousarray(self.own[bag]), value=False)
        if not self.has_curvature:
            curvature = np.ones_like(gradient)
        return gradient * self.times[bag], curvature * self.times[bag]


_GRADIENTS = {"gbdt": boosted_gradients, "dart": boosted_gradients, "forest": _bootstrapped, "bagged": _Bagged}
