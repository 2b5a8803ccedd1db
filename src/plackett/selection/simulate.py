"""Judging in rounds, with known answers: how well a strategy would have done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from plackett._base.arguments import whole
from plackett.data.dataset import RankingDataset
from plackett.measures.language import parse
from plackett.measures.ranking import Scored
from plackett.selection.candidates import Candidates
from plackett.selection.pools.base import Pool

__all__ = ["judge_in_rounds"]


def judge_in_rounds(
    pool: Pool, truth: Candidates, *, budget: int, rounds: int = 1, random_state: Any = 0
) -> tuple[Candidates, np.ndarray]:
    """Spend a budget of judgements with known answers.

    Parameters
    ----------
    pool
        The strategy.
    truth
        Candidates with all their labels; a missing one counts as 0.
    rounds
        How often the strategy is asked, each time with the answers so far. Strategies that sample with known
        probabilities are asked once.

    Returns
    -------
    Candidates with the labels that were bought, and the inclusion probability of each row (NaN if unknown).
    """
    whole("rounds", rounds, least=1)
    answers = np.nan_to_num(truth.labels, nan=0.0)
    now = replace(truth, labels=np.full(truth.n_rows, np.nan))
    inclusion = np.full(truth.n_rows, np.nan)
    rng = np.random.default_rng(random_state)
    for part in np.diff(np.linspace(0, budget, min(rounds, budget) + 1).astype(int)):
        choice = pool.choose(now, int(part), rng)
        labels = now.labels.copy()
        labels[choice.rows] = answers[choice.rows]
        now, inclusion = replace(now, labels=labels), choice.inclusion
    return now, inclusion if rounds == 1 else np.full(truth.n_rows, np.nan)


def system_values(candidates: Candidates, measure: Any, inclusion: np.ndarray | None = None) -> np.ndarray:
    """Mean of a measure for each run with the judgements of the candidates; what is not judged is not relevant.

    With inclusion probabilities they are the weights of `statAP` and `xinfAP`.
    """
    known = parse(measure)
    weight = None if inclusion is None else 1.0 / np.where(inclusion > 0, inclusion, 1.0)
    data = RankingDataset(
        X=np.empty((candidates.n_rows, 0), np.float32),
        y=np.nan_to_num(candidates.labels, nan=-1.0),
        offsets=candidates.offsets,
        qids=candidates.qids,
        docids=candidates.docids,
        sample_weight=weight,
    )
    return np.array(
        [known.mean(known.per_query(Scored(data, -rank.astype(float), rank > 0))) for rank in candidates.rank]
    )
