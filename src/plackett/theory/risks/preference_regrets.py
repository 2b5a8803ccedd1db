"""Learning to rank in two stages, from preferences to orders: regrets and their bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np

from plackett._base.arguments import choice, number
from plackett._base.errors import DataError
from plackett.data.arguments import array, matching
from plackett.theory.risks.preference_losses import preference_loss, ranking_loss

__all__ = ["independent_preferences", "regrets", "two_stage_bound"]


class PossibleCase(NamedTuple):
    """A possible case: with this probability, these documents are to be ranked, and these are their labels."""

    probability: float
    documents: tuple[int, ...]
    labels: tuple[float, ...]


class Regrets(NamedTuple):
    """Regret of the ranking and of the preferences; and of both against the best answer for each set of documents."""

    ranking: float
    preference: float
    ranking_each: float
    preference_each: float


#: Loss of the order by the loss of the preferences: for two classes of documents, and for any truth.
_FACTORS = {"degree": (2.0, np.inf), "quicksort": (1.0, 2.0)}


def two_stage_bound(preference_loss: float, order: str = "quicksort", bipartite: bool = True) -> float:
    """Bound on the expected loss (or regret) of a ranking, from the loss (or regret) of the preferences.

    Sorting by degree at most doubles it, where documents are relevant or not. QuickSort (``decide="draw"``) preserves
    the loss exactly and does not increase the regret; for any true order it at most doubles the loss.

    Parameters
    ----------
    preference_loss
        Expected loss or regret of the preference function.
    order
        ``"degree"`` or ``"quicksort"``.
    bipartite
        Whether labels are binary. Without this, there is no bound for ``"degree"``.

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.

    Examples
    --------
    >>> two_stage_bound(0.25, "degree"), two_stage_bound(0.25)
    (0.5, 0.25)
    """
    choice("order", order, _FACTORS)
    loss = number("preference_loss", preference_loss, least=0.0)
    factor = _FACTORS[order][0 if bipartite else 1]
    return loss * factor if factor < np.inf else np.inf


def regrets(cases: Iterable[Any], preference: Any, rule: Callable[[np.ndarray], Any]) -> Regrets:
    r"""Regret of a ranking rule and of a preference function, on a few documents, by enumeration.

    .. math:: \mathrm{Reg}(A) = E\,L(A(X), \sigma^*) - \min_{\sigma} E\,L(\sigma|_X, \sigma^*), \qquad
              \mathrm{Reg}(h) = E\,L(h, \sigma^*) - \min_{h'} E\,L(h'|_X, \sigma^*),

    over the sets of documents X and their true orders. The best order is one for all sets; ``…_each`` takes the best
    for each set on its own, and is at least as large. Where preferences do not depend on the set
    (`independent_preferences`) the two regrets of h are equal. The regret of a rule can be negative where they do.

    Parameters
    ----------
    cases
        Triples of probability, documents (numbers from 0) and their labels; see `PossibleCase`. The probabilities sum
        to 1.
    preference
        Table h(u, v) over all documents.
    rule
        From the table of the documents of a set to their order (best first), or to a list of pairs (probability,
        order) where it draws.

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.

    Examples
    --------
    >>> from plackett.aggregation.orderings import SortByDegree
    >>> cases = [(0.5, (0, 1), (1, 0)), (0.5, (0, 1), (0, 1))]
    >>> regrets(cases, [[0.5, 1.0], [0.0, 0.5]], SortByDegree().order).ranking
    0.0
    """
    all_cases = _checked_cases(cases)
    h = array("preference", preference, 2, least=0.0, most=1.0)
    n = len(h)
    if h.shape != (n, n):
        raise DataError(f"preference has shape {h.shape}; give a row and a column for each document")
    if n > 8:
        raise DataError(f"{n} documents have too many orders to look at all; give at most 8")
    if (largest := max(max(case.documents) for case in all_cases)) >= n:
        raise DataError(f"a case has document {largest}, but preference has only {n} rows: 0 to {n - 1}")
    sets = sorted({case.documents for case in all_cases})
    tables = {each: h[np.ix_(each, each)] for each in sets}
    orders = {each: _drawn(rule(table)) for each, table in tables.items()}
    rank_lost = pref_lost = 0.0
    for case in all_cases:
        pref_lost += case.probability * preference_loss(tables[case.documents], case.labels)
        rank_lost += case.probability * sum(p * ranking_loss(o, case.labels) for p, o in orders[case.documents])
    own = [[case for case in all_cases if case.documents == each] for each in sets]
    return Regrets(
        rank_lost - _best_order(all_cases, range(n)),
        pref_lost - _best_preference(all_cases),
        rank_lost - sum(_best_order(part, each) for part, each in zip(own, sets, strict=True)),
        pref_lost - sum(map(_best_preference, own)),
    )


def _checked_cases(cases: Iterable[Any]) -> list[PossibleCase]:
    """Cases whose probabilities sum to 1 and whose labels belong to their documents."""
    checked = []
    for i, case in enumerate(cases):
        p, documents, labels = case
        numbers = array(f"documents of case {i}", documents, least=0)
        values = array(f"labels of case {i}", labels)
        matching(**{f"documents of case {i}": numbers, f"labels of case {i}": values})
        chance = number(f"probability of case {i}", p, least=0.0)
        checked.append(PossibleCase(chance, tuple(int(d) for d in numbers), tuple(values.tolist())))
    if not checked or abs(sum(case.probability for case in checked) - 1.0) > 1e-9:
        raise DataError("the probabilities of the cases do not sum to 1")
    return checked


def _drawn(answer: Any) -> list[tuple[float, Sequence[int]]]:
    if isinstance(answer, list) and answer and isinstance(answer[0], tuple):
        return answer
    return [(1.0, answer)]


def _best_order(cases: list[PossibleCase], documents: Sequence[int]) -> float:
    """Least expected loss of one order of the documents."""

    def loss(order: tuple[int, ...]) -> float:
        position = {document: i for i, document in enumerate(order)}
        return sum(
            case.probability * ranking_loss(np.argsort([position[d] for d in case.documents]), case.labels)
            for case in cases
        )

    return min(map(loss, permutations(documents)))


def _best_preference(cases: list[PossibleCase]) -> float:
    """Least expected loss of a preference function: each pair on its own."""
    lost: dict[tuple[int, int], float] = {}
    for p, documents, labels in cases:
        share = 2.0 * p / max(len(documents) * (len(documents) - 1), 1)
        for (u, a), (v, b) in combinations(sorted(zip(documents, labels, strict=True)), 2):
            for key, wrong in (((u, v), b > a), ((v, u), a > b)):
                lost[key] = lost.get(key, 0.0) + share * wrong
    return sum(min(lost[u, v], lost[v, u]) for u, v in lost if u < v)


def independent_preferences(cases: Iterable[Any], tolerance: float = 1e-9) -> bool:
    """Whether the true preference between two documents does not depend on what else is in the list.

    Pairwise independence of irrelevant alternatives: the probability that v is above u is the same given each set of
    documents that has both.

    >>> independent_preferences([(0.5, (0, 1), (1, 0)), (0.5, (0, 1, 2), (0, 1, 0))])
    False

    References
    ----------
    Ailon, Mohri: Preference-based learning to rank. Machine Learning 2010.
    """
    total: dict[tuple[int, ...], float] = {}
    above: dict[tuple[int, int], dict[tuple[int, ...], float]] = {}
    for p, documents, labels in _checked_cases(cases):
        total[documents] = total.get(documents, 0.0) + p
        for u, a in zip(documents, labels, strict=True):
            for v, b in zip(documents, labels, strict=True):
                if u != v:
                    by_set = above.setdefault((u, v), {})
                    by_set[documents] = by_set.get(documents, 0.0) + p * (b > a)
    shares = ([part / total[each] for each, part in by_set.items() if total[each] > 0] for by_set in above.values())
    return all(not by_set or max(by_set) - min(by_set) <= tolerance for by_set in shares)
