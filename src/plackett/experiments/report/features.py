"""Which features matter: alone, for each ranker's quality, and inside its model."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from plackett._names.nearest import plural
from plackett.data.dataset import RankingDataset
from plackett.evaluation.importance import permutation_importance, single_feature_importance
from plackett.evaluation.tables import Table
from plackett.experiments.report.blocks import Block, Figure, Section, Tabular, Text
from plackett.experiments.report.numbers import fixed, short, signed, tidy
from plackett.experiments.report.plots import axis, bars_height, category_axis, layout, plain
from plackett.experiments.report.view import View
from plackett.explanations.model_importance import model_importance

#: Features in figures and tables, random orders per feature.
_SHOWN = 15
_REPEATS = 3


def features(view: View) -> Section | None:
    """Importances on the test part of the first fold; None if the data has no features."""

    def of(dataset: str, number: int) -> list[Block]:
        fold = next(iter(view.experiment.folds[dataset]))
        test = _part(view.experiment.folds[dataset][fold].test, view.max_rows, view.seed)
        return _dataset(view, dataset, fold, test, number) if test.n_features else []

    blocks = view.by_dataset(of)
    if not blocks:
        return None
    text = (
        "A feature alone: the documents are ordered by its value, large or small first, whichever is better. "
        "Permutation: how much a ranker loses when the feature's values are shuffled among all documents. The model's "
        "own: gain of the splits for trees, |weight| × standard deviation for linear models. Redundant features can "
        "replace each other, so each looks less important than they are together."
    )
    return Section("features", "Features", (Text(text), *blocks))


def _part(test: RankingDataset, max_rows: int, seed: int) -> RankingDataset:
    """The test part, or random queries from it with about ``max_rows`` documents."""
    if test.n_rows <= max_rows:
        return test
    order = np.random.default_rng(seed).permutation(test.n_queries)
    return test.select(np.sort(order[: max(1, int(np.searchsorted(np.cumsum(test.group[order]), max_rows)))]))


def _dataset(view: View, dataset: str, fold: Any, test: RankingDataset, number: int) -> list[Block]:
    measure = view.experiment.measures[view.first]
    alone = single_feature_importance(test, measure, random_state=view.seed)
    permuted: dict[str, pl.DataFrame] = {}
    own: dict[str, pl.DataFrame] = {}
    for ranker in view.drawn(dataset):
        cell = view.experiment.cell(ranker, fold, dataset)
        if cell.model_path is None:
            continue
        model = cell.model()
        scorer = getattr(model, "scorer_", None)
        rows = test if scorer is not None and scorer.cheap else _part(test, view.max_rows // 10, view.seed)
        permuted[ranker] = permutation_importance(model, rows, measure, n_repeats=_REPEATS, random_state=view.seed)
        importance = model_importance(model, test)
        if importance is not None:
            own[ranker] = importance
    where = f"{dataset}, fold {fold}, {plural(test.n_queries, 'test query', 'test queries')}"
    blocks: list[Block] = [_alone(view.first, alone, where, f"features-alone-{number}")]
    if permuted:
        blocks += [
            _permuted(view, permuted, where, f"features-permuted-{number}"),
            Tabular(_uses(permuted, own, where)),
        ]
    if own:
        blocks.append(Tabular(_own(own, where), folded=True))
    return blocks


def _alone(measure: str, alone: pl.DataFrame, where: str, name: str) -> Figure:
    best = alone.head(_SHOWN)
    labels = [plain(feature) for feature in best["feature"]]
    high = [direction == "high first" for direction in best["direction"]]
    traces = [
        {"type": "bar", "orientation": "h", "name": title, "hoverinfo": "text"}
        | {"x": tidy(best.filter(pl.Series(mask))["importance"].to_numpy())}
        | {"y": [label for label, m in zip(labels, mask, strict=True) if m]}
        | {"hovertext": [f"feature {f}: {v:.4f}, {title}" for f, v, m in _zip(best, mask) if m]}
        | {"marker": {"color": colour, "pattern": {"shape": shape}}}
        for title, mask, colour, shape in (
            ("large values first", high, "--s0", ""),
            ("small values first", [not h for h in high], "--s1", "/"),
        )
        if any(mask)
    ]
    y = category_axis("feature", labels)
    figure = layout(axis(f"{measure} when ranked by this feature alone"), y, height=bars_height(best.height) + 40)
    figure |= {"showlegend": True, "barmode": "overlay", "bargap": 0.25}
    rows = tuple(
        (r["feature"], r["direction"], fixed(r["high_first"]), fixed(r["low_first"]))
        for r in best.iter_rows(named=True)
    )
    caption = f"The {best.height} features that rank best alone, by {measure} ({where})"
    table = Table.of(("feature", "better with", "large first", "small first"), rows, caption=caption, n_names=2)
    return Figure(name, f"{measure} of the {best.height} best single features on {where}.", traces, figure, table)


def _zip(best: pl.DataFrame, mask: list[bool]) -> Any:
    return zip(map(plain, best["feature"]), best["importance"], mask, strict=True)


def _most(permuted: dict[str, pl.DataFrame]) -> list[str]:
    """The features that matter most to some ranker."""
    most = pl.concat(list(permuted.values())).group_by("feature", maintain_order=True).agg(pl.col("importance").max())
    return most.sort("importance", descending=True, maintain_order=True).head(_SHOWN)["feature"].to_list()


def _permuted(view: View, permuted: dict[str, pl.DataFrame], where: str, name: str) -> Figure:
    shown = _most(permuted)
    labels = [plain(feature) for feature in shown]
    traces = []
    for ranker, frame in permuted.items():
        by_feature = {row["feature"]: row for row in frame.iter_rows(named=True)}
        values = np.array([by_feature[feature]["importance"] for feature in shown])
        texts = [
            f"{plain(ranker)}<br>feature {plain(f)}: {signed(row['importance'])} ± {fixed(row['std'])}"
            for f, row in ((f, by_feature[f]) for f in shown)
        ]
        traces.append(
            {"type": "scatter", "mode": "markers", "name": plain(view.names[ranker]), "x": tidy(values), "y": labels}
            | {"hovertext": texts, "hoverinfo": "text", "cliponaxis": False}
            | {"marker": {"symbol": view.symbol(ranker), "size": 10, "color": view.colour(ranker), "opacity": 0.85}}
        )
    y = category_axis("feature", labels)
    figure = layout(
        axis(f"loss of {view.first} when the feature is shuffled"),
        y,
        height=bars_height(len(shown)) + 50,
        showlegend=True,
    )
    values_of = {r: dict(zip(f["feature"], f["importance"], strict=True)) for r, f in permuted.items()}
    rows = tuple((f, *(signed(values_of[r][f]) for r in permuted)) for f in shown)
    caption = f"Permutation importance: loss of {view.first} ({where}; {_REPEATS} random orders per feature)"
    table = Table.of(("feature", *(view.names[r] for r in permuted)), rows, caption=caption)
    return Figure(name, f"Permutation importance of {len(shown)} features on {where}.", traces, figure, table)


def _uses(permuted: dict[str, pl.DataFrame], own: dict[str, pl.DataFrame], where: str) -> Table:
    """What each ranker uses: how many features, and which most."""
    rows = []
    for ranker, frame in permuted.items():
        inside = own.get(ranker)
        used = "–" if inside is None else f"{int((inside['importance'] > 0).sum())} of {frame.height}"
        loss = frame.filter(pl.col("importance") > 2 * pl.col("std"))
        rows.append(
            (
                ranker,
                _first(frame),
                "–" if inside is None else _first(inside),
                used,
                str(loss.filter(pl.col("importance") > 0).height),
            )
        )
    notes = (
        "Most important by permutation and by the model's own figures, at most five each. In the model: features with "
        "a weight, a split or a function other than 0. Needed: features whose shuffling costs more than twice its "
        "standard deviation.",
    )
    header = ("ranker", "by permutation", "by the model", "in the model", "needed")
    return Table.of(header, rows, caption=f"What each ranker uses ({where})", notes=notes, n_names=3)


def _first(frame: pl.DataFrame) -> str:
    return ", ".join(frame.filter(pl.col("importance") > 0)["feature"].head(5)) or "none"


def _own(own: dict[str, pl.DataFrame], where: str) -> Table:
    rows = tuple(
        (ranker, row["kind"], row["feature"], short(row["importance"]), f"{100 * row['share']:.1f} %")
        for ranker, frame in own.items()
        for row in frame.head(10).iter_rows(named=True)
    )
    header = ("ranker", "figure", "feature", "importance", "share")
    return Table.of(header, rows, caption=f"The models' own feature importances, ten each ({where})", n_names=3)
