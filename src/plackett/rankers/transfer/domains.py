"""Source and target domains: datasets with the same features, and how to split and join them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.categories import refuse_categories
from plackett.data.concat import concat
from plackett.data.dataset import RankingDataset
from plackett.data.ids import distinct
from plackett.data.learned_from import learned_from
from plackett.data.preferences import Preferences
from plackett.data.weights import given_or_ones

__all__ = ["domains"]


def domains(data: RankingDataset, names: Any) -> dict[Any, RankingDataset]:
    """Split a dataset by domain, such as market, vertical or period.

    Parameters
    ----------
    data
        Documents of all domains.
    names
        Domain of each query, in the order of ``data.qids``: names, or numbers such as years.

    Returns
    -------
    dict
        The dataset of each domain, by name, in sorted order. Contiguous queries are views, not copies.

    References
    ----------
    Liu: Learning to rank for information retrieval. Springer 2011, chapter 9.

    Examples
    --------
    >>> data = RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["a", "b", "c"])
    >>> {name: part.n_queries for name, part in domains(data, ["fr", "de", "fr"]).items()}
    {'de': 1, 'fr': 2}
    """
    given = domain_names(names)
    if given.shape != (data.n_queries,):
        raise DataError(
            f"domain has shape {given.shape}, but the data have {data.n_queries} queries: give one name each"
        )
    each, number = distinct(given)
    queries = np.argsort(number, kind="stable")
    ends = np.cumsum(np.bincount(number, minlength=each.size))
    return {name: data.select(queries[a:b]) for name, a, b in zip(each.tolist(), [0, *ends], ends, strict=False)}


def domain_names(names: Any) -> np.ndarray:
    """Names of domains that can be sorted: none missing, and converted to text if they are of several types."""
    given = np.asarray(names)
    if given.ndim != 1 or given.dtype.kind not in "Of":
        return given
    each = given.tolist()
    missing = [i for i, name in enumerate(each) if name is None or name != name]  # NaN differs from itself
    if missing:
        raise DataError(f"domain[{missing[0]}] is {each[missing[0]]}; name the domain of each query")
    return given if len(set(map(type, each))) <= 1 else np.array([str(name) for name in each])


def source_domains(source: Any) -> dict[Any, RankingDataset]:
    """The source data by domain, from a dataset, a mapping or a list of datasets."""
    if isinstance(source, RankingDataset):
        return {"source": source}
    if isinstance(source, Mapping):
        parts = dict(source)
    elif isinstance(source, Sequence) and not isinstance(source, str):
        parts = {f"source {i + 1}": part for i, part in enumerate(source)}
    else:
        parts = {"": source}
    for part in parts.values():
        if not isinstance(part, RankingDataset):
            raise DataError(
                f"source must be a RankingDataset, or a dict or list of them, got a {type(part).__name__}; "
                "RankingDataset.from_arrays(X, y, qid) makes one"
            )
    names = [str(name) for name in parts]
    if len(set(names)) < len(names):
        raise DataError(f"two sources are called {max(names, key=names.count)!r}; their names must differ as text")
    return parts


def plain(data: RankingDataset, first: int = 0) -> RankingDataset:
    """The dataset with only the parts that training needs, and queries numbered from ``first``."""
    refuse_categories(data.categories, "transfer")
    numbers = np.arange(first, first + data.n_queries)
    return replace(learned_from(data), qids=numbers, feature_names=data.feature_names)


def pooled(parts: Sequence[RankingDataset], weights: Sequence[Any]) -> RankingDataset:
    """All queries together; each part's query weights are multiplied by its weight, a number or one per query."""
    joined, first = [], 0
    preferences = any(part.preferences is not None for part in parts)
    features = all(part.query_features is not None for part in parts)
    related = set.intersection(*(set(part.relations or ()) for part in parts))
    for part, weight in zip(parts, weights, strict=True):
        own = given_or_ones(part.query_weight, part.n_queries)
        changes: dict[str, Any] = {"query_weight": own * weight}
        changes["sample_weight"] = given_or_ones(part.sample_weight, part.n_rows)
        if not features:
            changes["query_features"] = None
        if part.relations is not None:
            changes["relations"] = {name: part.relations[name] for name in sorted(related)} or None
        if preferences:
            given = part.preferences
            pairs = Preferences.from_labels(part, margin=False) if given is None else given
            of_pairs = given_or_ones(pairs.weight, len(pairs))
            changes["preferences"] = replace(pairs, margin=None, weight=of_pairs)
        joined.append(plain(part, first).replace(**changes))
        first += part.n_queries
    return concat(joined)
