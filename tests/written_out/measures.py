"""Every measure a second time, as a plain loop over one ranked list.

`DEFINITIONS` maps the name of a measure to a function of the measure (for its parameters) and a `RankedList`, which
returns one number, or NaN where there is nothing to measure. Nothing here knows about ties: the checks average over
all orders of tied documents themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from plackett.testing.ranked_list import Definition, RankedList

NOTHING = math.nan


# --------------------------------------------------------------------------------------------------------- ingredients


def gain(label: float, kind: Any) -> float:
    if label < 0:
        return 0.0
    if kind == "exp2":
        return 2.0**label - 1.0
    if kind == "linear":
        return label
    if kind == "binary":
        return 1.0 if label >= 1 else 0.0
    return dict(kind).get(label, 0.0)


def discount(rank: int, kind: Any) -> float:
    if kind == "log2":
        return 1.0 / math.log2(1 + rank)
    if kind == "letor":
        return 1.0 if rank <= 2 else 1.0 / math.log2(rank)
    if kind == "reciprocal":
        return 1.0 / rank
    if kind == "none":
        return 1.0
    return kind[rank - 1] if rank <= len(kind) else 0.0


def top(q: RankedList, k: int | None) -> list[float]:
    """Labels of the first k retrieved documents."""
    return q.labels[: q.depth if k is None else min(k, q.depth)]


def count(labels: list[float], rel: float) -> int:
    return sum(label >= rel for label in labels)


def mean_rank(q: RankedList, i: int) -> float:
    """Rank of document i; those that were not retrieved share the mean of the ranks behind the others."""
    return i + 1.0 if i < q.depth else (q.depth + 1 + len(q.labels)) / 2


def pairs(q: RankedList, better: Callable[[float, float], bool]) -> list[tuple[float, float]]:
    """Ranks of the two documents of each pair of judged documents of which the first is better."""
    judged = [(label, mean_rank(q, i)) for i, label in enumerate(q.labels) if label >= 0]
    return [(a, b) for label, a in judged for other, b in judged if better(label, other)]


def share_wrong(q: RankedList, better: Callable[[float, float], bool]) -> float:
    ranks = pairs(q, better)
    return sum((a > b) + 0.5 * (a == b) for a, b in ranks) / len(ranks) if ranks else NOTHING


# ------------------------------------------------------------------------------------------------- relevant documents


def precision(m: Any, q: RankedList) -> float:
    total = count(q.labels, m.rel)
    if total == 0:
        return NOTHING
    denominator = q.depth if m.k is None else m.k
    if m.k is not None and q.depth < m.k:
        if m.short == "zero":
            return 0.0
        denominator = q.depth if m.short == "list" else m.k
    if m.relative:
        denominator = min(denominator, total)
    return count(top(q, m.k), m.rel) / denominator if denominator else 0.0


def recall(m: Any, q: RankedList) -> float:
    total = count(q.labels, m.rel)
    return count(top(q, m.k), m.rel) / total if total else NOTHING


def f_measure(m: Any, q: RankedList) -> float:
    total = count(q.labels, m.rel)
    if total == 0:
        return NOTHING
    n_ranks = q.depth if m.k is None else m.k
    hits = count(top(q, m.k), m.rel)
    p, r = (hits / n_ranks if n_ranks else 0.0), hits / total
    return (1 + m.beta**2) * p * r / (m.beta**2 * p + r) if hits else 0.0


def r_precision(m: Any, q: RankedList) -> float:
    total = count(q.labels, m.rel)
    if total == 0:
        return NOTHING
    n_ranks = math.floor(m.mult * total + 0.9)
    return count(top(q, n_ranks), m.rel) / n_ranks if n_ranks else 0.0


def set_ap(m: Any, q: RankedList) -> float:
    total, hits = count(q.labels, m.rel), count(top(q, None), m.rel)
    if total == 0:
        return NOTHING
    return hits / q.depth * hits / total if q.depth else 0.0


def success(m: Any, q: RankedList) -> float:
    if count(q.labels, m.rel) == 0:
        return NOTHING
    return float(any(label >= m.rel for label in top(q, m.k)))


def reciprocal_rank(m: Any, q: RankedList) -> float:
    if count(q.labels, m.rel) == 0:
        return NOTHING
    for rank, label in enumerate(top(q, m.k), 1):
        if label >= m.rel:
            return 1.0 / rank
    return 0.0


def average_precision(m: Any, q: RankedList) -> float:
    total = count(q.labels, m.rel)
    if total == 0:
        return NOTHING
    labels = top(q, m.k)
    precisions = [count(labels[:rank], m.rel) / rank for rank in range(1, len(labels) + 1)]
    if m.over == "all":
        return sum(precisions) / len(labels) if labels else 0.0
    divisor = total if m.divisor == "relevant" or m.k is None else min(total, m.k)
    return sum(p for p, label in zip(precisions, labels, strict=True) if label >= m.rel) / divisor


def graded_average_precision(m: Any, q: RankedList) -> float:
    def probability(grade: int) -> float:
        """That a document of this grade is relevant, up to a factor."""
        chances = {"uniform": lambda j: 1.0, "exp2": lambda j: 2.0**j}
        at = chances[m.thresholds] if isinstance(m.thresholds, str) else lambda j: m.thresholds[j - 1]
        return sum(at(j) for j in range(1, grade + 1))

    grades = [max(math.floor(label), 0) for label in q.labels]
    expected = sum(probability(grade) for grade in grades)
    total = 0.0
    for n in range(1, len(top(q, m.k)) + 1):
        total += sum(probability(min(grades[i], grades[n - 1])) for i in range(n)) / n
    return total / expected if expected else NOTHING


def inferred_ap(m: Any, q: RankedList) -> float:
    total, epsilon = count(q.labels, m.rel), 1e-5
    value = 0.0
    for rank, label in enumerate(top(q, None), 1):
        if label >= m.rel:
            above = q.labels[: rank - 1]
            relevant, judged = count(above, m.rel), count(above, 0.0)
            pool = judged + above.count(-1.0)
            value += 1.0 / rank
            if rank > 1:
                share = (relevant + epsilon) / (judged + 2 * epsilon)
                value += (rank - 1) / rank * pool / (rank - 1) * share
    return value / total if total else NOTHING


def statistical_ap(m: Any, q: RankedList) -> float:
    relevant = [i for i, label in enumerate(q.labels) if label >= m.rel]
    total = sum(q.weights[i] for i in relevant)
    if total == 0:
        return NOTHING
    value = 0.0
    for i in relevant:
        if i < q.depth:
            value += q.weights[i] / (i + 1)
            for j in relevant:
                if j < i and q.weights[j] != q.weights[i]:
                    value += q.weights[i] * q.weights[j] / (i + 1)
                elif j < i:
                    judged = sum(w == q.weights[i] and y >= 0 for w, y in zip(q.weights, q.labels, strict=True))
                    value += q.weights[i] * (judged * q.weights[i] - 1) / (judged - 1) / (i + 1)
    return value / total


def extended_inferred_ap(m: Any, q: RankedList) -> float:
    value = total = 0.0
    epsilon = 1e-5
    strata = {w: [y for v, y in zip(q.weights, q.labels, strict=True) if v == w] for w in q.weights}
    for i, label in enumerate(q.labels):
        if label < m.rel:
            continue
        whole = strata[q.weights[i]]
        weight = count(whole, -1.0) / count(whole, 0.0)
        total += weight
        if i < q.depth:
            precision = 1.0
            for w in strata:
                above = [y for v, y in zip(q.weights[:i], q.labels[:i], strict=True) if v == w]
                share = (count(above, m.rel) + epsilon) / (count(above, 0.0) + 2 * epsilon)
                precision += count(above, -1.0) * share
            value += weight * precision / (i + 1)
    return value / total if total else NOTHING


def interpolated_precision(m: Any, q: RankedList, level: float | None = None) -> float:
    total = count(q.labels, m.rel)
    if total == 0:
        return NOTHING
    level = m.recall if level is None else level
    needed = math.floor(level * total + (0.9 if m.reach == "up" else 0.5))
    counts = [count(q.labels[:rank], m.rel) for rank in range(1, q.depth + 1)]
    return max((hits / rank for rank, hits in enumerate(counts, 1) if hits >= needed), default=0.0)


def interpolated_average(m: Any, q: RankedList) -> float:
    return sum(interpolated_precision(m, q, level) for level in m.levels) / len(m.levels)


def binary_preference(m: Any, q: RankedList) -> float:
    total, judged = count(q.labels, m.rel), count(q.labels, 0.0)
    if total == 0:
        return NOTHING
    most = min(total, judged - total)
    value = 0.0
    for rank, label in enumerate(top(q, None)):
        if label >= m.rel:
            above = sum(0 <= other < m.rel for other in q.labels[:rank])
            value += 1.0 - (min(above, most) / most if above else 0.0)
    return value / total


def rank_biased_precision(m: Any, q: RankedList) -> float:
    if count(q.labels, m.rel) == 0:
        return NOTHING
    return (1 - m.p) * sum(m.p**r for r, label in enumerate(top(q, m.k)) if label >= m.rel)


def judged_share(m: Any, q: RankedList) -> float:
    labels = top(q, m.k)
    return count(labels, 0.0) / len(labels) if labels else NOTHING


def utility(m: Any, q: RankedList) -> float:
    labels = top(q, m.k)
    hits = count(labels, m.rel)
    return m.a * hits + m.b * (len(labels) - hits) + m.c * (count(q.labels, m.rel) - hits)


def winner_takes_all(m: Any, q: RankedList) -> float:
    best = max(q.labels, default=0.0)
    return float(q.depth > 0 and q.labels[0] == best) if best > 0 else NOTHING


# -------------------------------------------------------------------------------------------------------------- gains


def dcg_of(labels: list[float], m: Any, k: int | None) -> float:
    kept = labels if k is None else labels[:k]
    return sum(gain(label, m.gain) * discount(rank, m.discount) for rank, label in enumerate(kept, 1))


def best_order(q: RankedList, m: Any) -> list[float]:
    return sorted(q.labels, key=lambda label: gain(label, m.gain), reverse=True)


def dcg(m: Any, q: RankedList) -> float:
    return dcg_of(top(q, None), m, m.k) if dcg_of(best_order(q, m), m, m.k) > 0 else NOTHING


def ndcg(m: Any, q: RankedList) -> float:
    ideal = dcg_of(best_order(q, m), m, m.k)
    if ideal <= 0:
        return NOTHING
    if getattr(m, "short", "pad") == "zero" and m.k is not None and len(q.labels) < m.k:
        return 0.0
    return dcg_of(top(q, None), m, m.k) / ideal


def mean_ndcg(m: Any, q: RankedList) -> float:
    n, best = len(q.labels), best_order(q, m)
    if dcg_of(best, m, None) <= 0:
        return NOTHING
    total = 0.0
    for k in range(1, n + 1):
        ideal = dcg_of(best, m, k)
        total += dcg_of(top(q, None), m, k) / ideal if ideal > 0 else 0.0
    return total / n


def average_relevance_position(m: Any, q: RankedList) -> float:
    weights = [gain(label, m.gain) for label in q.labels]
    total = sum(weights)
    return sum(w * mean_rank(q, i) for i, w in enumerate(weights)) / total if total > 0 else NOTHING


def cascade(chances: list[float]) -> float:
    """Σ 1/r · R_r · Π_{s<r} (1 − R_s)."""
    value, reached = 0.0, 1.0
    for rank, chance in enumerate(chances, 1):
        value += reached * chance / rank
        reached *= 1.0 - chance
    return value


def stops(labels: list[float], largest: float) -> list[float]:
    return [gain(label, "exp2") / 2.0**largest for label in labels]


def expected_reciprocal_rank(m: Any, q: RankedList) -> float:
    largest = q.largest_label if m.max_label is None else m.max_label
    if not any(label > 0 for label in q.labels):
        return NOTHING
    return cascade(stops(top(q, m.k), largest))


def normalised_err(m: Any, q: RankedList) -> float:
    largest = q.largest_label if m.max_label is None else m.max_label
    ideal = cascade(stops(sorted(q.labels, reverse=True)[: m.k], largest))
    return cascade(stops(top(q, m.k), largest)) / ideal if ideal > 0 else NOTHING


# -------------------------------------------------------------------------------------------------------------- pairs


def auc(m: Any, q: RankedList) -> float:
    return 1.0 - share_wrong(q, lambda a, b: a >= m.rel > b)


def misranking(m: Any, q: RankedList) -> float:
    return share_wrong(q, lambda a, b: a >= m.rel > b)


def ordered_pair_accuracy(m: Any, q: RankedList) -> float:
    return 1.0 - share_wrong(q, lambda a, b: a > b)


def contradicting_pairs(m: Any, q: RankedList) -> float:
    ranks = pairs(q, lambda a, b: a > b)
    return sum((a > b) + 0.5 * (a == b) for a, b in ranks) if ranks else NOTHING


def kendall_tau(m: Any, q: RankedList) -> float:
    ranks = pairs(q, lambda a, b: a > b)
    judged = [i for i, label in enumerate(q.labels) if label >= 0]
    unequal = sum(not m.corrected or q.tie[i] != q.tie[j] for i in judged for j in judged if i < j)
    scale = math.sqrt(len(ranks) * unequal)
    return sum((a < b) - (a > b) for a, b in ranks) / scale if scale else NOTHING


def spearman(m: Any, q: RankedList) -> float:
    judged = [i for i, label in enumerate(q.labels) if label >= 0]
    n = len(judged)

    def ranks(key: Callable[[int], float]) -> list[float]:
        """Mean rank of each judged document when sorted by the key."""
        values = [key(i) for i in judged]
        return [sum(v < own for v in values) + (1 + sum(v == own for v in values)) / 2 for own in values]

    def spread(values: list[float]) -> float:
        middle = sum(values) / len(values)
        return sum((v - middle) ** 2 for v in values)

    if not judged:
        return NOTHING
    by_label, by_score = ranks(lambda i: -q.labels[i]), ranks(lambda i: mean_rank(q, i))
    middle = (n + 1) / 2
    together = sum((a - middle) * (b - middle) for a, b in zip(by_label, by_score, strict=True))
    of_scores = spread(ranks(lambda i: q.tie[i])) if m.corrected else spread([float(r) for r in range(1, n + 1)])
    scale = math.sqrt(spread(by_label) * of_scores)
    return together / scale if scale else NOTHING


def rank_correlation(m: Any, q: RankedList) -> float:
    judged = [i for i, label in enumerate(q.labels) if label >= 0]

    def weight(i: int, j: int) -> float:
        return q.weights[i] * q.weights[j] if m.weight == "sample" else 1.0

    every = sum(weight(i, j) for i in judged for j in judged if i < j)
    wrong = unequal = 0.0
    for i in judged:
        for j in judged:
            if q.labels[i] > q.labels[j]:
                a, b = mean_rank(q, i), mean_rank(q, j)
                unequal += weight(i, j)
                wrong += weight(i, j) * ((a > b) + 0.5 * (a == b))
    return 1.0 - wrong / every if unequal > 0 else NOTHING


# ------------------------------------------------------------------------------------------------------------- counts


def number_of_queries(m: Any, q: RankedList) -> float:
    return 1.0


def number_retrieved(m: Any, q: RankedList) -> float:
    return float(q.depth)


def number_relevant(m: Any, q: RankedList) -> float:
    return float(count(q.labels, m.rel))


def number_relevant_retrieved(m: Any, q: RankedList) -> float:
    return float(count(top(q, m.k), m.rel))


# ---------------------------------------------------------------------------------------------------------- diversity


def covers(q: RankedList, rel: float) -> list[list[bool]]:
    """Whether each document is relevant to each subtopic."""
    return [[grade >= rel for grade in grades] for grades in q.subtopics]


def known(covered: list[list[bool]]) -> int:
    """How many subtopics have a relevant document."""
    return sum(any(column) for column in zip(*covered, strict=True))


def novelties(covered: list[list[bool]], alpha: float) -> list[float]:
    """Gain of each document in this order: a subtopic is worth 1 − α of what it was, each time it was seen."""
    worth = [1.0] * len(covered[0]) if covered else []
    out = []
    for document in covered:
        out.append(sum(w for w, is_relevant in zip(worth, document, strict=True) if is_relevant))
        worth = [w * (1.0 - alpha) if is_relevant else w for w, is_relevant in zip(worth, document, strict=True)]
    return out


def greedy(m: Any, q: RankedList) -> list[list[bool]]:
    """The documents in the order that takes the one of the largest gain next."""
    left = list(zip(covers(q, m.rel), q.docids, strict=True))
    preferred = 1 if m.ideal_ties == "docid" else 0
    order: list[list[bool]] = []
    worth = [1.0] * (len(left[0][0]) if left else 0)

    def gain(document: list[bool]) -> float:
        return sum(w for w, is_relevant in zip(worth, document, strict=True) if is_relevant)

    while left:
        best = max(left, key=lambda one: (gain(one[0]), one[preferred]))
        order.append(best[0])
        left.remove(best)
        worth = [w * (1.0 - m.alpha) if is_relevant else w for w, is_relevant in zip(worth, best[0], strict=True)]
    return order


def alpha_ndcg(m: Any, q: RankedList) -> float:
    covered = covers(q, m.rel)
    if not known(covered):
        return NOTHING

    def gains(order: list[list[bool]]) -> float:
        return sum(g * discount(r, m.discount) for r, g in enumerate(novelties(order, m.alpha)[: m.k], 1))

    if m.ideal == "full":
        length = len(q.labels) if m.k is None else m.k
        ideal = gains([[any(column) for column in zip(*covered, strict=True)]] * length)
    else:
        ideal = gains(greedy(m, q))
    return gains(covered[: q.depth]) / ideal if ideal > 0 else NOTHING


def novelty_rank_biased_precision(m: Any, q: RankedList) -> float:
    covered = covers(q, m.rel)
    if not known(covered):
        return NOTHING

    def gains(order: list[list[bool]]) -> float:
        scale = (1 - (1 - m.alpha) * m.beta) / known(covered)
        return scale * sum(m.beta**r * g for r, g in enumerate(novelties(order, m.alpha)))

    value = gains(covered[: q.depth])
    return value / gains(greedy(m, q)) if m.normalised else value


def subtopic_recall(m: Any, q: RankedList) -> float:
    covered = covers(q, m.rel)
    total = known(covered)
    return known(covered[: len(top(q, m.k))]) / total if total else NOTHING


def subtopic_precision(m: Any, q: RankedList) -> float:
    covered = covers(q, m.rel)
    total = known(covered)
    if total == 0:
        return NOTHING

    def first_rank(order: list[list[bool]]) -> int | None:
        ranks = range(1, len(order) + 1)
        return next((r for r in ranks if known(order[:r]) / total >= m.recall - 1e-12), None)

    best: list[list[bool]] = []
    left = list(covered)
    while left:
        best.append(max(left, key=lambda one: (known([*best, one]), one)))
        left.remove(best[-1])
    reached = first_rank(covered[: q.depth])
    needed = first_rank(best)
    return needed / reached if reached and needed else 0.0


def intent_aware(plain: Definition, **fixed: Any) -> Definition:
    """Mean of a measure over the subtopics, each with the labels for it."""

    def value(m: Any, q: RankedList) -> float:
        total = used = 0.0
        for t, probability in enumerate(q.subtopic_weight):
            labels = [0.0 if math.isnan(grades[t]) else float(grades[t]) for grades in q.subtopics]
            mean = plain(_With(m, fixed), q._replace(labels=labels))
            if not math.isnan(mean):
                total += probability * mean
                used += probability
        if used == 0:
            return NOTHING
        return total if m.missing == "zero" else total / used

    return value


class _With:
    """A measure with some parameters fixed."""

    def __init__(self, measure: Any, fixed: dict[str, Any]) -> None:
        self._measure, self._fixed = measure, fixed

    def __getattr__(self, name: str) -> Any:
        return self._fixed[name] if name in self._fixed else getattr(self._measure, name)


def err_of_subtopic(m: Any, q: RankedList) -> float:
    largest = q.largest_grade if m.max_label is None else m.max_label
    if m.alpha is None:
        chances, at_best = stops(q.labels, largest), stops([largest], largest)[0]
    else:
        chances, at_best = [m.alpha * (label >= m.rel) for label in q.labels], m.alpha
    if not any(chances):
        return NOTHING
    value = cascade(chances[: len(top(q, m.k))])
    if m.scaled:  # an endless list behaves like one of two thousand documents
        value /= cascade([at_best] * (2000 if m.k is None else m.k))
    return value


#: The definition of each measure by its name.
DEFINITIONS: dict[str, Definition] = {
    "alpha_nDCG": alpha_ndcg,
    "AP": average_precision,
    "AP_IA": intent_aware(average_precision, over="relevant", divisor="relevant"),
    "ARP": average_relevance_position,
    "AUC": auc,
    "Bpref": binary_preference,
    "ContradictingPairs": contradicting_pairs,
    "DCG": dcg,
    "ERR": expected_reciprocal_rank,
    "ERR_IA": intent_aware(err_of_subtopic),
    "F": f_measure,
    "GAP": graded_average_precision,
    "GMAP": average_precision,
    "infAP": inferred_ap,
    "IPrec": interpolated_precision,
    "IPrec11": interpolated_average,
    "Judged": judged_share,
    "KendallTau": kendall_tau,
    "MeanNDCG": mean_ndcg,
    "Misranking": misranking,
    "nDCG": ndcg,
    "nDCG_IA": intent_aware(ndcg),
    "nERR": normalised_err,
    "NRBP": novelty_rank_biased_precision,
    "NumQ": number_of_queries,
    "NumRel": number_relevant,
    "NumRelRet": number_relevant_retrieved,
    "NumRet": number_retrieved,
    "OPA": ordered_pair_accuracy,
    "P": precision,
    "P_IA": intent_aware(precision, short="pad", relative=False),
    "R": recall,
    "RBP": rank_biased_precision,
    "RC": rank_correlation,
    "Rprec": r_precision,
    "statAP": statistical_ap,
    "xinfAP": extended_inferred_ap,
    "RR": reciprocal_rank,
    "RR_IA": intent_aware(reciprocal_rank),
    "SetAP": set_ap,
    "Spearman": spearman,
    "StPrecision": subtopic_precision,
    "StRecall": subtopic_recall,
    "Success": success,
    "Utility": utility,
    "WTA": winner_takes_all,
}


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(math.log(max(value, 1e-5)) for value in values) / len(values))


#: How values of queries become one number, for the measures that do not take the mean.
MEANS: dict[str, Callable[[list[float]], float]] = {
    "GMAP": geometric_mean,
    **dict.fromkeys(("NumQ", "NumRel", "NumRelRet", "NumRet"), sum),
}
