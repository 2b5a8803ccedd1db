"""The data: sizes, labels, what is missing, constant or duplicated, and leaks between the parts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from plackett._names.nearest import plural
from plackett.data.dataset import RankingDataset
from plackett.data.leaks import leaks
from plackett.data.profile import Profile, profile
from plackett.evaluation.tables import Table, TableCell
from plackett.experiments.report.blocks import Block, Figure, Heading, Section, Tabular, Text
from plackett.experiments.report.numbers import short
from plackett.experiments.report.plots import axis, layout
from plackett.experiments.report.view import View

_ROLES = {"train": "training", "valid": "validation", "test": "test"}
_BINS = 30


def data(view: View) -> Section:
    """Profile of each dataset: the parts of its first fold, and leaks in all folds."""
    blocks: list[Block] = []
    for number, dataset in enumerate(view.experiment.datasets):  # including those without finished cells
        if len(view.experiment.datasets) > 1:
            blocks.append(Heading(dataset))
        blocks += _dataset(view, dataset, number)
    return Section("data", "The data", tuple(blocks))


def _dataset(view: View, dataset: str, number: int) -> list[Block]:
    folds = view.experiment.folds[dataset]
    name, fold = next(iter(folds.items()))
    parts = {role: part for role in _ROLES if (part := getattr(fold, role, None)) is not None}
    profiles = {role: profile(part) for role, part in parts.items()}
    return [
        Tabular(_sizes(profiles, f"{dataset}, fold {name}")),
        _lengths(parts, dataset, f"lengths-{number}"),
        _labels(profiles, dataset, f"labels-{number}"),
        Text(_warnings(profiles["train"])),
        Tabular(_leaks(folds, dataset)),
    ]


def _sizes(profiles: dict[str, Profile], where: str) -> Table:
    facts: list[tuple[str, Any]] = [
        ("queries", lambda p: f"{p.n_queries:,}"),
        ("documents", lambda p: f"{p.n_rows:,}"),
        ("features", lambda p: f"{p.n_features:,}"),
        ("non-zero values", lambda p: f"{100 * p.density:.1f} %"),
        ("shortest list", lambda p: short(p.list_length["min"])),
        ("median list", lambda p: short(p.list_length["median"])),
        ("longest list", lambda p: short(p.list_length["max"])),
        ("unjudged documents", lambda p: f"{p.unjudged:,}"),
        ("queries without a relevant document", lambda p: f"{p.queries_without_relevant:,}"),
        ("queries of one label", lambda p: f"{p.queries_of_one_label:,}"),
        ("features with missing values", lambda p: f"{len(p.missing):,}"),
        ("constant features", lambda p: f"{len(p.constant):,}"),
        ("duplicate documents in a query", lambda p: f"{p.duplicate_rows:,}"),
        ("of these with another label", lambda p: f"{p.conflicting_rows:,}"),
    ]
    rows = [(fact, *(value(p) for p in profiles.values())) for fact, value in facts]
    for label in sorted({label for p in profiles.values() for label in p.labels or {}}):
        counts = (f"{(p.labels or {}).get(label, 0):,}" for p in profiles.values())
        rows.append((f"documents of label {label:g}", *map(TableCell, counts)))
    return Table.of(("", *(_ROLES[role] for role in profiles)), rows, caption=f"Profile of {where}")


def _warnings(profile: Profile) -> str:
    """What users should know before training on the data."""
    sentences = []
    if profile.constant:
        sentences.append(f"Features that are constant in the training part: {_some(profile.constant)}.")
    if profile.missing:
        names = [f"{name} ({plural(count, 'value')})" for name, count in profile.missing.items()]
        sentences.append(f"Features with missing values in the training part: {_some(names)}.")
    if profile.queries_of_one_label:
        share = 100 * profile.queries_of_one_label / max(profile.n_queries, 1)
        sentences.append(
            f"Nothing can be learnt from {share:.0f} % of the training queries: all their documents have one label."
        )
    if profile.conflicting_rows:
        sentences.append(
            f"{plural(profile.conflicting_rows, 'document')} with another's features but a different label in one "
            "query."
        )
    return " ".join(sentences) or "No feature of the training part is constant or has missing values."


def _some(names: Any) -> str:
    names = list(names)
    return ", ".join(map(str, names[:20])) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _leaks(folds: Any, dataset: str) -> Table:
    rows = []
    for name, fold in folds.items():
        for role in ("valid", "test"):
            part: RankingDataset | None = getattr(fold, role, None)
            if part is None:
                continue
            leak = leaks(fold.train, part)
            rows.append(
                (
                    str(name),
                    _ROLES[role],
                    *(f"{count:,}" for count in (leak.queries, leak.lists, leak.rows)),
                    f"{100 * leak.rows / max(part.n_rows, 1):.1f} %",
                )
            )
    notes = (
        "Same query: its id is also in the training part. Same list: all its documents have the same features as the "
        "documents of a training query. Same features: documents with the same features as some training document, "
        "which happens by chance if features have few values.",
    )
    header = ("fold", "part", "same query", "same list", "same features", "share of documents")
    return Table.of(header, rows, caption=f"Leaks from the training part of {dataset}", notes=notes, n_names=2)


def _lengths(parts: dict[str, RankingDataset], dataset: str, name: str) -> Figure:
    longest = max(int(part.group.max(initial=1)) for part in parts.values())
    edges = np.unique(np.floor(np.linspace(0, longest, min(_BINS, longest) + 1))) + 0.5
    spans = [_span(a, b) for a, b in itertools.pairwise(edges)]
    counts = {role: np.histogram(part.group, edges)[0] for role, part in parts.items()}
    traces = [
        {
            "type": "scatter",
            "mode": "lines",
            "name": _ROLES[role],
            "x": ((edges[:-1] + edges[1:]) / 2).tolist(),
            "y": (100 * counts[role] / max(part.n_queries, 1)).round(2).tolist(),
            "line": {"color": f"--s{k}", "width": 2, "shape": "hvh", "dash": ("solid", "dash", "dot")[k]},
            "hovertext": [
                f"{_ROLES[role]}<br>{span} documents: {count:,} queries"
                for span, count in zip(spans, counts[role].tolist(), strict=True)
            ],
            "hoverinfo": "text",
        }
        for k, (role, part) in enumerate(parts.items())
    ]
    figure = layout(
        axis("documents in the list"), axis("share of queries (%)", rangemode="tozero"), height=320, showlegend=True
    )
    rows = tuple(
        (span, *(f"{in_part[i]:,}" for in_part in counts.values()))
        for i, span in enumerate(spans)
        if any(in_part[i] for in_part in counts.values())
    )
    header = ("documents", *(_ROLES[role] for role in parts))
    table = Table.of(header, rows, caption=f"Queries of {dataset} by the length of their lists")
    return Figure(name, f"Distribution of list lengths in the parts of {dataset}.", traces, figure, table)


def _span(a: float, b: float) -> str:
    low, high = int(np.ceil(a)), int(np.floor(b))
    return str(low) if low == high else f"{low} to {high}"


def _labels(profiles: dict[str, Profile], dataset: str, name: str) -> Figure:
    labels = sorted({label for p in profiles.values() for label in p.labels or {}})
    if len(labels) > _BINS:
        labels = labels[-_BINS:]
    traces = [
        {
            "type": "bar",
            "name": _ROLES[role],
            "x": [f"{label:g}" for label in labels],
            "y": [round(100 * count / max(profile.n_rows, 1), 2) for count in counts],
            "marker": {"color": f"--s{k}", "pattern": {"shape": ("", "/", ".")[k]}},
            "hovertext": [
                f"{_ROLES[role]}<br>label {label:g}: {count:,} documents"
                for label, count in zip(labels, counts, strict=True)
            ],
            "hoverinfo": "text",
        }
        for k, (role, profile) in enumerate(profiles.items())
        for counts in [[(profile.labels or {}).get(label, 0) for label in labels]]
    ]
    figure = layout(axis("label", type="category"), axis("share of documents (%)"), height=320, showlegend=True)
    return Figure(name, f"Share of each label in the parts of {dataset}.", traces, figure)
