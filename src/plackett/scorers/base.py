"""Base class of scorers, the predictors of fitted rankers: what a new one must say of itself, and "no" for the rest."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from plackett._base.errors import DataError
from plackett.scorers.fields import Stored, StoredField

if TYPE_CHECKING:
    from plackett.data.dataset import RankingDataset
    from plackett.scorers.member import Member
    from plackett.scorers.parts import Part
    from plackett.scorers.trees.arrays import TreeArrays


class Size(NamedTuple):
    """How many features a scorer takes and how many scores it gives per document, and the arrays that decide it."""

    array: str
    n_features: int
    n_outputs: int = 1
    #: Where another array decides the number of scores.
    output_array: str | None = None


class Contributions(NamedTuple):
    """What each feature adds to the scores, rows × features, and what they are added to: one number, or one per row."""

    values: np.ndarray
    base: np.ndarray | float
    #: How they were found, for people.
    method: str


class Importance(NamedTuple):
    """A number of 0 or more for each feature, and what it is, for people."""

    values: np.ndarray
    meaning: str


class Scorer(Stored):
    """A whole scoring function: from the features of documents in lists to one score for each.

    A subclass is a frozen dataclass. Its fields, declared by the functions of `plackett.scorers.fields`, are what a
    model file stores, as plain arrays; loading one never runs code from the file. Its ``kind`` is the name of its
    module (or of its package, whose module ``scorer`` it is then in), by which a file is read. Everything else has a
    default that says no.
    """

    #: Whether `predict` takes the features of the queries (``query_features``).
    reads_queries: ClassVar[bool] = False
    #: Whether `predict` takes the relations of the documents (``relations``), for itself or its members.
    reads_relations: ClassVar[bool] = False
    #: Whether it trains a ranker while it predicts, and so needs more than its file: the ranker's class.
    trains: ClassVar[bool] = False
    #: The trees of its model as a `lightgbm.Booster`, if it has any.
    booster: Any = None
    #: Whether `relative_contributions` are relative to the documents of training, whatever the background.
    ignores_background: ClassVar[bool] = False
    #: Whether a document's score costs little enough to score a dataset many times.
    cheap: ClassVar[bool] = False
    #: In words, the functions among which training chooses.
    hypothesis: ClassVar[str] = ""
    #: The trained rankers inside.
    members: tuple[Member, ...] = ()

    # ------------------------------------------------------------------------------------------------------- scoring

    @property
    def list_aware(self) -> bool:
        """Whether a document's score depends on the other documents of its list."""
        return False

    def predict(self, X: Any, offsets: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row, or one score per output; ``offsets`` matter only to list-aware models."""
        raise NotImplementedError

    def score_rows(self, data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
        """Score of each row of a dataset, in its order."""
        more: dict[str, Any] = {}
        if self.reads_queries:
            more["query_features"] = data.query_features
        if self.reads_relations:
            more["relations"] = data.relations
        return self.predict(data.X, data.offsets, n_jobs, **more)

    def score_sample(self, data: RankingDataset, n_jobs: int | None = None) -> np.ndarray:
        """As `score_rows`, once for a few training documents: by what training has loaded, if that gives the same."""
        return self.score_rows(data, n_jobs)

    def finish(self, outputs: np.ndarray) -> np.ndarray:
        """The scores, from what the trained model inside gives: several outputs per document, or a multiple."""
        return outputs

    # ---------------------------------------------------------------------------------------------------- what it is

    @property
    def size(self) -> Size | None:
        """What it takes and gives, by the declared dimensions ``features`` and ``outputs``; None if it is not known."""
        takes = gives = None
        me: Any = self
        for field in fields(me):
            declared = StoredField.of(field)
            dimensions = () if declared is None else declared.dimensions
            shape = np.shape(getattr(self, field.name)) if dimensions else ()
            if takes is None and "features" in dimensions:
                takes = field.name, shape[dimensions.index("features")]
            if gives is None and "outputs" in dimensions:
                gives = field.name, shape[dimensions.index("outputs")]
        if takes is None:
            return None
        return Size(*takes) if gives is None else Size(*takes, gives[1], None if gives[0] == takes[0] else gives[0])

    @property
    def model(self) -> Scorer:
        """The trained model whose outputs are finished; the scorer itself if nothing is done with them."""
        return self

    def with_members(self, members: tuple[Member, ...]) -> Self:
        """The same with other objects for its members, which score alike."""
        me: Any = self
        return replace(me, members=members) if self.members else self  # type: ignore[no-any-return]

    @property
    def tree_arrays(self) -> TreeArrays | None:
        """The trees of its model, if it has one of trees; how they are finished or left early is not in them."""
        return None

    @property
    def line(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Weights, features × outputs, and intercepts of its model, if it is linear."""
        return None

    @property
    def has_exit(self) -> bool:
        """Whether most documents of a list are scored by some of the trees only."""
        return False

    def without_exit(self) -> Scorer:
        """The scorer that scores every document to the end."""
        return self

    def used_features(self, n_features: int) -> np.ndarray:
        """Which features a score may depend on; all, unless it is known better."""
        return np.ones(n_features, bool)

    # ------------------------------------------------------------------------------------------ explained and exported

    def contributions(self, X: Any, n_jobs: int | None = None) -> Contributions | None:
        """What each feature adds to each score, without other documents to compare with; None if it is no such sum."""
        return None

    def relative_contributions(self, X: np.ndarray, background: np.ndarray) -> Contributions | None:
        """Exact Shapley values of each score against a background of documents; None if there is no exact form."""
        return None

    def importance(self, X: Any) -> Importance | None:
        """Importance of each feature according to the model itself."""
        return None

    @property
    def not_exportable(self) -> str:
        """Why engines, which score one document at a time, cannot have it: the end of a sentence; empty if they can."""
        if self.list_aware:
            return (
                "looks at whole lists of documents, and engines score one document at a time; serve it instead: "
                "plackett serve scores whole lists"
            )
        if type(self).export_parts is Scorer.export_parts:
            return f"({self.kind}) cannot be exported; trees, linear models, networks and blends of them can"
        return ""

    def export_parts(self) -> list[tuple[float, Part]]:
        """Factors and parts whose weighted sum is the score, if `not_exportable` is empty."""
        return []


def check_finite(arrays: dict[str, np.ndarray]) -> None:
    """Reject arrays of a file with entries that are not finite numbers."""
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise DataError(f"array {name!r} has an entry that is not finite")


def check_size(scorer: Scorer, owner: str, n_features: int | None) -> None:
    """Reject a scorer of a file that does not fit its owner, which wants one score per document.

    Parameters
    ----------
    n_features
        Number of features that it must take; None if it does not matter.
    """
    size = scorer.size
    if size is None:
        return
    if n_features is not None and size.n_features != n_features:
        raise DataError(f"array {size.array!r} is for {size.n_features} features, but the {owner} has {n_features}")
    query_map = getattr(scorer, "query_map", None)
    if query_map is not None and max(query_map.columns.max(initial=-1), query_map.reference) >= size.n_features:
        raise DataError(
            f"array 'z.columns' or 'z.reference' names a feature beyond the {size.n_features} of the {owner}"
        )
    if size.n_outputs != 1:
        array = size.output_array or size.array
        raise DataError(f"array {array!r} gives {size.n_outputs} scores per document, which do not fit the {owner}")
