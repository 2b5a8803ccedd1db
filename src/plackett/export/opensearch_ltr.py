"""Models for the Learning to Rank plugin of OpenSearch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from plackett.export.elasticsearch_ltr import ElasticsearchLTRFormat, rule_of, score_plugin, write_plugin

__all__ = ["write_opensearch_ltr"]

#: What a feature is whose query does not match, by the first version of OpenSearch.
_RULES: Mapping[tuple[int, ...], str] = {(0,): "zero", (3, 2): "right", (3, 8): "missing"}


def write_opensearch_ltr(
    ranker: Any,
    path: str | os.PathLike[str],
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
    version: str | None = None,
    data: Any = None,
) -> None:
    """Write a fitted ranker for the Learning to Rank plugin of OpenSearch, and its feature set.

    OpenSearch's plugin is a fork of that of o19s and reads the same files, with the same arithmetic: see
    `write_elasticsearch_ltr`. What a feature is whose query does not match depends on the version: 0 up to 3.1; the
    right side of every split from 3.2.0 to 3.7.0, whatever the model says; the side for missing values from 3.8.0 on.
    The feature set as it is written is right in all of them.

    Parameters
    ----------
    ranker
        A ranker of trees (blends of them too) or a linear one, also behind an `Imputer` in a pipeline.
    path
        The file to write; its name up to the first dot becomes the name of the model and of the feature set.
    feature_names
        Names of the features in the engine; None means those of the training data, or ``f1``, ``f2``, …
    missing
        ``"zero"`` reads 0 for every field that is missing, with a warning where the model has learned something else.
    version
        Version of OpenSearch, such as ``"3.1"``, if the queries of your features do not match all documents; None is
        right in all versions.
    data
        Documents (a `RankingDataset` or a table) that show which features may be below 0, for linear models.

    Examples
    --------
    >>> import json, tempfile
    >>> import plackett as pk
    >>> folder = tempfile.mkdtemp()
    >>> ranker = pk.ListNet().fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=[1, 1, 1])
    >>> write_opensearch_ltr(ranker, folder + "/model.json", feature_names=["title_bm25"])
    >>> json.load(open(folder + "/model.features.json"))["featureset"]["features"][0]["name"]
    'title_bm25'
    """
    write_plugin(ranker, path, feature_names, missing, rule_of(version, _RULES), data)


def score_opensearch_ltr(path: Path, X: np.ndarray, names: Sequence[str], *, version: str | None = None) -> np.ndarray:
    """Scores by the plugin's rule: left if the threshold is above the value, sums in float32."""
    return score_plugin(path, X, names, rule_of(version, _RULES))


class OpenSearchLTRFormat(ElasticsearchLTRFormat):
    """The plugin of OpenSearch: the same files, and other rules by version."""

    kind: ClassVar[str] = "opensearch-ltr"
    write = staticmethod(write_opensearch_ltr)
    score = staticmethod(score_opensearch_ltr)
    versions: ClassVar[Mapping[tuple[int, ...], str]] = _RULES
