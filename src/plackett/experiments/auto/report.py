"""What `AutoRanker` reports: the leaderboard, the reasons and the estimate, as plain values."""

from __future__ import annotations

from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.evaluation.significance.intervals import confidence_interval
from plackett.experiments.auto.baseline import Baseline
from plackett.experiments.auto.inspection import Facts
from plackett.experiments.auto.selection import BlendMembers
from plackett.experiments.auto.trials import CandidateTrials, mean

#: Maximum number of failures in the reasons; the leaderboard has all.
SHOWN = 3
#: Columns of the leaderboard.
COLUMNS: dict[str, type] = {
    "ranker": str,
    "rounds": int,
    "value": float,
    "splits": int,
    "weight": float,
    "train_seconds": float,
    "document_seconds": float,
    "error": str,
}


def leaderboard(trials: CandidateTrials, chosen: BlendMembers) -> list[dict[str, Any]]:
    """One row for each candidate: those finished on all splits by value, then those left behind, then failures."""
    sign = 1.0 if trials.measure.ascending else -1.0
    weight = dict(zip(chosen.members, chosen.weights.tolist(), strict=True))
    rows = []
    for number, candidate in enumerate(trials.candidates):
        n = trials.done(number)
        row: dict[str, Any] = dict.fromkeys(COLUMNS) | {"ranker": candidate.name, "splits": n, "weight": 0.0}
        if number in trials.errors:
            error = trials.errors[number]
            row |= {"error": f"{type(error).__name__}: {_text(error)}"}
        elif n == 0:
            continue
        else:
            stages = range(len(candidate.stages))
            means = [mean(trials.measure, trials.values(trials.scores(number, s, n))) for s in stages]
            best = int(np.argmax(means))
            done = [trials.outcomes[number, i] for i in range(n)]
            row |= {
                "rounds": candidate.stages[best],
                "value": sign * means[best] if np.isfinite(means[best]) else None,
                "weight": weight.get(number, 0.0),
                "train_seconds": float(np.mean([outcome.train_seconds for outcome in done])),
                "document_seconds": trials.document_seconds(number),
            }
        rows.append(row)
    return sorted(
        rows,
        key=lambda r: (r["error"] is not None, -r["splits"], np.inf if r["value"] is None else -sign * r["value"]),
    )


def _text(error: Exception) -> str:
    return " ".join(str(error).split())


def _speed(seconds: float, limit: float) -> str:
    """What the limit on the scoring time meant for the result."""
    took, most = (f"{1e6 * value:,.0f} µs" if value > 1e-5 else f"{1e6 * value:.2g} µs" for value in (seconds, limit))
    if seconds > limit:
        return f"Nothing scores a document within {most}: the fastest ranker was taken, which needs about {took}."
    return f"A document is scored in about {took}; what takes longer than {most} was left out."


def estimate(trials: CandidateTrials, chosen: BlendMembers) -> dict[str, Any] | None:
    """The quality to expect on new queries; None if too few queries were left out."""
    if chosen.values is None or not np.isfinite(chosen.values).any():
        return None
    values = chosen.values if trials.measure.ascending else -chosen.values
    low, high = np.clip(confidence_interval(values), *trials.measure.bounds).tolist()
    bounds = {"low": low, "high": high} if np.isfinite([low, high]).all() else {"low": None, "high": None}
    value, queries = float(trials.measure.mean(values)), int(np.isfinite(values).sum())
    return {"measure": str(trials.measure), "value": value} | bounds | {"queries": queries}


def reasons(
    trials: CandidateTrials,
    chosen: BlendMembers,
    facts: Facts,
    why: str,
    seconds: float,
    *,
    short: str | None = None,
    advice: str | None = None,
    document_seconds: float | None = None,
    baseline: Baseline | None = None,
) -> list[str]:
    """What was found and decided, in sentences."""
    told = facts.sentences()
    if advice is not None:
        told.append(advice)
    told += [_compared(trials), _tried(trials, why)]
    told += [f"{trials.candidates[i].name} failed: {_text(error)}." for i, error in list(trials.errors.items())[:SHOWN]]
    best = max(trials.complete(), key=trials.worth)
    sign = 1.0 if trials.measure.ascending else -1.0
    told.append(
        f"Best single ranker: {trials.candidates[best].name}, {trials.measure} {sign * trials.worth(best):.4f}."
    )
    expected = estimate(trials, chosen)
    if expected is not None and chosen.values is not None:
        low, high = (np.nan if expected[end] is None else expected[end] for end in ("low", "high"))
        told.append(
            f"Expect {trials.measure} {expected['value']:.4f} on new queries (95 % interval {low:.4f} to {high:.4f}): "
            "each query was measured by rankers not trained on it, with weights and rounds chosen without it."
        )
        if baseline is not None:
            told.append(baseline.sentence(trials, chosen.values))
    told.append(f"The result: {_result(trials, chosen)}; trained on all data.")
    if document_seconds is not None:
        told.append(_speed(sum(trials.document_seconds(i) for i in chosen.members), document_seconds))
    if short:
        told.append(f"Training on all data was {short}, so some members have fewer rounds or seeds, or are missing.")
    return [*told, f"Total time: {seconds:.1f} s."]


def _compared(trials: CandidateTrials) -> str:
    splits = trials.splits
    if splits.valid is not None:
        return f"Rankers were compared on the {splits.valid.n_queries:,} queries of the validation data."
    times = "once" if splits.rounds == 1 else f"{splits.rounds} times"
    part = "" if splits.data.n_rows == trials.n_rows else f" on {splits.data.n_queries:,} of the queries"
    each = "once" if len(splits) == 1 else f"{len(splits)} times"
    return (
        f"Rankers were compared by cross-validation{part}: queries cut into folds {times}; rankers that went all the "
        f"way were trained {each}."
    )


def _tried(trials: CandidateTrials, why: str) -> str:
    failed = f", {len(trials.errors)} failed" if trials.errors else ""
    tried = sum(trials.done(i) > 0 for i in range(len(trials.candidates)))
    return (
        f"{tried} {'setting was' if tried == 1 else 'settings were'} tried, {len(trials.complete())} of them on all "
        f"splits{failed}; the search ended because {why}."
    )


def _result(trials: CandidateTrials, chosen: BlendMembers) -> str:
    """Members with their weights and rounds."""
    parts = []
    for number, stage, weight in zip(chosen.members, chosen.stages, chosen.weights, strict=True):
        candidate = trials.candidates[number]
        rounds = candidate.stages[stage]
        parts.append(f"{weight:.0%} {candidate.name}" + (f", {rounds} rounds" if rounds is not None else ""))
    return "; ".join(parts)


def check_report(report: Any) -> None:
    """Reject a report of a model file that is not as `leaderboard`, `reasons` and `estimate` write it."""
    rows, reasons, estimate = (report[name] for name in ("leaderboard", "reasons", "estimate"))
    whole = isinstance(rows, list) and isinstance(reasons, list) and all(_fits(text, str) for text in reasons)
    whole = whole and (estimate is None or isinstance(estimate, dict))
    for row in rows if whole else ():
        whole = whole and isinstance(row, dict) and list(row) == list(COLUMNS)
        whole = whole and all(row[name] is None or _fits(row[name], kind) for name, kind in COLUMNS.items())
    if not whole:
        raise DataError("what the search reported is damaged")


def _fits(value: Any, kind: type) -> bool:
    """Whether a frame takes the value in a column of this kind."""
    if kind is str:
        return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return (whole and abs(value) < 2**63) or (kind is float and isinstance(value, float))
