"""Expected reciprocal rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plackett._base.errors import MeasureError
from plackett._kernels.kernel import kernel, over_queries
from plackett.measures.base import Measure
from plackett.measures.gains import gain_at
from plackett.measures.ranking import Ranking
from plackett.measures.relevance import any_positive
from plackett.measures.swaps import new_state

__all__ = ["ExpectedReciprocalRank"]


@dataclass(frozen=True, kw_only=True, repr=False)
class ExpectedReciprocalRank(Measure):
    r"""Expected reciprocal rank (ERR): mean of 1/rank where a user, reading down the list, is satisfied and stops.

    .. math:: \text{ERR@}k = \sum_{r=1}^{k} \frac1r R_r \prod_{s<r} (1 - R_s), \quad R = \frac{2^l - 1}{2^{l_{\max}}}

    Parameters
    ----------
    k
        Cut-off; None is the whole list.
    max_label
        The largest label of the scale, :math:`l_{\max}`. None means the largest label of the dataset. Set it to
        compare results across datasets or folds (Yahoo and MSLR: 4).

    Notes
    -----
    The book prints the weight of rank r as 1/m. That is a misprint: the measure would not depend on the order.

    Ties: exact mean over all orders. The probability of passing i documents drawn at random out of a block is the
    elementary symmetric mean :math:`u_i` of the 1 − R, which adding the (n + 1)-th document x turns into
    :math:`((n + 1 - i)\,u_i + i\,x\,u_{i-1})/(n + 1)`; position r adds :math:`u_{r-1} - u_r` over its rank.
    The cost of a block of m documents is m · min(m, k).

    References
    ----------
    Chapelle, Metzler, Zhang, Grinspan: Expected reciprocal rank for graded relevance. CIKM 2009.

    Examples
    --------
    >>> import plackett as pk
    >>> pk.evaluate([4, 0, 2], [3, 2, 1], ["ERR(max_label=4)"]).mean["ERR(max_label=4)"]
    0.94140625
    """

    name: ClassVar[str] = "ERR"
    aliases: ClassVar[tuple[str, ...]] = ("err", "expected_reciprocal_rank")
    swaps: ClassVar[bool] = True

    k: int | None = None
    max_label: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_label is not None:
            if isinstance(self.max_label, (str, bool)) or not 0 < self.max_label < np.inf:
                raise MeasureError(f"{self.name}: max_label={self.max_label!r}; give a positive number or None")
            object.__setattr__(self, "max_label", float(self.max_label))

    def values(self, ranking: Ranking) -> np.ndarray:
        """One number per query."""
        top = top_label(ranking, self.max_label, self.name)
        values = ranking.run(_err, *stopping(ranking, top), self.k or ranking.longest)
        return np.where(any_positive(ranking), values, np.nan)

    def swap_state(self, ranking: Ranking) -> np.ndarray:
        """What `swap` reads."""
        return err_state(ranking, top_label(ranking, self.max_label, self.name), self.k, np.ones(ranking.depth.size))


ERR = ExpectedReciprocalRank()


def top_label(ranking: Ranking, max_label: float | None, measure: str) -> float:
    """The largest label of the scale: as given, or the largest one of the dataset."""
    grade = ranking.data.max_grade
    largest = float(ranking.data.labels.max(initial=0.0) if grade is None else grade)
    if max_label is not None and largest > max_label:
        raise MeasureError(f"{measure}: max_label={max_label:g}, but the data has the label {largest:g}")
    return largest if max_label is None else max_label


def stop_chance(labels: np.ndarray, top: float) -> np.ndarray:
    """Probability that a document of each label satisfies the user."""
    # (2^label − 1) / 2^top, without powers that overflow
    return np.where(labels > 0, np.exp2(labels - top) - np.exp2(-top), 0.0)


def stopping(ranking: Ranking, top: float) -> tuple[np.ndarray, np.ndarray]:
    """Probability of stopping at each position as values and table (see `plackett.measures.gains.position_gains`)."""
    grade = ranking.data.max_grade
    if grade is not None:
        return ranking.labels, stop_chance(np.arange(grade + 1.0), top)
    return ranking.once(("stopping", top), lambda: stop_chance(ranking.labels, top)), np.empty(0)


def err_state(ranking: Ranking, top: float, k: int | None, scale: np.ndarray) -> np.ndarray:
    """State for `plackett.measures.swaps.swap` of ERR times ``scale[q]``."""
    state = new_state(ranking)
    over_queries(
        _err_state,
        ranking.offsets,
        ranking.depth,
        *stopping(ranking, top),
        k or ranking.longest,
        scale,
        state,
        n_jobs=ranking.n_jobs,
    )
    return state


@kernel
def _pass_block(values, table, start, end, n_shown, chance):  # type: ignore[no-untyped-def]
    """Probability of passing i documents drawn at random from start..end, into chance[i], i up to n_shown."""
    chance[0] = 1.0
    for i in range(1, n_shown + 1):
        chance[i] = 0.0
    for n in range(end - start):
        on = 1.0 - gain_at(values[start + n], table)
        share = 1.0 / (n + 1)
        for i in range(min(n + 1, n_shown), 0, -1):
            chance[i] = ((n + 1 - i) * chance[i] + i * on * chance[i - 1]) * share


@kernel
def _err(  # type: ignore[no-untyped-def]
    lo, hi, offsets, labels, depth, tie_end, values, table, k, out
):
    longest = 0
    for q in range(lo, hi):
        longest = max(longest, min(k, offsets[q + 1] - offsets[q]))
    chance = np.empty(longest + 1)
    for q in range(lo, hi):
        a = offsets[q]
        stop = a + min(k, depth[q])
        value = 0.0
        reach = 1.0
        i = a
        while i < stop:
            end = tie_end[i]
            if end == i + 1:
                stops = gain_at(values[i], table)
                value += reach * stops / (end - a)
                reach *= 1.0 - stops
            else:
                n_shown = min(end, stop) - i
                _pass_block(values, table, i, end, n_shown, chance)
                for r in range(1, n_shown + 1):
                    value += reach * (chance[r - 1] - chance[r]) / (i - a + r)
                reach *= chance[n_shown]
            i = end
        out[q] = value


@kernel
def _err_state(lo, hi, offsets, depth, values, table, k, scale, state):  # type: ignore[no-untyped-def]
    for q in range(lo, hi):
        a = offsets[q]
        stop = min(k, depth[q])
        reach = 1.0
        passed = 0.0  # the sum down to the rank above
        for i in range(a, offsets[q + 1]):
            stops = gain_at(values[i], table)
            counts = 1.0 / (i - a + 1) if i - a < stop else 0.0
            state[i, 0] = stops * scale[q]
            state[i, 1] = 1.0 / (1.0 - stops)
            state[i, 3] = passed + reach * counts
            passed += reach * stops * counts
            reach *= 1.0 - stops
            state[i, 2] = -reach * counts - passed
