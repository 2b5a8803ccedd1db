"""Models for the Learning to Rank plugin of OpenSearch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

from plackett._provenance import fulfils
from plackett.export.elasticsearch_ltr import apart, exceptions, score_elasticsearch_ltr, write_elasticsearch_ltr

__all__ = ["OpenSearchLTRFormat", "write_opensearch_ltr"]
__public__ = ["write_opensearch_ltr"]


@fulfils()
def write_opensearch_ltr(
    ranker: Any,
    path: str | os.PathLike[str],
    *,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
) -> None:
    """Write a fitted ranker for the Learning to Rank plugin of OpenSearch, and its feature set.

    OpenSearch's plugin is a fork of that of o19s and reads the same files, with the same arithmetic: see
    `write_elasticsearch_ltr`. A model trained with missing values needs OpenSearch 3.3, where a feature whose query
    does not match is missing. In older versions, and with the later flag ``missing_as_zero``, it is 0.

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
    write_elasticsearch_ltr(ranker, path, feature_names=feature_names, missing=missing)


class OpenSearchLTRFormat:
    """The plugin of OpenSearch."""

    kind: ClassVar[str] = "opensearch-ltr"
    suffix: ClassVar[str] = ".json"
    proof: ClassVar[str] = "scored by the plugin's rule (threshold > x in float32)"
    tolerance: ClassVar[float] = 1e-5
    without_constant: ClassVar[bool] = True
    write = staticmethod(write_opensearch_ltr)
    score = staticmethod(score_elasticsearch_ltr)
    exceptions = staticmethod(exceptions)
    apart = staticmethod(apart)
