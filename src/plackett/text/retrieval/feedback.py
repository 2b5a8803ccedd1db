"""Feedback: weights of terms from documents that are assumed to be relevant."""

from __future__ import annotations

import numpy as np

from plackett._kernels.kernel import kernel, over_queries
from plackett.text.index.field import Field
from plackett.text.retrieval.queries import QueryTerms


def expansion(
    field: Field,
    offsets: np.ndarray,
    documents: np.ndarray,
    weights: np.ndarray,
    factors: np.ndarray,
    most: int,
    n_jobs: int | None = None,
    *,
    logarithmic: bool = False,
    signed: bool = False,
) -> QueryTerms:
    """The ``most`` terms with the largest weighted counts in each query's documents.

    The value of term t is ``factors[t] * sum of weights[p] * count`` over the query's documents p, or of
    ``1 + ln(count)``. Only positive values are kept, or, if ``signed``, those of the largest size. Among equal sizes
    the smaller term number is first.
    """
    n = offsets.size - 1
    terms, values = np.full((n, most), -1, np.int32), np.zeros((n, most))
    sizes = np.zeros(n, np.int64)
    over_queries(
        _expand,
        offsets,
        documents,
        weights,
        factors,
        *field.forward,
        logarithmic,
        signed,
        terms,
        values,
        sizes,
        n_jobs=n_jobs,
    )
    keep = np.arange(most) < sizes[:, None]
    return QueryTerms(np.concatenate(([0], np.cumsum(sizes))), terms[keep], values[keep])


@kernel(inline=True)
def _before(value, term, other, other_term):
    return abs(value) > abs(other) or (abs(value) == abs(other) and term < other_term)


@kernel
def _expand(
    lo, hi, offsets, documents, weights, factors, starts, doc_terms, counts, logarithmic, signed, terms, values, sizes
):
    total = np.zeros(factors.size, np.float64)
    seen = np.zeros(factors.size, np.bool_)
    touched = np.empty(factors.size, np.int32)
    most = terms.shape[1]
    for q in range(lo, hi):
        n_touched = 0
        for p in range(offsets[q], offsets[q + 1]):
            d = documents[p]
            for e in range(starts[d], starts[d + 1]):
                t = doc_terms[e]
                if not seen[t]:
                    seen[t] = True
                    touched[n_touched] = t
                    n_touched += 1
                total[t] += weights[p] * ((1.0 + np.log(counts[e])) if logarithmic else counts[e])
        size = 0
        for i in range(n_touched):
            t = touched[i]
            value = total[t] * factors[t]
            total[t] = 0.0
            seen[t] = False
            if value == 0.0 or (value < 0.0 and not signed):
                continue
            if size < most:
                slot = size
                size += 1
            elif _before(value, t, values[q, most - 1], terms[q, most - 1]):
                slot = most - 1
            else:
                continue
            while slot > 0 and _before(value, t, values[q, slot - 1], terms[q, slot - 1]):
                values[q, slot] = values[q, slot - 1]
                terms[q, slot] = terms[q, slot - 1]
                slot -= 1
            values[q, slot] = value
            terms[q, slot] = t
        sizes[q] = size


def add_queries(one: QueryTerms, other: QueryTerms, weight: float, other_weight: float) -> QueryTerms:
    """Weighted sums of pairs of queries, term by term; unknown terms of the first are kept."""
    n = one.n_queries
    query = np.concatenate([np.repeat(np.arange(n), np.diff(part.offsets)) for part in (one, other)])
    terms = np.concatenate([one.terms, other.terms]).astype(np.int64)
    values = np.concatenate([weight * one.weights, other_weight * other.weights])
    order = np.lexsort((terms, query))
    query, terms, values = query[order], terms[order], values[order]
    new = np.ones(query.size, np.bool_)
    new[1:] = (query[1:] != query[:-1]) | (terms[1:] != terms[:-1])
    group = np.cumsum(new) - 1
    sums = np.bincount(group, values, group[-1] + 1 if group.size else 0)
    offsets = np.concatenate(([0], np.cumsum(np.bincount(query[new], minlength=n))))
    return QueryTerms(offsets, terms[new].astype(np.int32), sums)


def normalized(query: QueryTerms) -> QueryTerms:
    """Weights of each query scaled to sum 1."""
    row = np.repeat(np.arange(query.n_queries), np.diff(query.offsets))
    total = np.bincount(row, query.weights, query.n_queries)
    return query._replace(weights=query.weights / np.where(total > 0, total, 1.0)[row])
