"""Proof of an export: the written file scored by the engine itself, or by its documented rule, next to the ranker."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError
from plackett._names.catalogue import formats
from plackett.data.dataset import RankingDataset
from plackett.data.trained_columns import TrainedColumns
from plackett.export._forest import Forest
from plackett.export._form import SumOfParts, features_of, form_of
from plackett.scorers.parts import NetworkLayers

__all__ = ["verify_export"]

#: The largest number of documents, and of rows at thresholds, to score.
_MOST_ROWS = 2000
#: Relative difference up to which scores in float64 count as equal where the order of summation differs.
_ROUNDING = 1e-12


class ProofRow(NamedTuple):
    """One kind of rows: how many, and the largest difference to the scores of the ranker."""

    rows: str
    size: int
    difference: float
    #: Why a difference is expected; empty where it is not.
    exception: str = ""


@dataclass(frozen=True)
class Proof:
    """Scores of an exported file next to those of the ranker.

    Attributes
    ----------
    target
        The format.
    by
        What scored the file.
    rows
        Documents of the data, and rows made to be hard, with the largest difference of each kind.
    tolerance
        The difference that is allowed, relative to the largest score where that is above 1.
    """

    target: str
    by: str
    rows: tuple[ProofRow, ...]
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether no difference is larger than allowed, documented exceptions aside."""
        return all(row.difference <= self.tolerance for row in self.rows if not row.exception)

    @property
    def difference(self) -> float:
        """The largest difference, documented exceptions aside."""
        return max((row.difference for row in self.rows if not row.exception), default=0.0)

    def __str__(self) -> str:
        lines = [f"{self.target}, {self.by}; allowed difference {self.tolerance:.0e}"]
        for row in self.rows:
            note = f"   ({row.exception})" if row.exception else ""
            lines.append(f"  {row.rows:<24}{row.size:>6} rows   largest difference {row.difference:.2g}{note}")
        lines.append("  the export is right" if self.holds else "  THE EXPORT DIFFERS FROM THE MODEL")
        return "\n".join(lines)


