"""The template of an application: candidates, features, labels, folds, a ranker, a comparison, an explanation."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from plackett._base.arguments import whole, whole_or_none
from plackett._base.errors import DataError, reading
from plackett._base.estimator import clone
from plackett._files import storage
from plackett._files.atomic import replacing
from plackett._files.description import read_description, read_object
from plackett.applications.features import Features
from plackett.applications.lists import CandidateLists
from plackett.data.dataset import RankingDataset
from plackett.data.files import read, write
from plackett.evaluation.compare import compare
from plackett.evaluation.comparison import Comparison
from plackett.explanations.explain import explain
from plackett.explanations.explanation import Explanation
from plackett.rankers.storage import load as load_ranker
from plackett.rankers.storage import save as save_ranker

__all__ = ["Application", "RankedItem"]

#: Files of a saved application.
FILE, _RANKER, _ARRAYS, _EXAMPLES = "application.json", "ranker.plackett", "features.arrays", "examples.json"
_ROWS = "examples.plackett"
_KIND, _VERSION = "plackett application", 1


class RankedItem(NamedTuple):
    """An item that was ranked."""

    item: Any
    score: float
    #: Position among the candidates as given, from 0.
    position: int


@dataclass(kw_only=True, eq=False)
class Application:
    """An application of learning to rank as one object: lists become features, a ranker orders them.

    Queries and items are whatever the features understand. The ranker is any of the library; so are the measures.
    For search in an index, where retrieval, features and ranker belong together, see `plackett.SearchPipeline`.

    Parameters
    ----------
    features
        From lists of candidates to a dataset.
    ranker
        A ranker, or a pipeline that ends in one.
    baselines
        Names of features by which the items are ordered for comparison.
    measures
        What the systems are compared by.
    candidates
        Function of a query that returns its candidates, for `rank` and `explain`. It is not saved.

    Examples
    --------
    >>> import plackett as pk
    >>> class Lengths(Features):
    ...     names = ("length", "vowels")
    ...     def matrix(self, lists):
    ...         return np.array([[len(item), sum(c in "aeiou" for c in item)] for item in lists.items])
    >>> judged = CandidateLists.of([("", ["hymn", "sea", "oak"], [0, 2, 1]), ("", ["aorta", "myth"], [1, 0])])
    >>> application = Application(features=Lengths(), ranker=pk.rankers.ListNet(), baselines=("length",)).fit(judged)
    >>> [answer.item for answer in application.rank("", ["rhythm", "idea", "tree"])]
    ['idea', 'tree', 'rhythm']
    >>> application.explain("", ["rhythm", "idea"]).pair(1, 0)["feature"][0]
    'vowels'
    """

    features: Features
    ranker: Any
    baselines: Sequence[str] = ()
    measures: Sequence[str] = ("nDCG@10",)
    candidates: Callable[[Any], Sequence[Any]] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        unknown = [name for name in self.baselines if name not in self.features.names]
        if unknown:
            raise DataError(f"baseline {unknown[0]!r} is not a feature; there are {', '.join(self.features.names)}")

    def fit(self, lists: CandidateLists) -> Self:
        """Fit the features and train the ranker on judged lists."""
        self.ranker.fit(self.features.fit_transform(_judged(lists)))
        return self

    def predict(self, lists: CandidateLists) -> np.ndarray:
        """Scores of the items."""
        return np.asarray(self.ranker.predict(self.features.transform(lists)))

    def rank(self, query: Any, items: Sequence[Any] | None = None, k: int | None = None) -> list[RankedItem]:
        """The items of one query, the best first; equal ones stay in the given order."""
        whole_or_none("k", k, least=0)
        lists = self._one(query, items)
        if not lists.items:
            return []
        scores = self.predict(lists)
        order = np.argsort(-scores, kind="stable")[:k]
        return [RankedItem(lists.items[i], float(scores[i]), i) for i in order.tolist()]

    def explain(self, query: Any, items: Sequence[Any] | None = None, **options: Any) -> Explanation:
        """Contributions of the features to the scores of one query's items; documents are numbered as given, from 0.

        Options are those of `plackett.explain`.
        """
        return explain(self.ranker, self.features.transform(self._one(query, items)), **options)

    def _one(self, query: Any, items: Sequence[Any] | None) -> CandidateLists:
        if items is None:
            if self.candidates is None:
                raise DataError("give the items: the application has no function that finds candidates")
            items = self.candidates(query)
        return CandidateLists.of([(query, items)])

    # -------------------------------------------------------------------------------------------------------- measure

    def compare(self, lists: CandidateLists, **options: Any) -> Comparison:
        """Compare the ranker with the baselines on judged lists that it was not trained on.

        Options are those of `plackett.compare`.
        """
        data = self.features.transform(_judged(lists))
        return self._compared(data, {"ranker": np.asarray(self.ranker.predict(data)), **self._columns(data)}, options)

    def cross_validate(
        self, lists: CandidateLists, *, n_folds: int = 5, random_state: int = 0, **options: Any
    ) -> Comparison:
        """Compare ranker and baselines by cross-validation: features and ranker are fitted anew without each fold.

        The folds are of whole lists. The application itself stays as it is. Further options are those of
        `plackett.compare`.
        """
        n = len(_judged(lists))
        whole("n_folds", n_folds, least=2, most=n)
        fold = np.random.default_rng(random_state).permutation(n) % n_folds
        fold_of_row = np.repeat(fold, np.diff(lists.offsets))
        scores = {name: np.empty(len(lists.items)) for name in ("ranker", *self.baselines)}
        for held in range(n_folds):
            features = deepcopy(self.features)
            ranker = clone(self.ranker).fit(features.fit_transform(lists.take(fold != held)))
            data = features.transform(lists.take(fold == held))
            for name, values in {"ranker": ranker.predict(data), **self._columns(data)}.items():
                scores[name][fold_of_row == held] = values
        qid = np.repeat(lists.qids, np.diff(lists.offsets))
        return self._compared(RankingDataset.from_arrays(None, lists.labels, qid), scores, options)

    def _columns(self, data: RankingDataset) -> dict[str, np.ndarray]:
        return {name: np.asarray(data.X)[:, self.features.names.index(name)] for name in self.baselines}

    def _compared(self, data: RankingDataset, scores: dict[str, np.ndarray], options: dict[str, Any]) -> Comparison:
        return compare(
            data, scores, list(self.measures), **({"baseline": "ranker"} if self.baselines else {}) | options
        )

    # -------------------------------------------------------------------------------------------------------- on disk

    def save(self, path: str | os.PathLike[str], *, examples: CandidateLists | None = None) -> None:
        """Save features, ranker and settings as one new folder.

        Parameters
        ----------
        examples
            Lists of texts, or of other values that JSON has, that ``plackett workbench`` shows with the application.
            Their features are stored beside them, so that they can be shown where the code of the features is missing.
        """
        folder = Path(path)
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file; give a new folder")
        if folder.exists() and any(folder.iterdir()):
            raise DataError(f"{folder}: the folder is not empty; use a new one")
        state = self.features.state()
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        description = {
            "kind": _KIND,
            "format_version": _VERSION,
            "features": type(self.features).__name__,
            "state": {name: value for name, value in state.items() if name not in arrays},
            "baselines": list(self.baselines),
            "measures": [str(measure) for measure in self.measures],
        }
        texts = {FILE: _text(FILE, description)}
        if examples is not None:
            texts = {_EXAMPLES: _text(_EXAMPLES, _plain(examples))} | texts
        folder.mkdir(parents=True, exist_ok=True)
        save_ranker(self.ranker, folder / _RANKER)  # first: it fails if the ranker is not trained
        if examples is not None:
            write(self.features.transform(examples), folder / _ROWS)
        storage.write(folder / _ARRAYS, arrays, {"kind": "features"})
        for name, text in texts.items():
            with replacing(folder / name) as file:
                file.write(text)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, features: Features | type[Features] | None = None) -> Application:
        """Load a folder that `save` wrote. Nothing of it is run as code.

        Parameters
        ----------
        features
            Features of your own, which are not looked up by name: their class, whose ``restore`` gets what ``state``
            returned when the application was saved, or an object that needs nothing from the folder.
        """
        folder = Path(path)
        description = _description(folder)
        with reading(folder / FILE, "the application"):
            if features is None:
                features = _class(description["features"])
            if isinstance(features, type):
                arrays, _ = storage.read(folder / _ARRAYS, kind="features", mmap=False)
                features = features.restore({**description["state"], **arrays})
            baselines, measures = _names(description, "baselines"), _names(description, "measures")
            made = cls(features=features, ranker=None, baselines=baselines, measures=measures)
        made.ranker = load_ranker(folder / _RANKER)
        return made

    @staticmethod
    def load_examples(path: str | os.PathLike[str]) -> CandidateLists | None:
        """The examples that were saved with an application."""
        file = Path(path) / _EXAMPLES
        if not file.exists():
            return None
        saved = read_object(file, "application", "surrogatepass")
        with reading(file, "the list of examples"):
            columns = [saved[name] for name in ("queries", "items", "labels") if name != "labels" or name in saved]
            lists = list(zip(*columns, strict=True))
            return CandidateLists.of(lists, qids=saved["qids"])


class SavedExamples(NamedTuple):
    """What a saved application shows without the code of its features."""

    data: RankingDataset
    #: Texts of the queries, and of the items in the order of the rows.
    queries: list[str]
    items: list[str]
    ranker: Any
    baselines: tuple[str, ...]


def saved_examples(path: str | os.PathLike[str]) -> SavedExamples:
    """The examples of a saved application with their features, its ranker and its baselines."""
    folder = Path(path)
    description = _description(folder)
    with reading(folder / FILE, "the application"):
        baselines = _names(description, "baselines")
    if not (folder / _EXAMPLES).exists():
        raise DataError(f"{path}: the application was saved without examples; see save(…, examples=…)")
    saved, data = read_object(folder / _EXAMPLES, "application", "surrogatepass"), read(folder / _ROWS)
    with reading(folder / _EXAMPLES, "the list of examples"):
        items = [str(text) for texts in saved["texts"] for text in texts]
        queries = [str(query) for query in saved["queries"]]
        if len(queries) != data.n_queries or [len(texts) for texts in saved["texts"]] != data.group.tolist():
            raise ValueError(f"it does not fit {_ROWS}")
    unknown = [name for name in baselines if name not in (data.feature_names or ())]
    if unknown:
        raise DataError(f"{folder / FILE}: baseline {unknown[0]!r:.60} is not a feature of {_ROWS}")
    return SavedExamples(data, queries, items, load_ranker(folder / _RANKER), baselines)


def _description(folder: Path) -> dict[str, Any]:
    return read_description(folder / FILE, "application", _VERSION, "surrogatepass")


def _names(description: Mapping[str, Any], key: str) -> tuple[str, ...]:
    return tuple(map(str, description[key]))


def _judged(lists: CandidateLists) -> CandidateLists:
    if not len(lists):
        raise DataError("there are no lists")
    if lists.labels is None:
        raise DataError("the lists have no labels; give judged ones")
    return lists


def _class(name: Any) -> type[Features]:
    """The library's own features, by name."""
    package = import_module("plackett.applications")
    cls = getattr(package, name, None) if isinstance(name, str) and name in dir(package) else None
    if not isinstance(cls, type) or not issubclass(cls, Features):
        raise DataError(
            f"features {name!r:.60} are not plackett's own; load the application in Python, with "
            "Application.load(path, features=…)"
        )
    return cls


def _plain(lists: CandidateLists) -> dict[str, Any]:
    def parts(values: Any) -> list[Any]:
        return [list(values[a:b]) for a, b in pairwise(lists.offsets.tolist())]

    plain = {"queries": lists.queries, "items": parts(lists.items)}
    plain |= {"texts": parts([str(item) for item in lists.items]), "qids": lists.qids.tolist()}
    return plain if lists.labels is None else plain | {"labels": parts(lists.labels.tolist())}


def _text(name: str, content: Mapping[str, Any]) -> bytes:
    """The text of a JSON file."""
    try:
        return json.dumps(content, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} cannot be written: {error}; give texts, numbers, lists and mappings") from None
