"""The rankers that `AutoRanker` tries: a list that depends on the size of the data, then random settings."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

from plackett._base.errors import DataError
from plackett._base.estimator import clone
from plackett._base.search_space import Integer, Real, SearchSpace
from plackett.experiments.auto.inspection import Facts
from plackett.experiments.search.random import settings_at_random
from plackett.models.linear import Linear
from plackett.models.trees.model import Trees
from plackett.models.trees.oblivious import Oblivious
from plackett.models.trees.tree_size import leaves_for
from plackett.rankers.base import Ranker
from plackett.rankers.named import ranker_named
from plackett.rankers.pairwise.linear_svm import LinearPairSVM

#: Trees of the portfolio: on small data, small steps and half of the columns help more than large trees.
TREES = {"learning_rate": 0.05, "colsample_bytree": 0.5}
#: Learning rate from which more rounds are tried instead of larger steps.
LARGE_STEP = 0.1
#: Number of trees, and the number of documents above which it is doubled.
ROUNDS, MANY_ROWS = 240, 15_000
#: Fractions of the trees that are candidates of their own: the number of rounds is chosen among them.
STAGES = (0.0625, 0.125, 0.25, 0.5, 1.0)
#: Rankers whose random settings are tried in turn.
DRAWN = ("LambdaMART", "XENDCG", "ListNet", "ObliviousLambdaMART", "MART", "RankSVM", "YetiRank", "LambdaLossMART")
#: Minimum number of seconds and maximum number of documents for which a network is worth its time.
NETWORK_SECONDS, NETWORK_ROWS = 240.0, 100_000


@dataclass(frozen=True, eq=False)
class Candidate:
    """A ranker to try.

    Attributes
    ----------
    name
        Its name in the leaderboard.
    ranker
        The ranker, not fitted.
    stages
        Numbers of rounds to choose from; one fit gives the scores after each of them. None if there is no choice.
    may_grow
        Whether to train further if the last stage is the best one, and less far if an early one is.
    """

    name: str
    ranker: Ranker
    stages: tuple[int | None, ...] = (None,)
    may_grow: bool = False

    @classmethod
    def of(cls, ranker: Ranker, name: str = "") -> Candidate:
        """The candidate for a ranker: boosted trees are tried at several numbers of rounds."""
        stages: tuple[int | None, ...] = (None,)
        # the first trees of a bagged ensemble are not a smaller bagged ensemble
        plain = isinstance(ranker, Trees) and ranker.boosting == "gbdt" and ranker.n_bags == type(ranker)().n_bags
        if (plain or isinstance(ranker, Oblivious)) and ranker.effort == "n_estimators":
            stages = tuple(sorted({max(1, round(share * (ranker.full_effort() or 1))) for share in STAGES}))
        return cls(name or " ".join(repr(ranker).split()), ranker, stages)

    @property
    def linear(self) -> bool:
        """Whether the ranker is linear: cheap, and different enough from trees to be worth including in a blend."""
        return isinstance(self.ranker, Linear | LinearPairSVM)

    def grown(self, steps: int = 1) -> Candidate:
        """The same trained further, if it may grow: each step doubles the learning rate or else the rounds.

        A negative step halves the rounds.
        """
        candidate = self
        if steps < 0 and self.may_grow:
            rounds = candidate.ranker.get_params(deep=False)["n_estimators"] // 2**-steps
            ranker = clone(candidate.ranker).set_params(n_estimators=rounds)
            return replace(Candidate.of(ranker, self.name), may_grow=True)
        for _ in range(steps if self.may_grow else 0):
            known = candidate.ranker.get_params(deep=False)
            name = "learning_rate" if known["learning_rate"] < LARGE_STEP else "n_estimators"
            ranker = clone(candidate.ranker).set_params(**{name: 2 * known[name]})
            candidate = replace(Candidate.of(ranker, self.name), may_grow=True)
        return candidate


def given(rankers: Sequence[Any], parameter: str = "candidates") -> list[Candidate]:
    """Candidates that the user named: rankers, or names of rankers."""
    if isinstance(rankers, str) or len(rankers) == 0:
        raise DataError(f"candidates={rankers!r}; give a list of rankers, such as [RankSVM(), 'LambdaMART'], or None")
    candidates = []
    for ranker in rankers:
        made = ranker_named(ranker)[0] if isinstance(ranker, str) else ranker
        if not isinstance(made, Ranker):
            raise DataError(f"{parameter}: {ranker!r} is not a ranker of plackett")
        candidates.append(Candidate.of(made, ranker if isinstance(ranker, str) else ""))
    return candidates


def portfolio(facts: Facts, budget: float | None) -> list[Candidate]:
    """Rankers for such data, the most promising first; if values are missing, only rankers that accept them."""
    n_rows = facts.profile.n_rows
    leaves, rounds = leaves_for(n_rows), rounds_for(n_rows)
    trees, oblivious = (partial(make, n_estimators=rounds) for make in (_trees, _oblivious))
    made = [
        trees("LambdaMART", 2 * leaves),
        oblivious("ObliviousLambdaMART", depth=4),
        trees("XENDCG", leaves),
        _named("ListNet(alpha=0.1)"),
        trees("MART", 2 * leaves),
        _named("RankSVM(C=0.0001)"),
        trees("YetiRank", leaves),
        _named("ListNet(alpha=1.0)"),
        trees("LambdaLossMART", 2 * leaves),
        trees("LambdaMART", leaves),
        oblivious("ObliviousLambdaMART", depth=3),
        _named("ApproxNDCG"),
        trees("XENDCG", 2 * leaves),
        _named("LinearRegression"),
        trees("LambdaMART", 4 * leaves),
        oblivious("ObliviousLambdaMART", depth=5, colsample_bytree=1.0),
        _named("ListMLE"),
        _named("ListNet(alpha=10.0)"),
        _named("RankSVM(C=0.000001)"),
        trees("MART", 4 * leaves),
        trees("LambdaMART", 2 * leaves, measure="AP"),
        trees("QBRank", 2 * leaves),
        trees("LambdaMART", 2 * leaves, learning_rate=0.1, reg_lambda=5.0),
        trees("XENDCG", 4 * leaves, colsample_bytree=0.25),
        trees("MART", leaves),
    ]
    if find_spec("torch") and budget is not None and budget >= NETWORK_SECONDS and n_rows <= NETWORK_ROWS:
        made.insert(11, _named("LambdaRank"))
    if facts.large_labels:
        for candidate in made:
            with_linear_gain(candidate.ranker)
    return [candidate for candidate in made if candidate.ranker.allow_nan or not facts.missing]


def further(facts: Facts, random_state: int) -> Iterator[Candidate]:
    """Random settings, cycling through the rankers, until none are left."""
    leaves = leaves_for(facts.profile.n_rows)
    shape: SearchSpace = {
        "num_leaves": Integer(max(3, leaves // 2), 4 * leaves, log=True),
        "learning_rate": Real(0.03, 0.12, log=True),
        "colsample_bytree": Real(0.2, 1.0),
        "min_child_samples": Integer(5, 80, log=True),
        "reg_lambda": Real(0.01, 30.0, log=True),
    }
    symmetric: SearchSpace = {
        "depth": Integer(2, 5),
        **{key: shape[key] for key in ("learning_rate", "colsample_bytree", "reg_lambda")},
    }
    streams = []
    for number, name in enumerate(DRAWN):
        ranker = ranker_named(name)[0]
        if facts.large_labels:
            with_linear_gain(ranker)
        space = (
            shape if isinstance(ranker, Trees) else symmetric if isinstance(ranker, Oblivious) else ranker.search_space
        )
        drawn = itertools.islice(settings_at_random(space, random_state + number), 1, None)  # the first is the default
        if ranker.allow_nan or not facts.missing:
            streams.append(_drawn(ranker, drawn, rounds_for(facts.profile.n_rows)))
    while streams:
        for stream in list(streams):
            candidate = next(stream, None)
            if candidate is None:
                streams.remove(stream)
            else:
                yield candidate


def with_categories(candidates: Iterable[Candidate], names: tuple[str, ...]) -> Iterator[Candidate]:
    """The candidates that can learn from categorical columns, with these columns set."""
    for candidate in candidates:
        if hasattr(candidate.ranker, "categorical_features"):
            known = candidate.ranker.categorical_features or ()
            candidate.ranker.set_params(categorical_features=(*known, *names))
            yield candidate


def with_linear_gain(ranker: Ranker) -> Ranker:
    """The ranker, with the label itself as gain instead of 2^label − 1: for large labels.

    >>> with_linear_gain(ranker_named("LambdaLossMART")[0]).gain
    'linear'
    """
    known = ranker.get_params(deep=False)
    if known.get("gain") == "exp2":
        ranker.set_params(gain="linear")
    if known.get("measure") == "nDCG":
        ranker.set_params(measure="nDCG(gain='linear')")
    return ranker


def rounds_for(n_rows: int) -> int:
    """Maximum number of trees of an ensemble for this many documents."""
    return ROUNDS if n_rows <= MANY_ROWS else 2 * ROUNDS


def _drawn(ranker: Ranker, settings: Iterator[dict[str, Any]], rounds: int) -> Iterator[Candidate]:
    fixed = {"n_estimators": rounds} if isinstance(ranker, Trees | Oblivious) else {}
    for setting in settings:
        parameters_text = ", ".join(
            f"{key}={value:.3g}" if isinstance(value, float) else f"{key}={value}" for key, value in setting.items()
        )
        candidate = Candidate.of(
            clone(ranker).set_params(**fixed, **setting), f"{type(ranker).__name__}({parameters_text})"
        )
        yield replace(candidate, may_grow=bool(fixed))


def _named(name: str) -> Candidate:
    return Candidate.of(ranker_named(name)[0], name)


def _trees(name: str, leaves: int, *, n_estimators: int, **parameters: Any) -> Candidate:
    parameters_text = "".join(f", {key}={value}" for key, value in parameters.items())
    shape = {"num_leaves": leaves, "n_estimators": n_estimators}
    ranker = ranker_named(name)[0].set_params(**(TREES | shape | parameters))
    return replace(Candidate.of(ranker, f"{name}(num_leaves={leaves}{parameters_text})"), may_grow=True)


def _oblivious(name: str, *, n_estimators: int, **parameters: Any) -> Candidate:
    ranker = ranker_named(name)[0].set_params(**(TREES | {"n_estimators": n_estimators} | parameters))
    parameters_text = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return replace(Candidate.of(ranker, f"{name}({parameters_text})"), may_grow=True)
