"""How should judgements be spent? Three answers, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plackett._base.arguments import whole
from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.theory.bounds.labelling_budget import labelling_budget
from plackett.theory.bounds.two_layer import TwoLayerBound
from plackett.theory.planner.learning_curve import LearningCurve, learning_curve
from plackett.theory.planner.simulation import LabellingSimulation, simulate_labelling
from plackett.theory.planner.splits import splits_of, spread
from plackett.theory.risks.planted_world import PlantedWorld

if TYPE_CHECKING:
    import polars as pl

__all__ = ["plan"]

#: The simulation of more would take hours.
_MOST_JUDGEMENTS = 200_000


class Answer(NamedTuple):
    """One answer: where it comes from, how many queries and documents of each, and what that promises.

    ``least`` and ``most`` are the numbers of queries that the method cannot tell from its best; the bound has no noise,
    so there they are the best itself.
    """

    method: str
    queries: int
    documents: int
    promise: str
    least: int
    most: int


@dataclass(frozen=True, eq=False)
class Plan:
    """Result of `plan`: the answers, the sentence to act on, warnings, and the curves behind them.

    Attributes
    ----------
    notes
        What the answers rest on and where they stop: extrapolation, and answers at the edge of what was tried.
    curves
        For each method the numbers of queries that were looked at, and how good each split is, from 0 (worst of the
        splits) to 1 (best).
    """

    budget: int
    answers: tuple[Answer, ...]
    sentence: str
    notes: tuple[str, ...]
    curves: dict[str, tuple[np.ndarray, np.ndarray]]
    learning_curve: LearningCurve | None
    simulation: LabellingSimulation

    @property
    def recommended(self) -> Answer:
        """The answer of the pilot if there is one, otherwise that of the simulation."""
        return self.answers[-1]

    def to_frame(self) -> pl.DataFrame:
        """The answers as a frame."""
        import polars as pl

        return pl.DataFrame([answer._asdict() for answer in self.answers])

    def to_svg(self) -> str:
        """The curves as a chart."""
        from plackett.plot.chart import line_chart

        return line_chart(
            {name: (x.tolist(), y.tolist()) for name, (x, y) in self.curves.items()},
            title=f"{self.budget:,} judgements: how many queries?",
            x_label="queries (the fewer, the more documents of each)",
            y_label="0: worst split, 1: best split",
            log_x=True,
        )

    def __str__(self) -> str:
        width = max(len(answer.method) for answer in self.answers)
        lines = [f"{'':{width}}  queries  documents of each"]
        lines += [f"{a.method:{width}}  {a.queries:7,}  {a.documents:17,}  {a.promise}" for a in self.answers]
        return "\n".join([*lines, "", self.sentence, *(f"Note: {note}." for note in self.notes)])


def plan(
    judgements: int | None = None,
    *,
    queries: int | None = None,
    documents: int | None = None,
    pilot: RankingDataset | None = None,
    ranker: Any = None,
    measure: str = "nDCG@10",
    n_features: int | None = None,
    delta: float = 0.05,
    n_repeats: int = 5,
    random_state: int = 0,
    verbose: bool = False,
) -> Plan:
    """How many queries should be judged, and how many documents of each?

    There are three answers. The *bound*: the split with the smallest two-layer generalisation bound; its constant is
    unknown, so it gives only an order of magnitude. The *simulation*: synthetic queries that share most of their
    weights, with a ranker trained at every split of the budget. The *pilot*, if you have one: a learning curve measured
    on parts of it and extrapolated to your budget, with an interval. The pilot answers with depths that it could
    measure, from 4 documents to its own mean length, where the limits allow that; whatever else it had to assume is
    listed in `Plan.notes`.

    Parameters
    ----------
    judgements
        Total number of documents that can be judged; by default queries times documents.
    queries, documents
        Maximum number of queries, and maximum number of documents worth judging per query.
    pilot
        Queries that are already judged, with the features that you train on.
    ranker, measure
        What to train on the pilot (a linear `RankSVM` by default), and the measure to evaluate it with.
    n_features
        Number of features, as the capacity of a linear ranker; by default that of the pilot, or 10.
    delta
        Probability with which the bound may fail.
    n_repeats
        Repetitions of the simulation and of the learning curve.

    References
    ----------
    Chen, Liu, Ma: Two-layer generalization analysis for ranking using Rademacher average. NIPS 2010.
    Yilmaz, Robertson: Deep versus shallow judgments in learning to rank. SIGIR 2009.

    Examples
    --------
    >>> import plackett as pk
    >>> advice = pk.theory.plan(400, n_features=5, n_repeats=2)
    >>> [answer.method for answer in advice.answers]
    ['bound', 'simulation']
    """
    budget, most_queries, most_documents = _budget(judgements, queries, documents)
    if budget > _MOST_JUDGEMENTS:
        raise DataError(
            f"{budget:,} judgements; the simulation trains on all of them: plan at most {_MOST_JUDGEMENTS:,}"
        )
    n_repeats = whole("n_repeats", n_repeats, least=1)
    if n_features is None:
        n_features = 10 if pilot is None else pilot.n_features
    n_features = whole("n_features", n_features, least=1)
    n, m = splits_of(budget, max_queries=most_queries, max_documents=most_documents)
    answers, curves, notes = [], {}, []

    any_split = TwoLayerBound(queries=1, documents=2, vc=n_features, delta=delta)
    values = np.array([any_split.replace(queries=a, documents=b).value for a, b in zip(n, m, strict=True)])
    curves["bound"] = (n, _scaled(-values))
    chosen = int(np.clip(labelling_budget(budget, n_features, delta=delta).bound.queries, n[0], n[-1]))
    answers.append(_by_bound(any_split.replace(queries=chosen, documents=budget // chosen)))

    simulation = simulate_labelling(
        budget,
        world=PlantedWorld(n_features=n_features),
        queries=n.tolist(),
        n_repeats=n_repeats,
        random_state=random_state,
        verbose=verbose,
    )
    curves["simulation"] = (n, _scaled(-simulation.risk))
    answers.append(_by_simulation(simulation))

    curve = None
    if pilot is not None:
        curve = learning_curve(pilot, ranker, measure, n_repeats=n_repeats, random_state=random_state, verbose=verbose)
        n, m = _measured_splits(budget, int(n[0]), int(n[-1]), curve)
        samples = curve.samples(n, m)
        curves["pilot"] = (n, _scaled(samples[0]))
        answers.append(_by_pilot(curve, n, m, samples, measure))
        notes += _reach_notes(curve, answers[-1])
    notes += _edge_notes(answers[-1], n)
    return Plan(budget, tuple(answers), _sentence(budget, answers, n.size), tuple(notes), curves, curve, simulation)


def _budget(judgements: int | None, queries: int | None, documents: int | None) -> tuple[int, int | None, int | None]:
    """The total number of judgements, and the limits on queries and documents."""
    if judgements is not None:
        judgements = whole("judgements", judgements, least=4)
    if queries is not None:
        queries = whole("queries", queries, least=1)
    if documents is not None:
        documents = whole("documents", documents, least=1)
        if documents < 2:
            raise DataError("documents=1; give 2 or more: a single document cannot be ranked")
    if judgements is None:
        if queries is None or documents is None:
            raise DataError("give the number of judgements, or how many queries and documents of each there are")
        judgements = queries * documents
        # these are what is available; the budget can be split freely
        return judgements, None, None
    if queries is not None and documents is not None:
        judgements = min(judgements, queries * documents)
    return judgements, queries, documents


def _by_bound(bound: TwoLayerBound) -> Answer:
    promise = f"pair error at most {bound.value:.2f} above that of training"
    n = int(bound.queries)
    return Answer("bound", n, int(bound.documents), promise + (": uninformative" if bound.vacuous else ""), n, n)


def _by_simulation(simulation: LabellingSimulation) -> Answer:
    best, good = simulation.best, simulation.queries[simulation.as_good]
    promise = f"{simulation.risk[best]:.1%} of the pairs misordered (± {2 * simulation.error[best]:.1%})"
    n, m = int(simulation.queries[best]), int(simulation.documents[best])
    return Answer("simulation", n, m, promise, int(good.min()), int(good.max()))


def _measured_splits(budget: int, least: int, most: int, curve: LearningCurve) -> tuple[np.ndarray, np.ndarray]:
    """The splits with a depth that the pilot could measure; if there is none, the split closest to that."""
    from_queries = -(-budget // int(curve.documents.max()))
    to_queries = budget // int(curve.documents.min())
    nearest = np.clip([from_queries, to_queries], least, most)
    return spread(budget, int(nearest.min()), int(nearest.max()))


def _by_pilot(curve: LearningCurve, n: np.ndarray, m: np.ndarray, samples: np.ndarray, measure: str) -> Answer:
    best = int(np.argmax(samples[0]))
    # curve by curve, so that a shift of all splits cancels
    ahead = np.quantile(samples[1:] - samples[1:, [best]], 0.95, axis=0)
    good = n[(ahead >= 0.0) | (np.arange(n.size) == best)]
    p = curve.predict(float(n[best]), float(m[best]))
    promise = f"{measure} {p.value:.3f} (90 %: {p.low:.3f} to {p.high:.3f})"
    return Answer("pilot", int(n[best]), int(m[best]), promise, int(good.min()), int(good.max()))


def _reach_notes(curve: LearningCurve, answer: Answer) -> list[str]:
    """How far the answer of the pilot is from what was measured."""
    notes = []
    least, most = curve.documents.min(), curve.documents.max()
    more_queries = curve.reach(answer.queries, answer.documents)[0]
    if more_queries > 1.5:
        notes.append(
            f"the pilot trained on at most {curve.queries.max():,.0f} queries; {answer.queries:,} are "
            f"{more_queries:.1f} times as many, so the value is extrapolated"
            + (" far: take it as a guess" if more_queries > 10 else "")
        )
    if not least <= answer.documents <= most:
        notes.append(
            f"your limits leave no split of {least:.0f} to {most:.0f} documents per query, which is what the pilot "
            f"could measure; what {answer.documents:,} would do is extrapolated"
        )
    return notes


def _edge_notes(answer: Answer, n: np.ndarray) -> list[str]:
    """Whether the best split is the first or last one tried, so that the best of all may lie beyond."""
    if n.size < 2 or answer.queries not in (int(n[0]), int(n[-1])):
        return []
    first = answer.queries == int(n[0])
    if answer.method == "pilot":
        longest, longer = ("longest", "longer") if first else ("shortest", "shorter")
        return [
            f"these are the {longest} lists within your limits that the pilot could measure; {longer} ones might "
            "be better still"
        ]
    fewest, fewer = ("fewest", "fewer") if first else ("most", "more")
    return [f"this is the split with the {fewest} queries of those tried; {fewer} might be better still"]


def _scaled(values: np.ndarray) -> np.ndarray:
    """Values scaled to 0–1; infinite ones count as the worst."""
    finite = values[np.isfinite(values)]
    if not finite.size or np.ptp(finite) == 0:
        return np.ones(values.size)
    return np.where(np.isfinite(values), (values - finite.min()) / np.ptp(finite), 0.0)


def _sentence(budget: int, answers: list[Answer], n_splits: int) -> str:
    """The recommendation in words; ``n_splits`` is the number of splits that the last answer chose from."""
    chosen, others = answers[-1], answers[:-1]
    source = {"pilot": "your pilot", "simulation": "the simulation"}[chosen.method]
    text = (
        f"By {source}, spend {budget:,} judgements on about {chosen.queries:,} queries with {chosen.documents:,} "
        f"documents each. "
    )
    if chosen.least < chosen.most:
        text += f"From {chosen.least:,} to {chosen.most:,} queries it cannot tell the splits apart. "
    elif n_splits > 1:
        text += "No other split tried comes close. "
    inside = [a for a in others if chosen.least <= a.queries <= chosen.most]
    outside = [a for a in others if a not in inside]
    if inside:
        text += f"{_named(inside)} {'agrees' if len(inside) == 1 else 'agree'} with that. "
    if outside:
        verb = "differs" if len(outside) == 1 else "differ"
        text += f"{_named(outside)} {verb}{'; trust your own data' if chosen.method == 'pilot' else ''}. "
    if chosen.method != "pilot":
        text += "A pilot of a few dozen judged queries would give an answer for your data."
    return text.strip()


def _named(answers: list[Answer]) -> str:
    text = " and ".join(f"the {a.method} ({a.queries:,} queries)" for a in answers)
    return text[0].upper() + text[1:]
