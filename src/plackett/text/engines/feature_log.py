"""Feature logging of the learning-to-rank plug-ins of OpenSearch and Elasticsearch: requests and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from plackett._base.errors import DataError

__all__ = ["FeatureLog"]

_NAME, _ENTRY = "plackett_features", "plackett_log"
#: Stands for the text of the query in templates.
_QUERY = "{query}"


class LoggedHit(NamedTuple):
    """A document of an answer, with its features."""

    id: str
    #: Score of the engine's own query.
    score: float
    names: tuple[str, ...]
    #: Missing where the feature's query does not match the document.
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class FeatureLog:
    """Which features an engine should log, and for which documents.

    Parameters
    ----------
    featureset
        Name of the feature set that is stored in the engine.
    params
        Parameters of the feature templates; ``"{query}"`` stands for the text of the query.
    query
        The engine's query for candidates, with ``"{query}"`` for the text; by default the words in any field.
    store
        Name of the feature store, if it is not the default one.
    missing_as_zero
        Whether a feature whose query does not match is 0; by default it is missing (NaN). Choose what the engine will
        do when it ranks.

    Examples
    --------
    >>> log = FeatureLog(featureset="movies", query={"match": {"title": "{query}"}})
    >>> log.request("rambo", 100)["query"]["bool"]["must"]
    {'match': {'title': 'rambo'}}
    >>> entry = [{"name": "title", "value": 2.5}, {"name": "votes"}]
    >>> hit = {"_id": "7", "_score": 1.0, "fields": {"_ltrlog": [{"plackett_log": entry}]}}
    >>> log.hits({"hits": {"hits": [hit]}}, "query 1")[0].values
    (2.5, nan)
    """

    featureset: str
    params: Mapping[str, Any] = field(default_factory=lambda: {"keywords": _QUERY})
    query: Mapping[str, Any] | None = None
    store: str | None = None
    missing_as_zero: bool = False

    def request(self, text: str, k: int, ids: Sequence[str] | None = None) -> dict[str, Any]:
        """Body of a search for the k best documents, or for given ones, that logs their features.

        The plug-in's query is a filter that excludes nothing: it does not change scores.
        """
        logged: dict[str, Any] = {"_name": _NAME, "featureset": self.featureset, "params": _filled(self.params, text)}
        if self.store is not None:
            logged["store"] = self.store
        chosen: dict[str, Any] = {"filter": [{"sltr": logged}]}
        if ids is None:
            chosen["must"] = _filled(_ANY_FIELD if self.query is None else self.query, text)
        else:
            chosen["filter"].insert(0, {"terms": {"_id": list(ids)}})
        specification: dict[str, Any] = {"name": _ENTRY, "named_query": _NAME}
        if self.missing_as_zero:
            specification["missing_as_zero"] = True
        return {
            "size": k if ids is None else len(ids),
            "_source": False,
            "track_total_hits": False,
            "query": {"bool": chosen},
            "ext": {"ltr_log": {"log_specs": specification}},
        }

    def hits(self, answer: Any, where: str) -> list[LoggedHit]:
        """Documents of an answer and their features; ``where`` is for errors."""
        if not isinstance(answer, Mapping):
            raise DataError(f"{where}: the engine's answer is not an object: {answer!r:.100}")
        if "error" in answer:
            raise DataError(f"{where}: the engine refused it: {_reason(answer['error'])}")
        failed = (answer.get("_shards") or {}).get("failed", 0)
        if answer.get("timed_out") or failed:
            what = f"{failed} shards failed" if failed else "it timed out"
            raise DataError(f"{where}: the engine's answer is incomplete ({what}); ask again")
        try:
            return [self._hit(hit, where) for hit in answer["hits"]["hits"]]
        except (KeyError, TypeError):
            raise DataError(f"{where}: the engine's answer has no hits: {answer!r:.200}") from None

    def _hit(self, hit: Mapping[str, Any], where: str) -> LoggedHit:
        entries = (hit.get("fields") or {}).get("_ltrlog") or []
        logged = next((entry[_ENTRY] for entry in entries if _ENTRY in entry), None)
        if not isinstance(logged, list):
            raise DataError(
                f"{where}: document {hit.get('_id')!r} has no logged features; is the learning-to-rank plug-in "
                f"installed, and does the feature set {self.featureset!r} have features?"
            )
        missing = 0.0 if self.missing_as_zero else np.nan
        try:
            values = tuple(float(part["value"]) if part.get("value") is not None else missing for part in logged)
        except (AttributeError, TypeError, ValueError):
            raise DataError(
                f"{where}: document {hit.get('_id')!r} has a feature that is not a number: {logged!r:.200}"
            ) from None
        score = hit.get("_score")
        return LoggedHit(
            str(hit["_id"]),
            np.nan if score is None else float(score),
            tuple(str(part["name"]) for part in logged),
            values,
        )


_ANY_FIELD = {"multi_match": {"query": _QUERY, "fields": ["*"], "lenient": True}}


def _filled(template: Any, text: str) -> Any:
    """A template with the text of the query filled in."""
    if isinstance(template, str):
        return template.replace(_QUERY, text)
    if isinstance(template, Mapping):
        return {key: _filled(value, text) for key, value in template.items()}
    if isinstance(template, (list, tuple)):
        return [_filled(value, text) for value in template]
    return template


def _reason(error: Any) -> str:
    """The innermost reason that an engine gives for an error."""
    if not isinstance(error, Mapping):
        return f"{error!r:.300}"
    causes = error.get("root_cause") or []
    inner = causes[0] if isinstance(causes, list) and causes and isinstance(causes[0], Mapping) else error
    return f"{inner.get('type', 'error')}: {inner.get('reason', '')}"[:500]
