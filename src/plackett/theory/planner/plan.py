"""How should judgements be spent? Three answers, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plackett._errors import DataError
from plackett._provenance import fulfils
from plackett.data.dataset import RankingDataset
from plackett.theory.bounds.labelling_budget import labelling_budget
from plackett.theory.bounds.two_layer import TwoLayerBound
from plackett.theory.planner.learning_curve import LearningCurve, learning_curve
from plackett.theory.planner.simulation import LabellingSimulation, simulate_labelling
from plackett.theory.planner.splits import splits_of
from plackett.theory.risks.planted_world import PlantedWorld

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Answer", "Plan", "plan"]


class Answer(NamedTuple):
    """One answer: where it comes from, how many queries and documents of each, and what that promises."""

    method: str
    queries: int
    documents: int
    promise: str


@dataclass(frozen=True, eq=False)
class Plan:
    """Result of `plan`: the answers, the sentence to act on, and the curves behind them.

    Attributes
    ----------
    curves
        For each method the numbers of queries that were looked at, and how good each split is, from 0 (worst of the
        splits) to 1 (best).
    """

    budget: int
    answers: tuple[Answer, ...]
    sentence: str
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
        from plackett._chart import line_chart

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
        return "\n".join([*lines, "", self.sentence])


@fulfils("C-07", "D-07", paper="Chen, Liu, Ma 2010; Yilmaz, Robertson 2009")
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
    on parts of it and extrapolated to your budget, with an interval; never to fewer documents per query than were
    tried.

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

    Examples
    --------
    >>> import plackett as pk
    >>> found = pk.theory.plan(400, n_features=5, n_repeats=2)
    >>> [answer.method for answer in found.answers]
    ['bound', 'simulation']
    """
    budget, most_queries, most_documents = _budget(judgements, queries, documents)
    if n_features is None:
        n_features = 10 if pilot is None else pilot.n_features
    n, m = splits_of(budget, max_queries=most_queries, max_documents=most_documents)
    least = int(n[0])
    any_split = TwoLayerBound(queries=1, documents=2, vc=n_features, delta=delta)
    values = np.array([any_split.replace(queries=a, documents=b).value for a, b in zip(n, m, strict=True)])
    curves = {"bound": (n, _scaled(-values))}
    optimum = labelling_budget(budget, n_features, delta=delta)
    chosen = int(np.clip(round(optimum.queries), least, n[-1]))
    bound = any_split.replace(queries=chosen, documents=budget // chosen)
    promise = f"pair error at most {bound.value:.2f} above that of training"
    answers = [Answer("bound", chosen, budget // chosen, promise + (", which says nothing" if bound.vacuous else ""))]
    simulation = simulate_labelling(
        budget,
        world=PlantedWorld(n_features=n_features),
        queries=n.tolist(),
        n_repeats=n_repeats,
        random_state=random_state,
        verbose=verbose,
    )
    best = simulation.best
    curves["simulation"] = (n, _scaled(-simulation.risk))
    answers.append(
        Answer("simulation", int(n[best]), int(m[best]), f"{simulation.risk[best]:.1%} of the pairs misordered")
    )
    curve, last = None, -simulation.risk
    if pilot is not None:
        curve = learning_curve(pilot, ranker, measure, n_repeats=n_repeats, random_state=random_state, verbose=verbose)
        expected = [curve.predict(a, b) for a, b in zip(n, m, strict=True)]
        last = np.array([p.value for p in expected])
        measured = m >= curve.documents.min()  # what fewer documents do was not measured
        last = np.where(measured | ~measured.any(), last, -np.inf)
        best = int(np.argmax(last))
        curves["pilot"] = (n, _scaled(last))
        p = expected[best]
        answers.append(
            Answer("pilot", int(n[best]), int(m[best]), f"{measure} {p.value:.3f} (90 %: {p.low:.3f} to {p.high:.3f})")
        )
    return Plan(budget, tuple(answers), _sentence(budget, answers, n, last), curves, curve, simulation)


def _budget(judgements: int | None, queries: int | None, documents: int | None) -> tuple[int, int | None, int | None]:
    for name, value in (("judgements", judgements), ("queries", queries), ("documents", documents)):
        if value is not None and value < 1:
            raise DataError(f"{name}={value}; give a positive number")
    if judgements is None:
        if queries is None or documents is None:
            raise DataError("give the number of judgements, or how many queries and documents of each there are")
        judgements = queries * documents
        # what there is: the split is free inside that budget
        return judgements, None, None
    if queries is not None and documents is not None:
        judgements = min(judgements, queries * documents)
    return judgements, queries, documents


def _scaled(values: np.ndarray) -> np.ndarray:
    """Values from 0 to 1; what is infinite counts as the worst."""
    kept = values[np.isfinite(values)]
    if not kept.size or np.ptp(kept) == 0:
        return np.ones(values.size)
    return np.where(np.isfinite(values), (values - kept.min()) / np.ptp(kept), 0.0)


def _sentence(budget: int, answers: list[Answer], n: np.ndarray, values: np.ndarray) -> str:
    """What to do, in words; ``values`` are those of the last answer, larger is better."""
    chosen = answers[-1]
    good = n[values >= values.max() - 0.02 * abs(values.max())]
    span = (
        f"{good.min():,} to {good.max():,} queries are within 2 %" if good.size > 1 else "no other split is within 2 %"
    )
    source = "your pilot" if chosen.method == "pilot" else "the simulation"
    spread = max(a.queries for a in answers) / min(a.queries for a in answers)
    agree = "The answers agree." if spread <= 2 else "The answers differ; trust what was measured on your own data."
    if chosen.method != "pilot":
        agree += " A pilot of a few dozen judged queries would give an answer for your data."
    return (
        f"By {source}, spend {budget:,} judgements on about {chosen.queries:,} queries with {chosen.documents:,} "
        f"documents each; {span}. {agree}"
    )
