"""Inspect the training data: what limits the choice of rankers, and what the user should know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from plackett._names.nearest import plural
from plackett.data.added import added_rows
from plackett.data.dataset import RankingDataset
from plackett.data.leaks import list_hashes
from plackett.data.profile import Profile, profile, row_hashes
from plackett.evaluation.giveaways import giveaways
from plackett.measures.gains import has_gains


@dataclass(frozen=True, eq=False)
class Facts:
    """What the inspection found.

    Attributes
    ----------
    profile
        Sizes, labels, missing values and the like.
    twins
        For each query, the first query with the same documents: copies must stay on the same side of a split.
    suspects
        Features that alone order the documents almost as their labels do (`plackett.evaluation.giveaways`).
    n_relative
        Number of features that rankers also see relative to their list.
    n_added
        Number of documents that were added to the candidates to learn from.
    """

    profile: Profile
    twins: np.ndarray
    suspects: tuple[str, ...]
    n_relative: int = 0
    n_added: int = 0

    @property
    def missing(self) -> bool:
        """Whether features have missing values."""
        return bool(self.profile.missing)

    @property
    def large_labels(self) -> bool:
        """Whether labels are too large for the gain 2^label − 1."""
        return not has_gains(np.array(list(self.profile.labels or ())), "exp2")

    @property
    def n_lists(self) -> int:
        """Number of queries with different documents."""
        return int(np.unique(self.twins).size)

    def sentences(self) -> list[str]:
        """The facts in plain words."""
        facts = self.profile
        counts = (facts.n_queries, "query", "queries"), (facts.n_rows, "document"), (facts.n_features, "feature")
        sizes = ", ".join(plural(*each) for each in counts)
        if self.n_relative:
            sizes += f" ({self.n_relative:,} of them also relative to their list)"
        told = [f"The data: {sizes}; lists of {_lengths(facts)}."]
        if facts.labels is not None and len(facts.labels) <= 10:
            told.append(f"Labels: {', '.join(f'{label:g} ({n:,})' for label, n in facts.labels.items())}.")
        elif facts.labels is not None:
            told.append(f"Labels: {len(facts.labels):,} different values.")
        if self.large_labels:
            told.append("They are too large for the gain 2^label − 1: rankers that have gains take the label itself.")
        if facts.sparse:
            told.append(f"The features are sparse: {facts.density:.1%} of the values are not zero.")
        if self.missing:
            missing = plural(len(facts.missing), "feature has", "features have")
            told.append(f"{missing} missing values, so rankers that reject them were left out.")
        if facts.queries_of_one_label:
            flat = plural(facts.queries_of_one_label, "query has", "queries have")
            them = "it" if facts.queries_of_one_label == 1 else "them"
            told.append(f"{flat} only one label: there is nothing to learn from {them}.")
        copies = facts.n_queries - self.n_lists
        if copies:
            twins = plural(copies, "query has", "queries have")
            told.append(f"{twins} the same documents as another one; such queries share a fold.")
        if self.n_added:
            added = plural(self.n_added, "document was", "documents were")
            told.append(f"{added} added to the candidates: rankers learned from them and were measured without them.")
        if self.suspects:
            names = ", ".join(self.suspects[:5])
            orders = "alone orders" if len(self.suspects) == 1 else "each alone order"
            told.append(
                f"Warning: {names} {orders} the documents almost as the labels do. Make sure that such values are "
                "known at query time; otherwise the estimate below is worthless."
            )
        return told


def _lengths(facts: Profile) -> str:
    shortest, longest = (round(facts.list_length[name]) for name in ("min", "max"))
    return f"{shortest:,} to {longest:,} documents" if shortest < longest else plural(longest, "document")


def inspect_data(data: RankingDataset) -> Facts:
    """Inspect training data.

    >>> data = RankingDataset.from_arrays([[1, 0], [0, 5], [1, 0], [0, 5]], [0, 2, 0, 2], qid=[1, 1, 2, 2])
    >>> inspect_data(data).twins.tolist()
    [0, 0]
    """
    hashes = np.arange(data.n_queries, dtype=np.uint64)  # queries without documents have no copies
    if data.n_features:
        hashes[data.group > 0] = list_hashes(data, row_hashes(data))
    _, first, of = np.unique(hashes, return_index=True, return_inverse=True)
    return Facts(profile(data), first[of], tuple(giveaways(data)), n_added=added_rows(data).size)
