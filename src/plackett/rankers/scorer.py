"""Measures as scorers for scikit-learn's searches and cross-validation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plackett._base.errors import DataError
from plackett.data.dataset import RankingDataset
from plackett.data.inputs import QID_COLUMN, training_data
from plackett.measures.base import Measure
from plackett.measures.language import parse
from plackett.measures.ranking import Scored

if TYPE_CHECKING:
    from sklearn.utils.metadata_routing import MetadataRequest

__all__ = ["scorer"]


def scorer(measure: str | Measure) -> MeasureScorer:
    """A measure as the ``scoring`` of `GridSearchCV`, `cross_validate` and the like.

    scikit-learn's own `make_scorer` does not pass query ids to ``predict``. Measures for which smaller is better are
    negated, as scikit-learn expects larger to be better.

    Parameters
    ----------
    measure
        ``"nDCG@10"``, ``"AP(rel=2)"``, … or a measure object.

    Examples
    --------
    >>> from sklearn.model_selection import cross_validate
    >>> import sklearn
    >>> import plackett as pk
    >>> data = pk.datasets.make_ranking(30, n_features=5, random_state=0)
    >>> with sklearn.config_context(enable_metadata_routing=True):
    ...     results = cross_validate(
    ...         pk.rankers.ListNet(), data.X, data.y, params={"qid": data.qid}, cv=pk.QueryKFold(3),
    ...         scoring={"nDCG@10": scorer("nDCG@10"), "AP": scorer("AP")},
    ...     )
    >>> sorted(results)
    ['fit_time', 'score_time', 'test_AP', 'test_nDCG@10']
    """
    return MeasureScorer(parse(measure))


class MeasureScorer:
    """Called as ``scorer(estimator, X, y, qid=…)``, as scikit-learn does; made by `scorer`."""

    def __init__(self, measure: Measure, requests: dict[str, Any] | None = None) -> None:
        self.measure = measure
        self._requests = {"qid": True} | (requests or {})

    def __call__(self, estimator: Any, X: Any, y: Any = None, *, qid: Any = None) -> float:
        """Mean of the measure over the queries, negated if smaller is better."""
        if qid is None and not isinstance(X, RankingDataset) and QID_COLUMN not in getattr(X, "columns", ()):
            from sklearn import get_config

            switch = (
                ""
                if get_config()["enable_metadata_routing"]
                else (", after sklearn.set_config(enable_metadata_routing=True): routing is switched off")
            )
            raise DataError(
                f"{self!r} needs the query of each row: pass qid= (params={{'qid': qid}} to cross_validate, qid=qid to "
                f"the fit of a search){switch}; or give a frame with a column '{QID_COLUMN}'"
            )
        data = _labels(X, y, qid)
        scores = estimator.predict(X, **({} if qid is None else {"qid": qid}))
        if not isinstance(X, RankingDataset):
            scores = data.from_input_order(scores)
        value = self.measure.mean(self.measure.per_query(Scored(data, scores)))
        return self.measure.worth(value)

    def set_score_request(self, **requests: bool | str | None) -> MeasureScorer:
        """The scorer with other requests, such as ``qid="query"`` for ids that are passed under another name."""
        unknown = set(requests) - {"qid"}
        if unknown:
            raise TypeError(f"a scorer takes no {sorted(unknown)[0]!r}; it has qid")
        return MeasureScorer(self.measure, requests)

    def get_metadata_routing(self) -> MetadataRequest:
        """The metadata that scikit-learn should pass on."""
        from sklearn.utils.metadata_routing import MetadataRequest

        routing = MetadataRequest(owner=repr(self))
        for name, alias in self._requests.items():
            routing.score.add_request(param=name, alias=alias)
        return routing

    def __repr__(self) -> str:
        return f'scorer("{self.measure}")'


def _labels(X: Any, y: Any, qid: Any) -> RankingDataset:
    """Only labels and queries; checking the features is up to the estimator."""
    if isinstance(X, RankingDataset):
        return training_data(X, y, qid, name="score")
    if qid is None:
        qid = X[QID_COLUMN].to_numpy()
    return training_data(np.zeros((len(qid), 1), np.float32), y, qid, name="score")
