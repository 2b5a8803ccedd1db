"""Click models side by side."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plackett._base.errors import DataError
from plackett._base.progress import progress
from plackett.clicks.loading import make_model, model_names
from plackett.clicks.log import ClickLog
from plackett.clicks.models.base import ClickModel

if TYPE_CHECKING:
    import polars as pl

__all__ = ["compare_models"]


@dataclass(frozen=True)
class ModelComparison:
    """Result of `compare_models`.

    Attributes
    ----------
    frame
        One row per model: log-likelihood per page and perplexities on the test log, time of the fit, what it can do.
    per_rank
        Perplexity by rank, one row per model.
    models
        The fitted models by name.
    """

    frame: pl.DataFrame
    per_rank: pl.DataFrame
    models: dict[str, ClickModel]

    def plot(self) -> Any:
        """Perplexity by rank, a line per model (Plotly)."""
        from plackett._names.optional import optional

        go = optional("plotly.graph_objects", "plots need")
        figure = go.Figure()
        for row in self.per_rank.iter_rows():
            figure.add_scatter(x=list(range(1, len(row))), y=list(row[1:]), name=row[0], mode="lines+markers")
        figure.update_layout(
            template="none", xaxis_title="rank", yaxis_title="perplexity (1 is perfect, 2 a coin)", height=420
        )
        return figure


def compare_models(
    train: ClickLog,
    test: ClickLog | None = None,
    models: Iterable[str | ClickModel] | Mapping[str, ClickModel] | None = None,
    *,
    grades: Any = None,
    measure: str = "nDCG@10",
    verbose: bool = False,
) -> ModelComparison:
    """Fit click models to one log and score them on another.

    Parameters
    ----------
    test
        Log to score on; None splits a quarter of the pages off.
    models
        Names or models; all by default.
    grades
        Judgements of the same queries and documents (anything `plackett.evaluate_run` takes as qrels): then the
        relevance of each model is measured against them too.
    measure
        Measure for ``grades``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> pages = rng.permuted(np.tile(np.arange(4), (2000, 1)), axis=1)
    >>> look, r = np.array([1.0, 0.5, 0.3, 0.2]), np.array([0.8, 0.5, 0.3, 0.1])
    >>> log = ClickLog.from_arrays(np.zeros(2000, int), pages, rng.random(pages.shape) < look * r[pages])
    >>> compare_models(log, models=["RankCTR", "ICM", "PBM"]).frame["model"].to_list()
    ['PBM', 'ICM', 'RankCTR']
    """
    import polars as pl

    if test is None:
        train, test = train.split(0.75, random_state=0)
    if train.n_rows == 0 or test.n_rows == 0:
        raise DataError(
            f"{train.n_pages} pages to fit and {test.n_pages} to score on: give a larger log, or another one"
        )
    if isinstance(models, Mapping):
        named = dict(models)
    else:
        chosen = model_names() if models is None else list(models)
        made = [make_model(model) if isinstance(model, str) else model for model in chosen]
        named = {model.name: model for model in made}
    small, rows, ranks = train.collapse(), [], []
    for name, model in progress(named.items(), "click models", len(named), verbose=verbose):
        start = time.perf_counter()
        model.fit(small)
        seconds = time.perf_counter() - start
        full, conditional = model.perplexity(test), model.perplexity(test, conditional=True)
        row = {
            "model": name,
            "log_likelihood": model.log_likelihood(test) / max(float(test.page_weight.sum()), 1e-12),
            "perplexity": full.mean,
            "conditional_perplexity": conditional.mean,
            "passes": model.n_iter_,
            "seconds": seconds,
            "several_clicks": model.several_clicks,
            "satisfaction": hasattr(model, "satisfaction_"),
        }
        if grades is not None:
            row[measure] = relevance_quality(model, grades, measure)
        rows.append(row)
        ranks.append({"model": name} | {str(i + 1): value for i, value in enumerate(full.per_rank)})
    frame = pl.DataFrame(rows).sort("log_likelihood", descending=True, nulls_last=True)
    return ModelComparison(frame, pl.DataFrame(ranks), named)


def relevance_quality(model: ClickModel, grades: Any, measure: str) -> float:
    """How well the relevance of a model orders judged documents; documents without a grade are left out."""
    import polars as pl

    from plackett.data.trec import as_qrels
    from plackett.evaluation.evaluate_run import evaluate_run

    qrels = as_qrels(grades)
    run = model.relevance().select(
        pl.col("query").cast(pl.String).alias("qid"),
        pl.col("document").cast(pl.String).alias("docid"),
        pl.col("relevance").alias("score"),
    )
    qrels = qrels.with_columns(pl.col("qid").cast(pl.String), pl.col("docid").cast(pl.String))
    judged = run.join(qrels.select("qid", "docid"), on=["qid", "docid"])
    known = qrels.join(judged.select("qid", "docid"), on=["qid", "docid"])
    return float(next(iter(evaluate_run(known, judged, [measure]).mean.values())))
