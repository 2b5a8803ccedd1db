"""What is in a click log, and what can be learned from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from plackett.clicks.log import ClickLog
from plackett.clicks.models._cells import rank_counts

__all__ = ["profile_log"]

#: A user with more pages than this, or more clicks per page, is counted as a robot.
ROBOT_PAGES = 500
ROBOT_CLICKS = 20


#: What a log of fixed lists cannot say.
FIXED = (
    "Every document was shown at one rank only: rank and relevance cannot be told apart. Set the examination from "
    "another log, or randomise a little (swap neighbouring documents now and then)."
)


@dataclass(frozen=True)
class LogProfile:
    """Facts about a click log; see `profile_log`."""

    pages: int
    queries: int
    documents: int
    pairs: int
    rows: int
    clicks: int
    pages_without_clicks: int
    pages_with_several_clicks: int
    repeated_pages: int
    longest: int
    shown_per_rank: list[float]
    clicks_per_rank: list[float]
    users: int | None
    robot_users: int | None
    robot_pages: int | None
    rankers: int | None
    pairs_shown_once: int
    moving_pairs: int
    moving_rows: float
    connected_ranks: int
    rank_variation: float
    rank_relevance_correlation: float
    has_times: bool
    has_dwell: bool
    has_actions: bool
    has_propensities: bool
    bad_lines: str | None
    advice: list[str] = field(default_factory=list)

    def rows_of_table(self) -> list[tuple[str, str]]:
        """Lines for a table."""
        share = self.clicks / max(self.rows, 1)
        rates = [
            f"{rate:.3f}" if shown else "–"
            for rate, shown in zip(self.clicks_per_rank, self.shown_per_rank, strict=True)
        ]
        lines = [
            ("pages", f"{self.pages:,}"),
            ("queries, documents", f"{self.queries:,}, {self.documents:,}"),
            ("pairs of query and document", f"{self.pairs:,} ({self.pairs_shown_once:,} shown once)"),
            ("documents per page", f"{self.rows / max(self.pages, 1):.1f}, at most rank {self.longest}"),
            ("clicks", f"{self.clicks:,} ({share:.2%} of what was shown)"),
            ("pages without a click", f"{self.pages_without_clicks:,}"),
            ("pages with several clicks", f"{self.pages_with_several_clicks:,}"),
            ("pages that repeat an earlier one", f"{self.repeated_pages:,}"),
            ("click rate by rank", " ".join(rates[:20])),
            ("pairs seen at several ranks", f"{self.moving_pairs:,} ({self.moving_rows:.1%} of what was shown)"),
            ("ranks that they connect", f"{self.connected_ranks} of {np.count_nonzero(self.shown_per_rank)}"),
            ("variance of ranks within pairs", f"{self.rank_variation:.1%} (0 % fixed lists, 100 % shuffled)"),
            ("rank and click rate of a pair", f"correlation {self.rank_relevance_correlation:.2f}"),
        ]
        if self.users is not None:
            lines.append(("users", f"{self.users:,}; {self.robot_users} like robots, with {self.robot_pages:,} pages"))
        if self.rankers is not None:
            lines.append(("rankers", str(self.rankers)))
        also = [
            ("times", self.has_times),
            ("dwell times", self.has_dwell),
            ("actions", self.has_actions),
            ("propensities", self.has_propensities),
        ]
        lines.append(("also known", ", ".join(name for name, known in also if known) or "–"))
        if self.bad_lines:
            lines.append(("left out", self.bad_lines))
        return lines


def profile_log(log: ClickLog) -> LogProfile:
    """Describe a click log: sizes, clicks by rank, duplicates, robots, and how much rank and relevance are confounded.

    A document that is always shown at the same rank cannot tell its relevance from the effect of the rank. What can be
    learned depends on the pairs that were seen at several ranks: they must connect all ranks, directly or through
    others.

    Robots are users with more than 500 pages, or with more than 20 clicks per page.

    Examples
    --------
    >>> log = ClickLog.from_arrays(["q"] * 2, [["a", "b"], ["b", "a"]], [[1, 0], [0, 0]])
    >>> profile = profile_log(log)
    >>> profile.moving_pairs, profile.connected_ranks
    (2, 2)
    """
    weight, clicked = log.row_weight, log.clicked
    page_clicks = np.bincount(log.page, clicked, minlength=log.n_pages)
    shown = np.bincount(log.rank - 1, weight, minlength=log.longest)
    hits = np.bincount(log.rank - 1, weight * clicked, minlength=log.longest)
    moving = _moving(log)
    moving_rows = float((weight * moving[log.pair]).sum() / max(weight.sum(), 1e-12))
    pair_shown = np.bincount(log.pair, weight, minlength=log.n_pairs)
    pair_hits = np.bincount(log.pair, weight * clicked, minlength=log.n_pairs)
    mean_rank = np.bincount(log.pair, weight * log.rank, minlength=log.n_pairs) / np.maximum(pair_shown, 1e-12)
    users, robots, robot_pages = _users(log, page_clicks)
    total_clicks = float((weight * clicked).sum())
    bad = None
    if log.bad_lines is not None and (log.bad_lines.counts or log.bad_lines.notes):
        bad = str(log.bad_lines)
    facts: dict[str, Any] = {
        "pages": round(float(log.page_weight.sum())),
        "queries": int(np.unique(log.query).size),
        "documents": int(np.unique(log.document).size),
        "pairs": log.n_pairs,
        "rows": round(float(weight.sum())),
        "clicks": round(total_clicks),
        "pages_without_clicks": round(float(log.page_weight[page_clicks == 0].sum())),
        "pages_with_several_clicks": round(float(log.page_weight[page_clicks > 1].sum())),
        "repeated_pages": round(float(log.page_weight.sum())) - log.collapse().n_pages,
        "longest": log.longest,
        "shown_per_rank": shown.tolist(),
        "clicks_per_rank": (hits / np.maximum(shown, 1e-12)).tolist(),
        "users": users,
        "robot_users": robots,
        "robot_pages": robot_pages,
        "rankers": None if log.rankers is None else int(log.rankers.size),
        "pairs_shown_once": int((pair_shown <= 1).sum()),
        "moving_pairs": int(moving.sum()),
        "moving_rows": moving_rows,
        "connected_ranks": _connected(log),
        "rank_variation": rank_variation(log),
        "rank_relevance_correlation": _correlation(mean_rank, pair_hits / np.maximum(pair_shown, 1e-12), pair_shown),
        "has_times": log.times is not None,
        "has_dwell": log.dwell is not None,
        "has_actions": log.actions is not None,
        "has_propensities": log.propensities is not None or log.conditional_propensities is not None,
        "bad_lines": bad,
    }
    return LogProfile(**facts, advice=_advice(facts))


#: Documents hardly move if a smaller share of the variance of ranks lies within pairs.
HARDLY = 0.01


def rank_variation(log: ClickLog) -> float:
    r"""How much documents move: the share of the variance of ranks that lies within pairs of query and document.

    .. math:: \frac{\sum_p \sum_{i \in p} (k_i - \bar k_p)^2}{\sum_i (k_i - \bar k)^2}

    0 for fixed lists, near 1 for shuffled ones. NaN if all documents were shown at one rank.
    """
    pair, rank, _, shown = rank_counts(log)
    total = float((shown * (rank - np.average(rank, weights=shown)) ** 2).sum()) if pair.size else 0.0
    if total <= 0:
        return float("nan")
    mean = np.bincount(pair, shown * rank) / np.maximum(np.bincount(pair, shown), 1e-12)
    return float((shown * (rank - mean[pair]) ** 2).sum()) / total


def doubt_about_ranks(log: ClickLog) -> str | None:
    """Why rank and relevance cannot be told apart in a log, or None if they can."""
    if not documents_move(log):
        return FIXED
    connected, shown = _connected(log), np.unique(log.rank).size
    if connected < shown:
        return _unconnected(connected, shown)
    variation = rank_variation(log)
    if variation < HARDLY:
        return (
            f"Documents hardly moved: {variation:.2%} of the variance of ranks lies within pairs of query and "
            "document, and what is learned of the ranks rests on that. Randomise a little more."
        )
    return None


def _unconnected(connected: int, shown: int) -> str:
    return (
        f"Only {connected} of {shown} ranks are connected by documents that moved: "
        "examination of the others relative to these is not identified."
    )


def documents_move(log: ClickLog) -> bool:
    """Whether any pair of query and document was shown at two ranks."""
    return bool(_moving(log).any())


def _moving(log: ClickLog) -> np.ndarray:
    """Whether each pair was shown at several ranks."""
    low = np.full(log.n_pairs, np.iinfo(np.int32).max, np.int32)
    high = np.zeros(log.n_pairs, np.int32)
    np.minimum.at(low, log.pair, log.rank)
    np.maximum.at(high, log.pair, log.rank)
    return low < high


def _users(log: ClickLog, page_clicks: np.ndarray) -> tuple[int | None, int | None, int | None]:
    if log.users is None:
        return None, None, None
    known = log.users > 0
    ids, at = np.unique(log.users[known], return_inverse=True)
    pages = np.bincount(at, log.page_weight[known], minlength=ids.size)
    clicks = np.bincount(at, (page_clicks * log.page_weight)[known], minlength=ids.size)
    robot = (pages > ROBOT_PAGES) | (clicks > ROBOT_CLICKS * np.maximum(pages, 1))
    return int(ids.size), int(robot.sum()), round(float(pages[robot].sum()))


def _connected(log: ClickLog) -> int:
    """Number of ranks in the largest set connected by pairs that were shown at several of them."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    if log.n_rows == 0:
        return 0
    pair, rank, _, _ = rank_counts(log)
    size = log.longest + log.n_pairs
    graph = coo_matrix((np.ones(pair.size), (rank, log.longest + pair)), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    return int(np.bincount(component[: log.longest]).max())


def _correlation(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    if x.size < 2 or weight.sum() <= 0:
        return float("nan")
    dx, dy = x - np.average(x, weights=weight), y - np.average(y, weights=weight)
    spread = np.sqrt((weight * dx**2).sum() * (weight * dy**2).sum())
    return float((weight * dx * dy).sum() / spread) if spread > 0 else float("nan")


def _advice(facts: dict[str, Any]) -> list[str]:
    """What may be learned, in sentences."""
    sentences = []
    if facts["clicks"] == 0:
        return ["No clicks: nothing can be learned from this log."]
    if facts["moving_pairs"] == 0:
        sentences.append(FIXED)
    elif facts["connected_ranks"] < np.count_nonzero(facts["shown_per_rank"]):
        sentences.append(_unconnected(facts["connected_ranks"], int(np.count_nonzero(facts["shown_per_rank"]))))
    else:
        sentences.append(
            f"Documents moved between all ranks ({facts['moving_rows']:.0%} of what was shown): click models and "
            "intervention harvesting can separate rank from relevance."
        )
    if facts["pairs_shown_once"] > 0.5 * facts["pairs"]:
        sentences.append("Most pairs were shown once: use a model with features, or the estimated prior.")
    if facts["pages_with_several_clicks"] < 0.01 * facts["pages"]:
        sentences.append("Hardly any page has several clicks: DCM, DBN and CCM have little to work on; PBM is enough.")
    if not facts["has_propensities"]:
        sentences.append(
            "No propensities: the value of another ranker can be estimated with a click model, or where pages agree; "
            "not without bias."
        )
    if facts["robot_pages"]:
        sentences.append(f"{facts['robot_pages']:,} pages are by users who look like robots: leave them out.")
    return sentences
