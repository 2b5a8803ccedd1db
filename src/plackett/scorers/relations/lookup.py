"""Relations of a dataset as a ranker names them: by name, or built from the features."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from plackett._base.errors import DataError, in_shell
from plackett._base.literals import call
from plackett._names.catalogue import find, items
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation
from plackett.scorers.relations.laplacian import STRONGEST, checked


def is_strength(beta: Any) -> bool:
    """Whether this is a number that a relation may be multiplied by.

    >>> is_strength(0.5), is_strength(-1.0), is_strength("much")
    (True, False, False)
    """
    number = isinstance(beta, (int, float, np.integer, np.floating)) and not isinstance(beta, bool)
    return number and bool(0.0 <= beta <= STRONGEST)


def parsed(relation: Any) -> Any:
    """The builder described by a text such as ``"Neighbours(k=10)"``; anything else is returned unchanged."""
    if not isinstance(relation, str) or not relation.endswith(")"):
        return relation
    try:
        name, parameters = call(relation)
        item = find("relation", name)
        return getattr(import_module(item.module), item.symbol)(**parameters)
    except (TypeError, ValueError) as error:
        raise DataError(f"relation={relation!r}: {error}") from None


def is_relation(value: Any) -> bool:
    """Whether this is a name, or a builder of the package.

    >>> is_relation("similarity"), is_relation(3)
    (True, False)
    """
    own = type(value).__module__, type(value).__name__
    return isinstance(value, str) or own in [(item.module, item.symbol) for item in items("relation")]


def are_relations(values: Any) -> bool:
    """Whether each of them is one."""
    return isinstance(values, tuple) and all(map(is_relation, values))


def relation_of(
    data: RankingDataset, relation: Any, ranker_name: str = "this ranker", n_jobs: int | None = None
) -> Relation:
    """A relation by name, or built from the features; the error message says how to give one."""
    relation = parsed(relation)
    if callable(relation):
        return checked(str(relation), relation(data, n_jobs=n_jobs))
    if not isinstance(relation, str):
        raise DataError(f"relation={relation!r}; give the name of a relation, or a builder such as Neighbours(k=10)")
    known = data.relations or {}
    if relation not in known:
        has = f"its relations are {', '.join(map(repr, known))}" if known else "it has none"
        advice = (
            f"Pass --relation {relation}=FILE, or --relation {relation}=knn:10, which compares features"
            if in_shell()
            else f"Give a RankingDataset with it (data.replace(relations={{{relation!r}: …}})), or the builder "
            "Neighbours(k=10) instead of the name, which compares features"
        )
        raise DataError(
            f"{ranker_name} needs the relation {relation!r} of the documents, which the data lack: {has}. {advice}"
        )
    return checked(relation, known[relation])
