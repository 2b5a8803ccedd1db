"""Relations and query features from files of their own, or built from the data."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import typer

from plackett._names.nearest import plural
from plackett.data.dataset import RankingDataset
from plackett.data.relations import Relation

_log = logging.getLogger("plackett.data")


def _knn(data: RankingDataset, text: str) -> Relation:
    from plackett.data.relation_builders.neighbours import Neighbours

    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"knn:{text}; give the number of neighbours: knn:10", param_hint="--relation")
    return Neighbours(k=int(text))(data)


def _url(data: RankingDataset, text: str) -> Relation:
    from plackett.graph.relations import parent_relation

    return parent_relation(data)


def _links(data: RankingDataset, text: str) -> Relation:
    from plackett.graph.links import read_links
    from plackett.graph.relations import link_relation

    return link_relation(data, read_links(text))


def _groups(data: RankingDataset, text: str) -> Relation:
    from plackett.data.side_files import read_groups

    return read_groups(text, data)


#: What may stand after ``--relation NAME=`` instead of a file.
BUILDERS: dict[str, Callable[[RankingDataset, str], Relation]] = {
    "knn": _knn,
    "url": _url,
    "links": _links,
    "groups": _groups,
}


def with_relations(data: RankingDataset, given: tuple[str, ...]) -> RankingDataset:
    """The dataset with the relations that ``--relation NAME=…`` describes."""
    from plackett.data.side_files import read_relation

    relations: dict[str, Any] = dict(data.relations or {})
    names = [text.partition("=")[0].strip() for text in given]
    for i, text in enumerate(given):
        name, equals, source = text.partition("=")
        if names[i] in names[:i]:
            raise typer.BadParameter(
                f"{names[i]} is given twice; put all pairs in one file, which may serve several datasets",
                param_hint="--relation",
            )
        kind, _, rest = source.partition(":")
        if not (name.strip() and equals and source):
            raise typer.BadParameter(
                f"{text!r}; write NAME=FILE, NAME=knn:10, NAME=url, NAME=links:FILE or NAME=groups:FILE",
                param_hint="--relation",
            )
        build = BUILDERS.get(kind)
        if build is None and not Path(source).exists():
            raise typer.BadParameter(
                f"{text!r}: there is no file {source}; what can be built is {', '.join(BUILDERS)}",
                param_hint="--relation",
            )
        relation = read_relation(source, data) if build is None else build(data, rest)
        queries = np.unique(data.query_of_row[relation.row]).size
        _log.info(
            "relation %s: %s in %d of %s",
            name.strip(),
            plural(len(relation), "pair"),
            queries,
            plural(data.n_queries, "query", "queries"),
        )
        relations[name.strip()] = relation
    return data.replace(relations=relations)


def with_query_features(data: RankingDataset, path: str) -> RankingDataset:
    """The dataset with query features from a file."""
    from plackett.data.side_files import read_query_features

    return data.replace(query_features=read_query_features(path, data))