def hard_rows(form: SumOfParts, X: np.ndarray, random_state: int = 0) -> dict[str, np.ndarray]:
    """Rows that a wrong export gets wrong, made from real ones: values on thresholds and next to them, NaN, ±0, …"""
    rng = np.random.default_rng(random_state)
    X = np.ascontiguousarray(X, np.float32)
    if len(X) == 0:
        raise DataError("the data to verify with has no rows")

    def changed(feature: np.ndarray, value: Any) -> np.ndarray:
        rows = X[rng.integers(len(X), size=feature.size)].copy()
        rows[np.arange(feature.size), feature] = value
        return rows

    groups = {"documents": X[:_MOST_ROWS] if len(X) <= _MOST_ROWS else X[rng.choice(len(X), _MOST_ROWS, replace=False)]}
    forests = [part for _, part in form.parts if isinstance(part, Forest) and part.feature.size]
    if forests:
        feature = np.concatenate([part.feature for part in forests])
        threshold = np.concatenate([part.threshold for part in forests])
        some = rng.permutation(feature.size)[: _MOST_ROWS // 2]
        feature, threshold = feature[some], threshold[some]
        known = np.isfinite(threshold)
        feature, threshold = feature[known], threshold[known]
        with np.errstate(over="ignore"):
            up, down = (np.nextafter(threshold, np.float32(end)) for end in (np.inf, -np.inf))
        finite = np.isfinite(up) & np.isfinite(down)
        groups["on thresholds"] = changed(feature, threshold)
        groups["next to thresholds"] = np.concatenate(
            [changed(feature[finite], up[finite]), changed(feature[finite], down[finite])]
        )
    every = np.arange(X.shape[1])

    def special(values: Sequence[float]) -> np.ndarray:
        rows = [changed(np.repeat(every, 3), np.float32(value)) for value in values]
        return np.concatenate([*rows, *(np.full((1, X.shape[1]), value, np.float32) for value in values)])

    groups["zeros, both signs"] = special((0.0, -0.0))
    groups["close to zero"] = special((1e-40, -1e-40, 1e-45, -1e-45, 1e-36, -1e-36, 1e-35, -1e-35, 2e-35, -2e-35))
    if form.takes_missing or form.fills is not None:
        groups["missing values"] = special((np.nan,))
    if form.takes_missing:
        groups["infinite values"] = special((np.inf, -np.inf))
        largest = float(np.finfo(np.float32).max)
        groups["largest numbers"] = special((largest, -largest))
    return {name: rows for name, rows in groups.items() if len(rows)}


def format_named(name: str) -> Any:
    """The class of a format, by its name."""
    from plackett._names.nearest import hint

    known = {target.name: target for target in formats() if target.writes}
    if name not in known:
        raise DataError(f"unknown format {name!r}; {hint(name, known, 'there are')}")
    return known[name].load()


def versioned(to: str) -> tuple[Any, dict[str, Any]]:
    """The class of a format, and the version after its name, as in ``opensearch-ltr@3.1``."""
    name, at, version = to.partition("@")
    known = format_named(name)
    if at and not hasattr(known, "versions"):
        raise DataError(f"{to!r}: {name} files are the same for all versions; give {name!r}")
    return known, {"version": version} if at else {}


def verify_export(
    ranker: Any,
    path: str | os.PathLike[str],
    data: Any,
    *,
    to: str,
    feature_names: Sequence[str] | None = None,
    random_state: int = 0,
) -> Proof:
    """Score an exported file and compare with the ranker, on real documents and on rows that are hard to get right.

    The file is scored by the engine itself where it can be run here (onnxruntime, XGBoost, compilers, …), and otherwise
    by a separate evaluator that follows the engine's documented rule: its comparison, precision, missing values and
    order of summation.

    Parameters
    ----------
    ranker
        The ranker that was exported.
    path
        The file.
    data
        Documents: a `RankingDataset` or a table of features.
    to
        Format of the file, as in ``plackett export --to``, with the version if one was named: ``opensearch-ltr@3.1``.
    feature_names
        The names that were given for the export.
    random_state
        Seed of the rows that are made.

    Raises
    ------
    DataError
        What would score the file is not installed here.

    Examples
    --------
    >>> import tempfile
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(n_queries=20, random_state=0)
    >>> ranker, path = pk.LambdaMART(n_estimators=5).fit(data), tempfile.mkdtemp() + "/model.json"
    >>> pk.write_elasticsearch(ranker, path)
    >>> proof = verify_export(ranker, path, data, to="elasticsearch")
    >>> proof.holds, proof.difference
    (True, 0.0)
    """
    known, options = versioned(to)
    if not hasattr(known, "score"):
        raise DataError(f"{to} files cannot be scored here, so there is nothing to verify with")
    form = form_of(ranker, feature_names, lists=True, fills=True)
    if isinstance(data, RankingDataset):
        data = getattr(ranker, "columns_in", TrainedColumns()).aligned(data)
    X = features_of(data, form)
    groups = {"one list of documents": X[:_MOST_ROWS]} if form.normalised else hard_rows(form, X, random_state)
    exceptions: dict[str, str] = known.exceptions(form) if hasattr(known, "exceptions") else {}
    skipped = getattr(known, "refuses", ())
    groups = {name: rows for name, rows in groups.items() if name not in skipped}
    if hasattr(known, "apart"):
        for name, why, chosen in known.apart(form, Path(path)):
            groups = _set_apart(groups, name, chosen)
            exceptions[name] = why
    if hasattr(known, "reads"):  # rows that were made; a document that the engine cannot read is an error
        made = {name: rows[known.reads(form, Path(path), rows)] for name, rows in groups.items() if name != "documents"}
        groups |= made
        groups = {name: rows for name, rows in groups.items() if len(rows)}
    rows = np.concatenate(list(groups.values()))
    with np.errstate(over="ignore", invalid="ignore"):
        expected = _scores(ranker, rows)
        exported = np.asarray(known.score(Path(path), rows, form.names, **options), np.float64)
    if exported.shape != expected.shape:
        raise DataError(f"{len(rows)} rows, but {exported.shape} scores from {known.proof}")
    ends = np.cumsum([len(group) for group in groups.values()])
    shift = 0.0
    if getattr(known, "without_constant", False) and form.all_lines:
        shift = form.line(to).intercept
    pieces = zip(np.split(expected - shift, ends[:-1]), np.split(exported, ends[:-1]), strict=True)
    scale = max(1.0, float(np.abs(expected).max()))
    tolerance = max(getattr(known, "tolerance", 0.0), 0.0 if form.all_trees and len(form.parts) == 1 else _ROUNDING)
    if any(isinstance(part, NetworkLayers) for _, part in form.parts):
        tolerance = max(tolerance, 1e-5)
    proof_rows = []
    for name, (ours, theirs) in zip(groups, pieces, strict=True):
        proof_rows.append(ProofRow(name, len(ours), _difference(ours, theirs) / scale, exceptions.get(name, "")))
    return Proof(to, known.proof, tuple(proof_rows), tolerance)


def _set_apart(
    groups: dict[str, np.ndarray], name: str, chosen: Callable[[np.ndarray], np.ndarray]
) -> dict[str, np.ndarray]:
    """The chosen rows of all groups as a group of their own."""
    masks = [chosen(rows) for rows in groups.values()]
    kept = {word: rows[~mask] for (word, rows), mask in zip(groups.items(), masks, strict=True) if not mask.all()}
    apart = np.concatenate([rows[mask] for rows, mask in zip(groups.values(), masks, strict=True)])
    return kept | {name: apart} if len(apart) else kept


def _scores(ranker: Any, rows: np.ndarray) -> np.ndarray:
    """Scores without the checks of `predict`, which refuses infinite values."""
    offsets = np.array([0, len(rows)])
    if hasattr(ranker, "steps"):
        for _, step in ranker.steps[:-1]:
            rows = np.asarray(step.apply(rows, offsets), np.float32)
        ranker = ranker.steps[-1][1]
    return ranker.score_rows(RankingDataset(X=rows, y=None, offsets=offsets, qids=np.arange(1)))


def _difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference; rows for which the ranker itself has no score are left out."""
    gaps = np.abs(ours - theirs)[np.isfinite(ours)]
    return float(np.where(np.isnan(gaps), np.inf, gaps).max(initial=0.0))
