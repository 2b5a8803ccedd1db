"""The same number of judgements spent on fewer or more queries."""

from __future__ import annotations

from collections.abc import Sequence

from plackett.plot.chart import line_chart
from plackett.theory.bounds.labelling_budget import labelling_budget
from plackett.theory.planner.simulation import simulate_labelling
from plackett.theory.risks.planted_world import PlantedWorld
from studies.base import Study


def labelling_tradeoff(
    *,
    budget: int = 1200,
    n_features: Sequence[int] = (3, 10, 30),
    query_noise: float = 1.0,
    n_repeats: int = 12,
    random_state: int = 0,
) -> Study:
    """Deep or shallow judgements: does the two-layer bound predict what really happens?

    Queries share a direction in which documents get better, and each also has a direction of its own. A linear ranker
    is trained on the same number of judgements, spent on few queries with many documents or on many with few. Both
    extremes are worse than the middle, and the best number of queries falls as the number of features, the capacity of
    the ranker, grows. The bound predicts this, though its value is far above the measured gap.

    References
    ----------
    Chen, Liu, Ma: Two-layer generalization analysis for ranking using Rademacher average. NIPS 2010.
    Liu: Learning to rank for information retrieval. Springer 2011, exercise 17.4.
    """
    import polars as pl

    frames, lines, notes = [], {}, []
    for d in n_features:
        world = PlantedWorld(n_features=d, query_noise=query_noise)
        simulated = simulate_labelling(budget, world=world, n_repeats=n_repeats, random_state=random_state)
        columns = {
            "queries": simulated.queries,
            "documents": simulated.documents,
            "pair error": simulated.risk,
            "standard error": simulated.error,
            "gap to training": simulated.gap,
            "bound of the gap": simulated.bound,
        }
        frames.append(pl.DataFrame({"features": [str(d)] * simulated.queries.size} | columns))
        lines[f"{d} features"] = (simulated.queries.tolist(), simulated.risk.tolist())
        by_bound = labelling_budget(budget, d).queries
        notes.append(
            f"{d} features: best at {simulated.queries[simulated.best]} queries; by the bound at {by_bound:.0f}."
        )
    return Study(
        pl.concat(frames),
        f"{budget} judgements, from one query to {budget // 2}",
        tuple(notes),
        picture=line_chart(
            lines,
            title=f"{budget} judgements",
            x_label="queries",
            y_label="misordered pairs on new queries",
            log_x=True,
        ),
    )
