"""Sponsored search: ads, their features, and a linear ranker of clicks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from plackett._base.errors import DataError
from plackett._kernels.kernel import kernel
from plackett.applications.features import Features
from plackett.applications.lists import CandidateLists
from plackett.data.dataset import RankingDataset
from plackett.losses.pairwise.logistic import Logistic
from plackett.models.linear import Linear
from plackett.rankers.gradient_ranker import GradientRanker
from plackett.text.analysis import Analyzer

__all__ = ["Ad", "AdFeatures", "rank_logistic"]

_MATCHES = ("exact", "phrase", "broad")
#: Owners of clicks, from the most particular to the most general.
_LEVELS = ("ad", "campaign", "account")


class Ad(NamedTuple):
    """An ad as a candidate for a query.

    ``match`` says how the advertiser's keyword matched the query. Ids may be left empty: such an ad has no history.
    """

    title: str
    description: str = ""
    bid: float = 0.0
    match: Literal["exact", "phrase", "broad"] = "broad"
    ad: str = ""
    campaign: str = ""
    account: str = ""


@kernel
def _distance(a, b, row):  # type: ignore[no-untyped-def]
    for j in range(b.size + 1):
        row[j] = j
    for i in range(a.size):
        diagonal, row[0] = row[0], i + 1
        for j in range(b.size):
            best = min(diagonal + (a[i] != b[j]), row[j] + 1, row[j + 1] + 1)
            diagonal, row[j + 1] = row[j + 1], best
    return row[b.size]


def edit_distance(a: str, b: str) -> int:
    """Smallest number of characters to insert, delete or replace to turn one text into the other.

    >>> edit_distance("kitten", "sitting")
    3
    """
    first, second = (np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32) for text in (a, b))
    return int(_distance(first, second, np.empty(second.size + 1, np.int64)))


@dataclass(kw_only=True, eq=False)
class AdFeatures(Features):
    r"""Features of a query with an ad; queries are texts, items are `Ad`.

    ==========================================  ====================================================================
    ``tf``, ``tf-idf``                          words of the query in title and description; weighted by idf
    ``edit distance``                           characters between the query and the title
    ``bm25 title``, ``bm25 description``        BM25 with k₁ = 1.2 and b = .75
    ``lm title``, ``lm description``            mean log-likelihood of the query's words, Dirichlet smoothing
    ``ctr ad``, ``ctr campaign``,               share of shows that were clicked, smoothed
    ``ctr account``
    ``bid``                                     the bid
    ``exact``, ``phrase``                       1 if the keyword matched the query in this way; else ``broad``
    ==========================================  ====================================================================

    A click-through rate is shrunk towards that of the next larger owner, so that a new ad has one too:

    .. math:: \text{ctr}_{\text{ad}} = \frac{\text{clicks} + s \, \text{ctr}_{\text{campaign}}}{\text{shows} + s}

    and likewise a campaign's towards the account's, and an account's towards that of all. Rates are learned from
    labels: a label above 0 is a click. `fit_transform` therefore computes those of a list from the other folds.

    Parameters
    ----------
    smoothing
        s: number of shows that the rate of the next larger owner counts for.
    mu
        μ of the Dirichlet smoothing, in words; ads are short.
    n_folds
        Folds of `fit_transform`.
    analyzer
        How texts become words.

    Examples
    --------
    >>> shoes, boats = Ad("Red shoes", "Cheap shoes", bid=0.4, ad="1"), Ad("Boats", bid=2.0, ad="2")
    >>> logged = CandidateLists.of([("shoes", [shoes, boats], [1, 0]), ("red shoes", [boats, shoes], [0, 1])])
    >>> data = AdFeatures(n_folds=2).fit(logged).transform(logged)
    >>> data.X[:, data.feature_names.index("tf")].tolist()
    [2.0, 0.0, 0.0, 3.0]

    References
    ----------
    Zhu, Wang, Yang, Wang, Yan, Hu, Chen: Optimizing search engine revenue in sponsored search. SIGIR 2009.
    """

    names: ClassVar[tuple[str, ...]] = (
        *("tf", "tf-idf", "edit distance", "bm25 title", "bm25 description", "lm title", "lm description"),
        *("ctr ad", "ctr campaign", "ctr account", "bid", "exact", "phrase"),
    )

    smoothing: float = 20.0
    mu: float = 10.0
    n_folds: int = 5
    analyzer: Analyzer = field(default_factory=Analyzer)

    def fit(self, lists: CandidateLists) -> Self:
        """Count words of the ads, and shows and clicks of ads, campaigns and accounts."""
        if not (self.smoothing > 0 and self.mu > 0):
            raise DataError(f"smoothing={self.smoothing}, mu={self.mu}; give numbers above 0")
        _check_ads(lists)
        texts = {ad[:2] for ad in lists.items}
        if not texts:
            raise DataError("there are no ads to learn from")
        words = [[self.analyzer.tokens(text) for text in ad] for ad in sorted(texts)]
        self._frequency = dict(Counter(word for title, rest in words for word in {*title, *rest}))
        self._counts = dict(Counter(word for both in words for text in both for word in text))
        self._n_ads, self._n_words = len(words), max(sum(self._counts.values()), 1)
        self._lengths = [max(float(np.mean([len(both[i]) for both in words])), 1.0) for i in range(2)]
        return self._count(lists)

    def _count(self, lists: CandidateLists) -> Self:
        """Shows and clicks of each owner."""
        if lists.labels is None:
            raise DataError("the lists have no labels; give what was clicked")
        clicked = lists.labels > 0
        self._rate = float((clicked.sum() + 1) / (clicked.size + 2))
        self._history: dict[str, dict[str, list[float]]] = {level: {} for level in _LEVELS}
        for ad, click in zip(lists.items, clicked.tolist(), strict=True):
            for level in _LEVELS:
                if name := _name(getattr(ad, level)):
                    entry = self._history[level].setdefault(name, [0, 0])
                    entry[0] += 1
                    entry[1] += click
        return self

    def rates(self, ad: Ad) -> tuple[float, float, float]:
        """Click-through rates of an ad, its campaign and its account."""
        rates, above = [], self._rate
        for level in reversed(_LEVELS):
            shows, clicks = self._history[level].get(_name(getattr(ad, level)), (0, 0))
            above = (clicks + self.smoothing * above) / (shows + self.smoothing)
            rates.append(above)
        return rates[2], rates[1], rates[0]

    def matrix(self, lists: CandidateLists) -> np.ndarray:
        """A row for each ad."""
        self.check_fitted()
        _check_ads(lists)
        known: dict[str, list[str]] = {}

        def words(text: str) -> list[str]:
            return known[text] if text in known else known.setdefault(text, self.analyzer.tokens(text))

        rows = []
        for query, ad in zip(lists.row_queries, lists.items, strict=True):
            asked, parts = words(query), [words(ad.title), words(ad.description)]
            both = Counter(parts[0] + parts[1])
            rows.append(
                [
                    sum(both[word] for word in asked),
                    sum(both[word] * self._idf(word) for word in asked),
                    edit_distance(query.lower(), ad.title.lower()),
                    *(self._bm25(asked, part, length) for part, length in zip(parts, self._lengths, strict=True)),
                    *(self._likelihood(asked, part) for part in parts),
                    *self.rates(ad),
                    ad.bid,
                    ad.match == "exact",
                    ad.match == "phrase",
                ]
            )
        return np.array(rows, np.float64).reshape(-1, len(self.names))

    def fit_transform(self, lists: CandidateLists) -> RankingDataset:
        """`fit`, and features whose rates come from the other folds of lists."""
        fold = lists.folds(self.n_folds)
        data = self.fit(lists).transform(lists)
        fold_of_row, X = np.repeat(fold, np.diff(lists.offsets)), np.array(data.X)
        columns = np.array([self.names.index(f"ctr {level}") for level in _LEVELS])
        for held in range(int(fold.max()) + 1):
            others = copy(self)._count(lists.take(fold != held))
            rows = np.flatnonzero(fold_of_row == held)
            X[np.ix_(rows, columns)] = np.array([others.rates(lists.items[i]) for i in rows]).reshape(-1, columns.size)
        return data.replace(X=X)

    def _idf(self, word: str) -> float:
        df = self._frequency.get(word, 0)
        return float(np.log1p((self._n_ads - df + 0.5) / (df + 0.5)))

    def _bm25(self, asked: Sequence[str], part: Sequence[str], length: float) -> float:
        norm, counts = 1.2 * (0.25 + 0.75 * len(part) / length), Counter(part)
        return sum(self._idf(w) * 2.2 * counts[w] / (counts[w] + norm) for w in dict.fromkeys(asked) if counts[w])

    def _likelihood(self, asked: Sequence[str], part: Sequence[str]) -> float:
        counts = Counter(part)
        total = sum(
            np.log((counts[w] + self.mu * (self._counts.get(w, 0) + 1) / (self._n_words + 1)) / (len(part) + self.mu))
            for w in asked
        )
        return float(total / len(asked)) if asked else 0.0

    # -------------------------------------------------------------------------------------------------------- on disk

    def state(self) -> dict[str, Any]:
        """Settings, counts of words, and the history of clicks."""
        self.check_fitted()
        return {
            "settings": [self.smoothing, self.mu, self.n_folds],
            "analyzer": self.analyzer.to_json(),
            "frequency": self._frequency,
            "counts": self._counts,
            "sizes": [self._n_ads, self._n_words, *self._lengths, self._rate],
            "history": self._history,
        }

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Self:
        """Trained features from their state."""
        smoothing, mu, n_folds = state["settings"]
        analyzer = Analyzer.from_json(state["analyzer"])
        made = cls(smoothing=float(smoothing), mu=float(mu), n_folds=int(n_folds), analyzer=analyzer)
        made._frequency, made._counts = _numbers(state["frequency"]), _numbers(state["counts"])
        n_ads, n_words, *lengths, rate = (float(value) for value in state["sizes"])
        made._n_ads, made._n_words, made._lengths, made._rate = int(n_ads), int(n_words), lengths, rate
        made._history = {
            level: {
                str(name): [float(shows), float(clicks)] for name, (shows, clicks) in state["history"][level].items()
            }
            for level in _LEVELS
        }
        if len(lengths) != 2 or min(lengths) <= 0 or n_words < 1 or not 0 < rate < 1:
            raise DataError("the counts of the ad features are damaged")
        return made

    def check_fitted(self) -> None:
        """Raise an error if it is not fitted yet."""
        if not hasattr(self, "_history"):
            raise DataError("the features are not trained; call fit first")


def _check_ads(lists: CandidateLists) -> None:
    for ad in lists.items:
        if not isinstance(ad, Ad):
            raise DataError(f"{ad!r:.60} is not an Ad")
        if ad.match not in _MATCHES:
            raise DataError(f"match {ad.match!r} of ad {ad.title!r:.40}; give one of {', '.join(_MATCHES)}")
        if not isinstance(ad.title, str) or not isinstance(ad.description, str):
            raise DataError(f"title and description of an ad are texts; found {ad[:2]!r:.60}")
    for query in lists.queries:
        if not isinstance(query, str):
            raise DataError(f"query {query!r:.60} is not a text")


def _name(owner: Any) -> str:
    """An id as a text, as it is in a file; empty if there is none."""
    return "" if owner is None else str(owner)


def _numbers(counts: Mapping[str, Any]) -> dict[str, int]:
    return {str(word): int(n) for word, n in counts.items()}


def rank_logistic(alpha: float = 1e-3, **options: Any) -> GradientRanker:
    r"""RankLogistic: the pair loss of RankNet on a linear model, with a penalty.

    .. math:: \min_w \frac1n \sum_q \sum_{y_j > y_k} \log\big(1 + e^{w^\top (x_k - x_j)}\big) + \frac\alpha2 \|w\|^2

    It is convex, so there is one solution; the gradient needs only numbers per pair and vectors per ad.

    Parameters
    ----------
    alpha
        Strength of the penalty, on the weights of standardised features.
    options
        Other parameters of `plackett.Linear`.

    References
    ----------
    Zhu, Wang, Yang, Wang, Yan, Hu, Chen: Optimizing search engine revenue in sponsored search. SIGIR 2009.

    Examples
    --------
    >>> ranker = rank_logistic().fit([[1.0], [0.0], [0.5]], [1, 0, 0], qid=[1, 1, 1])
    >>> ranker.rank([[0.2], [0.9]], qid=[2, 2])
    array([2, 1])
    """
    return GradientRanker(loss=Logistic(), model=Linear(alpha=alpha, **options))
